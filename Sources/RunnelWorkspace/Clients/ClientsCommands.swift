package import RunnelTerminal

extension KeymapContext {
  /// The context of the list of clients.
  package static let clients = KeymapContext("clients")
}

extension ActionID {
  static let clientsDisconnect = ActionID("clients.disconnect")
  static let clientsOpen = ActionID("clients.open")
}

/// The commands of the list of clients that are connected to the server.
package enum ClientsCommands {
  package static let table = CommandTable(
    .clients, "With this client", over: .belowPage, takesCounts: true, hints: hints
  ) {
    Command(
      .clientsDisconnect, "disconnect", "end the connection…", keys: ["d", "Del"], needs: .nothing,
      disabled: { ClientsCommands.reasonNotDisconnected($0) }
    ) { state, _ in ClientsScreen.confirmDisconnect(&state) }
    GlobalCommands.stepBack.inner("back", "go back", keys: ["h", "Left"])
    SharedCommands.searching
  }

  /// The command that opens the list.
  static let open = Command(
    .clientsOpen, "clients", "who is connected to the server of this database", keys: ["gC"],
    needs: .nothing,
    disabled: {
      $0.database.origin == nil ? nil : "not known in a replica"
    }
  ) { state, _ in ClientsScreen.openClients(&state) }.keepingAwaitedRow

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [CommandHint(.clientsDisconnect), CommandHint(.stepBack)]
  }

  static func reasonNotDisconnected(_ state: AppState) -> String? {
    guard case .clients(let screen)? = state.layers.last else { return nil }
    if let reason = state.reasonReadOnly { return reason }
    if screen.cursorClient != nil { return nil }
    return screen.clients.isEmpty ? "nobody is connected" : "move to a client to disconnect it"
  }
}

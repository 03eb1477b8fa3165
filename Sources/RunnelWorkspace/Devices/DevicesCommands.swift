package import RunnelTerminal

extension KeymapContext {
  /// The context of the list of devices.
  package static let devices = KeymapContext("devices")
}

extension ActionID {
  static let devicesOpen = ActionID("devices.open")
  static let devicesPrune = ActionID("devices.prune")
  static let devicesRename = ActionID("devices.rename")
  static let devicesRevoke = ActionID("devices.revoke")
}

/// The commands of the list of the user's devices.
package enum DevicesCommands {
  package static let table = CommandTable(
    .devices, "With this device", over: .belowPage, takesCounts: true, hints: hints
  ) {
    Command(
      .devicesRename, "rename", "give this device another name…", keys: ["e", "Enter"],
      needs: .nothing,
      disabled: { DevicesCommands.reasonNotRenamed($0) }
    ) { state, _ in DevicesScreen.openRename(&state) }
    Command(
      .devicesRevoke, "revoke", "sign this device out, and take it off the list…",
      keys: ["d", "Del"], needs: .nothing, disabled: { DevicesCommands.reasonNotRevoked($0) }
    ) { state, _ in DevicesScreen.confirmRevoke(&state) }
    Command(
      .devicesPrune, "prune", "remove devices not seen for 90 days; a count: for so many days…",
      keys: ["X"], needs: .nothing, disabled: { DevicesCommands.reasonNotPruned($0) }
    ) { DevicesScreen.confirmPrune(&$0, days: $1 ?? DevicesScreen.pruneDays) }
    GlobalCommands.stepBack.inner("back", "go back", keys: ["h", "Left"])
    SharedCommands.searching
  }

  /// The command that opens the list.
  static let open = Command(
    .devicesOpen, "devices", "your devices: list, rename, revoke", keys: ["gD"], needs: .nothing,
    disabled: { DevicesCommands.reasonNotOpened($0) }
  ) { state, _ in DevicesScreen.openDevices(&state) }.keepingAwaitedRow

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [
      CommandHint(.devicesRename), CommandHint(.devicesRevoke), CommandHint(.devicesPrune),
      CommandHint(.stepBack),
    ]
  }
}

// MARK: - Disabled reasons

extension DevicesCommands {
  private static func screen(_ state: AppState) -> DevicesScreen? {
    if case .devices(let screen)? = state.layers.last { screen } else { nil }
  }

  static func reasonNotOpened(_ state: AppState) -> String? {
    if screen(state) != nil { return "these are your devices" }
    if state.database.devices != nil { return nil }
    guard let accounts = state.database.accounts, accounts.current != nil else {
      return "devices belong to an account: sign in"
    }
    if let reason = accounts.reasonEnded { return reason }
    return state.database.profile?.omitsDevices == true
      ? "devices are not listed with --no-keep" : "devices are listed for profiles with `devices`"
  }

  private static func reasonNoDevice(_ state: AppState) -> String? {
    if let reason = state.reasonReadOnly { return reason }
    guard let screen = screen(state), screen.cursorDevice == nil else { return nil }
    return screen.facts.devices.isEmpty ? "no device is in the list" : "move to a device"
  }

  static func reasonNotPruned(_ state: AppState) -> String? {
    if let reason = state.reasonReadOnly { return reason }
    return screen(state)?.facts.devices.isEmpty == true ? "no device is in the list" : nil
  }

  static func reasonNotRenamed(_ state: AppState) -> String? { reasonNoDevice(state) }

  static func reasonNotRevoked(_ state: AppState) -> String? {
    if let reason = reasonNoDevice(state) { return reason }
    guard let screen = screen(state), screen.cursorDevice?.id == screen.facts.here else {
      return nil
    }
    let keys = KeyText.listKeys(state).hint(.accountsOpen, "lists the accounts")
    return "you are here: sign out instead" + keys
  }
}

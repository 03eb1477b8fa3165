import RunnelBase
import RunnelTerminal

// The actions of the list of clients.

extension ClientsScreen {
  static func openClients(_ state: inout AppState) {
    if case .clients? = state.layers.last { return }
    var screen = ClientsScreen()
    screen.rebuild(now: state.now, body: state.layout.body)
    state.layers.append(.clients(screen))
    ask(&state)
  }

  /// Requests the clients for an open list, unless a request is in progress.
  private static func ask(_ state: inout AppState) {
    change(&state) { screen, state in
      if screen.request != nil { return }
      screen.wait(
        for: ask(&state, .clients(countMax: ClientPage.countMax), for: .clients))
    }
  }

  /// Changes the open list; there is at most one.
  private static func change(
    _ state: inout AppState, _ body: (inout ClientsScreen, inout AppState) -> Void
  ) {
    for (index, layer) in state.layers.enumerated() {
      guard case .clients(var screen) = layer else { continue }
      body(&screen, &state)
      state.layers[index] = .clients(screen)
    }
  }

  /// Returns the time at which the open list is to be refreshed; nil if there is none.
  static func clientsDue(_ state: AppState) -> Int64? {
    state.layers.lazy.compactMap { if case .clients(let screen) = $0 { screen.due } else { nil } }
      .min()
  }

  /// Refreshes the open list if it is due.
  static func refreshClients(_ state: inout AppState) {
    if let due = clientsDue(state), due <= state.now { ask(&state) }
  }

  // MARK: Answers

  /// Shows the clients that the server reported.
  static func take(_ state: inout AppState, _ page: ClientPage, _ id: AppRequestID) {
    change(&state) { screen, state in
      if screen.request == id { screen.take(page, now: state.now, body: state.layout.body) }
    }
  }

  /// Shows that the request failed.
  static func fail(_ state: inout AppState, _ refusal: Refusal, _ id: AppRequestID) {
    change(&state) { screen, state in
      if screen.request == id {
        screen.fail(refusal.message, now: state.now, body: state.layout.body)
      }
    }
  }

  // MARK: Disconnecting

  /// Asks the user whether to end the connection under the cursor.
  static func confirmDisconnect(_ state: inout AppState) {
    guard case .clients(let screen)? = state.layers.last, let client = screen.cursorClient else {
      return
    }
    let question = Question(
      .disconnect(client.id), title: "Disconnect",
      message: [
        StyledLine(client.name),
        StyledLine("its onDisconnect writes are then done", .warn),
        StyledLine("it may connect again, as most clients do at once", .muted),
      ],
      openedAt: state.now)
    Question.open(&state, question, yes: "disconnect", no: "keep")
  }

  /// Ends a connection.
  static func disconnect(_ state: inout AppState, _ id: Int64) {
    if state.refusesWriting() { return }
    ask(&state, .disconnect(id), for: .disconnect)
    state.say(.info, "disconnecting")
  }

  /// Shows that the server ended a connection, or that there was none of this number.
  static func finishDisconnect(_ state: inout AppState, wasThere: Bool) {
    state.say(.info, wasThere ? "disconnected" : "it was already disconnected")
    ask(&state)
  }

  /// Sends a request to the server and records its purpose; returns the id that the answer will
  /// carry.
  @discardableResult
  private static func ask(
    _ state: inout AppState, _ request: ServerRequest, for purpose: Pending
  ) -> AppRequestID {
    let id = state.requests.add(purpose)
    state.effects.append(.askServer(id, request))
    return id
  }
}

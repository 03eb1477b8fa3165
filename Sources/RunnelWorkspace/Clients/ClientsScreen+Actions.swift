import RunnelBase
import RunnelTerminal

// Who is connected to the server of the database, as a layer.

extension ClientsScreen {
  static func openClients(_ state: inout AppState) {
    if case .clients? = state.layers.last { return }
    var screen = ClientsScreen()
    screen.rebuild(now: state.now, height: state.height)
    state.layers.append(.clients(screen))
    ask(&state)
  }

  /// Asks the server for an open list, unless it was asked and has not answered.
  private static func ask(_ state: inout AppState) {
    change(&state) { screen, state in
      if screen.request != nil { return }
      screen.wait(
        for: ask(&state, .clients(countMax: ClientPage.countMax), for: .clients))
    }
  }

  /// Changes the open list; there is one at most.
  private static func change(
    _ state: inout AppState, _ body: (inout ClientsScreen, inout AppState) -> Void
  ) {
    for (index, layer) in state.layers.enumerated() {
      guard case .clients(var screen) = layer else { continue }
      body(&screen, &state)
      state.layers[index] = .clients(screen)
    }
  }

  /// When an open list is to be asked for again; nil if none is.
  static func clientsDue(_ state: AppState) -> Int64? {
    state.layers.lazy.compactMap { if case .clients(let screen) = $0 { screen.due } else { nil } }
      .min()
  }

  /// An open list that is old is asked for again.
  static func refreshClients(_ state: inout AppState) {
    if let due = clientsDue(state), due <= state.now { ask(&state) }
  }

  // MARK: Answers

  /// The server told who is connected.
  static func take(_ state: inout AppState, _ page: ClientPage, _ id: AppRequestID) {
    change(&state) { screen, state in
      if screen.request == id { screen.take(page, now: state.now, height: state.height) }
    }
  }

  /// The server did not tell.
  static func fail(_ state: inout AppState, _ refusal: Refusal, _ id: AppRequestID) {
    change(&state) { screen, state in
      if screen.request == id {
        screen.fail(refusal.message, now: state.now, height: state.height)
      }
    }
  }

  // MARK: Disconnecting

  /// Asks whether the connection under the cursor is ended.
  static func confirmDisconnect(_ state: inout AppState) {
    guard case .clients(let screen)? = state.layers.last, let client = screen.cursorClient else {
      return
    }
    let question = Question(
      .disconnect(client.id), title: "Disconnect",
      message: [
        StyledLine(client.name),
        StyledLine("what it left to be done at its end is done", .warn),
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

  /// The server ended a connection, or had none of this number.
  static func finishDisconnect(_ state: inout AppState, wasThere: Bool) {
    state.say(.info, wasThere ? "disconnected" : "it was gone already")
    ask(&state)
  }

  /// Asks the server of the database for something, and remembers what for; returns the id that the answer
  /// will carry.
  @discardableResult
  private static func ask(
    _ state: inout AppState, _ request: ServerRequest, for purpose: Pending
  ) -> AppRequestID {
    let id = state.requests.add(purpose)
    state.effects.append(.askServer(id, request))
    return id
  }
}

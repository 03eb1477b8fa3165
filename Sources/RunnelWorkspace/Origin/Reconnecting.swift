import RunnelTerminal

extension ActionID {
  static let linkRetry = ActionID("link.retry")
}

/// Connecting to the server again: after a refusal, which ends all attempts, or before the next one is due.
package enum Reconnecting {
  /// The command that connects now.
  static let command = Command(
    .linkRetry, "connect", "connect to the server now", keys: ["gL"],
    disabled: { Reconnecting.reasonNotConnecting($0) }
  ) { state, _ in
    state.effects.append(.reconnect)
    state.say(.info, "connecting")
  }.keepingAwaitedRow

  private static func reasonNotConnecting(_ state: AppState) -> String? {
    switch state.database.origin?.link {
    case nil: "this database has no server"
    case .offline, .waiting, .refused, .shutDown: nil
    case .connecting, .catchingUp: "a connection is being made"
    case .live, .shared: "it is connected"
    case .notAnswering: "it is connected, and waits for the server"
    }
  }

  /// The words for the last line while no attempt is made any more; empty otherwise.
  static func lastingText(_ state: AppState) -> String {
    guard let origin = state.database.origin, let reason = origin.reason,
      origin.link == .refused || origin.link == .shutDown
    else { return "" }
    let words = reason.hasSuffix(".") ? String(reason.dropLast()) : reason
    return state.phrase(words, .linkRetry, "tries again")
  }
}

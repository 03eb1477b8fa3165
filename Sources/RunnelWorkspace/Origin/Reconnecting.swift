import RunnelTerminal

extension ActionID {
  static let linkRetry = ActionID("link.retry")
}

/// Connecting to the server again: after a refusal, which ends all attempts, or before the next one is due;
/// while there is a connection, its latency is measured.
package enum Reconnecting {
  /// The command that connects now, or measures the latency.
  static let command = Command(
    .linkRetry, "connect", "connect to the server, or measure its latency", keys: ["gL"],
    needs: .nothing,
    disabled: { Reconnecting.reasonNotConnecting($0) }
  ) { state, _ in
    if state.database.origin?.isDisconnected == false {
      state.effects.append(.measureLatency)
      state.say(.info, "asking the server")
    } else {
      state.effects.append(.reconnect)
      state.say(.info, "connecting")
      state.toast?.isOfLink = true
    }
  }.keepingAwaitedRow

  private static func reasonNotConnecting(_ state: AppState) -> String? {
    if state.database.origin?.isShared == true { return "another program holds the connection" }
    return switch state.database.origin?.link {
    case nil: "this database has no server"
    case .offline, .waiting, .refused, .shutDown, .live, .read, .catchingUp: nil
    case .connecting: "a connection is being made"
    case .shared: "another program holds the connection"
    case .notAnswering: "the server does not answer"
    }
  }

  /// The words for the last line while no attempt is made any more, or while data are missing although there is
  /// a connection; empty otherwise.
  static func lastingText(_ state: AppState) -> String {
    if let limits = state.database.origin?.limits { return limits }
    guard let origin = state.database.origin, let reason = origin.reason,
      origin.link == .refused || origin.link == .shutDown
    else { return "" }
    let words = reason.hasSuffix(".") ? String(reason.dropLast()) : reason
    if origin.isShared { return words }
    return state.phrase(words, .linkRetry, "tries again")
  }
}

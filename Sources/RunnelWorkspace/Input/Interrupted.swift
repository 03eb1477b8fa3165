import RunnelTerminal

/// Typing that was interrupted, as this device was revoked meanwhile: what is still typed was meant as text, so it does
/// nothing until Enter, or a key that goes back, says that the reason was read.
enum Interrupted {
  /// Shows the reason; the keys that follow do nothing.
  static func begin(_ state: inout AppState, _ reason: String) {
    state.input.interruption = reason
    say(&state, reason)
  }

  /// Takes an event if an interruption was not read yet; returns whether it was taken.
  static func takes(_ state: inout AppState, _ event: InputEvent) -> Bool {
    guard let reason = state.input.interruption else { return false }
    switch event {
    case .resize, .focus, .reply: return false
    case .paste, .pasteTooLong, .mouse: break
    case .key(let stroke):
      if ends.contains(stroke) {
        state.input.interruption = nil
        state.say(.error, reason + AccountsScreen.signInHint(state, "signs in again"))
        return true
      }
    }
    say(&state, reason)
    return true
  }

  private static let ends =
    [KeyStroke(.enter), KeyStroke(.character("c"), control: true)]
    + KeySequenceMatcher.cancelStrokes

  private static func say(_ state: inout AppState, _ reason: String) {
    let text = reason.hasSuffix(".") ? String(reason.dropLast()) : reason
    state.say(.error, "\(text) · Enter goes on · the typed text is kept")
  }
}

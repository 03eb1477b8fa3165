import RunnelBase
package import RunnelTerminal

/// The most useful keys of the moment, for the line above the status.
///
/// Only commands that can run now are shown.
package struct Hints {
  /// The hints, the most useful first.
  package let all: [Hint]
  /// The hint for the help, which is never left out; nil if there is no help.
  package let help: Hint?

  init(_ state: AppState) {
    let hand = state.atHand
    let contexts = state.contexts(about: hand)
    let tables = contexts.compactMap { Commands.table($0) }
    let table = tables.first { $0.hints != nil }
    all = (table?.hints?(state, hand) ?? []).compactMap { hint in
      guard let keys = state.settings.keymap.firstKeys(for: hint.id, in: contexts),
        let command = tables.lazy.compactMap({ $0[hint.id] }).first,
        command.disabledReason(state) == nil
      else { return nil }
      return Hint(keys, hint.words ?? command.title)
    }
    help = table?.helpHint.flatMap { words in
      state.settings.keymap.firstKeys(for: .helpOpen, in: contexts).map { Hint($0, words) }
    }
  }
}

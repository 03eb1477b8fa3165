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

  /// Makes the hints of a state; `lookups` are those of earlier frames.
  init(_ state: AppState, _ lookups: HintLookups = HintLookups()) {
    let hand = state.atHand
    lookups.begin(state.contexts(about: hand), state.settings.keymap)
    let table = lookups.table
    all = (table?.hints?(state, hand) ?? []).compactMap { hint in
      guard let keys = lookups.keys(for: hint.id), let command = lookups.command(hint.id),
        command.disabledReason(state) == nil
      else { return nil }
      return Hint(keys, hint.words ?? command.title)
    }
    help = table?.helpHint.flatMap { words in
      lookups.keys(for: .helpOpen).map { Hint($0, words) }
    }
  }
}

/// The keys and commands of hints, looked up once while the contexts and the keymap stay the same.
///
/// It belongs to the thread that draws.
final class HintLookups {
  private var contexts: [KeymapContext] = []
  private var keymap: Keymap?
  private var tables: [CommandTable] = []
  private var keys: [ActionID: String?] = [:]
  private var commands: [ActionID: Command?] = [:]
  /// The innermost table that has hints; nil if none has.
  private(set) var table: CommandTable?

  /// Forgets what was looked up for other contexts, given innermost first, or another keymap.
  func begin(_ contexts: [KeymapContext], _ keymap: Keymap) {
    // An unchanged keymap shares its storage, so that the comparison costs nothing.
    if self.keymap == keymap, self.contexts == contexts { return }
    (self.contexts, self.keymap) = (contexts, keymap)
    tables = contexts.compactMap { Commands.table($0) }
    table = tables.first { $0.hints != nil }
    (keys, commands) = ([:], [:])
  }

  /// The notation of the first keys that reach an action; nil if none do.
  func keys(for action: ActionID) -> String? {
    if let known = keys[action] { return known }
    let found = keymap?.firstKeys(for: action, in: contexts)
    keys[action] = .some(found)
    return found
  }

  /// The command with an id; nil if there is none.
  func command(_ id: ActionID) -> Command? {
    if let known = commands[id] { return known }
    let found = tables.lazy.compactMap { $0[id] }.first
    commands[id] = .some(found)
    return found
  }
}

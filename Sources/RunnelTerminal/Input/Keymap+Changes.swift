/// New keys for an action, from a user's configuration.
///
/// A change for every context leaves characters to the text where text is typed: there, keys that
/// begin with one are left out.
package struct KeymapChange: Hashable, Sendable {
  /// The context of the new keys; nil for every context in which the action has keys.
  package var context: KeymapContext?
  /// The action.
  package var action: ActionID
  /// The new keys, each a sequence of strokes; none unbinds the action.
  package var sequences: [[KeyStroke]]

  /// Makes a change.
  package init(context: KeymapContext? = nil, action: ActionID, sequences: [[KeyStroke]]) {
    self.context = context
    self.action = action
    self.sequences = sequences
  }
}

extension Keymap {
  /// The keymap with changes applied; the last change of an action in a context counts.
  ///
  /// Each action keeps its contexts, its place in the table and its description. If a change gives
  /// keys to an action, other actions lose them in the same context and in inner ones, unless a
  /// change gave them the keys, too: `validate()` then reports the conflict. Changes of actions
  /// without a binding in their context are ignored. O(bindings) for each change.
  package func applying(_ changes: [KeymapChange]) -> Keymap {
    var homes: [Home: [[KeyStroke]]] = [:]
    let known = Set(bindings.map(Home.init))
    for change in changes {
      for home in known where home.action == change.action {
        if change.context == home.context {
          homes[home] = change.sequences
        } else if change.context == nil, let sequences = sequences(of: change, in: home.context) {
          homes[home] = sequences
        }
      }
    }
    var taken: [KeymapContext: Set<[KeyStroke]>] = [:]
    for (home, sequences) in homes {
      let contexts = innerContexts[home.context, default: []].union([home.context])
      for context in contexts { taken[context, default: []].formUnion(sequences) }
    }
    var done: Set<Home> = []
    let changed = bindings.flatMap { binding -> [KeyBinding] in
      let home = Home(binding)
      guard let sequences = homes[home] else {
        return taken[home.context]?.contains(binding.sequence) == true ? [] : [binding]
      }
      guard done.insert(home).inserted else { return [] }
      return sequences.map { sequence in
        var binding = binding
        binding.sequence = sequence
        return binding
      }
    }
    return Keymap(
      changed, countingContexts: countingContexts, innerContexts: innerContexts,
      typingContexts: typingContexts)
  }

  /// Returns the keys that a change for all contexts gives to its action in a context; nil if the
  /// action keeps its keys there, as all new ones are characters of texts.
  private func sequences(
    of change: KeymapChange, in context: KeymapContext
  ) -> [[KeyStroke]]? {
    guard typingContexts.contains(context), !change.sequences.isEmpty else {
      return change.sequences
    }
    let left = change.sequences.filter { $0.first?.isText != true }
    return left.isEmpty ? nil : left
  }

  /// An action and a context in which it has keys.
  private struct Home: Hashable {
    var context: KeymapContext
    var action: ActionID

    init(_ binding: KeyBinding) {
      context = binding.context
      action = binding.action
    }
  }
}

extension KeyStroke {
  /// Whether the key types a character in a text field.
  fileprivate var isText: Bool {
    if case .character = key { !control && !meta } else { false }
  }
}

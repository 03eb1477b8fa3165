package import RunnelTerminal

/// Names the keys of actions in the texts of a place, as the user's keymap has them.
package struct KeyText {
  package let keymap: Keymap
  /// Where the text stands, innermost first.
  let contexts: [KeymapContext]

  init(_ keymap: Keymap, _ contexts: [KeymapContext]) {
    self.keymap = keymap
    self.contexts = contexts
  }

  /// The first keys of an action; nil if it has none here.
  package func keys(_ action: ActionID) -> String? { keymap.firstKeys(for: action, in: contexts) }

  /// A separator, the keys of an action, and what they do: to stand behind other words; empty if the
  /// action has no keys here.
  func hint(_ action: ActionID, _ deed: String, after separator: String = " · ") -> String {
    keys(action).map { "\(separator)\($0) \(deed)" } ?? ""
  }

  /// A hint as it stands at the bottom of a form; nil if the action has no keys here.
  package func key(_ action: ActionID, _ words: String) -> Hint? {
    keys(action).map { Hint($0, words) }
  }
}

extension KeyText {
  /// The keys of lists.
  static func listKeys(_ state: AppState) -> KeyText {
    KeyText(state.settings.keymap, [.collection, .list, .global])
  }
  /// The keys of the tree.
  static func treeKeys(_ state: AppState) -> KeyText {
    KeyText(state.settings.keymap, [.tree, .list, .global])
  }
  /// The keys of a form.
  static func formKeys(_ state: AppState) -> KeyText {
    KeyText(state.settings.keymap, [.fields, .input, .textField])
  }
}

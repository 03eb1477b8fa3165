package import RunnelTerminal

/// Names the keys of actions in the texts of a place, according to the user's keymap.
package struct KeyText {
  package let keymap: Keymap
  /// The contexts of the place, innermost first.
  let contexts: [KeymapContext]

  init(_ keymap: Keymap, _ contexts: [KeymapContext]) {
    self.keymap = keymap
    self.contexts = contexts
  }

  /// Returns the first keys of an action, or nil if it has none here.
  package func keys(_ action: ActionID) -> String? { keymap.firstKeys(for: action, in: contexts) }

  /// Returns a separator, the keys of an action, and what they do, to follow other words; empty if
  /// the action has no keys here.
  func hint(_ action: ActionID, _ deed: String, after separator: String = " · ") -> String {
    keys(action).map { "\(separator)\($0) \(deed)" } ?? ""
  }

  /// Returns a hint for the bottom of a form, or nil if the action has no keys here.
  package func key(_ action: ActionID, _ words: String) -> Hint? {
    keys(action).map { Hint($0, words) }
  }
}

extension KeyText {
  /// The names of keys in lists.
  static func listKeys(_ state: AppState) -> KeyText {
    KeyText(state.settings.keymap, [.collection, .list, .global])
  }
  /// The names of keys in the tree.
  static func treeKeys(_ state: AppState) -> KeyText {
    KeyText(state.settings.keymap, [.tree, .list, .global])
  }
  /// The names of keys in what is in front.
  static func frontKeys(_ state: AppState) -> KeyText {
    switch state.tabs.front {
    case .tree: treeKeys(state)
    case .view: listKeys(state)
    }
  }
  /// The names of keys in forms.
  static func formKeys(_ state: AppState) -> KeyText {
    KeyText(state.settings.keymap, [.fields, .input, .textField])
  }
}

import RunnelTerminal

extension KeymapContext {
  /// The history of a place.
  static let history = KeymapContext("history")
}

extension ActionID {
  static let historyAll = ActionID("history.all")
  static let historyOpen = ActionID("history.open")
}

extension AppKeymap {
  /// What opens a history.
  static let histories: [Row] = [
    (["gh"], .historyOpen, "who wrote this, and what it was before"),
    (["gH"], .historyAll, "the history of the whole database"),
  ]

  /// What is done in one.
  static let history: [Row] = [
    (["Enter", "l", "Right"], .rowOpen, "show all of the write, or no longer"),
    (["h", "Left"], .stepBack, "go back"),
    (["gm"], .sectionMore, "read older writes"),
    (["u"], .editUndo, "take the write back, if it still stands"),
    (["C-r"], .editRedo, "redo what was undone"),
  ]
}

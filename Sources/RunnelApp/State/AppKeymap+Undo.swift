import RunnelTerminal

extension ActionID {
  static let editRedo = ActionID("edit.redo")
}

extension AppKeymap {
  /// What takes writes back, and does them again: wherever one is not typing.
  static let undoing: [Row] = [
    (["u"], .editUndo, "undo the last write"),
    (["C-r"], .editRedo, "redo what was undone"),
  ]
}

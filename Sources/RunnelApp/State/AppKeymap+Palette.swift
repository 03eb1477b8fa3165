import RunnelTerminal

// The keys of the palette and of menus.

extension KeymapContext {
  /// The palette.
  static let palette = KeymapContext("palette")
  /// A menu.
  static let menu = KeymapContext("menu")
}

extension ActionID {
  static let paletteOpen = ActionID("palette.open")
  static let rowActions = ActionID("row.actions")
}

extension AppKeymap {
  /// The palette and menus, and how they are opened.
  static let paletteBindings =
    bindings(.palette, palette + chosen) + bindings(.menu, menu + chosen)
    + bindings(.global, [([":", "M-x"], .paletteOpen, "do anything by its name")])
    + bindings(.collection, rowMenu) + bindings(.tree, rowMenu) + bindings(.record, rowMenu)

  private static let rowMenu: [Row] = [
    (["x"], .rowActions, "all that can be done with this row")
  ]

  private static let palette: [Row] = [
    (["Enter"], .inputAccept, "do what is selected"),
    (["Esc", "C-g", "C-c"], .inputCancel, "close the palette"),
    (["Tab"], .inputComplete, "complete to what is selected"),
    (["Up"], .inputPrevious, "what was done before, or up"),
    (["Down"], .inputNext, "what was done after, or down"),
  ]

  private static let menu: [Row] = [
    (["Enter"], .inputAccept, "choose"),
    (["Esc", "C-g", "C-c"], .inputCancel, "close the menu"),
    (["Up"], .inputPrevious, "up"),
    (["Down"], .inputNext, "down"),
  ]

  private static let chosen: [Row] = [
    (["C-n"], .rowDown, "down"),
    (["C-p"], .rowUp, "up"),
    (["PgDn"], .pageDown, "page down"),
    (["PgUp"], .pageUp, "page up"),
  ]
}

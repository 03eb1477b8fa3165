import RunnelTerminal

// The keys of the palette and of menus.

extension KeymapContext {
  /// The palette.
  static let palette = KeymapContext("palette")
  /// The last actions.
  static let debug = KeymapContext("debug")
  /// A menu.
  static let menu = KeymapContext("menu")
}

extension ActionID {
  static let paletteOpen = ActionID("palette.open")
  static let rowActions = ActionID("row.actions")
  static let columnMenu = ActionID("column.menu")
  static let columnWide = ActionID("column.wide")
  static let copyURL = ActionID("copy.url")
  static let linkOpen = ActionID("link.open")
  static let profileReadonly = ActionID("profile.readonly")
  static let recordDuplicate = ActionID("record.duplicate")
  static let refFollow = ActionID("ref.follow")
  static let sortMenu = ActionID("sort.menu")
}

extension AppKeymap {
  /// The palette and menus, and how they are opened.
  static let paletteBindings =
    bindings(.palette, palette + chosen) + bindings(.menu, menu + chosen)
    + bindings(.global, everywhere) + bindings(.collection, lists + rowMenu)
    + bindings(.tree, rowMenu) + bindings(.record, rowMenu + searching)
    + bindings(.debug, searching) + bindings(.history, searching)
    + bindings(.compare, searchingBesideWriting)
    + bindings(.queue, searching)

  private static let everywhere: [Row] = [
    ([":", "M-x"], .paletteOpen, "do anything by its name"),
    (["!"], .profileReadonly, "read-only on / off"),
  ]

  private static let lists: [Row] = [
    (["s"], .sortMenu, "sort the list"),
    (["w"], .columnWide, "columns in full, or fitted to the screen"),
    (["zw"], .columnMenu, "choose the columns"),
  ]

  private static let rowMenu: [Row] = [
    (["x"], .rowActions, "all that can be done with this row"),
    (["D"], .recordDuplicate, "duplicate"),
    (["o"], .linkOpen, "open the first link in the browser"),
    (["yu"], .copyURL, "copy the first link"),
    (["gd"], .refFollow, "go to the record that this refers to"),
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

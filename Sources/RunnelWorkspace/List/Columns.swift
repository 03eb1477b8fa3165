import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The columns of a list: which are shown, and whether they are cut.

extension ListScreen {
  /// Whether the columns have titles: not in a chat, which is written to at its live end, unless the column
  /// cursor is shown.
  var hasTitles: Bool { !isChat || look.cell != nil }

  private var isChat: Bool {
    definition.compose != nil
      && (arrangement.ownSource.anchor == .last) != arrangement.ownSource.isDescending
  }

  /// Returns up to `count` records of the list, in no order, including those that a filter hides.
  func someRecords(_ count: Int) -> [Record] {
    Array(records.values.prefix(count))
      + filtering.hidden.values.prefix(max(0, count - records.count))
  }

  /// The word for the format of a column in menus; empty for none.
  func formatWord(of column: ColumnDefinition) -> String {
    if column.format == .plain { return "" }
    guard column.format == .number, case .path(let path) = column.field,
      case .string? = example(of: path)
    else { return column.format.rawValue }
    return "number as text"
  }

  /// Whether all loaded rows are remembered: those that a filter hid while it searched are not.
  var remembersAllRows: Bool { records.count + filtering.hidden.count >= reach.loadedCount }
}

extension ListScreen {
  /// Hides a column.
  mutating func hide(_ column: Int) {
    look.hide(column, of: definition.columns[column].field)
  }
}

extension FieldPath {
  /// The name of the field in menus: as people read it, with the words `$key` and `$value`.
  var menuTitle: String { if case .path(let path) = self { path.shownText } else { text } }
}

/// Chooses the columns of a list.
enum Columns {
  /// Shows columns in full, or fits them to the screen again.
  static func toggleWide(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    guard !state.tabs.lists[view].look.isWide else {
      fit(&state)
      return state.say(.info, "columns are fitted to the screen")
    }
    let isTall = state.tabs.lists[view].look.rowLines != .one
    state.tabs.lists[view].look.showInFull()
    if isTall { FilterScreen.fitList(&state) }
    let moved = movedByWide(state)
    let last = moved.isEmpty ? "" : ", \(moved.joined(separator: ", ")) last"
    let keys = "\(state.keysOrName(.scrollRight)) and \(state.keysOrName(.scrollLeft))"
    state.say(.info, "columns are shown in full\(last): \(keys) scroll")
  }

  /// The titles of the columns that take the rest of the line, if others stand behind them: columns in
  /// full have a common beginning only before those.
  private static func movedByWide(_ state: AppState) -> [String] {
    guard let list = state.tabs.frontList else { return [] }
    let columns = list.shownDefinition.columns
      .filter { $0.minimumScreen <= state.size.columns }
    guard let first = columns.firstIndex(where: { $0.width == nil }),
      columns[first...].contains(where: { $0.width != nil })
    else { return [] }
    return columns.filter { $0.width == nil }.map(\.field.title)
  }

  /// Fits columns to the screen.
  static func fit(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    state.tabs.lists[view].look.fit()
    state.tabs.lists[view].list.scrollHorizontally(
      by: -state.tabs.lists[view].list.horizontalOffset)
  }

  static func openColumnMenu(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    state.input.matcher.reset()
    state.layers.append(
      .menu(
        MenuScreen(
          purpose: .columns(view: view),
          title: "Columns of \(state.tabs.lists[view].definition.name)",
          menu: MenuList(columnItems(state, ofView: view)))))
  }

  private static func columnItems(_ state: AppState, ofView view: Int) -> [MenuList.Item] {
    let screen = state.tabs.lists[view]
    let known = Set(screen.definition.columns.map(\.field))
    let shown = shown(state, inView: view)
    let others = addable(to: screen, showing: shown, state.database.coding).filter {
      !known.contains($0.field)
    }
    let columns = screen.definition.columns.enumerated().map { index, column in
      var notes: [String] = []
      let format = screen.formatWord(of: column)
      if !format.isEmpty { notes.append(format) }
      if !shown.contains(index), !screen.look.hiddenColumns.contains(index) {
        notes.append(
          column.minimumScreen > state.size.columns
            ? "from \(column.minimumScreen) columns" : "no room")
      }
      return MenuList.Item(
        id: "\(index)", title: "\(shown.contains(index) ? "[x]" : "[ ]") \(column.field.menuTitle)",
        note: notes.joined(separator: " · "))
    }
    let fields = others.map { column in
      MenuList.Item(
        id: newColumn + column.field.text, title: "[ ] \(column.field.menuTitle)",
        note: screen.formatWord(of: column))
    }
    return columns + fields
  }

  /// The prefix of the id of a menu item for a field that has no column yet.
  private static let newColumn = "+"

  /// Shows or hides a column, or makes one for a field without one; the menu stays open.
  static func toggle(_ state: inout AppState, column item: MenuList.Item, inView view: Int) {
    if item.id.hasPrefix(newColumn) {
      return makeColumn(&state, forField: String(item.id.dropFirst()), inView: view)
    }
    guard let column = Int(item.id) else { return }
    let shown = shown(state, inView: view)
    if shown == [column] { return state.say(.info, "one column stays") }
    if shown.contains(column) {
      state.tabs.lists[view].hide(column)
    } else {
      show(&state, column, inView: view)
    }
    refreshMenu(&state, ofView: view)
  }

  /// The columns of a list that are shown on the present screen, by their indices.
  static func shown(_ state: AppState, inView view: Int) -> Set<Int> {
    let text = RowText.rowText(state, of: state.tabs.lists[view], .ascii)
    return Set(text.shownColumns.map(\.index))
  }

  /// Shows a column, also on a screen that is narrower than it is for.
  static func show(_ state: inout AppState, _ column: Int, inView view: Int) {
    state.tabs.lists[view].look.unhide(column)
    if shown(state, inView: view).contains(column) { return }
    let field = state.tabs.lists[view].definition.columns[column].field
    state.tabs.lists[view].look.choose(field)
  }

  /// Makes the last column of a list.
  private static func makeColumn(
    _ state: inout AppState, forField field: String, inView view: Int
  ) {
    let screen = state.tabs.lists[view]
    let shown = shown(state, inView: view)
    guard
      let column = addable(to: screen, showing: shown, state.database.coding).first(where: {
        $0.field.text == field
      })
    else { return }
    let place = screen.definition.columns.count
    insert(&state, column, at: place, inView: view)
    refreshMenu(&state, ofView: view, selecting: "\(place)")
  }

  private static func refreshMenu(
    _ state: inout AppState, ofView view: Int, selecting id: String? = nil
  ) {
    guard case .menu(var screen)? = state.layers.last else { return }
    screen.menu.replaceItems(with: columnItems(state, ofView: view))
    if let id { screen.menu.select(id) }
    state.layers[state.layers.count - 1] = .menu(screen)
  }
}

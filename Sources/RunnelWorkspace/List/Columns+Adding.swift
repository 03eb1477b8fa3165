import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Adding a column: a hidden one, or one for a field that no column shows.

extension Columns {
  /// The number of records whose fields are offered.
  private static let sampleCount = 200

  /// The columns that can be added besides those that are shown, first those that the list has.
  static func addable(
    to screen: ListScreen, showing shown: Set<Int>, _ coding: ValueCoding
  ) -> [ColumnDefinition] {
    let columns = screen.definition.columns
    let hidden = columns.indices.filter { !shown.contains($0) }
    let known = Set(columns.map(\.field))
    let records = screen.someRecords(sampleCount).filter { !screen.isTransient($0) }
    let sample = records.compactMap(\.row.node).map(coding.sampled)
    var found = ViewInference.columns(ofFieldsIn: sample)
      .filter { !known.contains($0.field) }
    if !known.contains(.key) {
      found.append(ColumnDefinition(field: .key, width: 20, isMuted: true))
    }
    return hidden.map { columns[$0] } + found.sorted { $0.field.text < $1.field.text }
  }

  /// The reason why no column can be added to the list in front, or nil if one can.
  static func reasonNoneToAdd(_ state: AppState) -> String? {
    guard let view = state.tabs.front.view, let list = state.tabs.frontList else { return nil }
    return addable(
      to: list, showing: shown(state, inView: view), state.database.coding
    )
    .isEmpty
      ? "each field of the loaded rows has a column" : nil
  }

  /// Opens the menu of the columns that can be added.
  static func openAddMenu(_ state: inout AppState) {
    state.input.matcher.reset()
    guard let view = state.tabs.front.view, let screen = state.tabs.frontList else { return }
    let hidden = Set(screen.definition.columns.map(\.field))
    let columns = addable(
      to: screen, showing: shown(state, inView: view), state.database.coding)
    let items = columns.map { column in
      let format = screen.formatWord(of: column)
      return MenuList.Item(
        id: column.field.text, title: column.field.menuTitle,
        note: hidden.contains(column.field) ? "hidden" : format)
    }
    state.layers.append(
      .menu(
        MenuScreen(
          purpose: .addColumn(view: view),
          title: "Add a column to \(screen.definition.name)", menu: MenuList(items))))
  }

  /// Adds a column beside the one with the column cursor, which goes to it; a hidden one is shown in its
  /// place.
  static func add(_ state: inout AppState, column item: MenuList.Item, inView view: Int) {
    state.closeLayer()
    let screen = state.tabs.lists[view]
    let columns = screen.definition.columns
    let shown = shown(state, inView: view)
    let hidden = columns.indices.first {
      columns[$0].field.text == item.id && !shown.contains($0)
    }
    if let hidden {
      show(&state, hidden, inView: view)
      return state.tabs.lists[view].look.cell = hidden
    }
    guard
      let column = addable(to: screen, showing: shown, state.database.coding).first(where: {
        $0.field.text == item.id
      })
    else { return }
    let place = min((screen.look.cell ?? columns.count - 1) + 1, columns.count)
    insert(&state, column, at: place, inView: view)
    state.tabs.lists[view].look.cell = place
  }

  /// Inserts a column, and says how it is kept.
  static func insert(
    _ state: inout AppState, _ column: ColumnDefinition, at place: Int, inView view: Int
  ) {
    state.tabs.lists[view].definition.columns.insert(column, at: place)
    state.tabs.lists[view].look.insert(column.field, at: place)
    let keeping = state.files.viewsFile == nil ? "" : "; :save-view keeps it for the next time"
    state.say(.info, "\(column.field.title) is shown" + keeping)
  }
}

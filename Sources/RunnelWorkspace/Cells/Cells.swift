import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The column cursor of a list, and what is done with the column and the cell that it is on.
enum Cells {
  /// The greatest width of a column, in columns of the screen.
  private static let widthMax = 500
  /// The least width of a column.
  private static let widthMin = 2

  /// The columns on the screen, from the left.
  private static func shown(_ state: AppState) -> [RowText.ShownColumn] {
    guard let list = state.tabs.frontList else { return [] }
    return RowText.rowText(state, of: list, .unicode).shownColumns
  }

  /// The column with the cursor, and its place among the shown columns; nil if it is not shown.
  private static func column(
    _ state: AppState
  ) -> (place: Int, index: Int, column: ColumnDefinition)? {
    guard let list = state.tabs.frontList else { return nil }
    guard let cell = list.look.cell else { return nil }
    let shown = shown(state)
    return shown.firstIndex { $0.index == cell }.map { ($0, cell, shown[$0].column) }
  }

  /// Puts the column cursor on the first column; from a header, the cursor goes to a row.
  static func enter(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    guard let first = shown(state).first else { return }
    state.tabs.lists[view].look.cell = first.index
    stepOntoRow(&state)
  }

  /// Moves from the header of a section, where no cell is, to its first row, while the column cursor is shown.
  static func stepOntoRow(_ state: inout AppState) {
    guard let view = state.tabs.front.view, state.tabs.lists[view].look.cell != nil else { return }
    if case .header(let section)? = state.tabs.lists[view].list.cursor {
      state.withList { list, content, height in
        if !list.folded.contains(section), let row = content.firstRow(ofSection: section) {
          list.moveTo(.row(row), in: content, height: height)
        }
      }
    }
  }

  /// Moves the column cursor; it stops at both ends.
  static func move(_ state: inout AppState, by steps: Int) {
    guard let view = state.tabs.front.view else { return }
    let shown = shown(state)
    guard !shown.isEmpty else { return }
    // A column that is shown no more has no place: the cursor goes to the first one.
    let place = column(state).map { $0.place + steps } ?? 0
    state.tabs.lists[view].look.cell = shown[min(max(place, 0), shown.count - 1)].index
  }

  /// The reason why there is no column on a side of the cursor, or nil if there is one.
  static func reasonAtEnd(_ state: AppState, _ step: Int) -> String? {
    guard let place = column(state)?.place else { return nil }
    if shown(state).indices.contains(place + step) { return nil }
    return step > 0 ? "this is the last column" : "this is the first column"
  }

  /// The reason why the column cannot be hidden, or nil if it can.
  static func reasonNotHidden(_ state: AppState) -> String? {
    shown(state).count == 1 ? "one column stays" : nil
  }

  /// The reason why the column has no width to change, or nil if it has one.
  static func reasonNoWidth(_ state: AppState) -> String? {
    guard let column = column(state)?.column, column.width == nil,
      shown(state).count(where: { $0.column.width == nil }) == 1
    else { return nil }
    return "\(column.field.title) takes what is left of the line: change the others"
  }

  // MARK: The column

  /// Sorts by the column: ascending, descending, and then in the view's own order.
  static func sort(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    guard let column = column(state)?.column else { return }
    let field = column.field.rowField
    let order: ListOrder? =
      switch state.tabs.lists[view].arrangement.order {
      case ListOrder(field): ListOrder(field, isDescending: true)
      case ListOrder(field, isDescending: true): nil
      default: ListOrder(field)
      }
    Sorting.sort(&state, by: order, inView: view)
  }

  static func hide(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    guard let (place, index, column) = column(state) else { return }
    let shown = shown(state)
    state.tabs.lists[view].hide(index)
    state.tabs.lists[view].look.cell = shown[place == shown.count - 1 ? place - 1 : place + 1].index
    state.say(
      .info, state.phrase("\(column.field.title) is hidden", .columnMenu, "shows it again"))
  }

  /// Exchanges the column with a shown one beside it.
  static func moveColumn(_ state: inout AppState, by step: Int) {
    guard let view = state.tabs.front.view else { return }
    guard let (place, index, _) = column(state) else { return }
    let shown = shown(state)
    guard shown.indices.contains(place + step) else { return }
    let other = shown[place + step].index
    state.tabs.lists[view].definition.columns.swapAt(index, other)
    state.tabs.lists[view].look.cell = other
  }

  /// Changes the width of the column; a column that takes the rest of the line gets a width.
  static func widen(_ state: inout AppState, by change: Int) {
    guard let view = state.tabs.front.view else { return }
    guard let (place, index, column) = column(state) else { return }
    let rows = RowText.rowText(state, of: state.tabs.lists[view], .unicode)
    let source = state.tabs.lists[view].definition.source
    let titles = rows.titles(
      width: max(state.layout.body.width - 1, 0), orderedBy: source.order,
      isDescending: source.isDescending)
    let fixed = column.wideWidth == nil ? column.width : nil
    let width = (fixed ?? titles[place].width) + change
    state.tabs.lists[view].definition.columns[index].wideWidth = nil
    state.tabs.lists[view].definition.columns[index].width = min(max(width, widthMin), widthMax)
  }

  // MARK: The cell

  /// The value of the cell, and its column; nil on a header or a fetch-more row.
  private static func cell(_ state: AppState) -> (node: RunnelTree.Node, column: ColumnDefinition)?
  {
    guard let list = state.tabs.frontList else { return nil }
    guard let column = column(state)?.column, let record = list.cursorRecord else {
      return nil
    }
    return (column.field.node(key: record.row.key, record.row.node ?? .empty), column)
  }

  /// The reason why there is no cell to filter by, or nil if there is one.
  static func reasonNoValue(_ state: AppState) -> String? {
    guard let (node, column) = cell(state) else { return "this is no cell of a record" }
    if term(of: node, column, state.settings.local) == nil {
      return node.leaf == nil && !node.isEmpty
        ? "an object has no value to filter by" : "no filter can name this field"
    }
    return nil
  }

  /// Adds the value of the cell to the filter: only rows that have it are shown, or none of them; also the
  /// rows that are not loaded are searched.
  static func filter(_ state: inout AppState, isNegated: Bool) {
    guard let view = state.tabs.front.view else { return }
    guard let (node, column) = cell(state),
      let term = term(of: node, column, state.settings.local)
    else { return }
    let new = isNegated ? (term.hasPrefix("-") ? String(term.dropFirst()) : "-" + term) : term
    let before = state.tabs.lists[view].filtering.filter
    do throws(FilterError) {
      let added = try FilterScreen.filter(state, new)
      let rest = before.map { $0.text(withoutTermsReplacedBy: added) } ?? ""
      let filter = try FilterScreen.filter(state, rest.isEmpty ? new : rest + " " + new)
      if case .row(let id)? = state.tabs.lists[view].list.cursor {
        state.tabs.lists[view].goal.want(row: id)
      }
      state.trail.filters.add(filter.text)
      FilterScreen.showAndSearch(&state, filter)
    } catch {
      state.say(.warning, error.message)
    }
  }

  /// Returns the term of a filter that fits a value; nil if there is none.
  static func term(
    of node: RunnelTree.Node, _ column: ColumnDefinition, _ local: LocalTime
  ) -> String? {
    let name = FilterCompletion.quotedName(column.field.text)
    if node.isEmpty { return "-has:\(name)" }
    guard let leaf = node.leaf else { return nil }
    if [.date, .time, .age].contains(column.format), let time = StoredTime.moment(of: leaf) {
      return "\(name):\(local.civil(time).dateText)"
    }
    return "\(name):\(FilterCompletion.quoted(FieldKind.text(of: leaf.json)))"
  }

  /// The reason why the cell cannot be edited, or nil if it can.
  static func reasonNotEdited(_ state: AppState) -> String? {
    guard let list = state.tabs.frontList else { return nil }
    guard let column = column(state)?.column else { return "this is no cell of a record" }
    if column.field == .key { return "a key stays as it is: D makes a copy with another one" }
    if list.markCount > 0 { return state.reasonReadOnly }
    return ListCommands.reasonNoRecordEdited(state)
  }

  /// Whether Enter edits the cell: the cursor is on a record, and Enter does not go on fetching.
  private static func isEdited(_ state: AppState) -> Bool {
    guard let list = state.tabs.frontList else { return false }
    guard case .row(let id)? = list.list.cursor else { return false }
    return !ListScreen.isPlaceholder(id)
      && !ListScreen.goesOnFetching(state, after: state.input.count - 1)
  }

  /// The reason why Enter does nothing here, or nil if it does something.
  static func reasonNotOpened(_ state: AppState) -> String? {
    isEdited(state)
      ? reasonNotEdited(state) : ListCommands.reasonRowNotOpened(state, isGoingIn: false)
  }

  /// Edits the cell; on a fetch-more row it fetches rows, and on a header it folds.
  static func open(_ state: inout AppState) {
    if isEdited(state) { edit(&state) } else { ListScreen.openRow(&state) }
  }

  /// Edits the field of the cell, or that field of all marked rows.
  static func edit(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    guard let column = column(state)?.column else { return }
    let path: Path
    switch column.field {
    case .key: return
    case .value: path = .root
    case .path(let field): path = field
    }
    if state.tabs.lists[view].markCount > 0 { return BulkEdit.open(&state, field: path) }
    guard let record = state.tabs.lists[view].cursorRecord else { return }
    ListScreen.open(
      &state, record: record.path, .field(path, like: state.tabs.lists[view].example(of: path)),
      isCell: true)
  }
}

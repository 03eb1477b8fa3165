import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// Moves rows up and down in a list that is sorted by a field of numbers.
///
/// The moved row gets a number between those of its new neighbors: one field of one record is
/// written. Where there is no such number, all rows of the section get new numbers in one write.
enum Reordering {
  static let commands = [
    command(.rowMoveUp, "move up", "move the row up", -1, "M-Up [e"),
    command(
      .rowMoveDown, "move down", "move the row down", 1, "M-Down ]e"),
  ]

  private static func command(
    _ id: ActionID, _ title: String, _ help: String, _ direction: Int, _ keys: String
  ) -> Command {
    Command(
      id, title, help, keys: keys.split(separator: " ").map(String.init), needs: .record(.moving),
      disabled: { reasonNotMoved($0, direction) }
    ) { state, count in
      move(&state, by: direction * (count ?? 1))
    }
  }

  private static func reasonNotMoved(_ state: AppState, _ direction: Int) -> String? {
    do throws(Refusal) {
      _ = try RowMove(state, by: direction)
      return state.reasonReadOnly
    } catch {
      return error.message
    }
  }

  /// Moves the row under the cursor by a number of rows, up if negative, and at most to the end of
  /// its section.
  private static func move(_ state: inout AppState, by count: Int) {
    if state.refusesWriting() { return }
    do throws(Refusal) {
      let move = try RowMove(state, by: count)
      let requests = try BulkEdit.requests(
        state.database.resources, try move.numbers(), field: move.field)
      let record = move.record.path
      UndoHistory.joining("move \(record)", &state) { state in
        for request in requests { state.submit(.reorder(record), request) }
      }
    } catch {
      state.say(.info, error.message)
    }
  }
}

/// The way of a row to another place in its section.
struct RowMove {
  /// The greatest number of rows that get new numbers in one write.
  static let rowsMax = 10_000

  let record: Record
  /// The field that the list is sorted by.
  let field: Path
  private let screen: ListScreen
  private let rows: ListRows
  /// The rows of the section that are stored, by their indices.
  private let stored: Range<Int>
  /// The index of the row before and after the move.
  private let start: Int
  private let end: Int

  /// Finds the new place of the row under the cursor, `count` rows further down, or up if negative.
  ///
  /// O(log rows).
  init(_ state: AppState, by count: Int) throws(Refusal) {
    guard let screen = state.tabs.frontList, let record = screen.cursorRecord,
      let place = screen.content.indexPath(ofRow: Record.id(of: record.path))
    else { throw Refusal("move the cursor to a record first") }
    let order = screen.definition.source.order
    guard case .child(let field) = order, !screen.showsTimes(in: field) else {
      throw Refusal("sorted by \(order): s sorts by numbers")
    }
    (self.screen, self.record, self.field) = (screen, record, field)
    rows = screen.content.sections[place.section].rows
    stored = RowMove.stored(rows, screen)
    start = place.row
    end = min(max(start + count, stored.lowerBound), stored.upperBound - 1)
    if end == start {
      try RowMove.checkEnd(of: rows, stored, screen, atTop: count < 0)
      throw Refusal("this is the \(count < 0 ? "first" : "last") row here")
    }
    for index in [start, end] { _ = try number(at: index) }
  }

  /// Returns the indices of the rows that are neither fetch-more rows nor being saved.
  private static func stored(_ rows: ListRows, _ screen: ListScreen) -> Range<Int> {
    func isStored(_ id: String) -> Bool {
      screen.records[id].map { !screen.isTransient($0) } ?? false
    }
    let first = rows.firstIndex(where: isStored) ?? 0
    return first..<(rows.lastIndex(where: isStored) ?? first) + 1
  }

  /// Throws if rows may follow that are not loaded.
  private static func checkEnd(
    of rows: ListRows, _ stored: Range<Int>, _ screen: ListScreen, atTop: Bool
  ) throws(Refusal) {
    if screen.isComplete { return }
    let end = atTop ? rows.first : rows.last
    if screen.content.sections.count > 1 || ListScreen.isPlaceholder(end) {
      throw Refusal("the rows beyond are not loaded: gm fetches them")
    }
  }

  /// Returns the records to be written with their new numbers: the moved one, or where there is no
  /// room for it, all of the section whose numbers change.
  ///
  /// O(1), or O(rows of the section) if they get new numbers.
  func numbers() throws(Refusal) -> [(record: Path, value: JSONValue)] {
    let (before, after) = start < end ? (end, end + 1) : (end - 1, end)
    for index in [before, after] where !stored.contains(index) {
      try RowMove.checkEnd(of: rows, stored, screen, atTop: index == before)
    }
    if let between = try between(before, after) { return [(record.path, .number(between))] }
    return try spread()
  }

  /// Returns a number between those of two rows, of which one may be beyond an end; nil if there is
  /// none, or a row has no number.
  private func between(_ before: Int, _ after: Int) throws(Refusal) -> JSONNumber? {
    let isDescending = screen.definition.source.isDescending
    let (lower, upper) = isDescending ? (after, before) : (before, after)
    let low = stored.contains(lower) ? try number(at: lower) : nil
    let high = stored.contains(upper) ? try number(at: upper) : nil
    if stored.contains(lower), low == nil { return nil }
    if stored.contains(upper), high == nil { return nil }
    return OrderNumber.between(low, high)
  }

  /// Returns the number of a row in the field of the order, or nil if it has none there.
  private func number(at index: Int) throws(Refusal) -> JSONNumber? {
    switch screen.records[rows[index]]?.row.node?[field].json ?? .null {
    case .null: return nil
    case .number(let number): return number
    case .bool, .string, .array, .object:
      throw Refusal("`\(field.text)` does not hold numbers: s sorts by numbers")
    }
  }

  /// Returns new numbers for all rows of the section in their new order.
  private func spread() throws(Refusal) -> [(record: Path, value: JSONValue)] {
    guard screen.isComplete, screen.filtering.filter == nil, stored.count <= RowMove.rowsMax else {
      throw Refusal(
        "there is no number between those rows, and not all rows are shown to number them anew")
    }
    var order = Array(stored)
    order.insert(order.remove(at: start - stored.lowerBound), at: end - stored.lowerBound)
    if screen.definition.source.isDescending { order.reverse() }
    var changed: [(record: Path, value: JSONValue)] = []
    for (index, number) in zip(order, OrderNumber.spread(order.count)) {
      guard let record = screen.records[rows[index]], try self.number(at: index) != number else {
        continue
      }
      changed.append((record.path, .number(number)))
    }
    return changed
  }
}

extension ListScreen {
  /// Whether a column shows the numbers of a field as times.
  fileprivate func showsTimes(in field: Path) -> Bool {
    definition.columns.contains {
      $0.field == .path(field) && [.date, .time, .age].contains($0.format)
    }
  }
}

import RunnelBase
import RunnelStreams
import RunnelTree

/// The rows of a list whose records have moved, and still stand there under their former ids.
struct RowMoves: Hashable, Sendable {
  private var rows: [String: String] = [:]

  /// The rows that will come in their place.
  var coming: Set<String> { rows.isEmpty ? [] : Set(rows.values) }

  /// Whether no row has moved.
  var isEmpty: Bool { rows.isEmpty }

  mutating func note(_ old: String, as new: String) { rows[old] = new }

  /// Removes and returns the rows that are gone, with those that took their place.
  mutating func take(where isGone: (String) -> Bool) -> [(old: String, new: String)] {
    if rows.isEmpty { return [] }
    let gone = rows.filter { isGone($0.key) }
    for old in gone.keys { rows[old] = nil }
    return gone.map { ($0.key, $0.value) }
  }
}

extension MarkedList {
  /// Has the marks follow a row.
  mutating func moveMarks(from old: String, to new: String) {
    if marks.remove(old) != nil { marks.insert(new) }
    if rangeStart == old { rangeStart = new }
  }
}

extension ListScreen: RecordNaming {
  mutating func follow(_ moves: RecordMoves) {
    if let drillDown { self.drillDown?.record = moves.place(drillDown.record) }
    for (old, new) in moves.all {
      let (row, newRow) = (Record.id(of: old), Record.id(of: new))
      if hasRow(row) {
        passing.moves.note(row, as: newRow)
      } else {
        // A filter may hide it.
        moveMarks(from: row, to: newRow)
        if goal.wantedRow == row { goal.want(row: newRow) }
      }
    }
  }

  /// Has cursor and marks follow the rows that others took the place of.
  mutating func followMovedRows() {
    let records = records
    if passing.moves.isEmpty { return }
    for (old, new) in passing.moves.take(where: { records[$0] == nil }) {
      moveMarks(from: old, to: new)
      if goal.wantedRow == old || list.cursor == .row(old) { goal.want(row: new) }
    }
  }
}

extension TreeScreen: RecordNaming {
  mutating func follow(_ moves: RecordMoves) {
    for (old, new) in moves.all where lines[old.description] != nil {
      rowMoves.note(old.description, as: new.description)
    }
  }

  /// Has cursor and marks follow the lines that others took the place of; `cursor` is where it was before.
  mutating func followMovedLines(from cursor: ListItem?, height: Int) {
    let lines = lines
    for (old, new) in rowMoves.take(where: { lines[$0] == nil }) {
      moveMarks(from: old, to: new)
      if cursor == .row(old) { list.moveTo(.row(new), in: content, height: height) }
    }
  }
}

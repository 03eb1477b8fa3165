import RunnelBase
import RunnelStreams
import RunnelTree
import RunnelWorkspace

extension ViewStreams {
  /// Returns the row of another who is typing: it stands behind all rows in the order of the view.
  func typing(_ typing: TypingRow, now: Int64) -> Record? {
    guard let record = row(of: typing.value, key: typing.key, now: now) else { return nil }
    var row = record.row
    switch definition.source.order {
    // An order of several fields has no value behind all others.
    case .compound, .key: return record
    case .child, .value, .priority: row.value = .children
    }
    return Record(row, in: definition.source.path)
  }

  /// The rows that arrived; others who begin to type are none.
  func arrived(_ update: ListUpdate<Record>) -> Set<String> {
    update.arrived.filter { id in
      update.touched.first { $0.id == id }.map { !ListScreen.isTyping($0.row.key) } ?? true
    }
  }
}

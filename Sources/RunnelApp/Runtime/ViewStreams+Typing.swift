import RunnelBase
import RunnelStreams
import RunnelTree
import RunnelWorkspace

extension ViewStreams {
  /// Returns the row of what is composed or sent here.
  ///
  /// A service sets what orders its newest records, such as the time of creation: without that field, the row
  /// stands behind all rows, where the record will be.
  func own(_ json: JSONValue, key: String, now: Int64) -> Record? {
    guard let record = row(of: json, key: key, now: now) else { return nil }
    let isForServer =
      reach != nil && definition.source.anchor == .last && record.row.value == .null
    return isForServer ? behindAll(record) : record
  }

  /// Returns the row of another who is typing: it stands behind all rows in the order of the view.
  func typing(_ typing: TypingRow, now: Int64) -> Record? {
    row(of: typing.value, key: typing.key, now: now).map { behindAll($0) }
  }

  private func behindAll(_ record: Record) -> Record {
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

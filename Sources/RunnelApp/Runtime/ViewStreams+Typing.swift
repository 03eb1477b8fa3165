import RunnelBase
import RunnelStreams
import RunnelTree
import RunnelWorkspace

extension ViewStreams {
  /// Shows the records that are being sent, the one being composed, or nil, and others who are typing.
  func compose(
    _ json: JSONValue?, sending sent: [SentRecord], typing: [TypingRow] = [], now: Int64
  ) {
    var rows = sent.suffix(ListScreen.sentRowsMax).compactMap { record in
      own(record.value, key: ListScreen.sentKey(record.id), now: now)
    }
    if let json, let row = own(json, key: ListScreen.composeKey, now: now) { rows.append(row) }
    rows += typing.compactMap { self.typing($0, now: now) }
    transient.reset(rows)
  }

  func row(of json: JSONValue, key: String, now: Int64) -> Record? {
    // A record without a valid preview is not shown; the write itself reports the error.
    guard let node = try? Write.preview(json, now: now), !node.isEmpty else { return nil }
    let row = TreeRow(
      Child(key: RunnelTree.Key(unchecked: key), node: node), index: definition.source.order,
      detail: .full)
    return Record(row, in: definition.source.path)
  }

  /// Returns the row of what is composed or sent here.
  ///
  /// A service sets what orders its newest records, such as the time of creation: without that field, the row
  /// stands behind all rows, where the record will be.
  func own(_ json: JSONValue, key: String, now: Int64) -> Record? {
    guard let record = row(of: json, key: key, now: now) else { return nil }
    let isForServer =
      reach != nil && definition.source.putsNewLast && record.row.value == .null
    return isForServer ? behindAll(record) : record
  }

  /// Returns the row of another who is typing: it stands behind all rows in the order of the view.
  func typing(_ typing: TypingRow, now: Int64) -> Record? {
    row(of: typing.value, key: typing.key, now: now).map { behindAll($0) }
  }

  /// Shows those of the new records that wait for the server that the list holds, behind all rows: the server has
  /// not set the field that orders them.
  func show(_ records: WaitingRecords) {
    guard definition.source.putsNewLast, let request = try? definition.source.request() else {
      return
    }
    let children = records.children(of: definition.source.path)
    let rows = RowSlice(request.query).rows(among: children, detail: .full)
    waiting.records = rows.filter { $0.value == .null }
      .map { behindAll(Record($0, in: definition.source.path)) }
    waiting.show { [self] in wants($0) }
  }

  private func behindAll(_ record: Record) -> Record {
    guard definition.source.hasPlaceBehindAll else { return record }
    var row = record.row
    row.value = .children
    return Record(row, in: definition.source.path)
  }

  /// The rows that arrived; others who begin to type are none, nor is what waits for the server.
  func arrived(_ update: ListUpdate<Record>) -> Set<String> {
    update.arrived.filter { id in
      if waiting.stream.item(forID: id) != nil { return false }
      return update.touched.first { $0.id == id }.map { !ListScreen.isTyping($0.row.key) } ?? true
    }
  }
}

extension Write {
  /// Returns the node that a record would become if it were written now.
  fileprivate static func preview(_ json: JSONValue, now: Int64) throws -> RunnelTree.Node {
    let parts = try Write.set(.root, json).assignments(now: now, reader: MemoryTree())
    if case .node(let node)? = parts.first?.target { return node }
    return .empty
  }
}

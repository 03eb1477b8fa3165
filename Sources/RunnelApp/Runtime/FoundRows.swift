import RunnelBase
import RunnelStreams
import RunnelTree
import RunnelWorkspace

/// The rows that a search found among those that a list does not load.
///
/// They stand in the list at their places, and stay live: each is followed by a query of its own.
///
/// They belong to the runtime's thread.
final class FoundRows {
  /// The number of rows from which on no more are searched before these are dropped.
  static let countMax = 1000

  /// The rows, in the order of the list.
  let stream: TransientStream<Record>
  private let definition: SourceDefinition
  private let source: any TreeSource
  private var queries: [String: QueryStream<Record>] = [:]

  /// Creates the rows of a list, without any row.
  init(of definition: SourceDefinition, source: any TreeSource) {
    self.definition = definition
    self.source = source
    let isDescending = definition.isDescending
    stream = TransientStream(order: {
      isDescending ? Record.isOrdered($1, $0) : Record.isOrdered($0, $1)
    })
  }

  /// Whether there are so many rows that no more are to be added.
  var isFull: Bool { queries.count >= FoundRows.countMax }

  /// Adds rows, and follows them.
  func add(_ records: [Record]) {
    let new = records.filter { queries[$0.id] == nil }
    if new.isEmpty { return }
    stream.put(contentsOf: new)
    for record in new { follow(record) }
  }

  /// Drops all rows.
  func reset() {
    for query in queries.values { query.stop() }
    queries = [:]
    stream.reset()
  }

  /// Takes events of the queries.
  ///
  /// O(rows).
  func receive(_ events: [TreeEvent], from listener: ListenerID) {
    for query in queries.values { query.receive(events, from: listener) }
  }

  private func follow(_ record: Record) {
    let own = SourceDefinition(
      path: definition.path, page: 1, equalTo: .leaf(.string(record.row.key.text)))
    // A query for one key contradicts itself in no way; a row that is not followed is shown as it was.
    guard let query = try? ViewStreams.query(own, inOrderOf: definition, source: source) else {
      return
    }
    let id = record.id
    queries[id] = query
    _ = query.observe { [weak self, weak query] _ in
      guard let self, let query, query.loadState.showsRows else { return }
      if let record = query.items.first {
        stream.put(record)
      } else {
        stream.remove(id)
      }
    }
    query.start()
  }
}

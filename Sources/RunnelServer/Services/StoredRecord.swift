import RunnelBase
import RunnelServices
import RunnelTree

/// A record, and what is stored of it.
struct StoredRecord {
  var key: Key
  var stored: JSONValue
  var record: JSONValue

  init(_ key: Key, _ node: Node) {
    (self.key, stored) = (key, node.json)
    record = ServiceRecordCoding.record(key.text, stored, idField: ServedCollection.idField)
  }
}

/// The first records of an order, of all that are added in any order.
///
/// Where the order does not tell, the keys decide. Memory: twice the records that are wanted.
struct FirstRecords {
  private let order: RecordOrder
  private let max: Int
  private var records: [StoredRecord] = []
  /// The number of records that were added.
  private(set) var total = 0

  /// Makes an empty list of at most `max` records.
  init(_ order: RecordOrder, max: Int) { (self.order, self.max) = (order, max) }

  mutating func add(_ record: StoredRecord) {
    total += 1
    if max == 0 { return }
    records.append(record)
    if records.count / 2 > max { cut() }
  }

  /// Takes the records that were kept, in order.
  mutating func take() -> [StoredRecord] {
    cut()
    defer { records = [] }
    return records
  }

  private mutating func cut() {
    records.sort { left, right in
      let result = order.compare(left.record, right.record)
      return result == 0 ? left.key < right.key : result < 0
    }
    if records.count > max { records.removeLast(records.count - max) }
  }
}

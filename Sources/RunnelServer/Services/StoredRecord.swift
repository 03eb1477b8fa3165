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

  /// True if the id is the key, as text or as a number.
  var isNamedByKey: Bool {
    record[ServedCollection.idField].flatMap { ServiceID(json: $0) }
      == ServiceID(ServiceRecordCoding.name(of: key.text))
  }
}

/// The first records of an order, of all that are added in any order.
///
/// Where the order does not tell, the keys decide; ids that are the keys have the order of the keys.
/// Memory: twice the records that are wanted.
struct FirstRecords {
  /// A field of the order.
  private struct Part {
    var order: RecordOrder
    var isByID: Bool
    var isDescending: Bool
  }

  /// A record, and whether its id is the key, as far as that matters.
  private struct Entry {
    var record: StoredRecord
    var isNamedByKey: Bool
  }

  private let parts: [Part]
  private let max: Int
  private let isByID: Bool
  private var entries: [Entry] = []
  /// The number of records that were added.
  private(set) var total = 0

  /// Makes an empty list of at most `max` records.
  init(_ order: RecordOrder, max: Int) {
    parts = order.terms.filter { $0.direction != 0 }.map { term in
      Part(
        order: RecordOrder([term]), isByID: term.field == ServedCollection.idField,
        isDescending: term.direction < 0)
    }
    isByID = parts.contains(where: \.isByID)
    self.max = max
  }

  mutating func add(_ record: StoredRecord) {
    total += 1
    if max == 0 { return }
    entries.append(Entry(record: record, isNamedByKey: isByID && record.isNamedByKey))
    if entries.count / 2 > max { cut() }
  }

  /// Takes the records that were kept, in order.
  mutating func take() -> [StoredRecord] {
    cut()
    defer { entries = [] }
    return entries.map(\.record)
  }

  private mutating func cut() {
    entries.sort(by: isBefore)
    if entries.count > max { entries.removeLast(entries.count - max) }
  }

  private func isBefore(_ left: Entry, _ right: Entry) -> Bool {
    for part in parts {
      if part.isByID, left.isNamedByKey, right.isNamedByKey {
        let (low, high) = part.isDescending ? (right, left) : (left, right)
        return low.record.key < high.record.key
      }
      let result = part.order.compare(left.record.record, right.record.record)
      if result != 0 { return result < 0 }
    }
    return left.record.key < right.record.key
  }
}

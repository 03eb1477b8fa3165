import RunnelBase
import RunnelServices
import RunnelSync
import RunnelTree

/// Reads the records of a collection for a call of a service, one after the other.
///
/// Memory: one page of stored rows, and one record.
struct CollectionReader {
  /// The number of children that are read at once.
  static let rowsMax = 128

  private let place: Path
  private let bytesMax: Int
  private let allowance: TreeAllowance
  private var bytesLeft: Int

  init(_ place: Path, _ allowance: TreeAllowance) {
    (self.place, self.allowance) = (place, allowance)
    bytesMax = allowance.limits.serviceReadBytesMax
    bytesLeft = bytesMax
  }

  /// A limit on the rows of a slice.
  static func limit(_ count: Int, _ side: Query.Side) throws(TreeError) -> Query.Limit? {
    try Query(.root).limited(to: count, from: side).limit
  }

  /// Calls `body` with each record of a slice, in its order, until it returns false.
  ///
  /// - Throws: `TreeError` (`tooBig`) if more is read than a call may; the errors of `body`.
  /// - Returns: false if `body` did.
  @discardableResult
  mutating func forEach(
    in slice: RowSlice, _ transaction: some ServedTransaction,
    _ body: (StoredRecord) throws -> Bool
  ) throws -> Bool {
    var slice = slice
    slice.limit = try CollectionReader.limit(CollectionReader.rowsMax, .first)
    while true {
      let rows = try transaction.rows(of: place, in: slice, detail: .stored)
      for row in rows where try !body(record(row, transaction)) { return false }
      guard rows.count == CollectionReader.rowsMax, let last = rows.last else { return true }
      slice.start = Query.Bound(last.position, isInclusive: false)
    }
  }

  /// Calls `body` with each record of a slice of a plain index, from its end, until it returns false;
  /// records with the same value come in the order of their keys.
  ///
  /// - Throws: `TreeError` (`tooBig`) if more is read than a call may; the errors of `body`.
  /// - Returns: false if `body` did.
  mutating func forEachBackward(
    in slice: RowSlice, _ transaction: some ServedTransaction,
    _ body: (StoredRecord) throws -> Bool
  ) throws -> Bool {
    var slice = slice
    slice.limit = try CollectionReader.limit(CollectionReader.rowsMax, .last)
    while true {
      let rows = try transaction.rows(of: place, in: slice, detail: .stored)
      guard let lowest = rows.first?.value else { return true }
      let isLast = rows.count < CollectionReader.rowsMax
      var end = rows.endIndex
      while end > rows.startIndex {
        // The rows of one value; the lowest one may have more that were not read.
        let value = rows[end - 1].value
        if value == lowest, !isLast { break }
        let start = rows[..<end].lastIndex { $0.value != value }.map { $0 + 1 } ?? 0
        for row in rows[start..<end] where try !body(record(row, transaction)) { return false }
        end = start
      }
      if isLast { return true }
      let before = IndexPosition(value: lowest, key: .minimum)
      let behind = IndexPosition(value: lowest, key: .maximum)
      let group = RowSlice(
        index: slice.index, start: Query.Bound(before, isInclusive: true),
        end: Query.Bound(behind, isInclusive: true))
      if try !forEach(in: group, transaction, body) { return false }
      slice.end = Query.Bound(before, isInclusive: false)
    }
  }

  /// Calls `body` with each record of a slice, from its end, until it returns false; records with the same
  /// value come in the reverse order of their keys.
  ///
  /// - Throws: `TreeError` (`tooBig`) if more is read than a call may; the errors of `body`.
  /// - Returns: false if `body` did.
  @discardableResult
  mutating func forEachReversed(
    in slice: RowSlice, _ transaction: some ServedTransaction,
    _ body: (StoredRecord) throws -> Bool
  ) throws -> Bool {
    var slice = slice
    slice.limit = try CollectionReader.limit(CollectionReader.rowsMax, .last)
    while true {
      let rows = try transaction.rows(of: place, in: slice, detail: .stored)
      for row in rows.reversed() where try !body(record(row, transaction)) { return false }
      guard rows.count == CollectionReader.rowsMax, let first = rows.first else { return true }
      slice.end = Query.Bound(first.position, isInclusive: false)
    }
  }

  /// The record of a row.
  ///
  /// - Throws: `TreeError` (`tooBig`) if more is read than a call may.
  mutating func record(
    _ row: TreeRow, _ transaction: some ServedTransaction
  ) throws -> StoredRecord {
    if let node = row.node {
      let record = StoredRecord(row.key, node)
      try count(record.stored.byteCount)
      return record
    }
    // A large record: it is measured before it is read.
    let path = try place.child(row.key)
    var export = TreeExport(Query(path), form: .export)
    while let piece = try export.next(from: transaction) { try count(piece.count) }
    return StoredRecord(row.key, try transaction.node(at: path))
  }

  private mutating func count(_ bytes: Int) throws(TreeError) {
    bytesLeft -= bytes
    if bytesLeft >= 0 { return }
    allowance.reached(.serviceRead)
    throw TreeError(
      .tooBig,
      """
      What has to be read here has more than \(bytesMax) bytes, which is the most that a service reads: \
      ask by a field that has an index (.indexOn), or for fewer records.
      """,
      path: place.description)
  }
}

extension JSONValue {
  /// About the number of bytes of the value as JSON.
  fileprivate var byteCount: Int {
    switch self {
    case .null, .bool: 4
    case .number: 8
    case .string(let text): text.utf8.count + 2
    case .array(let elements): elements.reduce(2) { $0 + $1.byteCount + 1 }
    case .object(let members):
      members.reduce(2) { $0 + $1.name.utf8.count + $1.value.byteCount + 4 }
    }
  }
}

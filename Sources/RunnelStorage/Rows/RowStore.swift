package import RunnelTree

/// The rows in which trees are stored, within one transaction.
///
/// A tree is stored as *records*, which are subtrees small enough for one row, and *split nodes*,
/// whose children are rows of their own. A split node has a *head*, and *entries* by which its
/// children can be read in other orders than that of keys. Each store decides how to keep all this:
/// `StoredTree` uses this protocol only.
///
/// Every store gives rows in the order of their keys' bytes, and entries in the order of their values
/// and then of their keys. A method that calls a closure may be called again within that closure.
///
/// Isolation: used by one thread at a time, and not after the transaction.
///
/// Errors: `Damage` if the stored data is not what was written, and those of the storage.
package protocol RowStore: AnyObject {
  // MARK: Rows

  /// The content of a row; nil if there is no such row.
  func row(_ id: RowID) throws -> StoredRow?

  /// Calls `body` with the rows of a split node in a range of keys, until it returns false.
  ///
  /// The bytes are valid until `body` returns.
  func forEachRow(
    of split: Int64, in range: KeyRange, isDescending: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ content: RowContent) throws -> Bool
  ) throws

  /// The rows of a split node's children that are split nodes themselves, in the order of keys.
  func splitRows(of split: Int64) throws -> [RowID]

  /// The number of stored children of a split node.
  func rowCount(of split: Int64) throws -> Int

  /// Writes a row, in place of its old content.
  func put(_ stored: StoredRow, in row: RowID) throws

  /// Deletes a row; the rows of a split node in it stay.
  func deleteRow(_ id: RowID) throws

  // MARK: Split nodes

  /// The head of a split node; nil if it has none.
  func head(of split: Int64) throws -> SplitHead?

  /// The number of a new split node, which was never used before in this store.
  func newSplit() throws -> Int64

  /// Writes the head of a split node, which may be new.
  func put(_ head: SplitHead, of split: Int64) throws

  /// Adds to the number of children; a damaged head stays recognizable as damaged.
  func addChildren(_ difference: Int, to split: Int64) throws

  /// Deletes the rows, the entries and the head of a split node, but not the split nodes below it.
  func deleteSplit(_ split: Int64) throws

  // MARK: Entries

  /// True if a child of a split node has an entry in an order.
  func hasEntries(of split: Int64, in order: EntryOrder) throws -> Bool

  /// The number of children of a split node that have an entry in an order.
  func entryCount(of split: Int64, in order: EntryOrder) throws -> Int

  /// Adds the entry of a child in an order.
  func insertEntry(_ entry: RowEntry, of split: Int64, in order: EntryOrder) throws

  /// Deletes the entry of a child in an order.
  func deleteEntry(_ entry: RowEntry, of split: Int64, in order: EntryOrder) throws

  /// Calls `body` with the entries of a split node in a range of an order, and the content of each
  /// row (nil if there is none), until `body` returns false.
  ///
  /// The bytes are valid until `body` returns.
  func forEachEntry(
    of split: Int64, in order: EntryOrder, range: EntryRange, isDescending: Bool,
    _ body: (_ entry: EntryBytes, _ content: RowContent?) throws -> Bool
  ) throws

  // MARK: Checks

  /// Checks the rows next to one that was not found.
  ///
  /// - Throws: `Damage` if the content of one of them is not what was written.
  func checkNeighbors(of id: RowID) throws

  /// Checks that a row which was not found is looked for at the right place of the storage, whatever the
  /// content of the rows there.
  ///
  /// A store whose rows cannot be misplaced does nothing.
  ///
  /// - Throws: `Damage` if it is not.
  func checkPlace(of id: RowID) throws

  /// True if there is evidence of a tree although its root row may be missing: a row below the
  /// root, or a note elsewhere.
  func hasTraces(ofTree root: RowID) throws -> Bool

  /// The row that names a split node; nil if it is not known.
  ///
  /// O(n) in the rows if there is no index for this. It is used in error messages only.
  func name(of split: Int64) throws -> RowID?
}

extension RowStore {
  package func checkPlace(of id: RowID) throws {}
}

/// The head of a split node.
package struct SplitHead: Hashable {
  /// The number of children.
  package var children: Int
  package var priority: Leaf?

  package init(children: Int, priority: Leaf?) {
    self.children = children
    self.priority = priority
  }
}

/// The content of a row, in the store's memory.
package enum RowContent {
  case record(UnsafeBufferPointer<UInt8>)
  case split(Int64)

  /// A copy that stays valid.
  package var stored: StoredRow {
    switch self {
    case .record(let json): .record(Array(json))
    case .split(let split): .split(split)
    }
  }
}

/// A part of the keys of a split node's children, as their bytes.
package struct KeyRange {
  package struct Bound {
    package var key: [UInt8]
    package var isInclusive: Bool

    package init(key: [UInt8], isInclusive: Bool) {
      (self.key, self.isInclusive) = (key, isInclusive)
    }
  }

  package var lower: Bound?
  package var upper: Bound?
  /// The number of rows after which the reader will stop, as a hint; nil if it is not known.
  package var wantedCount: Int?

  /// The range of all keys.
  package static let all = KeyRange()

  private init() {}

  /// The range of keys between two bounds with the same value; nil if it is empty.
  init?(start: Query.Bound?, end: Query.Bound?) {
    switch start?.position.key {
    case .maximum: return nil
    case .key(let key):
      lower = Bound(key: OrderedBytes.key(key), isInclusive: start?.isInclusive ?? true)
    case .minimum, nil: break
    }
    switch end?.position.key {
    case .minimum: return nil
    case .key(let key):
      upper = Bound(key: OrderedBytes.key(key), isInclusive: end?.isInclusive ?? true)
    case .maximum, nil: break
    }
  }

  /// True if a key is in the range.
  package func contains(_ key: [UInt8]) -> Bool {
    if let lower, key.lexicographicallyPrecedes(lower.key) { return false }
    if let lower, !lower.isInclusive, key == lower.key { return false }
    if let upper, upper.key.lexicographicallyPrecedes(key) { return false }
    if let upper, !upper.isInclusive, key == upper.key { return false }
    return true
  }
}

// MARK: Entries

/// An order, other than that of keys, in which children of split nodes have entries.
package enum EntryOrder: Hashable {
  /// The order of priorities; a child without a priority has no entry.
  case priority
  /// The order of a declared index, by its number.
  case index(Int64)
}

/// The entry of a child in an order: the value that the order compares and the child's key, as
/// bytes.
package struct RowEntry: Hashable {
  package var value: [UInt8]
  package var key: [UInt8]

  package init(value: [UInt8], key: [UInt8]) {
    self.value = value
    self.key = key
  }

  /// True if this entry comes before another.
  package func precedes(_ other: RowEntry) -> Bool {
    value == other.value
      ? key.lexicographicallyPrecedes(other.key) : value.lexicographicallyPrecedes(other.value)
  }
}

/// An entry, in the store's memory.
package struct EntryBytes {
  package var value: UnsafeRawBufferPointer
  package var key: UnsafeRawBufferPointer

  package init(value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) {
    self.value = value
    self.key = key
  }
}

/// A range of entries in an order.
package struct EntryRange {
  /// An end of a range.
  package enum Bound {
    /// The range ends at a value; its entries belong to the range or not.
    case value([UInt8], isIncluded: Bool)
    /// The range ends at an entry, which belongs to the range or not.
    case entry(RowEntry, isIncluded: Bool)
  }

  package var lower: Bound?
  package var upper: Bound?
  /// The number of entries after which the reader will stop, as a hint; nil if it is not known.
  package var wantedCount: Int?

  /// The range of all entries.
  package static let all = EntryRange()

  private init() {}

  /// The entries between the ends of a slice.
  init(_ slice: RowSlice) {
    lower = slice.start.map { EntryRange.bound($0, isLower: true) }
    upper = slice.end.map { EntryRange.bound($0, isLower: false) }
    wantedCount = slice.wantedCount
  }

  private static func bound(_ bound: Query.Bound, isLower: Bool) -> Bound {
    let value = OrderedBytes.value(bound.position.value)
    switch bound.position.key {
    case .key(let key):
      return .entry(
        RowEntry(value: value, key: OrderedBytes.key(key)), isIncluded: bound.isInclusive)
    case .minimum, .maximum:
      // The key stands before all keys or after them: all entries of the value are on one side.
      return .value(value, isIncluded: (bound.position.key == .minimum) == isLower)
    }
  }

  /// True if an entry is in the range.
  package func contains(_ entry: RowEntry) -> Bool {
    switch lower {
    case .value(let value, let isIncluded):
      if entry.value.lexicographicallyPrecedes(value) { return false }
      if !isIncluded, entry.value == value { return false }
    case .entry(let bound, let isIncluded):
      if entry.precedes(bound) || (!isIncluded && entry == bound) { return false }
    case nil: break
    }
    switch upper {
    case .value(let value, let isIncluded):
      if value.lexicographicallyPrecedes(entry.value) { return false }
      if !isIncluded, entry.value == value { return false }
    case .entry(let bound, let isIncluded):
      if bound.precedes(entry) || (!isIncluded && entry == bound) { return false }
    case nil: break
    }
    return true
  }
}

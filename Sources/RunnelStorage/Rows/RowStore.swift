package import RunnelTree

/// The rows in which trees are stored, within one transaction.
///
/// A tree is stored as *records*, which are subtrees small enough for one row, and *split nodes*, whose
/// children are rows of their own. A split node has a *head*, and *entries* by which its children can be
/// read in other orders than that of keys. How all this is kept is the store's own matter:
/// `StoredTree` is written against this protocol alone.
///
/// Every store gives rows in the order of their keys' bytes, and entries in the order of their values
/// and then of their keys. A method that calls a closure may be called again within that closure.
///
/// Isolation: used by one thread at a time, and not after the transaction.
///
/// Errors: `Damage` if what is stored is not what was written, and those of the storage.
package protocol RowStore: AnyObject {
  // MARK: Rows

  /// What a row holds; nil if there is no such row.
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

  /// How many children of a split node are stored.
  func rowCount(of split: Int64) throws -> Int

  /// Writes a row, in place of what it held.
  func put(_ stored: StoredRow, in row: RowID) throws

  /// Deletes a row; what a split node in it has stays.
  func deleteRow(_ id: RowID) throws

  // MARK: Split nodes

  /// What a split node says of itself; nil if it has no head.
  func head(of split: Int64) throws -> SplitHead?

  /// The number of a new split node, which no other has or had in this store.
  func newSplit() throws -> Int64

  /// Writes the head of a split node, which may be new.
  func put(_ head: SplitHead, of split: Int64) throws

  /// Counts children that came, or went; a head that was damaged stays recognizable as such.
  func addChildren(_ difference: Int, to split: Int64) throws

  /// Deletes the rows, the entries and the head of a split node, but not the split nodes below it.
  func deleteSplit(_ split: Int64) throws

  // MARK: Entries

  /// True if a child of a split node has an entry in an order.
  func hasEntries(of split: Int64, in order: EntryOrder) throws -> Bool

  /// How many children of a split node have an entry in an order.
  func entryCount(of split: Int64, in order: EntryOrder) throws -> Int

  /// Adds the entry of a child in an order.
  func insertEntry(_ entry: RowEntry, of split: Int64, in order: EntryOrder) throws

  /// Deletes the entry of a child in an order.
  func deleteEntry(_ entry: RowEntry, of split: Int64, in order: EntryOrder) throws

  /// Calls `body` with the entries of a split node in a range of an order, and what the row of each
  /// holds (nil if it has none), until `body` returns false.
  ///
  /// The bytes are valid until `body` returns.
  func forEachEntry(
    of split: Int64, in order: EntryOrder, range: EntryRange, isDescending: Bool,
    _ body: (_ entry: EntryBytes, _ content: RowContent?) throws -> Bool
  ) throws

  // MARK: Checks

  /// Checks the rows between which one was not found.
  ///
  /// - Throws: `Damage` if one of them is not what was written.
  func checkNeighbors(of id: RowID) throws

  /// True if something shows that there is a tree with a root, though the root's row may be missing: a
  /// row below a root, or what is noted of this one elsewhere.
  func hasTraces(ofTree root: RowID) throws -> Bool

  /// The row that names a split node; nil if it is not known.
  ///
  /// O(n) in the rows where nothing leads upwards. It is used in error messages only.
  func name(of split: Int64) throws -> RowID?
}

/// What a split node says of itself.
package struct SplitHead: Hashable {
  /// How many children it has.
  package var children: Int
  package var priority: Leaf?

  package init(children: Int, priority: Leaf?) {
    self.children = children
    self.priority = priority
  }
}

/// What a row holds, where the store has it.
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
  }

  package var lower: Bound?
  package var upper: Bound?

  /// All keys.
  package static let all = KeyRange()

  private init() {}

  /// The keys that two bounds leave of those with one value; nil if they leave none.
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
  func contains(_ key: [UInt8]) -> Bool {
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

/// The entry of a child in an order: what the order compares of it, and the child's key, as bytes.
package struct RowEntry: Hashable {
  package var value: [UInt8]
  package var key: [UInt8]

  package init(value: [UInt8], key: [UInt8]) {
    self.value = value
    self.key = key
  }

  /// True if this entry comes before another.
  func precedes(_ other: RowEntry) -> Bool {
    value == other.value
      ? key.lexicographicallyPrecedes(other.key) : value.lexicographicallyPrecedes(other.value)
  }
}

/// An entry where the store has it.
package struct EntryBytes {
  package var value: UnsafeRawBufferPointer
  package var key: UnsafeRawBufferPointer

  package init(value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) {
    self.value = value
    self.key = key
  }
}

/// A part of the entries of an order.
package struct EntryRange {
  /// One end of the part.
  package enum Bound {
    /// The entries with the value belong to the part, or do not.
    case value([UInt8], isIncluded: Bool)
    /// The part ends at an entry, which belongs to it or does not.
    case entry(RowEntry, isIncluded: Bool)
  }

  package var lower: Bound?
  package var upper: Bound?

  /// All entries.
  package static let all = EntryRange()

  private init() {}

  /// The entries between the ends of a slice.
  init(_ slice: RowSlice) {
    lower = slice.start.map { EntryRange.bound($0, isLower: true) }
    upper = slice.end.map { EntryRange.bound($0, isLower: false) }
  }

  private static func bound(_ bound: Query.Bound, isLower: Bool) -> Bound {
    let value = OrderedBytes.value(bound.position.value)
    switch bound.position.key {
    case .key(let key):
      return .entry(
        RowEntry(value: value, key: OrderedBytes.key(key)), isIncluded: bound.isInclusive)
    case .minimum, .maximum:
      // Before all keys or after them: the value's own entries are on one side as a whole.
      return .value(value, isIncluded: (bound.position.key == .minimum) == isLower)
    }
  }

  /// True if an entry is in the part.
  func contains(_ entry: RowEntry) -> Bool {
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

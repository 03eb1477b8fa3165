package import RunnelTree

/// Where a stored child is: the split node above it, and its key's bytes.
package struct RowID: Hashable {
  package var parent: Int64
  package var key: [UInt8]

  /// The row of the whole tree.
  package static let root = RowID(parent: 0, key: [])
  /// The row of what an origin told, where the tree is a replica.
  package static let server = RowID(parent: 0, key: [0xFF])
  /// Where an import builds what it reads; the row is moved to its place in the same transaction.
  package static let detached = RowID(parent: -1, key: [])

  package init(parent: Int64, key: [UInt8]) {
    self.parent = parent
    self.key = key
  }

  package init(parent: Int64, _ key: Key) { self.init(parent: parent, key: OrderedBytes.key(key)) }
}

/// The rows that are known to be split nodes, within one transaction.
///
/// A row that is deleted or moved with a split node in it must be forgotten.
final class SplitMemo {
  private static let countMax = 1000
  private var known: [RowID: Int64] = [:]

  /// The split node in a row; nil if it is not known.
  subscript(row: RowID) -> Int64? { known[row] }

  func note(_ split: Int64, in row: RowID) {
    if known.count == SplitMemo.countMax { forgetAll() }
    known[row] = split
  }

  func forgetAll() { known = [:] }
}

/// What one row of `node` holds.
package enum StoredRow: Hashable {
  /// A subtree as JSON in the export format.
  case record([UInt8])
  /// A node whose children are rows of their own.
  case split(Int64)
}

/// Where a path leads in the stored tree.
package enum Location {
  /// Exactly to a row.
  case row(StoredRow)
  /// Into a record: to what stands at `rest` in it.
  case inside(record: [UInt8], rest: Path)
  /// Nowhere.
  case missing
}

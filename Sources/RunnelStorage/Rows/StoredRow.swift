package import RunnelTree

/// The identity of a stored child: the split node above it, and its key's bytes.
package struct RowID: Hashable {
  package var parent: Int64
  package var key: [UInt8]

  /// The row of the whole tree.
  package static let root = RowID(parent: 0, key: [])
  /// The row of the origin's tree on a replica.
  package static let server = RowID(parent: 0, key: [0xFF])
  /// The row under which an import builds its tree; it is moved to its place in the same
  /// transaction.
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

/// The content of one row of `node`.
package enum StoredRow: Hashable {
  /// A subtree as JSON in the export format.
  case record([UInt8])
  /// A node whose children are rows of their own.
  case split(Int64)
}

/// The location of a path in the stored tree.
package enum Location {
  /// The path leads to a row.
  case row(StoredRow)
  /// The path leads into a record: to the node at `rest` in it.
  case inside(record: [UInt8], rest: Path)
  /// The path leads to nothing.
  case missing
}

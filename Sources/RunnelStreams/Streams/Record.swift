public import RunnelTree

/// A row of the tree with its place: the item of streams that need no type of their own.
///
/// The key is that of the place, so that a row that two queries of a union find is one row. A copy
/// costs one reference count, whatever the row holds.
public struct Record: KeyedItem, Sendable {
  private final class Storage: Sendable {
    let path: Path
    let row: TreeRow
    let key: String

    init(path: Path, row: TreeRow, key: String) {
      self.path = path
      self.row = row
      self.key = key
    }
  }

  private let storage: Storage

  /// Makes a record of a row at a place.
  ///
  /// - Parameters:
  ///   - path: the place of the row itself, not of the collection it is in.
  ///   - row: what was read of it.
  public init(path: Path, row: TreeRow) {
    storage = Storage(path: path, row: row, key: Record.key(of: path))
  }

  /// Makes a record of a row of a collection.
  public init(_ row: TreeRow, in collection: Path) {
    self.init(row, in: collection, collectionKey: Record.key(of: collection))
  }

  /// Makes a record of a row of a collection whose key is known.
  init(_ row: TreeRow, in collection: Path, collectionKey: String) {
    let path = Path(unchecked: collection.keys + [row.key])
    let separator = collection.keys.isEmpty ? "" : "/"
    let key = collectionKey + separator + Record.escaped(row.key.text)
    storage = Storage(path: path, row: row, key: key)
  }

  /// Makes a record that stands for no place: what a stream keeps of a row whose item is of another
  /// type.
  init(placeless row: TreeRow) { storage = Storage(path: .root, row: row, key: "") }

  /// The place of the row itself.
  public var path: Path { storage.path }
  /// What was read of it.
  public var row: TreeRow {
    // Lent, not copied: most readers want one field of it.
    _read { yield storage.row }
  }
  /// True if the two were made as one and are surely equal.
  ///
  /// O(1).
  package func isIdentical(to other: Record) -> Bool { storage === other.storage }
  /// The identity: `Record.key(of: path)`.
  public var key: String { storage.key }

  /// The identity of the row at a place: the text of the path in ASCII.
  ///
  /// Bytes that are not ASCII, and `%`, are written as `%C3`. Two keys of the tree may be different
  /// and yet canonically equivalent, which texts of Swift do not tell apart.
  public static func key(of path: Path) -> String { escaped(path.description) }

  private static func escaped(_ text: String) -> String {
    let percent = UInt8(ascii: "%")
    if text.utf8.allSatisfy({ $0 < 0x80 && $0 != percent }) { return text }
    var key = ""
    for byte in text.utf8 {
      if byte < 0x80 && byte != percent {
        key.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        key += digits.utf8.count == 1 ? "%0" + digits : "%" + digits
      }
    }
    return key
  }
}

extension Record {
  /// What the place of the row in the order of its query begins with, as a number.
  ///
  /// O(1).
  var orderPrefix: Int { storage.row.orderPrefix }

  /// What was read of the row, without its place.
  var content: TreeRow.Content { storage.row.content }

  /// The key by which the tree knows the row.
  var treeKey: Key { storage.row.key }

  /// True if a row stands before another in the order of the query that both were read by.
  ///
  /// It reads the two fields where they are: a row is costly to copy.
  public static func isOrdered(_ left: Record, _ right: Record) -> Bool {
    let (a, b) = (left.storage, right.storage)
    if a.row.value < b.row.value { return true }
    return a.row.value == b.row.value && a.row.key < b.row.key
  }

  /// True if the record says of its row what the tree says.
  func says(_ row: TreeRow) -> Bool { storage.row == row }
}

extension Record: Hashable {
  /// True if both are the same row with the same content.
  public static func == (left: Record, right: Record) -> Bool {
    left.storage === right.storage || (left.path == right.path && left.row == right.row)
  }

  /// Hashes the place and the content.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(row)
  }
}

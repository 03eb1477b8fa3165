public import RunnelBase
public import RunnelTree

/// A row of the tree with its place: the item of streams without a type of their own.
///
/// The id is that of the place, so that a row that two queries of a union find is one row. A copy
/// costs one reference count, whatever the row contains.
public struct Record: PlacedItem, Sendable {
  private final class Storage: Sendable {
    let path: Path
    let row: TreeRow
    let id: String
    let hasPendingWrites: Bool

    init(path: Path, row: TreeRow, id: String, hasPendingWrites: Bool = false) {
      self.path = path
      self.row = row
      self.id = id
      self.hasPendingWrites = hasPendingWrites
    }
  }

  private let storage: Storage

  /// Makes a record of a row at a place.
  ///
  /// - Parameters:
  ///   - path: the place of the row itself, not of its collection.
  ///   - row: the row.
  public init(path: Path, row: TreeRow) {
    storage = Storage(path: path, row: row, id: Record.id(of: path))
  }

  /// Makes a record of a row of a collection.
  ///
  /// - Parameters:
  ///   - row: the row.
  ///   - collection: the place of the collection.
  ///   - hasPendingWrites: whether a write that the origin has not answered changes the row.
  public init(_ row: TreeRow, in collection: Path, hasPendingWrites: Bool = false) {
    self.init(
      row, in: collection, collectionID: Record.id(of: collection),
      hasPendingWrites: hasPendingWrites)
  }

  /// Makes a record that is not stored, for example a draft in a `TransientStream`.
  ///
  /// - Parameters:
  ///   - key: the key of the row.
  ///   - collection: the place of the collection.
  ///   - value: the content.
  /// - Throws: `TreeError` (`invalidKey` or `invalidValue`) if the tree would not take it.
  public init(key: String, in collection: Path, value: JSONValue) throws(TreeError) {
    let key = try Key(key)
    let node = try Node(json: value, at: Path(unchecked: collection.keys + [key]))
    let child = Child(key: key, node: node)
    self.init(TreeRow(child, index: .key, detail: .full), in: collection)
  }

  /// Makes a record of a row of a collection whose id is known.
  init(
    _ row: TreeRow, in collection: Path, collectionID: String, hasPendingWrites: Bool = false
  ) {
    let path = Path(unchecked: collection.keys + [row.key])
    let separator = collection.keys.isEmpty ? "" : "/"
    let id = collectionID + separator + Record.escaped(row.key.text)
    storage = Storage(path: path, row: row, id: id, hasPendingWrites: hasPendingWrites)
  }

  /// Makes a record without a place, for a row whose item is of another type.
  init(placeless row: TreeRow, hasPendingWrites: Bool) {
    storage = Storage(path: .root, row: row, id: "", hasPendingWrites: hasPendingWrites)
  }

  /// The place of the row itself.
  public var path: Path { storage.path }
  /// The row.
  public var row: TreeRow {
    // The row is lent, not copied, since most readers want one field of it.
    _read { yield storage.row }
  }
  /// True if a write that the origin has not answered changes the row; always false on a tree of its
  /// own.
  ///
  /// The streams of a `StreamSession` tell a row as changed when this changes.
  public var hasPendingWrites: Bool { storage.hasPendingWrites }
  /// True if both are copies of one record, and so equal.
  ///
  /// O(1).
  package func isIdentical(to other: Record) -> Bool { storage === other.storage }
  /// The key of the row in the tree.
  public var key: String { storage.row.key.text }
  /// The identity: `Record.id(of: path)`.
  public var id: String { storage.id }

  /// The identity of the row at a place: the text of the path in ASCII.
  ///
  /// Bytes that are not ASCII, and `%`, are escaped like `%C3`. Two different keys of the tree may
  /// be canonically equivalent, and Swift's strings would not distinguish them.
  public static func id(of path: Path) -> String { escaped(path.description) }

  private static func escaped(_ text: String) -> String {
    let percent = UInt8(ascii: "%")
    if text.utf8.allSatisfy({ $0 < 0x80 && $0 != percent }) { return text }
    var id = ""
    for byte in text.utf8 {
      if byte < 0x80 && byte != percent {
        id.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        id += digits.utf8.count == 1 ? "%0" + digits : "%" + digits
      }
    }
    return id
  }
}

extension Record {
  /// The order prefix of the row in its query.
  ///
  /// O(1).
  var orderPrefix: Int { storage.row.orderPrefix }

  /// The content of the row, without its place.
  var content: TreeRow.Content { storage.row.content }

  /// The key of the row in the tree.
  var treeKey: Key { storage.row.key }

  /// True if a row is before another in the order of the query that read both.
  ///
  /// It compares the fields in place, since copying a row is expensive.
  public static func isOrdered(_ left: Record, _ right: Record) -> Bool {
    let (a, b) = (left.storage, right.storage)
    if a.row.value < b.row.value { return true }
    return a.row.value == b.row.value && a.row.key < b.row.key
  }

  /// Returns whether the record equals a row of the tree.
  func says(_ row: TreeRow, hasPendingWrites: Bool) -> Bool {
    storage.hasPendingWrites == hasPendingWrites && storage.row == row
  }
}

extension Record: Hashable {
  /// True if both are the same row with the same content, and both or none are pending.
  public static func == (left: Record, right: Record) -> Bool {
    left.storage === right.storage
      || (left.path == right.path && left.hasPendingWrites == right.hasPendingWrites
        && left.row == right.row)
  }

  /// Hashes the place and the content.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(row)
  }
}

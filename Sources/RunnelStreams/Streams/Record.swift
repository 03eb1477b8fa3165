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

    init(path: Path, row: TreeRow) {
      self.path = path
      self.row = row
      key = Record.key(of: path)
    }
  }

  private let storage: Storage

  /// Makes a record of a row at a place.
  ///
  /// - Parameters:
  ///   - path: the place of the row itself, not of the collection it is in.
  ///   - row: what was read of it.
  public init(path: Path, row: TreeRow) { storage = Storage(path: path, row: row) }

  /// Makes a record of a row of a collection.
  public init(_ row: TreeRow, in collection: Path) {
    self.init(path: Path(unchecked: collection.keys + [row.key]), row: row)
  }

  /// The place of the row itself.
  public var path: Path { storage.path }
  /// What was read of it.
  public var row: TreeRow { storage.row }
  /// The identity: `Record.key(of: path)`.
  public var key: String { storage.key }

  /// The identity of the row at a place: the text of the path in ASCII.
  ///
  /// Bytes that are not ASCII, and `%`, are written as `%C3`. Two keys of the tree may be different
  /// and yet canonically equivalent, which texts of Swift do not tell apart.
  public static func key(of path: Path) -> String {
    let text = path.description
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

/// A place in the tree: the keys from the root down.
///
/// As text, keys are joined by `/`; empty pieces are dropped, so `//a///b/` is `/a/b`. A path has at
/// most 32 keys and 768 bytes.
///
/// Source: tree semantics, section 2.
public struct Path: Hashable, Sendable {
  /// The keys from the root down; empty for the root.
  public let keys: [Key]

  /// The place of the whole tree.
  public static let root = Path(unchecked: [])

  /// Makes a path from keys.
  ///
  /// - Throws: `TreeError` (`invalidPath`) if it is too deep or too long.
  public init(_ keys: [Key]) throws(TreeError) {
    self.keys = keys
    try checkLimits()
  }

  /// Reads a path from its text.
  ///
  /// - Throws: `TreeError` (`invalidKey` or `invalidPath`) that names the piece that is refused.
  public init(_ text: String) throws(TreeError) {
    var keys: [Key] = []
    for piece in Path.pieces(of: text) {
      do throws(TreeError) {
        keys.append(try Key(piece))
      } catch {
        throw TreeError(error.code, error.message, path: text)
      }
    }
    try self.init(keys)
  }

  /// Makes a path whose limits are known to hold.
  package init(unchecked keys: [Key]) { self.keys = keys }

  /// The pieces of a path's text that are not empty.
  ///
  /// It splits scalars, not characters: a slash and a combining mark after it are one character.
  package static func pieces(of text: String) -> [String] {
    text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
  }

  private func checkLimits() throws(TreeError) {
    if keys.count > TreeLimits.depthMax {
      throw TreeError(
        .invalidPath,
        "The path has \(keys.count) levels: \(TreeLimits.depthMax) are allowed. "
          + "Is there a cycle in the data?",
        path: description)
    }
    let bytes = keys.reduce(max(keys.count - 1, 0)) { $0 + $1.text.utf8.count }
    if bytes > TreeLimits.pathBytesMax {
      throw TreeError(
        .invalidPath, "The path has \(bytes) bytes: \(TreeLimits.pathBytesMax) are allowed.")
    }
  }
}

extension Path {
  /// True for the place of the whole tree.
  public var isRoot: Bool { keys.isEmpty }
  /// The last key; nil at the root.
  public var lastKey: Key? { keys.last }
  /// The place above; nil at the root.
  public var parent: Path? { isRoot ? nil : Path(unchecked: Array(keys.dropLast())) }

  /// The place of a child.
  ///
  /// - Throws: `TreeError` (`invalidPath`) if it would be too deep or too long.
  public func child(_ key: Key) throws(TreeError) -> Path { try Path(keys + [key]) }

  /// The place reached by a relative path from here.
  ///
  /// - Throws: `TreeError` (`invalidPath`) if it would be too deep or too long.
  public func appending(_ path: Path) throws(TreeError) -> Path { try Path(keys + path.keys) }

  /// True if `other` is this place or lies below it.
  public func contains(_ other: Path) -> Bool {
    keys.count <= other.keys.count && zip(keys, other.keys).allSatisfy(==)
  }

  /// The path from `ancestor` to here; nil if `ancestor` is neither this place nor above it.
  public func relative(to ancestor: Path) -> Path? {
    guard ancestor.contains(self) else { return nil }
    return Path(unchecked: Array(keys.dropFirst(ancestor.keys.count)))
  }
}

extension Path: Comparable {
  /// Orders by key after key, a place before those below it.
  ///
  /// Source: tree semantics, section 8.2.
  public static func < (left: Path, right: Path) -> Bool {
    left.keys.lexicographicallyPrecedes(right.keys)
  }
}

extension Path: CustomStringConvertible {
  /// The text form, with one leading `/`.
  public var description: String { "/" + keys.map(\.text).joined(separator: "/") }
}

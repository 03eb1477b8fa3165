/// A place in the tree: the keys from the root down.
///
/// As text, keys are joined by `/`; empty pieces are dropped, so `//a///b/` is `/a/b`. A path has at
/// most 32 keys and 768 bytes. The first key may be `.info`, the name of a tree that is read only; see
/// `ConnectionInfo`.
///
/// Source: tree semantics, sections 2 and 13.
public struct Path: Hashable, Sendable {
  /// The keys from the root down; empty for the root.
  public let keys: [Key]

  /// The place of the whole tree.
  public static let root = Path(unchecked: [])
  /// The place of the state of the connection.
  public static let info = Path(unchecked: [.info])

  /// Makes a path from keys.
  ///
  /// - Throws: `TreeError` (`invalidPath`) if it is too deep or too long.
  public init(_ keys: [Key]) throws(TreeError) {
    self.keys = keys
    try checkLimits()
  }

  /// Reads a path from its text.
  ///
  /// O(n) in the text.
  ///
  /// - Throws: `TreeError` (`invalidKey` or `invalidPath`) that names the refused piece. Of a text that
  ///   is longer than any path its `path` is the beginning.
  public init(_ text: String) throws(TreeError) {
    try Path.checkLength(of: text)
    var keys: [Key] = []
    for piece in Path.pieces(of: text) {
      do throws(TreeError) {
        let isInfo = keys.isEmpty && piece == Key.info.text
        keys.append(isInfo ? .info : try Key(piece))
      } catch {
        throw TreeError(error.code, error.message, path: Path.shown(text))
      }
    }
    try self.init(keys)
  }

  /// Makes a path that is known to be within the limits.
  package init(unchecked keys: [Key]) { self.keys = keys }

  /// The pieces of a path's text that are not empty.
  ///
  /// It splits scalars, not characters: a slash and a combining mark after it are one character.
  package static func pieces(of text: String) -> [String] {
    text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
  }

  private func checkLimits() throws(TreeError) {
    let reason = Path.refusal(depth: keys.count, bytes: Path.byteCount(of: keys))
    if let reason { throw TreeError(.invalidPath, reason, path: Path.shown(description)) }
    if keys.dropFirst().contains(.info) {
      throw TreeError(
        .invalidPath, "\(Key.info) is a place at the root only.", path: description)
    }
  }

  /// The most bytes of a text of which keys are made before its length is looked at, so that a key that
  /// is refused is named.
  private static let textBytesMax = 4096

  /// Refuses a text that is longer than any path, before pieces are made of it.
  ///
  /// O(n) in the text, in which it only counts.
  ///
  /// - Throws: `TreeError` (`invalidPath`), with the beginning of the text.
  package static func checkLength(of text: String) throws(TreeError) {
    if text.utf8.count <= textBytesMax { return }
    var (depth, bytes, isInKey) = (0, 0, false)
    for byte in text.utf8 {
      if byte == UInt8(ascii: "/") {
        isInKey = false
        continue
      }
      if !isInKey { depth += 1 }
      (bytes, isInKey) = (bytes + 1, true)
    }
    if let reason = refusal(depth: depth, bytes: bytes + max(depth - 1, 0)) {
      throw TreeError(.invalidPath, reason, path: shown(text))
    }
  }

  /// The text of a path as errors name it: the beginning of one that is longer than any path.
  private static func shown(_ text: String) -> String {
    if text.utf8.count <= TreeLimits.pathBytesMax { return text }
    return String(text.unicodeScalars.prefix(80)) + "..."
  }

  /// The bytes of a path with these keys; each separator counts as one.
  static func byteCount(of keys: [Key]) -> Int {
    keys.reduce(max(keys.count - 1, 0)) { $0 + $1.text.utf8.count }
  }

  /// The reason why a path cannot be so deep and long, or nil if it can.
  static func refusal(depth: Int, bytes: Int) -> String? {
    if depth > TreeLimits.depthMax {
      return "The path has \(depth) levels: \(TreeLimits.depthMax) are allowed."
    }
    if bytes > TreeLimits.pathBytesMax {
      return "The path has \(bytes) bytes: \(TreeLimits.pathBytesMax) are allowed."
    }
    return nil
  }
}

extension Path {
  /// True for the place of the whole tree.
  public var isRoot: Bool { keys.isEmpty }
  /// True for `/.info` and the places below it, which cannot be written.
  package var isInfo: Bool { keys.first == .info }
  /// The last key; nil at the root.
  public var lastKey: Key? { keys.last }
  /// The place above; nil at the root.
  public var parent: Path? { isRoot ? nil : Path(unchecked: Array(keys.dropLast())) }

  /// The place of a child.
  ///
  /// - Throws: `TreeError` (`invalidPath`) if it would be too deep or too long.
  public func child(_ key: Key) throws(TreeError) -> Path { try Path(keys + [key]) }

  /// The place of a child, or of what is below it, by the text of the relative path: `red`, `red/name`.
  ///
  /// - Throws: `TreeError` (`invalidKey` or `invalidPath`) if the text is no path, or the place would
  ///   be too deep or too long.
  public func child(_ path: String) throws(TreeError) -> Path { try appending(Path(path)) }

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

extension Path {
  /// Checks that the place may be written.
  ///
  /// Source: tree semantics, section 2.1.
  ///
  /// - Parameter function: the name of the writing function, for the error.
  /// - Throws: `TreeError` (`invalidPath`) at `/.info` and below.
  package func checkIsWritable(by function: String) throws(TreeError) {
    if isInfo {
      throw TreeError(
        .invalidPath, "\(function) failed = Can't modify data under /.info/", path: description)
    }
  }
}

extension Key {
  /// The key of the connection info tree; trees do not accept it as a key.
  static let info = Key(unchecked: ".info")
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

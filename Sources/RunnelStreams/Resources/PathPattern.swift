public import RunnelTree

/// Where the records of a resource stand: `/group_message/$group/@`.
///
/// As text it is pieces joined by `/`, of which the first may be empty:
/// - `@` is the key of the record. It may stand anywhere, and more than once: it is one key.
/// - `$name` is the key of the object that the context has under the name.
/// - Anything else is that key itself.
///
/// In a pattern without `@` the last piece gives the record its key, so that each context has one
/// record: `/message_like/$message/$user` is the like of one user.
///
/// Source: origins, section 2.1; several `@` are one key there only if the record has one already.
public struct PathPattern: Hashable, Sendable {
  /// One piece of a pattern.
  public enum Piece: Hashable, Sendable {
    /// The key of the record.
    case key
    /// The key of the context's object of this name.
    case name(String)
    /// This key.
    case literal(Key)
  }

  /// The pieces from the root down: at least one.
  public let pieces: [Piece]

  /// Reads a pattern from its text.
  ///
  /// - Throws: `ResourceError` (`invalidPattern`) that tells which piece is wrong.
  public init(_ text: String) throws(ResourceError) {
    var texts = text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
      .map(String.init)
    if texts.first == "" { texts.removeFirst() }
    if texts.isEmpty {
      throw PathPattern.error(text, "it is empty: write a path such as `/group/@`")
    }
    var pieces: [Piece] = []
    for (index, piece) in texts.enumerated() {
      do throws(TreeError) {
        pieces.append(try PathPattern.piece(piece))
      } catch {
        throw PathPattern.error(text, "piece \(index + 1) (`\(piece)`): \(error.message)")
      }
    }
    if pieces.count > TreeLimits.depthMax {
      throw PathPattern.error(
        text, "it has \(pieces.count) levels: \(TreeLimits.depthMax) are allowed")
    }
    self.pieces = pieces
  }

  /// Makes a pattern of pieces that are known to be allowed.
  init(pieces: [Piece]) { self.pieces = pieces }

  private static func piece(_ text: String) throws(TreeError) -> Piece {
    if text == "@" { return .key }
    guard let mark = text.unicodeScalars.first, mark == "@" || mark == "$" else {
      return .literal(try Key(text))
    }
    if mark == "@" {
      throw TreeError(.invalidPath, "`@` stands alone in a piece.")
    }
    return .name(try Key(String(text.unicodeScalars.dropFirst())).text)
  }

  private static func error(_ text: String, _ reason: String) -> ResourceError {
    ResourceError(
      .invalidPattern, "The pattern `\(text)` is wrong: \(reason).", pattern: text)
  }
}

// MARK: Parts

extension PathPattern {
  /// True if `@` is in it.
  public var hasKey: Bool { pieces.contains(.key) }

  /// The names in it, each once, in the order in which they come.
  public var names: [String] {
    var names: [String] = []
    for case .name(let name) in pieces where !names.contains(name) { names.append(name) }
    return names
  }

  /// The name that gives the record its key, where `@` is not in the pattern; nil if none does.
  public var keyName: String? {
    guard !hasKey, case .name(let name)? = pieces.last else { return nil }
    return name
  }

  /// The key that all records have, where the pattern has no `@` and ends in a key; nil otherwise.
  var lastLiteral: Key? {
    guard !hasKey, case .literal(let key)? = pieces.last else { return nil }
    return key
  }

  /// The pieces above the first that is the record's own: those of the place whose children are named
  /// by the keys of records.
  var collectionPieces: ArraySlice<Piece> {
    pieces[..<(pieces.firstIndex(of: .key) ?? pieces.count - 1)]
  }

  /// True if a path of one pattern may be a path of the other, or lie above or below it.
  func overlaps(_ other: PathPattern) -> Bool {
    zip(pieces, other.pieces).allSatisfy { pair in
      switch pair {
      case (.literal(let a), .literal(let b)): a == b
      default: true
      }
    }
  }
}

extension PathPattern: CustomStringConvertible {
  /// The text of the pattern, with one `/` at the front.
  public var description: String {
    pieces.map { piece in
      switch piece {
      case .key: "/@"
      case .name(let name): "/$" + name
      case .literal(let key): "/" + key.text
      }
    }.joined()
  }
}

// MARK: Places

extension PathPattern {
  /// The place of the record with a key.
  ///
  /// - Parameters:
  ///   - key: the record's key.
  ///   - names: what the names stand for.
  /// - Returns: the place.
  /// - Throws: `ResourceError` (`missingName` for a name that stands for nothing, `tree` if the path
  ///   would be too long).
  public func path(key: Key, names: [String: Key]) throws(ResourceError) -> Path {
    try path(of: pieces[...], key: key, names: names)
  }

  /// The place whose children are named by the keys of the records: the one above the first `@`, or
  /// above the last piece of a pattern without one.
  ///
  /// - Throws: `ResourceError` as `path(key:names:)`, for the names above it.
  ///
  /// Source: origins, section 2.7.
  public func collection(names: [String: Key]) throws(ResourceError) -> Path {
    try path(of: collectionPieces, key: nil, names: names)
  }

  private func path(
    of pieces: ArraySlice<Piece>, key: Key?, names: [String: Key]
  ) throws(ResourceError) -> Path {
    var keys: [Key] = []
    for piece in pieces {
      switch piece {
      case .literal(let literal): keys.append(literal)
      case .key:
        guard let key else { preconditionFailure("A collection is above the first `@`.") }
        keys.append(key)
      case .name(let name):
        guard let bound = names[name] ?? (name == keyName ? key : nil) else {
          throw ResourceError(
            .missingName,
            "The path \(self) needs `\(name)`, and the context has no object of this name: push one.",
            pattern: description, missing: name)
        }
        keys.append(bound)
      }
    }
    return try ResourceError.wrapping { () throws(TreeError) in try Path(keys) }
  }

  /// The key and the names that a place has in this pattern; nil if it is no place of the pattern.
  ///
  /// It is the opposite of `path(key:names:)`.
  public func match(_ path: Path) -> (key: Key, names: [String: Key])? {
    guard path.keys.count == pieces.count else { return nil }
    var key: Key?
    var names: [String: Key] = [:]
    for (piece, found) in zip(pieces, path.keys) {
      switch piece {
      case .literal(let literal): if literal != found { return nil }
      case .key:
        if let key, key != found { return nil }
        key = found
      case .name(let name):
        if let known = names[name], known != found { return nil }
        names[name] = found
      }
    }
    return (key ?? path.keys[path.keys.count - 1], names)
  }
}

package import RunnelTree

/// The places of a resource's records: `/group_message/$group/@`.
///
/// As text it consists of pieces joined by `/`, of which the first may be empty:
/// - `@` is the key of the record. It may occur anywhere, and several times: it is always the same
///   key.
/// - `$name` is the key of the context's object with this name.
/// - Anything else is a literal key.
///
/// In a pattern without `@` the last piece is the key of the record, so that each context has one
/// record: `/message_like/$message/$user` is the like of one user.
///
/// Source: origins, section 2.1; there several `@` are the same key only if the record has a key
/// already.
package struct PathPattern: Hashable, Sendable {
  /// A piece of a pattern.
  package enum Piece: Hashable, Sendable {
    /// The key of the record.
    case key
    /// The key of the context's object with this name.
    case name(String)
    /// A literal key.
    case literal(Key)
  }

  /// The pieces from the root down: at least one.
  package let pieces: [Piece]

  /// Reads a pattern from its text.
  ///
  /// - Throws: `ResourceError` (`invalidPattern`) that tells which piece is wrong.
  package init(_ text: String) throws(ResourceError) {
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

  /// Makes a pattern from pieces that are known to be valid.
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
    let end = reason.hasSuffix(".") ? "" : "."
    return ResourceError(
      .invalidPattern, "The pattern `\(text)` is wrong: \(reason)\(end)", pattern: text)
  }
}

// MARK: Parts

extension PathPattern {
  /// True if it contains `@`.
  package var hasKey: Bool { pieces.contains(.key) }

  /// The names in it, each once, in order.
  package var names: [String] {
    var names: [String] = []
    for case .name(let name) in pieces where !names.contains(name) { names.append(name) }
    return names
  }

  /// The name that gives the record its key in a pattern without `@`; nil if there is none.
  package var keyName: String? {
    guard !hasKey, case .name(let name)? = pieces.last else { return nil }
    return name
  }

  /// The literal key that ends a pattern without `@`, which all its records have; nil otherwise.
  var lastLiteral: Key? {
    guard !hasKey, case .literal(let key)? = pieces.last else { return nil }
    return key
  }

  /// The pieces before the record's own key: those of the place whose children have the keys of
  /// records.
  var collectionPieces: ArraySlice<Piece> {
    pieces[..<(pieces.firstIndex(of: .key) ?? pieces.count - 1)]
  }

  /// True if a place of one pattern can be equal to, above or below a place of the other.
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
  package var description: String {
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
  ///   - names: the keys that the names stand for.
  /// - Returns: the place.
  /// - Throws: `ResourceError` (`missingName` for a name without a key, `tree` if the path would be
  ///   too long).
  package func path(key: Key, names: [String: Key]) throws(ResourceError) -> Path {
    try path(of: pieces[...], key: key, names: names)
  }

  /// The place whose children have the keys of the records: the one above the first `@`, or above
  /// the last piece of a pattern without one.
  ///
  /// - Throws: `ResourceError` like `path(key:names:)`, for the names in the path of that place.
  ///
  /// Source: origins, section 2.7.
  package func collection(names: [String: Key]) throws(ResourceError) -> Path {
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

  /// The key and the names of a place in this pattern; nil if the pattern has no such place.
  ///
  /// It is the inverse of `path(key:names:)`.
  package func match(_ path: Path) -> (key: Key, names: [String: Key])? {
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

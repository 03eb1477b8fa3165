/// A declared index: an order, besides that of keys, in which the children of some places are kept.
public struct IndexDefinition: Hashable, Sendable {
  /// The places, as a path in which a piece that begins with `$` stands for any key.
  public let pattern: String
  /// The order that is kept; the key always ascends in it, and it is not the order by key.
  ///
  /// Read backwards, it serves the opposite order too.
  public let order: QueryIndex

  /// Makes a definition, for instance of `/group_message/$group` by `pinned`.
  ///
  /// The path below each child is empty for the child itself.
  public init(pattern: String, child: Path) {
    self.init(pattern: pattern, order: child.isRoot ? .value : .child(child))
  }

  /// Makes a definition from texts: of `/players` by `score`, of `/rooms/$room` by `pinned:desc,at`.
  ///
  /// - Parameters:
  ///   - pattern: the places, as a path in which a piece that begins with `$` stands for any key.
  ///   - components: the components of the order, as `SortKey.list` reads them.
  /// - Throws: `TreeError` (`invalidKey` or `invalidPath` if the pattern is none or a component no
  ///   field, `invalidQuery` if a component is refused, or the order needs no index).
  public init(_ pattern: String, by components: String) throws(TreeError) {
    try self.init(
      checkedPattern: pattern, serving: try QueryIndex(SortKey.list(components)))
  }

  /// Makes the definition that serves an order; nil for orders by key alone, which need none.
  public init?(pattern: String, serving order: QueryIndex) {
    if order.forward == .key { return nil }
    self.init(pattern: pattern, order: order.forward)
  }

  /// Makes the definition that serves an order, from a pattern that may be wrong.
  ///
  /// - Throws: `TreeError` (`invalidKey` or `invalidPath` if the pattern is invalid, `invalidQuery`
  ///   if the order needs no index).
  public init(checkedPattern pattern: String, serving order: QueryIndex) throws(TreeError) {
    var keys: [Key] = []
    try Path.checkLength(of: pattern)
    for piece in Path.pieces(of: pattern) {
      // A piece that stands for any key must be a key apart from its `$`, so that wildcards can be
      // told apart.
      let isAny = IndexDefinition.isAnyKey(piece)
      if isAny, piece.utf8.count == 1 {
        throw TreeError(
          .invalidKey, "`$` needs a name, such as `$room`: it stands for any key.", path: pattern)
      }
      keys.append(try Key(isAny ? String(piece.dropFirst()) : piece))
    }
    _ = try Path(keys)
    guard let definition = IndexDefinition(pattern: pattern, serving: order) else {
      throw TreeError(
        .invalidQuery, "An order by key needs no index: children are kept in it.", path: pattern)
    }
    self = definition
  }

  private init(pattern: String, order: QueryIndex) {
    self.pattern = "/" + Path.pieces(of: pattern).joined(separator: "/")
    self.order = order
  }

  /// The pattern piece by piece; nil stands for any key.
  package var pieces: [String?] {
    Path.pieces(of: pattern).map { IndexDefinition.isAnyKey($0) ? nil : $0 }
  }

  private static func isAnyKey(_ piece: String) -> Bool { piece.utf8.first == UInt8(ascii: "$") }
}

// MARK: In the file

extension IndexDefinition {
  /// The prefix of the components of an order in the file; no path begins with it.
  private static let mark = "#"

  /// The order as the column `child` has it: the path of a child, `/` for the child itself, and a
  /// mark with the components for any other order.
  package var storedOrder: String {
    switch order {
    case .value: Path.root.description
    case .child(let path): path.description
    case .key, .priority, .compound: IndexDefinition.mark + order.description
    }
  }

  /// Reads a definition from the file.
  ///
  /// - Throws: `TreeError` if the text is no definition.
  package init(pattern: String, storedOrder text: String) throws(TreeError) {
    guard text.hasPrefix(IndexDefinition.mark) else {
      self.init(pattern: pattern, child: try Path(text))
      return
    }
    let components = String(text.dropFirst(IndexDefinition.mark.count))
    let order = try QueryIndex(SortKey.storedList(components))
    guard let definition = IndexDefinition(pattern: pattern, serving: order) else {
      throw TreeError(.invalidQuery, "This order needs no index.", path: pattern)
    }
    self = definition
  }
}

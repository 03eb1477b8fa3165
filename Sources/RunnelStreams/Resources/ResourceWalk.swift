import RunnelTree

/// Visits the stored records of a resource, all of them or those of one owner, page by page.
///
/// It holds one page in memory. Only members that name their owner by a field are in memory at
/// once; an index finds them, if one is declared.
struct ResourceWalk<Reader: TreeReader> {
  private let definition: ResourceDefinition
  private let reader: Reader
  /// The known keys for names of the pattern.
  private let names: [String: Key]
  /// The field that must hold a key; nil for no condition.
  private let condition: (field: Key, key: Key)?

  /// Makes a walk over all records of a resource.
  init(_ definition: ResourceDefinition, _ reader: Reader) {
    self.definition = definition
    self.reader = reader
    names = [:]
    condition = nil
  }

  /// Makes a walk over the members of one owner.
  init(
    _ relation: ResourceRelation, of owner: ResourceIdentity, _ registry: ResourceRegistry,
    _ reader: Reader
  ) throws(ResourceError) {
    definition = try registry.definition(relation.member)
    self.reader = reader
    var names = owner.names
    // This name of the owner is its key, which the link gives; the member may use the name for
    // something else.
    if let keyName = try registry.definition(owner.resource).primary.keyName {
      names[keyName] = nil
    }
    switch relation.link {
    case .name(let name):
      names[name] = owner.key
      condition = nil
    case .field(let field): condition = (field, owner.key)
    }
    self.names = names
  }

  /// The pieces that are bound on the way down.
  private struct Place {
    var path: [Key] = []
    var key: Key?
    var names: [String: Key]
  }

  /// Calls `body` for each record, in key order, until it returns false.
  ///
  /// Returns false if it was stopped.
  @discardableResult
  func forEach(
    _ body: (ResourceIdentity, Node) throws(ResourceError) -> Bool
  ) throws(ResourceError) -> Bool {
    try descend(definition.primary.pieces[...], Place(names: names), body)
  }

  private func descend(
    _ pieces: ArraySlice<PathPattern.Piece>, _ place: Place,
    _ body: (ResourceIdentity, Node) throws(ResourceError) -> Bool
  ) throws(ResourceError) -> Bool {
    guard let piece = pieces.first else { return try visit(place, body) }
    let rest = pieces.dropFirst()
    if let key = bound(piece, place) {
      var below = place
      below.path.append(key)
      return try descend(rest, below, body)
    }
    if rest.isEmpty { return try visitChildren(piece, place, body) }
    var pages = KeyPages(Path(unchecked: place.path))
    while let rows = try page(&pages) {
      for row in rows {
        guard try descend(rest, bind(piece, row.key, place), body) else { return false }
      }
    }
    return true
  }

  /// The key for a piece, if it is known.
  private func bound(_ piece: PathPattern.Piece, _ place: Place) -> Key? {
    switch piece {
    case .literal(let key): key
    case .key: place.key
    case .name(let name): place.names[name]
    }
  }

  private func bind(_ piece: PathPattern.Piece, _ key: Key, _ place: Place) -> Place {
    var below = place
    below.path.append(key)
    switch piece {
    case .literal: break
    case .key: below.key = key
    case .name(let name): below.names[name] = key
    }
    return below
  }

  private func page(_ pages: inout KeyPages) throws(ResourceError) -> [TreeRow]? {
    do throws(TreeError) {
      return try pages.next(from: reader)
    } catch {
      throw ResourceError(error)
    }
  }

  // MARK: Records

  /// Visits the one record whose place is known.
  private func visit(
    _ place: Place, _ body: (ResourceIdentity, Node) throws(ResourceError) -> Bool
  ) throws(ResourceError) -> Bool {
    let path = Path(unchecked: place.path)
    let node = try ResourceError.wrapping { () throws(TreeError) in try reader.node(at: path) }
    return node.isEmpty ? true : try visit(path, node, body)
  }

  private func visit(
    _ path: Path, _ node: Node, _ body: (ResourceIdentity, Node) throws(ResourceError) -> Bool
  ) throws(ResourceError) -> Bool {
    if let condition, node.key(at: condition.field) != condition.key { return true }
    guard let identity = definition.identity(at: path) else { return true }
    return try body(identity, node)
  }

  /// Visits the children of a place, each of which is a record.
  private func visitChildren(
    _ piece: PathPattern.Piece, _ place: Place,
    _ body: (ResourceIdentity, Node) throws(ResourceError) -> Bool
  ) throws(ResourceError) -> Bool {
    let path = Path(unchecked: place.path)
    if let condition {
      let slice = ResourceWalk.slice(condition.field, condition.key)
      let rows = try ResourceError.wrapping { () throws(TreeError) in
        try reader.rows(of: path, in: slice, detail: .full)
      }
      return try visit(rows, at: place, body)
    }
    var pages = KeyPages(path, detail: .full)
    while let rows = try page(&pages) {
      guard try visit(rows, at: place, body) else { return false }
    }
    return true
  }

  private func visit(
    _ rows: [TreeRow], at place: Place,
    _ body: (ResourceIdentity, Node) throws(ResourceError) -> Bool
  ) throws(ResourceError) -> Bool {
    for row in rows {
      guard let node = row.node else { continue }
      let path = Path(unchecked: place.path + [row.key])
      guard try visit(path, node, body) else { return false }
    }
    return true
  }

  /// The children whose field holds a key.
  private static func slice(_ field: Key, _ key: Key) -> RowSlice {
    let value = IndexValue.leaf(.string(key.text))
    return RowSlice(
      index: .child(Path(unchecked: [field])),
      start: Query.Bound(IndexPosition(value: value, key: .minimum), isInclusive: true),
      end: Query.Bound(IndexPosition(value: value, key: .maximum), isInclusive: true))
  }
}

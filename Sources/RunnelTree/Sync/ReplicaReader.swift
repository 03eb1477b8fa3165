/// A reader of a replica's storage: with the pending writes that are shown, with all of them, or
/// with none.
struct ReplicaReader<Storage: ReplicaStorage>: TreeReader {
  /// The pending writes that are included.
  enum Writes {
    /// The writes that are shown; this is the tree that listeners see.
    case shown
    /// All writes, also hidden ones; increments add to the values of this tree.
    case all
    /// No writes: the origin's data alone.
    case none
  }

  let storage: Storage
  let book: ReplicaBook
  var writes = Writes.shown

  /// The stored tree that can be read directly, if no writes must be applied first.
  private var source: Writes {
    writes == .all && !book.hasHidden ? .shown : writes
  }

  func node(at path: Path) throws(TreeError) -> Node {
    switch source {
    case .shown: return try storage.node(at: path)
    case .none: return try storage.serverNode(at: path)
    case .all:
      return book.layered(
        onto: try storage.serverNode(at: path), at: path, includingHidden: true)
    }
  }

  func summary(at path: Path) throws(TreeError) -> NodeSummary {
    switch source {
    case .shown: try storage.summary(at: path)
    case .none: try storage.serverSummary(at: path)
    case .all: NodeSummary(try node(at: path))
    }
  }

  func row(
    _ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> TreeRow? {
    let node: Node
    switch source {
    case .shown: return try storage.row(key, of: path, in: slice, detail: detail)
    // One child is read, however many there are.
    case .none: node = try storage.serverNode(at: Path(unchecked: path.keys + [key]))
    case .all: node = try self.node(at: path)[key]
    }
    return node.isEmpty ? nil : slice.row(Child(key: key, node: node), detail: detail)
  }

  func rows(
    of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> [TreeRow] {
    if case .shown = source { return try storage.rows(of: path, in: slice, detail: detail) }
    return slice.rows(among: try node(at: path).children, detail: detail)
  }

  var hasOrigin: Bool { true }

  func knowledge(of query: Query) throws(TreeError) -> Knowledge {
    try book.knowledge(of: query, storage)
  }
}

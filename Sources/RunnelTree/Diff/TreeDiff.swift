/// Compares two stored trees, child by child: ask for the next difference until there is none.
///
/// Memory holds one page of rows for each level, and the subtrees that only one of the trees has.
/// The differences are those of `Node.differences(to:)`, in the same order.
public struct TreeDiff {
  /// A side of the comparison: one of the two trees, from a place downwards.
  public struct Side {
    fileprivate enum Source {
      case node(Node)
      case stored(any TreeReader, Path)
    }

    fileprivate let source: Source
    fileprivate let summary: NodeSummary

    /// A tree in memory.
    public init(_ node: Node) {
      source = .node(node)
      summary = NodeSummary(node)
    }

    /// A stored tree, from a place downwards.
    ///
    /// - Throws: `TreeError` (`storage`) if it cannot be read.
    public init(_ reader: any TreeReader, at path: Path) throws(TreeError) {
      source = .stored(reader, path)
      summary = try reader.summary(at: path)
    }

    fileprivate init(_ source: Source, _ summary: NodeSummary) {
      self.source = source
      self.summary = summary
    }

    fileprivate func node() throws(TreeError) -> Node {
      switch source {
      case .node(let node): node
      case .stored(let reader, let path): try reader.node(at: path)
      }
    }
  }

  /// The children of one side in key order, one by one.
  private struct Children {
    private var children: ArraySlice<Child> = []
    private var rows: ArraySlice<TreeRow> = []
    private var pages: KeyPages?
    private let source: Side.Source

    init(of side: Side) {
      source = side.source
      switch side.source {
      case .node(let node): children = node.children[...]
      case .stored(_, let path): pages = KeyPages(path)
      }
    }

    /// The key of the next child; nil after the last.
    mutating func nextKey() throws(TreeError) -> Key? {
      if case .stored(let reader, _) = source, rows.isEmpty {
        rows = try pages?.next(from: reader)?[...] ?? []
      }
      return children.first?.key ?? rows.first?.key
    }

    /// Takes the next child if it has this key; otherwise returns an empty node and takes nothing.
    mutating func take(_ key: Key) -> Side {
      if let child = children.first, child.key == key {
        children.removeFirst()
        return Side(child.node)
      }
      if case .stored(let reader, let path) = source, let row = rows.first, row.key == key {
        rows.removeFirst()
        let place = Path(unchecked: path.keys + [key])
        return Side(.stored(reader, place), row.summary)
      }
      return Side(.empty)
    }
  }

  /// A place that both trees have children at.
  private struct Level {
    let path: Path
    var old: Children
    var new: Children
  }

  private var start: (old: Side, new: Side)?
  private var levels: [Level] = []

  /// Begins to compare two trees.
  public init(from old: Side, to new: Side) { start = (old, new) }

  /// The next difference in path order; nil after the last.
  ///
  /// - Throws: `TreeError` (`storage`) if a tree cannot be read.
  public mutating func next() throws(TreeError) -> TreeDifference? {
    if let (old, new) = start {
      start = nil
      if let difference = try compare(old, new, at: .root) { return difference }
    }
    while let last = levels.indices.last {
      let keys = [try levels[last].old.nextKey(), try levels[last].new.nextKey()]
      guard let key = keys.compactMap({ $0 }).min() else {
        levels.removeLast()
        continue
      }
      let (old, new) = (levels[last].old.take(key), levels[last].new.take(key))
      let path = Path(unchecked: levels[last].path.keys + [key])
      if let difference = try compare(old, new, at: path) { return difference }
    }
    return nil
  }

  private mutating func compare(
    _ old: Side, _ new: Side, at path: Path
  ) throws(TreeError) -> TreeDifference? {
    if case .children = old.summary.kind, case .children = new.summary.kind {
      levels.append(Level(path: path, old: Children(of: old), new: Children(of: new)))
    }
    let change = try TreeDifference.change(
      from: old.summary, to: new.summary, old.node, new.node)
    return change.map { TreeDifference(path: path, change: $0) }
  }
}

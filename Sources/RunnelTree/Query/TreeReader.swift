/// A reader of a tree, as views use it: it reads the state after the write that they refresh for.
///
/// Memory depends on the watched windows, not on the tree: a view keeps the rows of its window, and
/// reads rows that enter.
public protocol TreeReader {
  /// The whole subtree at a place; empty if nothing is stored there.
  ///
  /// - Throws: `TreeError` (`storage`) if it cannot be read.
  func node(at path: Path) throws(TreeError) -> Node

  /// The kind and size of the node at a place, read in O(depth log n).
  ///
  /// - Throws: `TreeError` (`storage`) if it cannot be read.
  func summary(at path: Path) throws(TreeError) -> NodeSummary

  /// The child of a place with a key, if it belongs to a slice; the limit of the slice is ignored.
  ///
  /// - Throws: `TreeError` (`storage`) if it cannot be read.
  func row(
    _ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> TreeRow?

  /// The children of a place that lie in a slice of an order, in that order.
  ///
  /// A leaf and an empty place have none. With a filter and a limit, children are read in the order
  /// until enough have passed the filter.
  ///
  /// - Throws: `TreeError` (`storage`) if they cannot be read.
  func rows(
    of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> [TreeRow]

  /// True if the tree belongs to an origin, so that parts of it may be unknown.
  var hasOrigin: Bool { get }

  /// The knowledge about the children that a query asks for.
  ///
  /// - Throws: `TreeError` (`storage`) if it cannot be read.
  func knowledge(of query: Query) throws(TreeError) -> Knowledge
}

extension TreeReader {
  /// False: a tree has no origin unless it says otherwise.
  public var hasOrigin: Bool { false }

  /// Complete: everything is known in a tree without an origin.
  public func knowledge(of query: Query) -> Knowledge { .complete }
}

/// A part of the children of a place: those in a range of an order that pass a filter, up to a
/// limit that is counted from one side.
public struct RowSlice: Hashable, Sendable {
  /// The order.
  public var index: QueryIndex
  /// The lower end; nil if open.
  public var start: Query.Bound?
  /// The upper end; nil if open.
  public var end: Query.Bound?
  /// The limit on the number of rows, and the side from which they are counted; nil for none.
  public var limit: Query.Limit?
  /// The condition that each child meets; nil if there is none.
  public var filter: ChildPredicate?

  /// Makes a slice.
  public init(
    index: QueryIndex, start: Query.Bound? = nil, end: Query.Bound? = nil,
    limit: Query.Limit? = nil, filter: ChildPredicate? = nil
  ) {
    self.index = index
    self.start = start
    self.end = end
    self.limit = limit
    self.filter = filter
  }

  /// The slice that a query asks for.
  public init(_ query: Query) {
    self.init(
      index: query.index, start: query.start, end: query.end, limit: query.limit,
      filter: query.filter)
  }

  /// True if a position lies between the ends; limit and filter are ignored.
  public func contains(_ position: IndexPosition) -> Bool {
    if let start {
      if position < start.position { return false }
      if position == start.position, !start.isInclusive { return false }
    }
    if let end {
      if end.position < position { return false }
      if position == end.position, !end.isInclusive { return false }
    }
    return true
  }

  /// The row of a child, if it belongs to this slice; the limit is ignored.
  package func row(_ child: Child, detail: TreeRow.Detail) -> TreeRow? {
    let position = IndexPosition(value: index.value(of: child), key: .key(child.key))
    guard contains(position), filter?.holds(of: child) ?? true else { return nil }
    return TreeRow(child, index: index, detail: detail)
  }

  /// The rows of this slice among all children of a node, sorted and cut from scratch.
  ///
  /// O(n log n) in the children. It defines the result; every faster way is tested against it.
  public func rows(among children: [Child], detail: TreeRow.Detail) -> [TreeRow] {
    rows(
      among: children.filter { filter?.holds(of: $0) ?? true }
        .map { TreeRow($0, index: index, detail: detail) })
  }

  /// The rows of this slice among rows of its order that pass its filter.
  func rows(among rows: [TreeRow]) -> [TreeRow] {
    let rows = rows.filter { contains($0.position) }
      .sorted { $0.position < $1.position }
    guard let limit, rows.count > limit.count else { return rows }
    switch limit.side {
    case .first: return Array(rows.prefix(limit.count))
    case .last: return Array(rows.suffix(limit.count))
    }
  }
}

/// A tree in memory that computes every answer from scratch.
///
/// It serves small trees and is the oracle of the tests.
public struct MemoryTree: TreeReader, Hashable, Sendable {
  /// The whole tree.
  public var root: Node

  /// Makes a tree.
  public init(_ root: Node = .empty) { self.root = root }

  /// Carries out one part of a write.
  ///
  /// O(depth n) in the children on the way.
  package mutating func perform(_ assignment: Assignment) {
    root = assignment.target.applied(to: root, at: assignment.path)
  }

  /// The whole subtree at a place.
  public func node(at path: Path) throws(TreeError) -> Node { root[path] }

  /// The kind and size of the node at a place.
  public func summary(at path: Path) throws(TreeError) -> NodeSummary { NodeSummary(root[path]) }

  /// The child of a place with a key, if it belongs to a slice.
  public func row(
    _ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> TreeRow? {
    let node = root[path][key]
    return node.isEmpty ? nil : slice.row(Child(key: key, node: node), detail: detail)
  }

  /// The children of a place in a slice of an order.
  ///
  /// Complexity: O(n log n) in all children of the place.
  public func rows(
    of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> [TreeRow] {
    slice.rows(among: root[path].children, detail: detail)
  }
}

/// The windows of one place, found by what a write touched: it passes most of them by.
///
/// A window is reached by a child that it shows, or whose new position lies between its ends. So there
/// is a table of who shows which child, and a tree of the ends for each order.
///
/// It holds for the windows as they are: who changes one notes it, or makes the index anew.
struct WindowIndex: Sendable {
  /// What windows have in common that ask the same of a child.
  private struct Order: Hashable {
    var index: QueryIndex
    var filter: Predicate?
    var detail: TreeRow.Detail
  }

  private var trees: [(order: RowSlice, detail: TreeRow.Detail, tree: SliceTree)] = []
  /// The windows that show a child, ascending.
  private var holders: [Key: [Int]] = [:]
  /// The windows that any write reaches, for they ask for all there is.
  private var always: [Int] = []

  /// Makes the index of windows, which are named by their places among them.
  ///
  /// O(n log n) in the windows, O(rows) in what they show.
  init(_ views: some Sequence<View>) {
    var slices: [Order: [(slice: RowSlice, owner: Int)]] = [:]
    var orders: [Order] = []
    for (number, view) in views.enumerated() {
      for row in view.rows { holders[row.key, default: []].append(number) }
      if view.request.query.loadsAllData { always.append(number) }
      let order = Order(
        index: view.slice.index, filter: view.slice.filter, detail: view.request.detail)
      if slices[order] == nil { orders.append(order) }
      slices[order, default: []].append((view.slice, number))
    }
    trees = orders.map { order in
      let slice = RowSlice(index: order.index, filter: order.filter)
      return (slice, order.detail, SliceTree(slices[order] ?? []))
    }
  }

  /// The windows that a write of these children of `path` reaches, ascending, and maybe a few more.
  ///
  /// - Throws: `TreeError` (`storage`) if a child cannot be read.
  func windows(
    reachedBy keys: Set<Key>, of path: Path, _ reader: RowCache
  ) throws(TreeError) -> [Int] {
    var reached = Set(always)
    for key in keys {
      reached.formUnion(holders[key] ?? [])
      for (order, detail, tree) in trees {
        let position = try reader.position(of: key, at: path, in: order, detail: detail)
        guard let position else { continue }
        tree.forEachOwner(ofSliceAt: position) { reached.insert($0) }
      }
    }
    return reached.sorted()
  }

  /// Notes which children a window shows now that it did not, and the other way about.
  mutating func note(_ changes: View.Changes, of window: Int) {
    for row in changes.removed { holders[row.key]?.removeAll { $0 == window } }
    for row in changes.removed where holders[row.key]?.isEmpty == true { holders[row.key] = nil }
    for row in changes.added {
      let place = holders[row.key]?.firstIndex { $0 > window }
      holders[row.key, default: []].insert(window, at: place ?? holders[row.key]?.count ?? 0)
    }
  }

  /// Traps if the index is not that of these windows.
  ///
  /// O(rows); for tests.
  func checkInvariants(_ views: some Sequence<View>) {
    let other = WindowIndex(views)
    precondition(holders == other.holders, "It is known who shows which child.")
    precondition(always == other.always, "It is known who asks for all.")
    precondition(trees.map(\.order) == other.trees.map(\.order), "Every order has its tree.")
  }
}

/// An index of the windows of one place: it finds the few windows that a write concerns.
///
/// A child concerns a window that shows it, or whose ends enclose the child's new position. So
/// there is a table of the windows that show each child, and a tree of the windows' ends for each
/// order.
///
/// The index describes the current windows: code that changes a window notes the change here, or
/// makes the index anew.
struct WindowIndex: Sendable {
  /// The order, the filter and the detail of a window: windows with equal ones read equal rows.
  private struct Order: Hashable {
    var index: QueryIndex
    var filter: ChildPredicate?
    var detail: TreeRow.Detail
  }

  private var trees: [(order: RowSlice, detail: TreeRow.Detail, tree: SliceTree)] = []
  /// The windows that show each child, ascending.
  private var holders: [Key: [Int]] = [:]
  /// The windows that every write reaches, since they show all of the place.
  private var always: [Int] = []

  /// Makes the index of some windows, which are named by their indices in the sequence.
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

  /// The windows that a write to these children of `path` reaches, ascending, and maybe a few more.
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

  /// Notes the children that a window has begun or ceased to show.
  mutating func note(_ changes: View.Changes, of window: Int) {
    for row in changes.removed { holders[row.key]?.removeAll { $0 == window } }
    for row in changes.removed where holders[row.key]?.isEmpty == true { holders[row.key] = nil }
    for row in changes.added {
      let place = holders[row.key]?.firstIndex { $0 > window }
      holders[row.key, default: []].insert(window, at: place ?? holders[row.key]?.count ?? 0)
    }
  }

  /// Traps if the index does not describe these windows.
  ///
  /// O(rows); for tests.
  func checkInvariants(_ views: some Sequence<View>) {
    let other = WindowIndex(views)
    precondition(holders == other.holders, "It is known who shows which child.")
    precondition(always == other.always, "It is known who asks for all.")
    precondition(trees.map(\.order) == other.trees.map(\.order), "Every order has its tree.")
  }
}

import RunnelStreams

/// A tab of the workspace.
package enum Tab: Hashable, Sendable {
  /// A list, by its index, which stays the same while the workspace is open.
  case view(Int)
  /// The raw tree.
  case tree
}

/// The tabs: the views, followed by the tree; and behind the views the lists opened from rows, which
/// have no tab of their own.
package struct Tabs: Equatable, Sendable {
  /// The lists: those of the tabs, followed by those opened from rows.
  package var lists: [ListScreen]
  /// The views with parameters, each with the name of the view that it is opened from.
  package var templates: [ViewDefinition]
  /// The number of lists that have a tab.
  package let fixedCount: Int
  @Boxed package var tree = TreeScreen()
  /// The tab in front.
  package private(set) var active: Tab

  init(_ views: [ViewDefinition]) {
    lists = views.filter { !$0.hasParameters }.map { ListScreen($0) }
    templates = ViewDefinition.templates(in: views)
    fixedCount = lists.count
    active = lists.isEmpty ? .tree : .view(0)
  }

  /// Whether the tree is in front.
  package var isTree: Bool { active == .tree }

  /// The index of the tree, which follows those of the lists.
  var treeIndex: Int { lists.count }

  /// The index of the list or the tree in front.
  package var index: Int {
    get { if case .view(let view) = active { view } else { treeIndex } }
    set { active = newValue == treeIndex ? .tree : .view(newValue) }
  }

  /// The names of the tabs.
  package var names: [String] { lists.prefix(fixedCount).map(\.definition.name) + ["Tree"] }

  /// The list in front, or nil if the tree is in front.
  package var frontList: ListScreen? {
    if case .view(let view) = active { lists[view] } else { nil }
  }

  /// Changes the list in front, if there is one.
  mutating func changeFrontList(_ body: (inout ListScreen) -> Void) {
    if case .view(let view) = active { body(&lists[view]) }
  }

  /// The list in front, where it is known that the tree is not; elsewhere, use `frontList`.
  ///
  /// - Precondition: the tree is not in front.
  package var front: ListScreen {
    _read { yield lists[index] }
    _modify { yield &lists[index] }
  }
}

extension Tabs {
  /// Whether the screen shows that rows are being fetched.
  package var isWaiting: Bool {
    guard let list = frontList else {
      return tree.expanded.values.contains { $0.phase == .loading || $0.paging == .fetching }
    }
    return list.reach.phase == .loading || list.reach.isFetching
  }
}

/// A tab of the workspace.
package enum Tab: Hashable, Sendable {
  /// A view, by its index, which stays the same while the workspace is open.
  case view(Int)
  /// The raw tree.
  case tree
}

/// The tabs: the views, followed by the tree.
package struct Tabs: Equatable, Sendable {
  /// The views.
  package var lists: [ListScreen]
  package var tree = TreeScreen()
  /// The tab in front.
  package private(set) var active: Tab

  init(_ views: [ViewDefinition]) {
    lists = views.map { ListScreen($0) }
    active = views.isEmpty ? .tree : .view(0)
  }

  /// Whether the tree is in front.
  package var isTree: Bool { active == .tree }

  /// The index of the tree's tab.
  var treeIndex: Int { lists.count }

  /// The index of the tab in front.
  package var index: Int {
    get { if case .view(let view) = active { view } else { treeIndex } }
    set { active = newValue == treeIndex ? .tree : .view(newValue) }
  }

  /// The names of the tabs.
  package var names: [String] { lists.map(\.definition.name) + ["Tree"] }

  /// The view in front.
  ///
  /// - Precondition: the tree is not in front.
  package var front: ListScreen {
    _read { yield lists[index] }
    _modify { yield &lists[index] }
  }
}

import RunnelStreams

/// A tab of the workspace, or a list without one: it names what is in front, and stays the same while the
/// workspace is open.
package enum Tab: Hashable, Sendable {
  /// A list, by its index.
  case view(Int)
  /// The raw tree.
  case tree

  /// The index of the list, or nil for the tree.
  package var view: Int? { if case .view(let view) = self { view } else { nil } }
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
  /// What is in front.
  package private(set) var front: Tab

  init(_ views: [ViewDefinition]) {
    lists = views.filter { !$0.hasParameters }.map { ListScreen($0) }
    templates = ViewDefinition.templates(in: views)
    fixedCount = lists.count
    front = lists.isEmpty ? .tree : .view(0)
  }

  /// The names of the tabs.
  package var names: [String] { lists.prefix(fixedCount).map(\.definition.name) + ["Tree"] }

  /// The list in front, or nil if the tree is in front.
  package var frontList: ListScreen? { front.view.map { lists[$0] } }

  /// Changes the list in front, if there is one.
  mutating func changeFrontList(_ body: (inout ListScreen) -> Void) {
    if let view = front.view { body(&lists[view]) }
  }

  /// Returns whether a list or the tree is there.
  func has(_ tab: Tab) -> Bool { tab.view.map(lists.indices.contains) ?? true }

  /// Brings a list or the tree in front.
  mutating func bring(_ tab: Tab) { front = tab }
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

/// The tabs in which a command can run.
enum TabScope: Sendable {
  case any
  /// Lists only; the reason is told in the tree.
  case lists(else: String)

  /// The reason why the command cannot run in front, or nil if it can.
  func reason(_ state: AppState) -> String? {
    switch (self, state.tabs.front) {
    case (.lists(let reason), .tree): reason
    case (.lists, .view), (.any, _): nil
    }
  }
}

import RunnelBase
import RunnelStreams
package import RunnelTree

/// The row for which a list was opened: the list shows a view with parameters.
package struct DrillDown: Hashable, Sendable {
  /// The greatest number of such lists that are open at once.
  package static let listsMax = 20

  /// The keys of the parameters.
  package var keys: [String: Key]
  /// The index of the list above, from whose row it was opened.
  package var parent: Int
  /// The row.
  package var record: Path
  /// The row in words.
  package var title: String
  /// When the list was shown last, as the number of commands until then.
  var shownAt: Int
}

extension Tabs {
  /// The lists above a list, the outermost first, and the list itself.
  ///
  /// O(depth).
  func chain(to index: Int) -> [Int] {
    var chain = [index]
    while let parent = lists[chain[0]].drillDown?.parent, !chain.contains(parent) {
      chain.insert(parent, at: 0)
    }
    return chain
  }

  /// The place of a list or the tree in the tab bar: a list that was opened from a row belongs to the tab
  /// of that row.
  func position(of tab: Tab) -> Int {
    switch tab {
    case .view(let view): chain(to: view)[0]
    case .tree: fixedCount
    }
  }

  /// The place in the tab bar of what is in front.
  package var position: Int { position(of: front) }

  /// Returns the tab with a place in the tab bar.
  package func tab(atPosition position: Int) -> Tab {
    position == fixedCount ? .tree : .view(position)
  }

  /// Returns whether a list or the tree has a tab of its own.
  func hasPosition(_ tab: Tab) -> Bool { tab.view.map { $0 < fixedCount } ?? true }

  /// The name of a list or the tree.
  func name(of tab: Tab) -> String { tab.view.map { lists[$0].definition.name } ?? "Tree" }

  /// The views that are opened from a row of the list, with the parameters of the list bound; Enter
  /// opens the first.
  func viewsBelow(_ index: Int) -> [ViewDefinition] {
    let list = lists[index]
    let views = templates.filter { $0.from == list.definition.name }
    return views.map { $0.bound(to: list.drillDown?.keys ?? [:]) }
  }
}

extension ListScreen {
  /// The name of the list in a session: lists of one view are told apart by their paths.
  var sessionName: String {
    drillDown == nil ? definition.name : "\(definition.name)\n\(definition.source.path)"
  }

  /// The words for a row, in titles: its name or title, or else its main text.
  func title(of record: Record, in book: ResourceBook) -> String {
    let node = record.row.node ?? .empty
    let named = book.title(of: node.exportJSON, in: definition.source.path)
    if !named.isEmpty { return named }
    if let field = definition.mainField {
      let text = FieldKind.text(of: node[field].json)
      if !text.isEmpty { return text }
    }
    for column in definition.columns where column.format == .plain {
      let text = FieldKind.text(of: column.field.node(key: record.row.key, node).json)
      if !text.isEmpty { return text }
    }
    return WritableKey.name(of: record.row.key.text)
  }
}

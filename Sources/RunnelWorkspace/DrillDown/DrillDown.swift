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

  /// The place in the tab bar of the list or the tree with an index: a list that was opened from a row
  /// belongs to the tab of that row.
  func position(of index: Int) -> Int {
    lists.indices.contains(index) ? chain(to: index)[0] : fixedCount
  }

  /// The place in the tab bar of what is in front.
  package var position: Int { position(of: self.index) }

  /// Returns the index of the list, or of the tree, with a place in the tab bar.
  func index(atPosition position: Int) -> Int { position == fixedCount ? treeIndex : position }

  /// The name of the list or the tree with an index.
  func name(of index: Int) -> String {
    lists.indices.contains(index) ? lists[index].definition.name : "Tree"
  }

  /// The views that are opened from a row of the list, with the parameters of the list bound; Enter
  /// opens the first.
  func viewsBelow(_ index: Int) -> [ViewDefinition] {
    guard lists.indices.contains(index) else { return [] }
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

package import RunnelTree

/// What an export wrote, by kind.
package struct ExportedCount: Hashable, Sendable {
  /// The number of nodes with values among their children, and of all rows of a view.
  package var records = 0
  /// The number of nodes that hold only nodes with children.
  package var collections = 0
  /// The number of texts, numbers and booleans.
  package var values = 0

  package init(records: Int = 0, collections: Int = 0, values: Int = 0) {
    (self.records, self.collections, self.values) = (records, collections, values)
  }

  /// Counts a node of the tree.
  ///
  /// O(children).
  package mutating func add(_ node: RunnelTree.Node) {
    if node.leaf != nil {
      values += 1
    } else if node.children.contains(where: { $0.node.leaf != nil }) {
      records += 1
    } else {
      collections += 1
    }
  }

  /// The count in words: `2 collections`, or `3 records and 1 value`.
  var words: String {
    let counts = [
      (collections, "collection", "collections"), (records, "record", "records"),
      (values, "value", "values"),
    ]
    let parts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.0 == 1 ? $0.1 : $0.2)" }
    guard let last = parts.last else { return "0 records" }
    return parts.count == 1 ? last : parts.dropLast().joined(separator: ", ") + " and " + last
  }
}

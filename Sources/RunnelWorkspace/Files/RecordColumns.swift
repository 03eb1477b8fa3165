package import RunnelTree

/// The columns that records need: the key first, and then their fields in the order in which they come.
package struct RecordColumns {
  private var names: [Key] = []
  private var known: Set<Key> = []
  private var hasValues = false

  /// The columns.
  package var fields: [FieldPath] {
    [.key] + (hasValues ? [.value] : []) + names.map { .path(Path(unchecked: [$0])) }
  }

  package init() {
  }

  /// Takes the fields of records over.
  package mutating func note(_ nodes: some Sequence<Node>) {
    for node in nodes {
      if node.leaf != nil { hasValues = true }
      for child in node.children where known.insert(child.key).inserted { names.append(child.key) }
    }
  }
}

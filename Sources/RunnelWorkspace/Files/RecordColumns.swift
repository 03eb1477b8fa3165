package import RunnelTree

/// Collects the columns that records need: the key first, then the fields in the order of their
/// appearance.
package struct RecordColumns {
  private var names: [Key] = []
  private var known: Set<Key> = []
  private var hasValues = false

  /// The columns collected so far.
  package var fields: [FieldPath] {
    [.key] + (hasValues ? [.value] : []) + names.map { .path(Path(unchecked: [$0])) }
  }

  package init() {
  }

  /// Adds the fields of records to the columns.
  package mutating func note(_ nodes: some Sequence<Node>) {
    for node in nodes {
      if node.leaf != nil { hasValues = true }
      for child in node.children where known.insert(child.key).inserted { names.append(child.key) }
    }
  }
}

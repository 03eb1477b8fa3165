package import RunnelTree

/// Collects the columns that records need: the key first, then the fields in a given order, those that it
/// does not have in the order of their appearance.
package struct RecordColumns {
  private var names: [Key] = []
  private var known: Set<Key> = []
  private var hasValues = false

  /// The columns collected so far.
  package var fields: [FieldPath] {
    let paths = names.map { Path(unchecked: [$0]) }
    return [.key] + (hasValues ? [.value] : []) + order.sorted(paths) { $0 }.map { .path($0) }
  }

  private let order: FieldOrder

  package init(order: FieldOrder = FieldOrder()) { self.order = order }

  /// Returns columns with those that they lack, for all fields collected so far but the key.
  ///
  /// A field of which only a part has a column is added as a whole.
  package func added(to columns: [FieldPath]) -> [FieldPath] {
    let known = Set(columns)
    return columns + fields.filter { $0 != .key && !known.contains($0) }
  }

  /// Adds the fields of records to the columns.
  package mutating func note(_ nodes: some Sequence<Node>) {
    for node in nodes {
      if node.leaf != nil { hasValues = true }
      for child in node.children where known.insert(child.key).inserted { names.append(child.key) }
    }
  }
}

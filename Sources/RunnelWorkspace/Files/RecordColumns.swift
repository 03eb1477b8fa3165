package import RunnelTree

/// Collects the columns that records need: the key first, then the fields in a given order, those that it
/// does not have in the order of their appearance.
package struct RecordColumns {
  /// The most columns that the values of one field get; a field with more is a column as a whole.
  private static let leavesMax = 100

  private var names: [Key] = []
  private var known: Set<Key> = []
  private var hasValues = false
  /// The places of the values in the fields of which only parts have columns.
  private var leaves: [Key: [Path]] = [:]
  private var knownLeaves: Set<Path> = []

  /// The columns collected so far.
  package var fields: [FieldPath] {
    let paths = names.map { Path(unchecked: [$0]) }
    return [.key] + (hasValues ? [.value] : []) + order.sorted(paths) { $0 }.map { .path($0) }
  }

  private let order: FieldOrder
  private let coding: ValueCoding

  /// Creates an empty collection.
  ///
  /// - Parameters:
  ///   - order: the order of the fields.
  ///   - columns: the columns that there are; of a field of which they show a part, the values are collected.
  ///   - coding: how values that a tree does not hold stand in the records.
  package init(
    order: FieldOrder = FieldOrder(), beside columns: [FieldPath] = [],
    coding: ValueCoding = .tree
  ) {
    self.order = order
    self.coding = coding
    for case .path(let path) in columns where path.keys.count > 1 { leaves[path.keys[0]] = [] }
  }

  /// Returns columns with those that they lack, for all fields collected so far but the key.
  ///
  /// No value stands in two columns: a field of which a part has a column gets one for each of its other values,
  /// or, where these are too many or are objects in other records, one as a whole in the place of the parts.
  package func added(to columns: [FieldPath]) -> [FieldPath] {
    var columns = columns
    var parts: [Key: [FieldPath]] = [:]
    for name in names {
      guard let places = leaves[name] else { continue }
      let above = Set(places.flatMap(\.properAncestors))
      if places.count > RecordColumns.leavesMax || !above.isDisjoint(with: places)
        || places.contains(where: { $0.keys.count == 1 })
      {
        let first = columns.firstIndex { $0.firstKey == name } ?? columns.count
        let before = columns[..<first]
        columns =
          before + [.path(Path(unchecked: [name]))]
          + columns[first...].filter { $0.firstKey != name }
      } else {
        columns.removeAll { if case .path(let path) = $0 { above.contains(path) } else { false } }
        parts[name] = places.map { .path($0) }
      }
    }
    let known = Set(columns)
    let all = fields.flatMap { field in
      field.firstKey.flatMap { parts[$0] } ?? [field]
    }
    return columns + all.filter { $0 != .key && !known.contains($0) }
  }

  /// Adds the fields of records to the columns.
  package mutating func note(_ nodes: some Sequence<Node>) {
    for node in nodes {
      if node.leaf != nil { hasValues = true }
      for child in node.children {
        if known.insert(child.key).inserted { names.append(child.key) }
        if leaves[child.key] != nil {
          noteLeaves(of: child.node, at: Path(unchecked: [child.key]), in: child.key)
        }
      }
    }
  }

  private mutating func noteLeaves(of node: Node, at path: Path, in name: Key) {
    if leaves[name, default: []].count > RecordColumns.leavesMax { return }
    if node.leaf != nil || coding.codedValue(node) != nil {
      if knownLeaves.insert(path).inserted { leaves[name]?.append(path) }
      return
    }
    for child in node.children {
      noteLeaves(of: child.node, at: Path(unchecked: path.keys + [child.key]), in: name)
    }
  }
}

extension FieldPath {
  /// The name of the record's member in which the field is; nil for the key and the value.
  fileprivate var firstKey: Key? { if case .path(let path) = self { path.keys.first } else { nil } }
}

extension Path {
  /// The places above the path, without the root.
  fileprivate var properAncestors: [Path] {
    keys.indices.dropFirst().map { Path(unchecked: Array(keys[..<$0])) }
  }
}

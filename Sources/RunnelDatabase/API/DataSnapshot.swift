public import RunnelBase
public import RunnelTree

/// The node that was at a place at one moment.
///
/// It never changes. Two snapshots are equal if they have the same place, value and priorities,
/// whatever was pending, and in whichever order the children are given: the nodes are compared, not
/// the queries or the state of the origin.
///
/// Source: tree semantics, section 17.
public struct DataSnapshot: Sendable {
  /// The place.
  public let reference: Reference
  /// The node.
  public let node: Node
  /// The order in which `children` are given.
  private let index: QueryIndex
  /// The places at, above and below this one that are changed by writes which wait for the origin.
  private let pending: [Path]
  /// False if children may be missing, since a query with bounds, a limit or a filter left them out.
  let isWhole: Bool

  /// Makes a snapshot; its children are given in the order of `index`.
  public init(reference: Reference, node: Node, index: QueryIndex = .priority) {
    self.init(reference: reference, node: node, index: index, pending: [])
  }

  /// Makes a snapshot with the places of the writes that wait for the origin.
  init(
    reference: Reference, node: Node, index: QueryIndex = .priority, pending: [Path],
    isWhole: Bool = true
  ) {
    let path = reference.path
    self.reference = reference
    self.node = node
    self.index = index
    self.isWhole = isWhole
    self.pending = pending.filter { $0.contains(path) || path.contains($0) }
  }

  /// True if a write of this node, or of a part of it, was waiting for the origin of the replica.
  ///
  /// If the origin's answer changes nothing, no event tells of the answer; `pendingStates` and
  /// `observePending` do.
  public var hasPendingWrites: Bool { !pending.isEmpty }

  /// The last key of the place; nil at the root.
  public var key: String? { reference.key }

  /// True if the node is not empty.
  public var exists: Bool { !node.isEmpty }
}

extension DataSnapshot: Hashable {
  /// True if both have the same place and the same node.
  ///
  /// O(n) in the node.
  public static func == (left: DataSnapshot, right: DataSnapshot) -> Bool {
    left.reference == right.reference && left.node == right.node
  }

  /// Hashes the place and the node.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(reference)
    hasher.combine(node)
  }
}

// MARK: Values

extension DataSnapshot {
  /// The plain value, without priorities; null for an empty node.
  ///
  /// Children are always an object, in key order, whatever their keys look like. Children `0`, `1`,
  /// `2` become an array only on request: `value(coercingArrays: true)`.
  public var value: JSONValue { node.json }

  /// The plain value, with arrays in place of objects whose keys are mostly indexes.
  ///
  /// An object becomes an array if all its keys are whole numbers without sign or leading zeros and the
  /// greatest is less than twice the number of children; gaps are null. Beware that the shape of such a
  /// value changes with the children that come and go.
  ///
  /// Source: tree semantics, section 3.2.
  public func value(coercingArrays coerces: Bool) -> JSONValue {
    node.json(coercingArrays: coerces)
  }

  /// The value in the export format, which keeps priorities: `setValue` restores the node from it.
  public var exportValue: JSONValue { node.exportJSON }

  /// The priority, a number or a string; nil if there is none.
  public var priority: JSONValue? { node.priority?.json }

  /// The value as a Swift type.
  ///
  /// - Parameters:
  ///   - type: the type; an optional one is nil for an empty node.
  ///   - decoder: the decoder, which knows how dates are stored.
  /// - Returns: the value.
  /// - Throws: `DataCodingError` with the place that does not fit, and the type expected there.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, using decoder: NodeDecoder = NodeDecoder()
  ) throws(DataCodingError) -> Value {
    try decoder.decode(type, from: node, at: reference.path)
  }
}

// MARK: Children

extension DataSnapshot {
  /// True if there were children.
  public var hasChildren: Bool { childrenCount > 0 }

  /// The number of children.
  public var childrenCount: Int { node.children.count }

  /// True if there is a node at a relative path; false if the path is invalid.
  public func hasChild(_ path: String) -> Bool {
    // Nothing can be stored at an invalid path.
    guard let path = try? Path(path) else { return false }
    return !node[path].isEmpty
  }

  /// The node at a relative path; its own children are given by priority.
  ///
  /// - Throws: `TreeError` (`invalidKey` or `invalidPath`) if the path is invalid.
  public func child(_ path: String) throws(TreeError) -> DataSnapshot {
    let path = try Path(path)
    let child = node[path]
    return DataSnapshot(
      reference: Reference(
        database: reference.database, path: try reference.path.appending(path)),
      node: child, pending: pending, isWhole: isWhole || (!path.isRoot && hasRow(at: path)))
  }

  /// The children, in the order of the query; their own children are given by priority.
  ///
  /// O(n log n), and O(n) if they are in key order.
  public var children: [DataSnapshot] {
    let children = node.children
    let rows = children.map { (position: position(of: $0), child: $0) }
    let isInKeyOrder = index == .key || rows.allSatisfy { $0.position.value == .null }
    let ordered = isInKeyOrder ? rows : rows.sorted { $0.position < $1.position }
    return ordered.map { row in
      DataSnapshot(
        reference: Reference(
          database: reference.database,
          path: Path(unchecked: reference.path.keys + [row.child.key])),
        node: row.child.node, pending: pending)
    }
  }

  /// True if a path leads into a child that is there; each child is whole.
  private func hasRow(at path: Path) -> Bool {
    path.keys.first.map { !node[Path(unchecked: [$0])].isEmpty } ?? false
  }

  private func position(of child: Child) -> IndexPosition {
    IndexPosition(value: index.value(of: child), key: .key(child.key))
  }
}

// MARK: Text

extension DataSnapshot: CustomStringConvertible, CustomDebugStringConvertible {
  /// The place, and the value as JSON in the export format: `/guests/ana: {"name":"Ana"}`.
  ///
  /// O(n).
  public var description: String { "\(reference): \(node)" }

  /// The same as `description`.
  public var debugDescription: String { description }
}

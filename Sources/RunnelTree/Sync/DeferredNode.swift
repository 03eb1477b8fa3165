package import RunnelBase

/// A node to be written later: its values and priorities may be server values, which are resolved
/// when it is written.
///
/// It follows the rules of `Node`: nothing empty is stored, and an empty node has no priority.
///
/// Source: tree semantics, sections 1, 9 and 12.
package struct DeferredNode: Hashable, Sendable {
  private enum Content: Hashable, Sendable {
    case empty
    /// A scalar, or an object that holds a server value.
    case value(JSONValue)
    case children([Key: DeferredNode])
  }

  private var content: Content
  /// A number, a string, or an object that holds a server value; nil if there is none.
  private var priority: JSONValue?

  /// The node that removes the node at its place.
  package static let empty = DeferredNode(content: .empty, priority: nil)

  private init(content: Content, priority: JSONValue?) {
    self.content = content
    self.priority = priority
  }

  private init(children: [Key: DeferredNode], priority: JSONValue?) {
    let children = children.filter { !$0.value.isEmpty }
    self = children.isEmpty ? .empty : Self(content: .children(children), priority: priority)
  }

  /// Makes a node whose values are final.
  package init(_ node: Node) { self.init(accepted: node.exportJSON) }

  /// Imports JSON that is to stand at `path`, as a write does.
  ///
  /// - Throws: `TreeError` that names the place of a value that a write would refuse.
  package init(json: JSONValue, at path: Path) throws(TreeError) {
    // Whether a write is refused depends neither on the time nor on the stored tree.
    _ = try Write.set(path, json).assignments(now: 0, reader: MemoryTree())
    self.init(accepted: json)
  }

  /// Imports JSON that is known to be accepted by a write.
  init(accepted json: JSONValue) {
    switch json {
    case .null: self = .empty
    case .bool, .number, .string: self.init(content: .value(json), priority: nil)
    case .array(let elements):
      var children: [Key: DeferredNode] = [:]
      for (index, element) in elements.enumerated() {
        children[Key(unchecked: String(index))] = DeferredNode(accepted: element)
      }
      self.init(children: children, priority: nil)
    case .object(let members): self.init(json, members)
    }
  }

  private init(_ json: JSONValue, _ members: [JSONMember]) {
    let priority = DeferredNode.known(json[ReservedName.priority])
    if let operation = json[ReservedName.serverValue] {
      let value = JSONValue.object([JSONMember(ReservedName.serverValue, operation)])
      self.init(content: .value(value), priority: priority)
    } else if let value = DeferredNode.known(json[ReservedName.value]) {
      self.init(content: .value(value), priority: priority)
    } else {
      var children: [Key: DeferredNode] = [:]
      for member in members where !ReservedName.contains(member.name) {
        children[Key(unchecked: member.name)] = DeferredNode(accepted: member.value)
      }
      self.init(children: children, priority: priority)
    }
  }

  /// The value; nil for null, which means that there is none.
  private static func known(_ json: JSONValue?) -> JSONValue? { json == .null ? nil : json }
}

// MARK: Reading

extension DeferredNode {
  /// True if the node holds nothing.
  package var isEmpty: Bool { content == .empty }

  /// The export format, with server values as they were requested.
  package var json: JSONValue {
    switch content {
    case .empty: return .null
    case .value(let value):
      guard let priority else { return value }
      return [".value": value, ".priority": priority]
    case .children:
      var members = children.map { JSONMember($0.key.text, $0.node.json) }
      if let priority { members.append(JSONMember(ReservedName.priority, priority)) }
      return .object(members)
    }
  }

  /// The children in key order; none for a value.
  var children: [(key: Key, node: DeferredNode)] {
    guard case .children(let children) = content else { return [] }
    return children.map { ($0.key, $0.value) }.sorted { $0.key < $1.key }
  }

  /// True if the node has a value instead of children.
  var isValue: Bool {
    if case .value = content { true } else { false }
  }

  /// The priority as it was requested.
  var priorityJSON: JSONValue? { priority }
}

// MARK: Replacing

extension DeferredNode {
  /// The same node with another priority, which null removes; an empty node takes none.
  func with(priority: JSONValue) -> DeferredNode {
    isEmpty ? self : DeferredNode(content: content, priority: DeferredNode.known(priority))
  }

  /// The node with `change` applied to the node at a place below, by the rules of `Node.replacing`.
  func changing(
    _ keys: ArraySlice<Key>, _ change: (DeferredNode) -> DeferredNode
  ) -> DeferredNode {
    guard let key = keys.first else { return change(self) }
    var children: [Key: DeferredNode] = [:]
    if case .children(let own) = content { children = own }
    let child = (children[key] ?? .empty).changing(keys.dropFirst(), change)
    if isValue, child.isEmpty { return self }
    children[key] = child
    return DeferredNode(children: children, priority: priority)
  }
}

package import RunnelBase
package import RunnelTree

/// A plan for merging JSON into the stored tree, place by place.
///
/// Objects are merged with objects; any other value of the document replaces the node at its place.
/// Places with equal nodes are left out.
package struct MergePlan {
  private let tree: StoredTree

  package init(_ tree: StoredTree) { self.tree = tree }

  /// The parts of the write, in the order in which they are carried out: nodes in the order of their
  /// paths, then removals, then priorities.
  ///
  /// O(n log n) in the values of the document.
  ///
  /// - Throws: `TreeError` that names the place of a value that no tree accepts.
  package func assignments(of json: JSONValue, at path: Path) throws -> [Assignment] {
    var parts: [Assignment] = []
    try add(json, at: path, tree.smallNode(at: path), &parts)
    parts.sort { $0.path < $1.path }
    return parts.filter { $0.kind == .node } + parts.filter { $0.kind == .removal }
      + parts.filter { $0.kind == .priority }
  }

  /// Adds the parts for a value at a place with a node; `standing` is nil for a node too large to
  /// read.
  private func add(
    _ json: JSONValue, at path: Path, _ standing: Node?, _ parts: inout [Assignment]
  ) throws {
    let hasChildren = standing.map { !$0.children.isEmpty } ?? true
    if hasChildren, let members = MergePlan.members(of: json) {
      for member in members { try add(member, to: path, standing, &parts) }
      return
    }
    var node = try Node(json: json, at: path)
    // An empty object other than null changes nothing.
    if node.isEmpty, json != .null { return }
    if let priority = standing?.priority, MergePlan.keepsPriority(json) {
      node = Node(children: node.children, priority: priority)
    }
    if standing != node { parts.append(Assignment(path: path, target: .node(node))) }
  }

  private func add(
    _ member: JSONMember, to path: Path, _ standing: Node?, _ parts: inout [Assignment]
  ) throws {
    guard member.name == ReservedName.priority else {
      let key = try Importer.key(member.name, in: path)
      let child = try path.child(key)
      let node = try standing.map { $0[key] } ?? tree.smallNode(at: child)
      return try add(member.value, at: child, node, &parts)
    }
    let priority = try Importer.priority(member.value, of: path)
    let old = try standing.map(\.priority) ?? tree.storedSummary(at: path).priority
    if old != priority {
      parts.append(Assignment(path: path, target: .priority(priority)))
    }
  }

  /// The members of a value that is merged with children: an array, or an object that is no leaf
  /// with a priority; nil for a value that replaces the node at its place.
  private static func members(of json: JSONValue) -> [JSONMember]? {
    switch json {
    case .object(let members):
      return members.contains { MergePlan.makesWhole($0.name) } ? nil : members
    case .array(let elements):
      return elements.enumerated().map { JSONMember(String($0), $1) }
    case .null, .bool, .number, .string: return nil
    }
  }

  /// True if a value keeps the priority of the leaf that it replaces: children do, unless they have
  /// a priority of their own.
  ///
  /// Source: tree semantics, section 1.
  static func keepsPriority(_ json: JSONValue) -> Bool {
    members(of: json)?.contains { $0.name == ReservedName.priority } == false
  }

  /// True for the name of a member that makes an object a single value.
  static func makesWhole(_ name: String) -> Bool {
    name == ReservedName.value || name == ReservedName.serverValue
  }
}

extension Assignment {
  fileprivate enum Kind { case node, removal, priority }

  fileprivate var kind: Kind {
    switch target {
    case .priority: .priority
    case .node(.empty): .removal
    case .node: .node
    }
  }
}

extension StoredTree {
  /// The node at a place; nil if it is split.
  fileprivate func smallNode(at path: Path) throws -> Node? {
    switch try location(of: path) {
    case .missing: .empty
    case .row(.record(let bytes)): try RecordCoding.node(bytes)
    case .row(.split): nil
    case .inside(let record, let rest): try RecordCoding.node(record)[rest]
    }
  }

  /// True if the node at a place has children.
  func hasChildren(at path: Path) throws -> Bool {
    if case .children = try storedSummary(at: path).kind { true } else { false }
  }
}

extension Importer {
  /// The most bytes of a value that is merged at once.
  private static let mergedBytesMax = 1 << 16

  /// Merges the whole document into the node at a place.
  package mutating func mergeDocument(_ bytes: UnsafeBufferPointer<UInt8>, at path: Path) throws {
    var scanner = JSONScanner(bytes)
    try merge(&scanner, at: path)
    try scanner.finish()
  }

  private mutating func merge(_ scanner: inout JSONScanner, at path: Path) throws {
    try report(scanner)
    if let json = try scanner.readValue(maxBytes: Importer.mergedBytesMax) {
      for part in try MergePlan(tree).assignments(of: json, at: path) { try tree.carryOut(part) }
      return
    }
    let kind = try scanner.peekKind()
    guard kind == .object || kind == .array, try tree.hasChildren(at: path) else {
      return try put(&scanner, at: path)
    }
    if kind == .array { return try mergeElements(&scanner, at: path) }
    try mergeMembers(&scanner, at: path)
  }

  private mutating func mergeElements(_ scanner: inout JSONScanner, at path: Path) throws {
    var position = 0
    try scanner.enterArray()
    while try scanner.nextElement() {
      try merge(&scanner, at: path.child(Key(unchecked: String(position))))
      position += 1
    }
  }

  private mutating func mergeMembers(_ scanner: inout JSONScanner, at path: Path) throws {
    let start = scanner
    var priority: JSONValue?
    try scanner.enterObject()
    while let name = try scanner.nextMember() {
      if name == ReservedName.priority {
        priority = try scanner.readValue()
      } else if MergePlan.makesWhole(name) {
        // The object is a leaf with a priority, which replaces any node. Earlier members are
        // refused there.
        scanner = start
        return try put(&scanner, at: path)
      } else {
        try merge(&scanner, at: path.child(Importer.key(name, in: path)))
      }
    }
    guard let priority, try tree.hasChildren(at: path) else { return }
    let target = Assignment.Target.priority(try Importer.priority(priority, of: path))
    try tree.carryOut(Assignment(path: path, target: target))
  }

  /// Puts a large value in the place of a leaf or an empty node; an empty value changes nothing.
  private mutating func put(_ scanner: inout JSONScanner, at path: Path) throws {
    var before = scanner
    let standing = try tree.storedSummary(at: path)
    switch try importLarge(&scanner, at: path, row: .detached) {
    case .nothing: return
    case .node: try tree.attach(.detached, at: path)
    case .split:
      try tree.attach(.detached, at: path)
      guard let priority = standing.priority, try !Importer.hasPriority(&before) else { return }
      try tree.carryOut(Assignment(path: path, target: .priority(priority)))
    }
  }

  /// True if a document is an object with a priority.
  private static func hasPriority(_ scanner: inout JSONScanner) throws -> Bool {
    guard try scanner.peekKind() == .object else { return false }
    try scanner.enterObject()
    while let name = try scanner.nextMember() {
      if name == ReservedName.priority { return true }
      try scanner.skipValue()
    }
    return false
  }
}

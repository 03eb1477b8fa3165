package import RunnelBase

/// Reads nodes directly from JSON text, by the rules of `Node(json:at:)`.
///
/// Imports and stored records are read with it: it makes no JSON values, and no path unless an
/// error needs one.
package struct NodeReader {
  private let path: Path
  private let place: NodePlace

  /// Ends a read whose text is longer than allowed; `read` catches it.
  private struct OverBudget: Error {}

  /// Makes a reader of nodes that are to stand at a place, or directly below it.
  package init(at path: Path) {
    self.path = path
    place = NodePlace(path)
  }

  /// Reads the next value if its text has at most `maxBytes` bytes; otherwise returns nil, and the
  /// value stays unread.
  ///
  /// With a key, the value is to stand at this child of the place. Whitespace before the value does
  /// not count, whitespace inside does.
  ///
  /// - Throws: `JSONError` if the text is not JSON, `TreeError` with the place if it is not a node.
  package func read(
    _ scanner: inout JSONScanner, for key: Key? = nil, maxBytes: Int = .max
  ) throws -> Node? {
    let start = scanner
    do {
      _ = try scanner.peekKind()
      let (end, overflows) = scanner.offset.addingReportingOverflow(maxBytes)
      let budget = overflows ? Int.max : end
      guard let key else { return try node(&scanner, at: place, budget) }
      return try child(key, &scanner, of: place, budget)
    } catch is OverBudget {
      scanner = start
      return nil
    } catch let error as TreeError {
      throw error.below(path)
    }
  }

  private func node(
    _ scanner: inout JSONScanner, at place: NodePlace, _ end: Int
  ) throws -> Node {
    let node: Node
    switch try scanner.peekKind() {
    case .null:
      try scanner.readNull()
      node = .empty
    case .bool: node = Node(.bool(try scanner.readBool()))
    case .number: node = Node(.number(try scanner.readNumber()))
    case .string: node = try NodeMembers.leaf(.string(try scanner.readString()))
    case .array: node = try elements(&scanner, at: place, end)
    case .object: node = try members(&scanner, at: place, end)
    }
    if scanner.offset > end { throw OverBudget() }
    return node
  }

  private func elements(
    _ scanner: inout JSONScanner, at place: NodePlace, _ end: Int
  ) throws -> Node {
    var members = NodeMembers()
    var position = 0
    try scanner.enterArray()
    while try scanner.nextElement() {
      let key = Key(unchecked: String(position))
      members.add(key, try child(key, &scanner, of: place, end))
      position += 1
    }
    return try members.node()
  }

  private func members(
    _ scanner: inout JSONScanner, at place: NodePlace, _ end: Int
  ) throws -> Node {
    var members = NodeMembers()
    try scanner.enterObject()
    while let name = try scanner.nextMember() {
      if scanner.offset > end { throw OverBudget() }
      if ReservedName.contains(name) {
        try members.takeReserved(name, value(&scanner, end))
        continue
      }
      let key = try Key(name)
      members.add(key, try child(key, &scanner, of: place, end))
    }
    return try members.node()
  }

  private func child(
    _ key: Key, _ scanner: inout JSONScanner, of place: NodePlace, _ end: Int
  ) throws -> Node {
    do {
      return try node(&scanner, at: place.child(key), end)
    } catch let error as TreeError {
      throw error.below(key)
    }
  }

  private func value(_ scanner: inout JSONScanner, _ end: Int) throws -> JSONValue {
    guard let json = try scanner.readValue(maxBytes: end - scanner.offset) else {
      throw OverBudget()
    }
    return json
  }
}

/// The depth of a place and the length of its path, which are checked against the limits.
struct NodePlace {
  private var depth: Int
  private var bytes: Int

  init(_ path: Path) {
    depth = path.keys.count
    bytes = Path.byteCount(of: path.keys)
  }

  /// The place of a child.
  func child(_ key: Key) throws(TreeError) -> NodePlace {
    var place = self
    place.bytes += key.text.utf8.count + (depth == 0 ? 0 : 1)
    place.depth += 1
    if let reason = Path.refusal(depth: place.depth, bytes: place.bytes) {
      throw TreeError(.invalidPath, reason)
    }
    return place
  }
}

/// The members of an object that is being imported as a node.
struct NodeMembers {
  private var children: [Child] = []
  private var hasMembers = false
  private var priority: Leaf?
  private var value = JSONValue.null

  /// Adds an ordinary member.
  mutating func add(_ key: Key, _ node: Node) {
    if !hasMembers {
      hasMembers = true
      children.reserveCapacity(4)
    }
    children.append(Child(key: key, node: node))
  }

  /// Adds a member whose name has a special meaning.
  mutating func takeReserved(_ name: String, _ json: JSONValue) throws(TreeError) {
    switch name {
    case ReservedName.priority: priority = try Node.importedPriority(json)
    case ReservedName.value: value = json
    default:
      throw TreeError(
        .invalidValue,
        "A server value stands where none can be resolved: write it with set, update or push.")
    }
  }

  /// The node that the members make.
  func node() throws(TreeError) -> Node {
    if value == .null { return Node(children: children, priority: priority) }
    guard !hasMembers, Leaf(value) != nil else {
      throw TreeError(
        .invalidValue, "\".value\" holds one scalar and stands beside no other children.")
    }
    return try NodeMembers.leaf(value).with(priority: priority)
  }

  /// The leaf of a scalar; empty for null.
  static func leaf(_ json: JSONValue) throws(TreeError) -> Node {
    guard let leaf = Leaf(json) else { return .empty }
    if case .string(let text) = leaf, let reason = Leaf.refusal(of: text) {
      throw TreeError(.invalidValue, reason)
    }
    return Node(leaf)
  }
}

extension TreeError {
  /// The error of a child, seen from its parent.
  func below(_ key: Key) -> TreeError {
    TreeError(code, message, path: "/" + key.text + (path ?? ""))
  }

  /// The error of a node below a place, with its whole path.
  package func below(_ place: Path) -> TreeError {
    let whole = place.isRoot ? path : place.description + (path ?? "")
    return TreeError(code, message, path: whole ?? place.description)
  }
}

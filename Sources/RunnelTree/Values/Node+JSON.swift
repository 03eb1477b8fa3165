public import RunnelBase

// Import and export of nodes. Source: tree semantics, section 3.

/// The names with a meaning of their own inside written data.
package enum ReservedName {
  /// Holds a leaf's value beside its priority.
  package static let value = ".value"
  /// Holds a node's priority.
  package static let priority = ".priority"
  /// Marks a value that the database computes when it writes.
  package static let serverValue = ".sv"
}

extension Node {
  /// Imports JSON that is to stand at `path`.
  ///
  /// Null, `{}` and `[]` are empty; array elements become children named by their index; `.value` and
  /// `.priority` are read as the export format writes them.
  ///
  /// - Throws: `TreeError` that names the place of a bad key, a string that is too long, a tree that
  ///   is too deep, a priority that is no number or string, or an unresolved server value.
  public init(json: JSONValue, at path: Path = .root) throws(TreeError) {
    self = try Node.imported(json, at: path)
  }

  private static func imported(_ json: JSONValue, at path: Path) throws(TreeError) -> Node {
    switch json {
    case .null: return .empty
    case .bool(let value): return Node(.bool(value))
    case .number(let value): return Node(.number(value))
    case .string(let value): return Node(.string(try checked(value, at: path)))
    case .array(let elements):
      var children: [Child] = []
      for (index, element) in elements.enumerated() where element != .null {
        let key = Key(unchecked: String(index))
        let child = try imported(element, at: path.child(key))
        children.append(Child(key: key, node: child))
      }
      return Node(children: children)
    case .object(let members): return try imported(members, at: path)
    }
  }

  private static func imported(
    _ members: [JSONMember], at path: Path
  ) throws(TreeError) -> Node {
    var children: [Child] = []
    var priority: Leaf?
    var value: JSONValue?
    for member in members {
      switch member.name {
      case ReservedName.priority: priority = try importedPriority(member.value, at: path)
      case ReservedName.value: value = member.value
      case ReservedName.serverValue:
        throw TreeError(
          .invalidValue,
          "A server value stands where none can be resolved: write it with set, update or push.",
          path: path.description)
      default:
        let key = try validKey(member.name, in: path)
        let child = try imported(member.value, at: path.child(key))
        children.append(Child(key: key, node: child))
      }
    }
    if let value, value != .null {
      guard children.isEmpty, let leaf = Leaf(value) else {
        throw TreeError(
          .invalidValue, "\".value\" holds one scalar and stands beside no other children.",
          path: path.description)
      }
      if case .string(let text) = leaf { _ = try checked(text, at: path) }
      return Node(leaf, priority: priority)
    }
    return Node(children: children, priority: priority)
  }

  private static func validKey(_ name: String, in path: Path) throws(TreeError) -> Key {
    do throws(TreeError) {
      return try Key(name)
    } catch {
      throw TreeError(error.code, error.message, path: path.description)
    }
  }

  /// The string, if it is not too long.
  private static func checked(_ text: String, at path: Path) throws(TreeError) -> String {
    let count = text.utf8.count
    guard count > TreeLimits.stringBytesMax else { return text }
    throw TreeError(
      .invalidValue, "The string has \(count) bytes: \(TreeLimits.stringBytesMax) are allowed.",
      path: path.description)
  }

  /// Imports the priority of the node at `path`; nil for null.
  ///
  /// - Throws: `TreeError` (`invalidValue`) for what is neither null, a number nor a string.
  package static func importedPriority(
    _ json: JSONValue, at path: Path
  ) throws(TreeError) -> Leaf? {
    switch json {
    case .null: return nil
    case .number(let value): return .number(value)
    case .string(let value): return .string(try checked(value, at: path))
    case .bool, .array, .object:
      throw TreeError(
        .invalidValue, "A priority is a number, a string or null.", path: path.description)
    }
  }

  /// The plain value: priorities are left out and children are always an object, in key order.
  ///
  /// Arrays are never guessed here; `json(coercingArrays:)` makes them on request.
  public var json: JSONValue { json(coercingArrays: false) }

  /// The plain value, with arrays in place of objects whose keys are mostly indexes.
  ///
  /// An object becomes an array if all keys are `0` or `[1-9][0-9]*` and the greatest is less than
  /// twice the number of children; gaps are null.
  ///
  /// Source: tree semantics, section 3.2.
  public func json(coercingArrays coerces: Bool) -> JSONValue {
    switch content {
    case .empty: return .null
    case .leaf(let leaf): return leaf.json
    case .children(let children):
      if coerces, let count = arrayCount(of: children) {
        var elements = [JSONValue](repeating: .null, count: count)
        for child in children {
          guard let index = child.key.integer else { continue }
          elements[Int(index)] = child.node.json(coercingArrays: true)
        }
        return .array(elements)
      }
      return .object(
        children.map { JSONMember($0.key.text, $0.node.json(coercingArrays: coerces)) })
    }
  }

  /// The length of the array that the children make; nil if they make none.
  private func arrayCount(of children: [Child]) -> Int? {
    var maximum = -1
    for child in children {
      guard let index = child.key.integer, index >= 0, child.key.text == String(index) else {
        return nil
      }
      maximum = max(maximum, Int(index))
    }
    return maximum < 2 * children.count ? maximum + 1 : nil
  }

  /// The export format, which keeps priorities and never makes arrays.
  ///
  /// Source: tree semantics, section 3.3.
  public var exportJSON: JSONValue {
    switch content {
    case .empty: return .null
    case .leaf(let leaf):
      guard let priority else { return leaf.json }
      return [".value": leaf.json, ".priority": priority.json]
    case .children(let children):
      var members = children.map { JSONMember($0.key.text, $0.node.exportJSON) }
      if let priority { members.append(JSONMember(ReservedName.priority, priority.json)) }
      return .object(members)
    }
  }
}

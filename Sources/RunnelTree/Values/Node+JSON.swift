public import RunnelBase

// Import and export of nodes. Source: tree semantics, section 3.

/// The names in written data that have a special meaning.
package enum ReservedName {
  /// Holds a leaf's value beside its priority.
  package static let value = ".value"
  /// Holds a node's priority.
  package static let priority = ".priority"
  /// Marks a value that the database computes when it writes.
  package static let serverValue = ".sv"

  /// True for one of these names.
  static func contains(_ name: String) -> Bool {
    // Almost no name begins with a dot.
    name.utf8.first == UInt8(ascii: ".")
      && (name == priority || name == value || name == serverValue)
  }
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
    do throws(TreeError) {
      self = try Node.imported(json, at: NodePlace(path))
    } catch {
      throw error.below(path)
    }
  }

  private static func imported(_ json: JSONValue, at place: NodePlace) throws(TreeError) -> Node {
    switch json {
    case .null, .bool, .number, .string: return try NodeMembers.leaf(json)
    case .array(let elements):
      var members = NodeMembers()
      for (index, element) in elements.enumerated() {
        let key = Key(unchecked: String(index))
        members.add(key, try imported(element, for: key, in: place))
      }
      return try members.node()
    case .object(let given):
      var members = NodeMembers()
      for member in given {
        if ReservedName.contains(member.name) {
          try members.takeReserved(member.name, member.value)
          continue
        }
        let key = try Key(member.name)
        members.add(key, try imported(member.value, for: key, in: place))
      }
      return try members.node()
    }
  }

  private static func imported(
    _ json: JSONValue, for key: Key, in place: NodePlace
  ) throws(TreeError) -> Node {
    do throws(TreeError) {
      return try imported(json, at: place.child(key))
    } catch {
      throw error.below(key)
    }
  }

  /// Imports a priority; nil for null.
  ///
  /// - Throws: `TreeError` (`invalidValue`) if it is neither null, a number nor a string.
  package static func importedPriority(_ json: JSONValue) throws(TreeError) -> Leaf? {
    switch json {
    case .null: return nil
    case .number(let value): return .number(value)
    case .string(let value):
      if let reason = Leaf.refusal(of: value) { throw TreeError(.invalidValue, reason) }
      return .string(value)
    case .bool, .array, .object:
      throw TreeError(.invalidValue, "A priority is a number, a string or null.")
    }
  }

  /// The plain value: priorities are left out, and children are always an object, in key order.
  ///
  /// It never makes arrays; `json(coercingArrays:)` does on request.
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

  /// The length of the array that the children form; nil if they do not form one.
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

  /// Writes the export format without making a JSON value first.
  package func writeExport(to writer: inout JSONWriter) {
    switch content {
    case .empty: writer.writeNull()
    case .leaf(let leaf):
      guard let priority else { return leaf.write(to: &writer) }
      writer.beginObject()
      writer.writeName(ReservedName.value)
      leaf.write(to: &writer)
      writer.writeName(ReservedName.priority)
      priority.write(to: &writer)
      writer.endObject()
    case .children(let children):
      writer.beginObject()
      for child in children {
        writer.writeName(child.key.text)
        child.node.writeExport(to: &writer)
      }
      if let priority {
        writer.writeName(ReservedName.priority)
        priority.write(to: &writer)
      }
      writer.endObject()
    }
  }
}

extension Node: CustomStringConvertible, CustomDebugStringConvertible {
  /// The node as JSON text in the export format; `null` if it is empty.
  ///
  /// O(n).
  public var description: String { exportJSON.jsonText() }

  /// The same as `description`.
  public var debugDescription: String { description }
}

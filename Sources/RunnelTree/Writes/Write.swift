public import RunnelBase

/// A change of the tree, as its caller requested it: all of it happens, or nothing.
///
/// Source: tree semantics, section 8.
public enum Write: Hashable, Sendable {
  /// Replaces the node at a place; null removes it.
  case set(Path, JSONValue)
  /// Replaces the nodes at several places below one place, and keeps everything else.
  ///
  /// The names are relative paths; `.priority` may be the last piece of one.
  case update(Path, [JSONMember])
  /// Replaces the node at a place by a copy of the node at another place.
  ///
  /// The copy keeps its priorities. It may be put above or below the original.
  case copy(from: Path, to: Path)
  /// Replaces the node at a place by the node at another place, which is removed there.
  ///
  /// A node cannot be moved below itself.
  case move(from: Path, to: Path)

  /// Removes the node at a place; does nothing if there is none.
  public static func remove(_ path: Path) -> Write { .set(path, .null) }
}

/// A part of a write whose values are final: a place and its new content.
public struct Assignment: Hashable, Sendable {
  /// The part of a node that is replaced.
  public enum Target: Hashable, Sendable {
    /// The whole node.
    case node(Node)
    /// The priority alone; an empty node takes none.
    case priority(Leaf?)
  }

  /// The place.
  public var path: Path
  /// The new node or priority.
  public var target: Target

  /// Makes an assignment.
  public init(path: Path, target: Target) {
    self.path = path
    self.target = target
  }
}

extension Write {
  /// The assignments that carry the write out, with server values resolved: nodes in path order,
  /// then removals, then priorities.
  ///
  /// A place that becomes empty loses its priority, so new children come before removals; and a
  /// priority may need a node of the same write.
  ///
  /// `now` is in milliseconds since 1970, and the same for the whole write; increments read the
  /// state before the write from `reader`.
  ///
  /// - Throws: `TreeError` that names the refused place; nothing is written then.
  public func assignments(
    now: Int64, reader: some TreeReader
  ) throws(TreeError) -> [Assignment] {
    let parts = try assigned(now: now, reader: reader)
    let name = self.name
    for part in parts { try part.path.checkIsWritable(by: name) }
    return parts
  }

  private func assigned(
    now: Int64, reader: some TreeReader
  ) throws(TreeError) -> [Assignment] {
    let resolver = ServerValues(now: now, reader: reader)
    switch self {
    case .set(let path, let json):
      return [try Write.assignment(of: json, at: path, resolver)]
    case .update(let path, let members):
      var parts: [Assignment] = []
      for member in members {
        parts.append(try Write.assignment(of: member, in: path, resolver))
      }
      parts.sort { $0.path < $1.path }
      try Write.checkConflicts(parts, in: path)
      return parts.filter(\.putsNode) + parts.filter(\.removes) + parts.filter(\.isPriority)
    case .copy(let source, let target): return try Write.copy(from: source, to: target, reader)
    case .move(let source, let target): return try Write.move(from: source, to: target, reader)
    }
  }

  /// The name of the function that makes such a write, for errors.
  var name: String {
    switch self {
    case .set(_, .null): "remove"
    case .set: "set"
    case .update(_, let members):
      members.count == 1 && members[0].name == ReservedName.priority ? "setPriority" : "update"
    case .copy: "copy"
    case .move: "move"
    }
  }

  private static func assignment(
    of json: JSONValue, at path: Path, _ resolver: ServerValues<some TreeReader>
  ) throws(TreeError) -> Assignment {
    let node = try Node(json: resolver.resolved(json, at: path), at: path)
    return Assignment(path: path, target: .node(node))
  }

  private static func assignment(
    of member: JSONMember, in path: Path, _ resolver: ServerValues<some TreeReader>
  ) throws(TreeError) -> Assignment {
    try Path.checkLength(of: member.name)
    let pieces = Path.pieces(of: member.name)
    if pieces.isEmpty {
      throw TreeError(
        .invalidPath, "An update names the children to replace: \"\(member.name)\" names none.",
        path: path.description)
    }
    guard pieces.last == ReservedName.priority else {
      return try assignment(of: member.value, at: path.appending(Path(member.name)), resolver)
    }
    let target = try path.appending(Path(pieces.dropLast().joined(separator: "/")))
    let json = try resolver.resolvedPriority(member.value, at: target)
    do throws(TreeError) {
      return Assignment(path: target, target: .priority(try Node.importedPriority(json)))
    } catch {
      throw error.below(target)
    }
  }

  /// Refuses an update that would write a place twice.
  ///
  /// Expects the parts in path order. A priority counts as a child of its node: it conflicts with
  /// the node and with itself, not with the node's children.
  private static func checkConflicts(_ parts: [Assignment], in path: Path) throws(TreeError) {
    var open: [Path] = []
    for part in parts where !part.isPriority {
      while let last = open.last, !last.contains(part.path) { open.removeLast() }
      if let above = open.last { throw conflict(above.description, part.name, in: path) }
      open.append(part.path)
    }
    let nodes = Set(parts.filter { !$0.isPriority }.map(\.path))
    var priorities: Set<Path> = []
    for part in parts where part.isPriority {
      if !priorities.insert(part.path).inserted { throw conflict(part.name, part.name, in: path) }
      for depth in 0...part.path.keys.count {
        let above = Path(unchecked: Array(part.path.keys[..<depth]))
        if nodes.contains(above) { throw conflict(above.description, part.name, in: path) }
      }
    }
  }

  private static func conflict(_ above: String, _ below: String, in path: Path) -> TreeError {
    TreeError(
      .conflictingPaths,
      above == below
        ? "The update names \(above) twice: leave one of the two out."
        : "The update names \(above) and also \(below), which is below it: leave one of the two out.",
      path: path.description)
  }
}

extension Assignment {
  fileprivate var isPriority: Bool {
    if case .priority = target { true } else { false }
  }

  fileprivate var removes: Bool { target == .node(.empty) }

  fileprivate var putsNode: Bool { !isPriority && !removes }

  /// The path in the form that an update uses.
  fileprivate var name: String {
    switch target {
    case .node: path.description
    case .priority: (path.isRoot ? "" : path.description) + "/" + ReservedName.priority
    }
  }
}

extension Assignment.Target {
  /// The node `node` after this assignment at `path` below it; an empty node takes no priority.
  package func applied(to node: Node, at path: Path) -> Node {
    switch self {
    case .node(let new): node.replacing(path, with: new)
    case .priority(let priority): node.replacing(path, with: node[path].with(priority: priority))
    }
  }
}

extension Assignment {
  /// The part as a member of an update of the root.
  var member: JSONMember {
    switch target {
    case .node(let node): JSONMember(name, node.exportJSON)
    case .priority(let priority): JSONMember(name, priority?.json ?? .null)
    }
  }
}

extension JSONValue {
  /// True if the JSON contains a `{".sv": …}`.
  package var holdsServerValue: Bool {
    switch self {
    case .null, .bool, .number, .string: false
    case .array(let elements): elements.contains(where: \.holdsServerValue)
    case .object(let members):
      members.contains { $0.name == ReservedName.serverValue || $0.value.holdsServerValue }
    }
  }
}

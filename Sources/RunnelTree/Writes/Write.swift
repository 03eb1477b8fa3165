public import RunnelBase

/// One change of the tree, as its caller asked for it: all of it happens, or nothing.
///
/// Source: tree semantics, section 8.
public enum Write: Hashable, Sendable {
  /// Replaces what stands at a place; null removes it.
  case set(Path, JSONValue)
  /// Replaces what stands at several places below one, and leaves everything else as it is.
  ///
  /// The names are relative paths; `.priority` may be the last piece of one.
  case update(Path, [JSONMember])

  /// Removes what stands at a place; nothing happens if nothing stands there.
  public static func remove(_ path: Path) -> Write { .set(path, .null) }
}

/// A part of a write whose values are final: what is to stand where.
public struct Assignment: Hashable, Sendable {
  /// What is replaced.
  public enum Target: Hashable, Sendable {
    /// The whole node.
    case node(Node)
    /// The priority alone; an empty node takes none.
    case priority(Leaf?)
  }

  /// The place.
  public var path: Path
  /// What is to stand there.
  public var target: Target

  /// Makes an assignment.
  public init(path: Path, target: Target) {
    self.path = path
    self.target = target
  }
}

extension Write {
  /// The assignments that carry the write out, with server values resolved, in path order.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970, for timestamps; one for the whole write.
  ///   - reader: the state before the write, for increments.
  /// - Throws: `TreeError` that names the place of what is refused; nothing is written then.
  public func assignments(
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
      return parts
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
    let pieces = member.name.split(separator: "/", omittingEmptySubsequences: true)
    if pieces.isEmpty {
      throw TreeError(
        .invalidPath, "An update names the children to replace: \"\(member.name)\" names none.",
        path: path.description)
    }
    guard pieces.last.map(String.init) == ReservedName.priority else {
      return try assignment(of: member.value, at: path.appending(Path(member.name)), resolver)
    }
    let target = try path.appending(Path(pieces.dropLast().joined(separator: "/")))
    let json = try resolver.resolved(member.value, at: target)
    return Assignment(
      path: target, target: .priority(try Node.importedPriority(json, at: target)))
  }

  /// Refuses an update that would write one place twice. Expects the parts in path order.
  private static func checkConflicts(_ parts: [Assignment], in path: Path) throws(TreeError) {
    var open: [Path] = []
    for part in parts {
      while let last = open.last, !last.contains(part.path) { open.removeLast() }
      if let above = open.last {
        throw TreeError(
          .conflictingPaths,
          "The update contains a path \(above) that is an ancestor of another path \(part.path), "
            + "or the same: write one of the two.",
          path: path.description)
      }
      open.append(part.path)
    }
  }
}

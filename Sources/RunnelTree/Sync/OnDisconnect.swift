public import RunnelBase

/// A request to the origin for the time when this client disconnects, or its cancellation.
///
/// Source: tree semantics, section 12.
public enum DisconnectRequest: Hashable, Sendable {
  /// Replace the node at a place; null removes it.
  case set(Path, JSONValue)
  /// Replace the nodes at several places below one place; the names are those of an update.
  case update(Path, [JSONMember])
  /// Cancel everything that was requested at a place and below it.
  case cancel(Path)
}

/// The writes that a client has registered, to be carried out when it disconnects.
///
/// Registering changes no data. Later registrations refine earlier ones: see `SparseTree`. Server
/// values are resolved when the writes are carried out, not before. The client's session limits the
/// size of the registrations.
///
/// Source: tree semantics, section 12.
package struct OnDisconnect: Hashable, Sendable {
  private var tree = SparseTree()

  /// Makes a list without registrations.
  package init() {}

  /// True if nothing is registered.
  package var isEmpty: Bool { tree.isEmpty }

  /// Registers a request.
  ///
  /// - Throws: `TreeError` if a write like it would be refused; then nothing is registered.
  package mutating func register(_ request: DisconnectRequest) throws(TreeError) {
    switch request {
    case .set(let path, let json):
      try path.checkIsWritable(by: json == .null ? "OnDisconnect.remove" : "OnDisconnect.set")
      try set(path, json)
    case .update(let path, let members):
      try path.checkIsWritable(by: "OnDisconnect.update")
      try update(path, members)
    case .cancel(let path):
      try path.checkIsWritable(by: "OnDisconnect.cancel")
      cancel(path)
    }
  }

  /// Registers that a place is to be replaced; this supersedes what is registered at it and below.
  ///
  /// - Throws: `TreeError` if a write like it would be refused; then nothing is registered.
  package mutating func set(_ path: Path, _ json: JSONValue) throws(TreeError) {
    tree.remember(path, try DeferredNode(json: json, at: path))
  }

  /// Registers that several places below one are to be replaced; the names are those of an update.
  ///
  /// - Throws: `TreeError` if a write like it would be refused; then nothing is registered.
  package mutating func update(_ path: Path, _ members: [JSONMember]) throws(TreeError) {
    _ = try Write.update(path, members).assignments(now: 0, reader: MemoryTree())
    var changed = tree
    for member in members where !OnDisconnect.isPriority(member) {
      let place = try path.appending(Path(member.name))
      changed.remember(place, DeferredNode(accepted: member.value))
    }
    for member in members where OnDisconnect.isPriority(member) {
      let keys = Path.pieces(of: member.name).dropLast()
      let place = try path.appending(Path(keys.joined(separator: "/")))
      changed.remember(place, priority: member.value)
    }
    tree = changed
  }

  /// Registers that a place is to be removed.
  package mutating func remove(_ path: Path) { tree.remember(path, DeferredNode.empty) }

  /// Cancels the registrations at a place and below.
  ///
  /// A registration above the place no longer applies there; the rest of it does, child by child.
  package mutating func cancel(_ path: Path) { tree.forget(path) }

  /// Removes and returns everything that is registered, to be carried out now.
  ///
  /// The writes do not overlap, so each may be refused alone. They are in path order; the priority
  /// of a place comes after the places below it. `Write.assignments` resolves them.
  package mutating func execute() -> [Write] {
    defer { tree = SparseTree() }
    return tree.entries.map(\.write)
  }

  /// True if the node at a place is to be removed, or one above it, as a whole.
  ///
  /// O(n) in what is registered.
  package func removes(_ path: Path) -> Bool {
    tree.entries.contains { entry in
      if case .set(let place, .null) = entry.write { place.contains(path) } else { false }
    }
  }

  /// The places at and below which a request changes what is registered; none is within another.
  ///
  /// - Throws: `TreeError` if a name is none; such a request cannot be registered.
  package func places(changedBy request: DisconnectRequest) throws(TreeError) -> [Path] {
    var places: [Path] = []
    switch request {
    case .set(let path, _), .cancel(let path): places = [path]
    case .update(let path, let members):
      for member in members {
        let keys = Path.pieces(of: member.name).dropLast()
        let name = OnDisconnect.isPriority(member) ? keys.joined(separator: "/") : member.name
        places.append(try path.appending(Path(name)))
      }
    }
    var outermost: [Path] = []
    // Places within a place follow it directly.
    for place in places.map({ tree.valuedPlace(for: $0) ?? $0 }).sorted() {
      if let last = outermost.last, last.contains(place) { continue }
      outermost.append(place)
    }
    return outermost
  }

  /// What is registered at a place and below, in the order of `execute`.
  ///
  /// O(n) in that.
  package func registered(at path: Path) -> [Write] { tree.entries(at: path).map(\.write) }

  private static func isPriority(_ member: JSONMember) -> Bool {
    Path.pieces(of: member.name).last == ReservedName.priority
  }
}

extension SparseTree.Entry {
  /// The write that carries out the entry.
  fileprivate var write: Write {
    switch target {
    case .node(let node): .set(path, node.json)
    case .priority(let json): .update(path, [JSONMember(ReservedName.priority, json)])
    }
  }
}

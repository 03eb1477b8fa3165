import RunnelBase

/// A write made here while others changed the same place.
public struct Conflict: Hashable, Sendable {
  /// The place.
  public var path: Path
  /// The node at the place when the write was made.
  public var base: Node
  /// The node that the write leaves at the place.
  public var mine: Node
  /// The node that others have left at the place meanwhile.
  public var theirs: Node

  /// Makes a conflict.
  public init(path: Path, base: Node, mine: Node, theirs: Node) {
    self.path = path
    self.base = base
    self.mine = mine
    self.theirs = theirs
  }
}

/// The rule for conflicts: a function of the three states, so that any part of a program can apply
/// it.
public struct ConflictPolicy: Sendable {
  /// The function that returns the node for the place.
  public let resolve: @Sendable (Conflict) -> Node

  /// Makes a policy from a function.
  public init(_ resolve: @escaping @Sendable (Conflict) -> Node) { self.resolve = resolve }

  /// The write replaces everything at its place.
  public static let lastWriteWins = ConflictPolicy { $0.mine }

  /// Field by field: changes made by one side only are kept; where both changed a field, the write
  /// wins.
  public static let fieldWise = ConflictPolicy { conflict in
    ConflictPolicy.merged(conflict.base, conflict.mine, conflict.theirs)
  }

  private static func merged(_ base: Node, _ mine: Node, _ theirs: Node) -> Node {
    if mine == base || mine == theirs { return theirs }
    if theirs == base { return mine }
    guard case .children = mine.content, case .children = theirs.content else { return mine }
    let keys = Set(mine.children.map(\.key)).union(theirs.children.map(\.key))
    let children = keys.map { Child(key: $0, node: merged(base[$0], mine[$0], theirs[$0])) }
    let priority = mine.priority == base.priority ? theirs.priority : mine.priority
    return Node(children: children, priority: priority)
  }
}

extension Replica {
  /// Brings the pending writes `ids` up to date with changes that others made since.
  ///
  /// A write that computes values at the origin is left as it is: it is an operation, not a state.
  mutating func resolveConflicts(
    of ids: Set<Int64>, by policy: ConflictPolicy, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    var touched: [Path] = []
    for var write in book.pending where ids.contains(write.id) && !write.write.hasServerValues {
      let before = write.parts
      for index in write.parts.indices {
        guard let node = try resolved(write, index, by: policy, storage) else { continue }
        write.parts[index].target = .node(node)
      }
      if write.parts == before { continue }
      write.write = Write(resolved: write.parts)
      book.replace(write)
      try storage.save(write)
      touched += write.parts.map(\.path)
    }
    return try rebase(touched, &storage)
  }

  /// The new form of a part of a write; nil if it stays.
  private func resolved(
    _ write: PendingWrite, _ index: Int, by policy: ConflictPolicy,
    _ storage: some ReplicaStorage
  ) throws(TreeError) -> Node? {
    let part = write.parts[index]
    guard write.bases.indices.contains(index), let base = write.bases[index],
      case .node(let mine) = part.target, book.isCached(part.path)
    else { return nil }
    let theirs = try storage.serverNode(at: part.path)
    if theirs == base { return nil }
    return policy.resolve(
      Conflict(path: part.path, base: base, mine: mine, theirs: theirs))
  }
}

extension Write {
  /// Makes the write that consists of these parts.
  init(resolved parts: [Assignment]) {
    if parts.count == 1, case .node(let node) = parts[0].target {
      self = .set(parts[0].path, node.exportJSON)
    } else {
      self = .update(.root, parts.map(\.member))
    }
  }

  /// The write in the form in which an origin is asked to do it.
  ///
  /// Origins know no copies, so a copy is sent as its `parts`.
  func asked(_ parts: [Assignment]) -> Write {
    switch self {
    case .set, .update: self
    case .copy, .move: Write(resolved: parts)
    }
  }

  /// True if the origin computes a part of the write.
  var hasServerValues: Bool {
    switch self {
    case .set(_, let json): json.holdsServerValue
    case .update(_, let members): members.contains { $0.value.holdsServerValue }
    case .copy, .move: false
    }
  }
}

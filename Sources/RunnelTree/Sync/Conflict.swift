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

extension Conflict {
  /// Whether both sides changed a field, and not to the same value: a merge would lose one of the two.
  fileprivate var isClash: Bool { Conflict.clash(base, mine, theirs) }

  private static func clash(_ base: Node, _ mine: Node, _ theirs: Node) -> Bool {
    if mine == base || mine == theirs || theirs == base { return false }
    guard case .children = mine.content, case .children = theirs.content else { return true }
    if mine.priority != base.priority, theirs.priority != base.priority,
      mine.priority != theirs.priority
    {
      return true
    }
    let keys = Set(mine.children.map(\.key)).union(theirs.children.map(\.key))
    return keys.contains { clash(base[$0], mine[$0], theirs[$0]) }
  }
}

extension Replica {
  /// Brings the pending writes `ids` up to date with changes that others made since.
  ///
  /// Where the origin compares bases, nothing is done. Each write is compared with the origin's data after the earlier pending writes, for it was made upon
  /// these: what they have done is no change by others. A write that computes values at the origin is left
  /// as it is: it is an operation, not a state.
  ///
  /// A write that holds its bases is brought up to date where it is compared only as far as nothing of others is
  /// lost. Otherwise it has to be refused; the later ones do not count it.
  ///
  /// - Returns: the places that show something else now, and the writes to refuse, with the places that others
  ///   changed.
  mutating func resolveConflicts(
    of ids: Set<Int64>, by policy: ConflictPolicy, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> (touched: [Path], changed: [(id: Int64, places: [Path])]) {
    if book.reach.comparesBases { return ([], []) }
    var touched: [Path] = []
    var changed: [(id: Int64, places: [Path])] = []
    var places = PathTree<Bool>()
    for id in ids { book.places(of: id)?.forEach { places[$0] = true } }
    var earlier = WriteLayers()
    for write in book.pending {
      var resolved = write
      if ids.contains(write.id), write.holdsBases {
        let places = try placesChanged(under: write, after: earlier, storage)
        if !places.isEmpty {
          changed.append((write.id, places))
          continue
        }
      }
      if ids.contains(write.id), !write.write.hasServerValues {
        resolved = try self.resolved(write, after: earlier, by: policy, storage)
      }
      for part in resolved.parts where places.hasValues(around: part.path) { earlier.add(part) }
      if resolved == write { continue }
      book.replace(resolved)
      try storage.save(resolved)
      try storage.noteMerged(resolved, before: write)
      if resolved.parts != write.parts { touched += write.parts.map(\.path) }
    }
    return (try rebase(touched, &storage), changed)
  }

  /// The compared places of a write where it would replace what others have written; if they hold what it and later
  /// ones leave there, these were done before, and the answers were lost.
  private func placesChanged(
    under write: PendingWrite, after earlier: WriteLayers, _ storage: some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    var changed: [Path] = []
    for (part, base) in zip(write.parts, write.bases) where write.compared.contains(part.path) {
      guard let base, let theirs = try known(at: part.path, after: earlier, storage),
        case .node(let mine) = part.target,
        Conflict(path: part.path, base: base, mine: mine, theirs: theirs).isClash,
        !isOwn(theirs, at: part, of: write)
      else { continue }
      changed.append(part.path)
    }
    return changed
  }

  /// Whether a node is what a write leaves at one of its places, alone or with some of the writes after it.
  private func isOwn(_ node: Node, at part: Assignment, of write: PendingWrite) -> Bool {
    guard case .node(var left) = part.target else { return false }
    if left == node { return true }
    for later in book.pending where later.id > write.id {
      left = later.parts.reduce(left) { $1.projected(onto: $0, at: part.path) }
      if left == node { return true }
    }
    return false
  }

  /// What the origin holds at a place after earlier writes; nil if that is not known.
  private func known(
    at path: Path, after earlier: WriteLayers, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Node? {
    // The rows of windows are known, too; of one that has left them nothing is.
    var isKnown = book.isCached(path)
    if !isKnown { isKnown = try book.isToldByKey(path, storage) }
    return isKnown ? earlier.applied(to: try storage.serverNode(at: path), at: path) : nil
  }

  /// A write as it is to be sent; the nodes that it was compared with are its new bases.
  private func resolved(
    _ old: PendingWrite, after earlier: WriteLayers, by policy: ConflictPolicy,
    _ storage: some ReplicaStorage
  ) throws(TreeError) -> PendingWrite {
    var write = old
    for (index, part) in old.parts.enumerated() where old.bases.indices.contains(index) {
      guard let base = old.bases[index], case .node(let mine) = part.target else { continue }
      guard let theirs = try known(at: part.path, after: earlier, storage), theirs != base else {
        continue
      }
      let conflict = Conflict(path: part.path, base: base, mine: mine, theirs: theirs)
      let holds = old.holdsBases && old.compared.contains(part.path)
      // What this write, or later ones of one's own, have left there is no change by others.
      if holds, mine == theirs || conflict.isClash { continue }
      let rule = holds ? ConflictPolicy.fieldWise : policy
      write.parts[index].target = .node(rule.resolve(conflict))
      write.bases[index] = theirs
    }
    if write.parts != old.parts { write.write = Write(resolved: write.parts) }
    return write
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

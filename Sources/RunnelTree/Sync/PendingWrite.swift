import RunnelBase

/// A write that was made here and that the origin has neither acknowledged nor rejected.
///
/// Source: tree semantics, sections 7.1 and 8.4.
public struct PendingWrite: Hashable, Sendable, Identifiable {
  /// The id; ids ascend in the order in which writes were made.
  public var id: Int64
  /// The write as it was requested, with its server values: this is sent to the origin.
  public var write: Write
  /// The write as it is shown until it is acknowledged, with estimates in place of server values.
  public var parts: [Assignment]
  /// The node at the place of each part upon which the write was made: the origin's, after the earlier
  /// pending writes; nil if it was unknown or too large to keep, or if one of these was not done.
  package var bases: [Node?]
  /// What the origin has to hold, so that it does the write; nil if it does it in any case.
  package var seen: SeenNode?
  /// The places of its parts where the origin has to hold the base, so that it does the write.
  ///
  /// Unlike `seen`, the bases are brought up to date when the write has waited for a connection, and was merged
  /// with what others wrote; except if it `holdsBases`.
  package var compared: Set<Path> = []
  /// True if it replaces nothing of what others write at the compared places before it is done: it is refused then,
  /// unless they wrote other fields than this.
  ///
  /// That holds for what is undone, and for every write once it was sent: that a connection was lost before the
  /// answer changes nothing about what it may replace.
  package var holdsBases = false
  /// False for a write that is shown only when the origin has taken it.
  package var isVisible: Bool
  /// The author.
  package var maker: Maker
  /// The number of places that the origin has done already; they are no part of the write any more.
  package var doneCount = 0
  /// The time of the write on the origin's clock, in milliseconds since 1970; nil if it is not
  /// known.
  public var madeAt: Int64?

  /// The maker of a pending write, which determines how long the write lives.
  package enum Maker: Hashable, Sendable {
    /// Any caller: the write is kept over restarts until the origin answers. With a name it is done
    /// once, however often it is requested.
    case anyone(name: WriteID?)
    /// A transaction of a session: the write ends with the session.
    case transaction(session: Int64)
    /// A session that tells a passing status: the write ends with the session, and with the connection.
    case passing(session: Int64)
  }

  /// The number that stands for a session that has ended; no running session has it.
  package static let noSession: Int64 = 0

  /// The end of a pending write.
  package enum Ending: Hashable, Sendable {
    /// The origin did the write.
    case done
    /// The origin refused the write, or it was given up.
    case refused(TreeError)
    /// A transaction took the write back, to write something else or nothing.
    case takenBack
  }

  /// Makes a pending write.
  package init(
    id: Int64, write: Write, parts: [Assignment], bases: [Node?] = [], seen: SeenNode? = nil,
    isVisible: Bool = true, maker: Maker = .anyone(name: nil), madeAt: Int64? = nil
  ) {
    self.id = id
    self.write = write
    self.parts = parts
    self.bases = bases
    self.seen = seen
    self.isVisible = isVisible
    self.maker = maker
    self.madeAt = madeAt
  }

  /// False for a write of a transaction and for a passing one, which end with their session.
  package var isDurable: Bool { if case .anyone = maker { true } else { false } }

  /// True for a write of a transaction, which only the session of the transaction sends.
  package var isOfTransaction: Bool { if case .transaction = maker { true } else { false } }

  /// True for a write that lasts no longer than the connection: nobody waits for it.
  package var isPassing: Bool { if case .passing = maker { true } else { false } }

  /// The name of the write, under which it is done once; nil if it has none.
  public var name: WriteID? { if case .anyone(let name) = maker { name } else { nil } }

  /// The places that it changes, and the one that the origin compares.
  var places: [Path] { parts.map(\.path) + [seen?.path].compactMap(\.self) }

  /// The known nodes upon which the write was made, by their places.
  package var knownBases: [Path: Node] {
    var known: [Path: Node] = [:]
    for (part, base) in zip(parts, bases) { known[part.path] = base }
    return known
  }

  /// What the write has changed of known nodes.
  var changes: [NodeChange] {
    zip(parts, bases).compactMap { part, base in
      guard let base, case .node(let node) = part.target else { return nil }
      return NodeChange(path: part.path, before: base, after: node)
    }
  }

  /// The write without what it does at some places and below them.
  func narrowed(without done: Set<Path>) -> PendingWrite {
    guard case .update(let path, let members) = write else { return self }
    let isDone = { (place: Path) in
      (0...place.keys.count).contains { done.contains(Path(unchecked: Array(place.keys[..<$0]))) }
    }
    var rest = self
    let kept = parts.indices.filter { !isDone(parts[$0].path) }
    rest.parts = kept.map { parts[$0] }
    if bases.count == parts.count { rest.bases = kept.map { bases[$0] } }
    rest.write = .update(
      path,
      members.filter { member in
        guard let below = try? Path(member.name) else { return true }
        return !isDone(Path(unchecked: path.keys + below.keys))
      })
    rest.doneCount += parts.count - kept.count
    return rest
  }

  /// True if the write replaces the node at a place as a whole, or one above it.
  func covers(_ path: Path) -> Bool {
    parts.contains { part in
      if case .node = part.target { part.path.contains(path) } else { false }
    }
  }

  /// True if the write changes something at a place, above it or below it.
  func concerns(_ path: Path) -> Bool {
    parts.contains { $0.path.contains(path) || path.contains($0.path) }
  }
}

extension Assignment {
  /// The node at `path` after this write, if `node` was there before.
  package func projected(onto node: Node, at path: Path) -> Node {
    if let below = self.path.relative(to: path) { return target.applied(to: node, at: below) }
    guard let inside = path.relative(to: self.path), case .node(let new) = target else {
      return node
    }
    return new[inside]
  }
}

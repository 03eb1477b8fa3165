/// A write that was made here and that the origin has neither acknowledged nor rejected.
///
/// Source: tree semantics, sections 7.1 and 8.4.
public struct PendingWrite: Hashable, Sendable, Identifiable {
  /// Ascends in the order in which writes were made.
  public var id: Int64
  /// The write as it was asked for, with its server values: what the origin is sent.
  public var write: Write
  /// The write as it is shown until then, with estimates in place of server values.
  public var parts: [Assignment]
  /// What the origin was known to hold at the place of each part when the write was made; nil where
  /// that was unknown, or too large to keep.
  public var bases: [Node?]
  /// False for what shows only when the origin has taken it.
  public var isVisible: Bool
  /// Who made it.
  public var maker: Maker
  /// When it was made, in milliseconds since 1970 on the origin's clock; nil if that is not known.
  public var madeAt: Int64?

  /// Who made a pending write, which says how long it lives.
  public enum Maker: Hashable, Sendable {
    /// Whoever it was: the write is done in the end, over restarts. With a name it is done once,
    /// however often it is asked for.
    case anyone(name: WriteID?)
    /// A transaction of this session: the write ends with it.
    case transaction(session: Int64)
  }

  /// The number of no session: it names one that has ended.
  public static let noSession: Int64 = 0

  /// What becomes of a pending write when it is pending no more.
  public enum Ending: Hashable, Sendable {
    /// The origin did it.
    case done
    /// The origin refused it, or it was given up.
    case refused(TreeError)
    /// It was a transaction's, of which something else is written now, or nothing.
    case takenBack
  }

  /// Makes a pending write.
  public init(
    id: Int64, write: Write, parts: [Assignment], bases: [Node?] = [], isVisible: Bool = true,
    maker: Maker = .anyone(name: nil), madeAt: Int64? = nil
  ) {
    self.id = id
    self.write = write
    self.parts = parts
    self.bases = bases
    self.isVisible = isVisible
    self.maker = maker
    self.madeAt = madeAt
  }

  /// False for what a transaction wrote: it ends with its session.
  public var isDurable: Bool { if case .anyone = maker { true } else { false } }

  /// The name by which it is done once; nil if it has none.
  public var name: WriteID? { if case .anyone(let name) = maker { name } else { nil } }

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
  /// What stands at `path` after this was done, where `node` stood before.
  func projected(onto node: Node, at path: Path) -> Node {
    if let below = self.path.relative(to: path) { return target.applied(to: node, at: below) }
    guard let inside = path.relative(to: self.path), case .node(let new) = target else {
      return node
    }
    return new[inside]
  }
}

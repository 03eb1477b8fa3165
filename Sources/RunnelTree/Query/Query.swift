/// A question to the tree: which children of a place, in which order.
///
/// A query is built in steps from the place; each step refuses what contradicts the steps before.
/// With the key index a bound is a key, with every other index a value with an optional key.
///
/// Source: tree semantics, section 5.
public struct Query: Hashable, Sendable {
  /// One end of a range.
  public struct Bound: Hashable, Sendable {
    /// The place in the index.
    public var position: IndexPosition
    /// True if the place itself belongs to the range.
    public var isInclusive: Bool

    /// Makes an end of a range.
    public init(_ position: IndexPosition, isInclusive: Bool) {
      self.position = position
      self.isInclusive = isInclusive
    }
  }

  /// At most so many children, from one side.
  public struct Limit: Hashable, Sendable {
    /// How many: at least 1.
    public var count: Int
    /// The side of the order from which they are counted.
    public var side: Side
  }

  /// A side of an order.
  public enum Side: Hashable, Sendable {
    /// Where the order begins.
    case first
    /// Where the order ends.
    case last

    /// The other side.
    public var opposite: Side { self == .first ? .last : .first }
  }

  /// The place whose children are asked for.
  public let path: Path
  /// The order; priority unless one was chosen.
  public private(set) var index: QueryIndex = .priority
  /// The lower end; nil if open.
  public private(set) var start: Bound?
  /// The upper end; nil if open.
  public private(set) var end: Bound?
  /// How many children at most; nil if all.
  public private(set) var limit: Limit?
  private var hasOrder = false

  /// Asks for all children of a place, by priority.
  public init(_ path: Path) { self.path = path }

  /// True if every child of the place belongs to the answer.
  public var loadsAllData: Bool { start == nil && end == nil && limit == nil }

  /// Two queries are equal if they ask for the same, however they were built.
  public static func == (left: Query, right: Query) -> Bool {
    left.path == right.path && left.index == right.index && left.start == right.start
      && left.end == right.end && left.limit == right.limit
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(index)
    hasher.combine(start)
    hasher.combine(end)
    hasher.combine(limit)
  }
}

// MARK: Building

extension Query {
  /// The same query in another order.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if an order was chosen before, if the child path is
  ///   empty, or if a bound set before is none in this order.
  public func ordered(by index: QueryIndex) throws(TreeError) -> Query {
    if hasOrder { throw refusal("You can't combine multiple orderings: choose one.") }
    if index == .child(.root) { throw refusal("The path to order by is empty: name a child.") }
    if index == .key, start != nil || end != nil {
      throw refusal("Choose the order by key before a bound: its bounds are keys.")
    }
    var query = self
    query.index = index
    query.hasOrder = true
    return query
  }

  /// The same query from a value on, and among equals from a key on.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if a start is set, or the value is none in this order.
  public func starting(
    at value: IndexValue, key: Key? = nil, isInclusive: Bool = true
  ) throws(TreeError) -> Query {
    if start != nil { throw refusal("A start was set before: set it once.") }
    let position = try position(value, key, missingKey: isInclusive ? .minimum : .maximum)
    var query = self
    query.start = Bound(position, isInclusive: isInclusive)
    return query
  }

  /// The same query up to a value, and among equals up to a key.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if an end is set, or the value is none in this order.
  public func ending(
    at value: IndexValue, key: Key? = nil, isInclusive: Bool = true
  ) throws(TreeError) -> Query {
    if end != nil { throw refusal("An end was set before: set it once.") }
    let position = try position(value, key, missingKey: isInclusive ? .maximum : .minimum)
    var query = self
    query.end = Bound(position, isInclusive: isInclusive)
    return query
  }

  /// The same query for children whose value is the given one.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if a start or an end is set, or the value is none in
  ///   this order.
  public func equal(to value: IndexValue, key: Key? = nil) throws(TreeError) -> Query {
    try starting(at: value, key: key).ending(at: value, key: key)
  }

  /// The same query for the first or last `count` children of the range.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if a limit is set, or `count` is less than 1.
  public func limited(to count: Int, from side: Side) throws(TreeError) -> Query {
    if limit != nil { throw refusal("A limit was set before: set it once.") }
    if count < 1 { throw refusal("A limit is a positive whole number, not \(count).") }
    var query = self
    query.limit = Limit(count: count, side: side)
    return query
  }

  private func position(
    _ value: IndexValue, _ key: Key?, missingKey: IndexPosition.KeyBound
  ) throws(TreeError) -> IndexPosition {
    switch (index, value) {
    case (.key, .leaf(.string(let text))):
      if key != nil { throw refusal("In key order a bound is one key, without a second one.") }
      return IndexPosition(value: .null, key: .key(try Key(text)))
    case (.key, _):
      throw refusal("In key order a bound must be a string.")
    case (_, .children):
      throw refusal("A bound must be null, a boolean, a number or a string.")
    case (.priority, .leaf(.bool)):
      throw refusal("In priority order a bound must be null, a number or a string.")
    default:
      return IndexPosition(value: value, key: key.map(IndexPosition.KeyBound.key) ?? missingKey)
    }
  }

  private func refusal(_ message: String) -> TreeError {
    TreeError(.invalidQuery, message, path: path.description)
  }
}

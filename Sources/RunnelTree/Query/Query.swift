/// A question to the tree: which children of a place, and in which order.
///
/// A query is built in steps; each step refuses what contradicts the steps before it. With the key
/// index a bound is a key; with every other index it is a value and, optionally, a key. In an order
/// of several components a bound gives values for the first components, and optionally a key if it
/// gives values for all of them.
///
/// Source: tree semantics, section 5; several components, descending ones and filters go beyond it.
public struct Query: Hashable, Sendable {
  /// A bound: one end of a range.
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

  /// A limit on the number of children, counted from one side.
  public struct Limit: Hashable, Sendable {
    /// The number of children: at least 1.
    public var count: Int
    /// The side of the order from which they are counted.
    public var side: Side
  }

  /// A side of an order.
  public enum Side: Hashable, Sendable {
    /// The start of the order.
    case first
    /// The end of the order.
    case last

    /// The other side.
    package var opposite: Side { self == .first ? .last : .first }
  }

  /// The place whose children are asked for.
  public let path: Path
  /// The order; priority unless one was chosen.
  public private(set) var index: QueryIndex = .priority
  /// The lower end; nil if open.
  public private(set) var start: Bound?
  /// The upper end; nil if open.
  public private(set) var end: Bound?
  /// The limit on the number of children; nil for none.
  public private(set) var limit: Limit?
  /// The condition that each child meets; nil if there is none.
  public private(set) var filter: ChildPredicate?
  private var hasOrder = false
  /// True if the order was chosen; the one by priority may also be the implicit one.
  package var namesOrder: Bool { hasOrder }
  /// True if the limit was set without a side.
  private var isLimitSideOpen = false

  /// Makes a query for all children of a place, by priority.
  public init(_ path: Path) { self.path = path }

  /// True if every child of the place belongs to the answer.
  package var loadsAllData: Bool {
    start == nil && end == nil && limit == nil && filter == nil
  }

  /// True if two queries ask for the same rows, however they were built.
  public static func == (left: Query, right: Query) -> Bool {
    left.path == right.path && left.index == right.index && left.start == right.start
      && left.end == right.end && left.limit == right.limit
      && left.filter == right.filter
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(index)
    hasher.combine(start)
    hasher.combine(end)
    hasher.combine(limit)
    hasher.combine(filter)
  }
}

extension Query {
  /// The same query between other ends and with another limit.
  func part(from start: Bound?, to end: Bound?, limit: Limit? = nil) -> Query {
    var query = self
    (query.start, query.end, query.limit) = (start, end, limit)
    return query
  }
}

// MARK: Building

extension Query {
  /// The same query in another order.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if an order was chosen before, if the child path is
  ///   empty, or if a bound set before is not a bound of this order.
  public func ordered(by index: QueryIndex) throws(TreeError) -> Query {
    if hasOrder {
      throw refusal(
        "You can't combine multiple orderings: choose one, or order by several fields with "
          + "`queryOrdered(by:)`.")
    }
    if index == .child(.root) { throw refusal("The path to order by is empty: name a child.") }
    if case .child(let path) = index, path.isInfo {
      throw refusal("\(path) is no child: name one.")
    }
    var query = self
    query.index = index
    query.hasOrder = true
    query.start = try start.map { bound throws(TreeError) in
      try converted(bound, missingKey: .minimum, to: index)
    }
    query.end = try end.map { bound throws(TreeError) in
      try converted(bound, missingKey: .maximum, to: index)
    }
    return query
  }

  /// The same query in the order of several components, the first one first, then of the key.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if an order was chosen before, if the components are
  ///   refused, or if a bound set before is not a bound of this order.
  public func ordered(by keys: [SortKey]) throws(TreeError) -> Query {
    do throws(TreeError) {
      return try ordered(by: QueryIndex(keys))
    } catch {
      throw TreeError(error.code, error.message, path: path.description)
    }
  }

  /// The same query in the order of a child, by the text of its path.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if an order was chosen before, or the text is empty,
  ///   `$key`, `$priority` or `$value`; (`invalidKey`, `invalidPath`) if it is no path.
  public func ordered(byChild text: String) throws(TreeError) -> Query {
    let words = ["$key": "key", "$priority": "priority", "$value": "value"]
    if let word = words[text] {
      throw refusal("\(text) is no child: order by it with ordered(by: .\(word)).")
    }
    return try ordered(by: .child(Path(text)))
  }

  /// The same query, starting at a value and, among equal values, at a key.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if a start is set, or this order has no such value.
  public func starting(
    at value: IndexValue, key: Key? = nil, isInclusive: Bool = true
  ) throws(TreeError) -> Query {
    try starting(at: [value], key: key, isInclusive: isInclusive)
  }

  /// The same query, starting at values for the first components of the order.
  ///
  /// A key may follow if there is a value for every component. Without a key an inclusive start is
  /// before all children that have these values, an exclusive one after them.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if a start is set, or this order has no such values.
  public func starting(
    at values: [IndexValue], key: Key? = nil, isInclusive: Bool = true
  ) throws(TreeError) -> Query {
    if start != nil { throw refusal("A start was set before: set it once.") }
    if isLimitSideOpen, end != nil { throw sidelessLimitRefusal }
    let position = try position(values, key, missingKey: isInclusive ? .minimum : .maximum)
    var query = self
    query.start = Bound(position, isInclusive: isInclusive)
    if isLimitSideOpen { query.limit?.side = .first }
    return query
  }

  /// The same query, ending at a value and, among equal values, at a key.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if an end is set, or this order has no such value.
  public func ending(
    at value: IndexValue, key: Key? = nil, isInclusive: Bool = true
  ) throws(TreeError) -> Query {
    try ending(at: [value], key: key, isInclusive: isInclusive)
  }

  /// The same query, ending at values for the first components of the order.
  ///
  /// A key may follow if there is a value for every component. Without a key an inclusive end is
  /// after all children that have these values, an exclusive one before them.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if an end is set, or this order has no such values.
  public func ending(
    at values: [IndexValue], key: Key? = nil, isInclusive: Bool = true
  ) throws(TreeError) -> Query {
    if end != nil { throw refusal("An end was set before: set it once.") }
    if isLimitSideOpen, start != nil { throw sidelessLimitRefusal }
    let position = try position(values, key, missingKey: isInclusive ? .maximum : .minimum)
    var query = self
    query.end = Bound(position, isInclusive: isInclusive)
    return query
  }

  /// The same query for children whose value is the given one.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if a start or an end is set, or this order has no such
  ///   value.
  public func equal(to value: IndexValue, key: Key? = nil) throws(TreeError) -> Query {
    try equal(to: [value], key: key)
  }

  /// The same query for children that have these values in the first components of the order.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if a start or an end is set, or this order has no such
  ///   values.
  public func equal(to values: [IndexValue], key: Key? = nil) throws(TreeError) -> Query {
    try starting(at: values, key: key).ending(at: values, key: key)
  }

  /// The same query for the first or last `count` children of the range that pass the filter.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if a limit is set, or `count` is less than 1.
  public func limited(to count: Int, from side: Side) throws(TreeError) -> Query {
    if limit != nil { throw refusal("A limit was set before: set it once.") }
    if count < 1 { throw refusal("A limit is a positive whole number, not \(count).") }
    var query = self
    query.limit = Limit(count: count, side: side)
    return query
  }

  /// The same query for `count` children: counted from the start if one is set, now or later, and
  /// from the end otherwise.
  ///
  /// This is the older form of the limit, which cannot be combined with both bounds.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if a limit is set, `count` is less than 1, or both a
  ///   start and an end are set.
  public func limited(to count: Int) throws(TreeError) -> Query {
    var query = try limited(to: count, from: start == nil ? .last : .first)
    if start != nil, end != nil { throw sidelessLimitRefusal }
    query.isLimitSideOpen = true
    return query
  }

  /// The same query for the children that meet a condition; a limit counts only these.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if a filter is set, or the predicate is refused: see
  ///   `ChildPredicate.refusal`.
  public func filtered(by predicate: ChildPredicate) throws(TreeError) -> Query {
    if filter != nil { throw refusal("A filter was set before: join both with `all`.") }
    if let reason = predicate.refusal { throw refusal(reason) }
    var query = self
    query.filter = predicate
    return query
  }

  private var sidelessLimitRefusal: TreeError {
    refusal("A limit without a side does not go with both a start and an end: name its side.")
  }

  private func refusal(_ message: String) -> TreeError {
    TreeError(.invalidQuery, message, path: path.description)
  }
}

// MARK: Parts

extension Query {
  /// The part of the query on one side of a place in its order: the place and what follows it for
  /// `last`, what precedes it for `first`.
  ///
  /// A bound of the query that leaves less stays.
  package func clipped(at place: IndexPosition, keeping side: Side) -> Query {
    var query = self
    switch side {
    case .last:
      if start.map({ place <= $0.position }) ?? false { return self }
      query.start = Bound(place, isInclusive: true)
    case .first:
      if end.map({ $0.position < place }) ?? false { return self }
      query.end = Bound(place, isInclusive: false)
    }
    return query
  }
}

// MARK: Bounds

extension Query {
  /// The place in the query's order of a value and, among equal values, a key; without a key it is
  /// before all of them.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if this order has no such value.
  package func position(
    ofValue value: IndexValue, key: Key?
  ) throws(TreeError) -> IndexPosition {
    try position([value], key, missingKey: .minimum)
  }

  private func position(
    _ values: [IndexValue], _ key: Key?, missingKey: IndexPosition.KeyBound
  ) throws(TreeError) -> IndexPosition {
    if case .compound(let order) = index {
      return try position(values, key, missingKey: missingKey, in: order)
    }
    guard values.count == 1, let value = values.first else {
      throw refusal("In this order a bound is one value, not \(values.count).")
    }
    if index == .key { return IndexPosition(value: .null, key: .key(try keyBound(value, key))) }
    try check(value, isPriority: index == .priority)
    return IndexPosition(value: value, key: key.map(IndexPosition.KeyBound.key) ?? missingKey)
  }

  /// A place in an order of components: the values for its first components, and placeholders for
  /// those that are not given.
  private func position(
    _ values: [IndexValue], _ key: Key?, missingKey: IndexPosition.KeyBound,
    in order: CompoundOrder
  ) throws(TreeError) -> IndexPosition {
    var key = key
    var values = values
    if order.parts.isEmpty, values.count == 1 {
      key = try keyBound(values[0], key)
      values = []
    } else if values.isEmpty || values.count > order.parts.count {
      throw refusal(
        "In this order a bound is 1 to \(max(order.parts.count, 1)) values, not \(values.count).")
    }
    var elements: [IndexTuple.Element] = []
    for (value, part) in zip(values, order.parts) {
      try check(value, isPriority: part.field == .priority)
      elements.append(.init(.value(value), isDescending: part.isDescending))
    }
    if let key {
      if values.count < order.parts.count {
        throw refusal("A key stands after the values of all \(order.parts.count) components.")
      }
      let tuple = order.completed(IndexTuple(elements), key: key)
      return IndexPosition(value: .tuple(tuple), key: .key(key))
    }
    if values.count < order.parts.count || order.isKeyDescending {
      elements.append(.init(missingKey == .minimum ? .lowest : .highest, isDescending: false))
    }
    return IndexPosition(value: .tuple(IndexTuple(elements)), key: missingKey)
  }

  private func keyBound(_ value: IndexValue, _ key: Key?) throws(TreeError) -> Key {
    guard case .leaf(.string(let text)) = value else {
      throw refusal("In key order a bound must be a string.")
    }
    if key != nil { throw refusal("In key order a bound is one key, without a second one.") }
    return try Key(text)
  }

  private func check(_ value: IndexValue, isPriority: Bool) throws(TreeError) {
    switch value {
    case .children, .tuple:
      throw refusal("A bound must be null, a boolean, a number or a string.")
    case .leaf(.bool) where isPriority:
      throw refusal("In priority order a bound must be null, a number or a string.")
    case .null, .leaf: return
    }
  }

  /// A bound that was set in the default order by priority, converted to the order chosen now.
  ///
  /// In key order its value becomes the key. It may then be neither exclusive nor have a key, since
  /// both say more than one key does (section 5.1).
  private func converted(
    _ bound: Bound, missingKey: IndexPosition.KeyBound, to index: QueryIndex
  ) throws(TreeError) -> Bound {
    switch index {
    case .priority, .value, .child: return bound
    case .compound:
      throw refusal("Choose an order of components before a bound: it tells what a bound is.")
    case .key:
      guard bound.position.key == missingKey else {
        throw refusal("In key order a bound is one key: choose the order before the bound.")
      }
      let key = try keyBound(bound.position.value, nil)
      return Bound(IndexPosition(value: .null, key: .key(key)), isInclusive: bound.isInclusive)
    }
  }
}

import RunnelBase
import RunnelTree

/// A question about children, answered by comparing and testing all of them in the plainest way.
///
/// It shares with the library the order of single values and of keys, and nothing else.
struct NaiveQuery {
  /// A bound: values for the first components, and a key.
  struct Bound {
    var values: [IndexValue]
    var key: Key?
    var isInclusive: Bool
  }

  var keys: [SortKey]
  var start: Bound?
  var end: Bound?
  var filter: ChildPredicate?
  var limit: (count: Int, side: Query.Side)?

  /// The same question, as the library has it.
  func query(at path: Path) throws -> Query {
    var query = try Query(path).ordered(by: keys)
    if let start {
      query = try query.starting(
        at: start.values, key: start.key, isInclusive: start.isInclusive)
    }
    if let end {
      query = try query.ending(at: end.values, key: end.key, isInclusive: end.isInclusive)
    }
    if let filter { query = try query.filtered(by: filter) }
    if let limit { query = try query.limited(to: limit.count, from: limit.side) }
    return query
  }

  /// The children that are asked for, in their order.
  func children(of node: Node) -> [Child] {
    let found = node.children.filter { child in
      if let start {
        let side = compare(child, with: start)
        if side < 0 || (side == 0 && !start.isInclusive) { return false }
      }
      if let end {
        let side = compare(child, with: end)
        if side > 0 || (side == 0 && !end.isInclusive) { return false }
      }
      return filter.map { NaiveQuery.holds($0, child) } ?? true
    }.sorted { compare($0, $1) < 0 }
    guard let limit else { return found }
    return limit.side == .first
      ? Array(found.prefix(limit.count)) : Array(found.suffix(limit.count))
  }

  private func compare(_ left: Child, _ right: Child) -> Int {
    for component in keys {
      let side =
        component.field == .key
        ? NaiveQuery.side(left.key, right.key)
        : NaiveQuery.side(
          NaiveQuery.value(component.field, left), NaiveQuery.value(component.field, right))
      if side != 0 { return component.isDescending ? -side : side }
    }
    return NaiveQuery.side(left.key, right.key)
  }

  /// Whether a child stands before (-1), within (0), or after (1) all that a bound names.
  private func compare(_ child: Child, with bound: Bound) -> Int {
    for (component, value) in zip(keys, bound.values) {
      let side: Int
      if component.field == .key {
        guard case .leaf(.string(let text)) = value, let key = try? Key(text) else { return 0 }
        side = NaiveQuery.side(child.key, key)
      } else {
        side = NaiveQuery.side(NaiveQuery.value(component.field, child), value)
      }
      if side != 0 { return component.isDescending ? -side : side }
    }
    guard let key = bound.key else { return 0 }
    let isKeyDescending = keys.last.map { $0.field == .key && $0.isDescending } ?? false
    return NaiveQuery.side(child.key, key) * (isKeyDescending ? -1 : 1)
  }

  private static func side<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
    left < right ? -1 : right < left ? 1 : 0
  }

  private static func value(_ field: RowField, _ child: Child) -> IndexValue {
    switch field {
    case .key: .leaf(.string(child.key.text))
    case .value: IndexValue(child.node)
    case .priority: child.node.priority.map(IndexValue.leaf) ?? .null
    case .child(let path): IndexValue(child.node[path])
    }
  }

  private static func holds(_ predicate: ChildPredicate, _ child: Child) -> Bool {
    switch predicate {
    case .compare(.key, let comparison, .string(let text)):
      guard let key = try? Key(text) else { return comparison == .notEqual }
      return holds(comparison, side(child.key, key))
    case .compare(let field, let comparison, let leaf):
      switch (value(field, child), leaf) {
      case (.leaf(.bool(let a)), .bool(let b)): return holds(comparison, side(a ? 1 : 0, b ? 1 : 0))
      case (.leaf(.number(let a)), .number(let b)): return holds(comparison, side(a, b))
      case (.leaf(.string(let a)), .string(let b)):
        return holds(comparison, side(Array(a.utf16), Array(b.utf16)))
      default: return comparison == .notEqual
      }
    case .exists(let field): return value(field, child) != .null
    case .matches(let field, let match):
      guard case .leaf(.string(var text)) = value(field, child) else { return false }
      var wanted = match.text
      if match.ignoresCase { (text, wanted) = (text.lowercased(), wanted.lowercased()) }
      let (units, part) = (Array(text.utf8), Array(wanted.utf8))
      let starts = match.place == .begins ? 0...0 : 0...units.count
      return starts.contains { Array(units.dropFirst($0).prefix(part.count)) == part }
    case .not(let predicate): return !holds(predicate, child)
    case .all(let predicates): return predicates.allSatisfy { holds($0, child) }
    case .any(let predicates): return predicates.contains { holds($0, child) }
    }
  }

  private static func side(_ left: [UInt16], _ right: [UInt16]) -> Int {
    left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
  }

  private static func holds(_ comparison: ChildPredicate.Comparison, _ side: Int) -> Bool {
    switch comparison {
    case .equal: side == 0
    case .notEqual: side != 0
    case .less: side < 0
    case .lessOrEqual: side <= 0
    case .greater: side > 0
    case .greaterOrEqual: side >= 0
    }
  }
}

// MARK: Random questions

extension RandomTree {
  /// A question whose bounds and tests often cut through what is there.
  mutating func naiveQuery() throws -> NaiveQuery {
    var question = NaiveQuery(keys: try sortKeys())
    if chance(30) { question.start = try bound(question.keys) }
    if chance(30) { question.end = try bound(question.keys) }
    if chance(35) { question.filter = try predicate() }
    if chance(40) { question.limit = (number(1..<4), pick([.first, .last])) }
    return question
  }

  private mutating func field() throws -> RowField {
    pick(try [.value, .priority, .child(Path("a")), .child(Path("b/1")), .child(Path("c"))])
  }

  private mutating func sortKeys() throws -> [SortKey] {
    if chance(15) { return [SortKey(.key, isDescending: chance(60))] }
    var keys: [SortKey] = []
    for _ in 0..<pick([1, 1, 2, 3]) {
      let field = try field()
      if keys.contains(where: { $0.field == field }) { continue }
      keys.append(SortKey(field, isDescending: chance(40)))
    }
    if chance(30) { keys.append(SortKey(.key, isDescending: chance(70))) }
    return keys
  }

  private mutating func bound(_ keys: [SortKey]) throws -> NaiveQuery.Bound {
    let isInclusive = chance(60)
    let components = keys.filter { $0.field != .key }
    if components.isEmpty {
      return NaiveQuery.Bound(
        values: [.leaf(.string(pick(RandomTree.names)))], key: nil, isInclusive: isInclusive)
    }
    let count = number(1..<components.count + 1)
    let values = components.prefix(count).map { component in
      component.field == .priority
        ? priority().map(IndexValue.leaf) ?? .null
        : chance(20) ? .null : IndexValue.leaf(leaf())
    }
    let key = count == components.count && chance(40) ? try self.key() : nil
    return NaiveQuery.Bound(values: values, key: key, isInclusive: isInclusive)
  }

  /// A predicate that tells the children apart.
  mutating func predicate(depth: Int = 2) throws -> ChildPredicate {
    switch depth == 0 ? number(0..<6) : number(0..<10) {
    case 0: return .exists(try field())
    case 1:
      let field = chance(30) ? RowField.key : try field()
      return .matches(
        field,
        .init(
          pick([.contains, .begins]), pick(["", "x", "X", "é", "É", "\u{301}", "1"]),
          ignoresCase: chance(50)))
    case 2:
      return .compare(
        .key, pick(ChildPredicate.Comparison.allCases), .string(pick(RandomTree.names)))
    case 3...5: return .compare(try field(), pick(ChildPredicate.Comparison.allCases), leaf())
    case 6, 7: return .not(try predicate(depth: depth - 1))
    default:
      let parts = try (0..<number(2..<4)).map { _ in try predicate(depth: depth - 1) }
      return chance(50) ? .all(parts) : .any(parts)
    }
  }
}

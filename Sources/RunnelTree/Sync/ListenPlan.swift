/// The queries to ask the origin: the fewest that answer everything listened to here.
///
/// A default query covers everything at its place and below, so queries that it covers are not
/// asked.
///
/// Source: tree semantics, sections 7.2 and 7.3.
struct ListenPlan: Sendable {
  /// A query that the origin is asked.
  ///
  /// All but default queries have a tag, by which pushes name them.
  struct Ask: Hashable, Sendable {
    var query: Query
    var tag: Int?
    /// The id under which it was asked on this connection; nil if it was not.
    var id: AskID?
  }

  /// The asks that a change starts and ends; new ones are to be made before old ones are ended.
  struct Change: Equatable, Sendable {
    var started: [Ask] = []
    var ended: [Ask] = []
  }

  /// What the origin can answer.
  var reach = OriginReach.ranges
  private var wantedCounts: [Query: Int] = [:]
  private var asks: [Query: Ask] = [:]
  private var nextTag = 1
  private var nextID: Int64 = 1

  /// The current asks by path: default queries first, then by tag, the oldest first.
  var current: [Ask] { asks.values.sorted(by: ListenPlan.isBefore) }

  /// True if the origin is asked a query.
  func asks(_ query: Query) -> Bool { asks[query] != nil }

  /// The query that pushes with a tag are about.
  func query(tag: Int) -> Query? { asks.values.first { $0.tag == tag }?.query }

  /// The query that was asked under an id, if it still is asked.
  func query(_ id: AskID) -> Query? { asks.values.first { $0.id == id }?.query }

  /// Notes that the origin is asked a query now; returns the id of the ask.
  mutating func number(_ query: Query) -> AskID {
    let id = AskID(nextID)
    nextID += 1
    asks[query]?.id = id
    return id
  }

  /// Notes that the connection ended, so that no ask will be answered.
  mutating func forgetNumbers() {
    for query in asks.keys { asks[query]?.id = nil }
  }

  /// Notes that a listener needs a query's answer.
  mutating func want(_ query: Query) -> Change {
    wantedCounts[query.asked(reach), default: 0] += 1
    return update()
  }

  /// Notes that a listener no longer needs it.
  mutating func unwant(_ query: Query) -> Change {
    let query = query.asked(reach)
    guard let count = wantedCounts[query] else { return Change() }
    wantedCounts[query] = count > 1 ? count - 1 : nil
    return update()
  }

  /// Drops queries that the origin refused: no listener needs them any more, and the origin is not
  /// told of their end.
  mutating func drop(where isRefused: (Query) -> Bool) -> Change {
    wantedCounts = wantedCounts.filter { !isRefused($0.key) }
    asks = asks.filter { !isRefused($0.key) }
    return update()
  }

  private mutating func update() -> Change {
    let needed = wantedCounts.keys.filter(isNeeded)
    var change = Change()
    for query in asks.keys where !needed.contains(query) {
      if let ask = asks.removeValue(forKey: query) { change.ended.append(ask) }
    }
    // Tags are given in the order of places, so that every run gives the same ones.
    for query in needed.sorted(by: ListenPlan.isBefore) where asks[query] == nil {
      let ask = Ask(query: query, tag: query.loadsAllData ? nil : nextTag)
      if ask.tag != nil { nextTag += 1 }
      asks[query] = ask
      change.started.append(ask)
    }
    change.ended.sort(by: ListenPlan.isBefore)
    return change
  }

  /// True if no other wanted query answers this one.
  private func isNeeded(_ query: Query) -> Bool {
    let depth = query.path.keys.count
    let last = query.loadsAllData ? depth - 1 : depth
    guard last >= 0 else { return true }
    return !(0...last).contains { depth in
      wantedCounts[Query(Path(unchecked: Array(query.path.keys[..<depth])))] != nil
    }
  }

  private static func isBefore(_ left: Query, _ right: Query) -> Bool {
    if left.path != right.path { return left.path < right.path }
    return "\(left)" < "\(right)"
  }

  private static func isBefore(_ left: Ask, _ right: Ask) -> Bool {
    if left.query.path != right.query.path { return left.query.path < right.query.path }
    return (left.tag ?? 0) < (right.tag ?? 0)
  }
}

import RunnelBase
import RunnelServices
import RunnelTree

/// How far a service was read in one of its orders, from one end on.
///
/// All records up to the frontier are known, and events keep them current. A page is asked for with
/// a few records before it that are known already: if they come, nothing is missing between, though
/// others were added or removed meanwhile. Where records came and went since the last page, the next
/// one is asked for by the values of the frontier instead, as those behind it (`$or`).
///
/// Limit: the order has to be the same here and there. Where a server orders otherwise, which shows
/// in what it sends, everything is read before anything counts as known.
///
/// Source: services protocol, section 8.4.
struct ServiceRun: Sendable {
  /// Which records are read, and in which order.
  struct ID: Hashable, Sendable {
    /// The order; without a field, that of the ids.
    var order = QueryIndex.key
    /// True if it is read from its end.
    var isBackward = false
    /// The condition that the server checks; nil for none.
    var condition: ChildPredicate?
  }

  /// The most records of a page.
  static let pageMax = 1000
  private static let overlapMin = 5
  private static let restartsMax = 5

  let id: ID
  /// The number of records that were read.
  private var count = 0
  private var seen: Set<Key> = []
  private var frontier: IndexPosition?
  /// True if there are no records beyond the frontier.
  private(set) var isExhausted = false
  /// True if the server's order is another than the tree's.
  private(set) var isDisordered = false
  /// True if records with one value come in the order of their keys.
  private var hasOrderedTies = true
  private var restarts = 0
  /// The most records that the server sends at once.
  private var serverMax: Int?
  /// Changes of the service since the last page.
  var drift = 0
  /// True if `count` may not be that of the records up to the frontier.
  private var isCountDoubted = false
  /// True if the last pages did not join, so that the next one is asked for by values.
  private var wantsValues = false
  /// True if no records with values behind the frontier are left: others, with values that are not
  /// compared with these, may be.
  private var areValuesRead = false
  /// True if the server refuses to be asked by values.
  private var refusesValues = false
  /// The call that reads the next page; nil for none.
  var call: Int?
  /// The first record of all in this order.
  private var first: Key?
  private var idle = Idleness()
  /// The number of all records, as the server counts them; nil if it does not tell, or what cannot be.
  private var total: Int?
  /// True if the server sends no more records, although it has more or may have.
  private(set) var isStuck = false

  /// The last pages, as far as they brought nothing new.
  private struct Idleness: Sendable {
    /// The number of these pages.
    var count = 0
    /// The number of those that began with the first record of all.
    var restartCount = 0
    /// The number of those that were behind no earlier one.
    var standingCount = 0

    /// True if the server starts anew for each page.
    var isSkipIgnored: Bool { restartCount >= 2 }
    /// True if nothing new is to be expected.
    var isHopeless: Bool { isSkipIgnored || standingCount >= 3 || count >= 20 }
  }

  init(_ id: ID) { self.id = id }

  // MARK: Positions

  /// Returns the position of a record in this order.
  func position(of child: Child) -> IndexPosition {
    IndexPosition(value: id.order.value(of: child), key: .key(child.key))
  }

  /// True if all records up to a position were read.
  ///
  /// Where the server orders records with one value in a way of its own, only the values count.
  func reaches(_ position: IndexPosition) -> Bool {
    if isExhausted || isStuck { return true }
    guard !isDisordered, let frontier else { return false }
    if hasOrderedTies {
      return id.isBackward ? frontier <= position : position <= frontier
    }
    return id.isBackward ? frontier.value < position.value : position.value < frontier.value
  }

  /// True if a record that changes now belongs to those that are known, or to a page on its way.
  func concerns(_ child: Child) -> Bool {
    if !fits(child) { return false }
    return isExhausted || isStuck || call != nil || isDisordered || isWithin(child)
  }

  /// True if the condition holds of a record.
  private func fits(_ child: Child) -> Bool { id.condition?.holds(of: child) ?? true }

  private func isWithin(_ child: Child) -> Bool {
    guard let frontier else { return false }
    let position = position(of: child)
    return id.isBackward ? frontier <= position : position <= frontier
  }

  /// Notes that there are no records at all.
  mutating func noteEmpty() { isExhausted = true }

  // MARK: Pages

  /// The question for the next page.
  struct Page: Sendable {
    var query: ServiceQuery
    /// The number of records before the page; nil if it is asked for by values.
    var skip: Int?
    var limit: Int
  }

  /// What is known of a service when a page is asked for.
  struct Surroundings {
    /// The name of the id.
    var idField: String
    /// Whether values are sent as texts, which match no numbers of some services.
    var isTextual: Bool
    /// The records that are known.
    var records: [Child]
    /// The id of a record, as the server has it.
    var id: (Key) -> ServiceID
  }

  /// Returns the question for the next page of about so many records.
  ///
  /// O(n) in the known records if records came or went since the last page.
  mutating func nextPage(_ wanted: Int, _ surroundings: Surroundings) -> Page {
    // Whoever needs much gets ever larger pages.
    let limit = min(max(wanted, count / 2, 1), ServiceRun.pageMax)
    let terms = terms(surroundings.idField)
    var query = ServiceQuery()
    if let condition = id.condition {
      let found = FindCondition(
        condition, idField: surroundings.idField, isTextual: surroundings.isTextual)
      query = found?.query ?? query
    }
    let hasOneOrder = !isDisordered && hasOrderedTies && frontier != nil
    if drift > 0 || wantsValues { isCountDoubted = true }
    if drift > 0 || wantsValues, hasOneOrder, !areValuesRead, !refusesValues,
      let beyond = beyondFrontier(terms, surroundings)
    {
      query = FindCondition.joined([query, beyond])
      return Page(query: sorted(query, terms).limit(limit), skip: nil, limit: limit)
    }
    if isCountDoubted, hasOneOrder {
      count = surroundings.records.count { fits($0) && isWithin($0) }
      isCountDoubted = false
    }
    let most = min(limit, serverMax ?? limit)
    let overlap = min(count, max(0, most / 2), ServiceRun.overlapMin + 2 * drift)
    let skip = count - overlap
    query = sorted(query, terms).limit(limit)
    if skip > 0 { query = query.skip(skip) }
    return Page(query: query, skip: skip, limit: limit)
  }

  /// A field of the order, and whether greater values come first.
  private typealias Term = (name: String, isDescending: Bool)

  private func terms(_ idField: String) -> [Term] {
    var terms: [Term] = []
    var isIDDescending = id.isBackward
    for key in id.order.sortKeys {
      let isDescending = key.isDescending != id.isBackward
      switch key.field {
      case .key: isIDDescending = isDescending
      case .child(let path): terms.append((ServiceRun.name(of: path), isDescending))
      case .value, .priority: break
      }
    }
    if !terms.contains(where: { $0.name == idField }) { terms.append((idField, isIDDescending)) }
    return terms
  }

  private func sorted(_ query: ServiceQuery, _ terms: [Term]) -> ServiceQuery {
    terms.reduce(query) { $0.sort($1.name, $1.isDescending ? .descending : .ascending) }
  }

  /// The condition that a record comes after the frontier; nil if it cannot be said.
  private func beyondFrontier(
    _ terms: [Term], _ surroundings: Surroundings
  ) -> ServiceQuery? {
    guard let frontier, case .key(let key) = frontier.key else { return nil }
    var values: [JSONValue] = []
    switch frontier.value {
    case .null where id.order == .key: break
    case .leaf(let leaf): values.append(leaf.json)
    case .tuple(let tuple):
      for element in tuple.elements {
        switch element.content {
        case .value(.leaf(let leaf)): values.append(leaf.json)
        case .key: break
        default: return nil
        }
      }
    default: return nil
    }
    if values.count < terms.count { values.append(surroundings.id(key).json) }
    guard values.count == terms.count,
      !surroundings.isTextual || values.allSatisfy({ $0.string != nil })
    else { return nil }
    let steps = terms.indices.map { last in
      let equal = zip(terms, values).prefix(last).reduce(ServiceQuery()) { $0.eq($1.0.name, $1.1) }
      let (name, value) = (terms[last].name, values[last])
      return terms[last].isDescending ? equal.lt(name, value) : equal.gt(name, value)
    }
    return steps.count == 1 ? steps[0] : ServiceQuery().or(steps)
  }

  /// Notes that the server refuses to be asked by values.
  mutating func noteRefusal() { (refusesValues, call) = (true, nil) }

  /// The dotted name of a field at a place in a record.
  static func name(of field: Path) -> String {
    field.keys.map { ServiceRecordCoding.name(of: $0.text) }.joined(separator: ".")
  }

  /// Takes a page.
  ///
  /// What the server tells of its page is believed only where the records do not say otherwise.
  ///
  /// - Parameters:
  ///   - records: the records in the order of the server.
  ///   - received: the number of records that came; those that a tree cannot hold are not among the
  ///     first.
  ///   - page: the question.
  ///   - told: what the server tells of its page; nil if it sends the records alone.
  mutating func take(_ records: [Child], received: Int, _ page: Page, told: ServicePage?) {
    call = nil
    total = told?.total.flatMap { $0 >= max(received, 1) ? $0 : nil }
    let effective = min(page.limit, told?.limit.map { max($0, received) } ?? page.limit)
    let end = (page.skip ?? 0) + received
    let hasMore = received > 0 && total.map { $0 > end } ?? false
    let isLast =
      !hasMore && (received < effective || received == 0 || received > page.limit)
    if effective < page.limit { serverMax = max(effective, 1) }
    if page.skip == 0, let child = records.first { first = child.key }
    noteIdleness(records, page, isStanding: end <= count)
    guard let skip = page.skip else {
      let before = frontier
      note(records)
      areValuesRead = isLast
      if !isLast, frontier == before { refusesValues = true }
      (drift, wantsValues) = (0, false)
      return endIfHopeless()
    }
    let overlap = records.prefix(max(0, count - skip))
    let isJoined =
      count == 0 || skip == count
      || overlap.contains { seen.contains($0.key) || reaches(position(of: $0)) }
    if !isJoined, !wantsValues, !areValuesRead, !refusesValues {
      wantsValues = true
      return
    }
    if !isJoined, restarts < ServiceRun.restartsMax {
      restarts += 1
      (count, seen, drift) = (0, [], 0)
      (isCountDoubted, wantsValues, areValuesRead) = (false, false, false)
      return
    }
    (drift, wantsValues, areValuesRead) = (0, false, false)
    note(records)
    count = end
    // What the server counts and does not send is not known.
    isStuck = received == 0 && told?.total.map { $0 > skip } ?? false
    isExhausted = isLast && !isStuck
    if !isExhausted { endIfHopeless() }
  }

  /// Notes whether a page has brought new records.
  private mutating func noteIdleness(_ records: [Child], _ page: Page, isStanding: Bool) {
    if records.contains(where: { !seen.contains($0.key) }) { return idle = Idleness() }
    idle.count += 1
    if page.skip != 0, let child = records.first, child.key == first { idle.restartCount += 1 }
    if isStanding { idle.standingCount += 1 }
  }

  /// Stops where the last pages have brought nothing new.
  private mutating func endIfHopeless() {
    guard idle.isHopeless else { return }
    if let total, total <= seen.count { isExhausted = true } else { isStuck = true }
  }

  /// Why not all records can be read, and how many are.
  var limitText: String {
    let all = total.map { "\(seen.count) of \($0)" } ?? "no more than \(seen.count)"
    return idle.isSkipIgnored
      ? "the service ignores $skip: \(all) can be read" : "the service sends \(all) records"
  }

  private mutating func note(_ records: [Child]) {
    for child in records {
      seen.insert(child.key)
      // What only a server counts among the records has no place in the order.
      if fits(child) { advance(to: position(of: child)) }
    }
  }

  private mutating func advance(to position: IndexPosition) {
    guard let frontier else { return self.frontier = position }
    // A record of the overlap is behind the frontier.
    let isBeyond =
      hasOrderedTies
      ? (id.isBackward ? position <= frontier : frontier <= position)
      : (id.isBackward ? position.value <= frontier.value : frontier.value <= position.value)
    if isBeyond { self.frontier = position }
  }

  /// Compares the order of a page with that of the tree.
  mutating func checkOrder(_ records: [Child]) {
    let records = records.filter(fits)
    for (left, right) in zip(records, records.dropFirst()) {
      var (low, high) = (position(of: left), position(of: right))
      if id.isBackward { swap(&low, &high) }
      if low <= high { continue }
      if low.value == high.value, id.order != .key {
        hasOrderedTies = false
      } else {
        isDisordered = true
      }
    }
  }
}

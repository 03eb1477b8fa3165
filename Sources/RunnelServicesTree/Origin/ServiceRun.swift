import RunnelServices
import RunnelTree

/// How far a service was read in one of its orders, from one end on.
///
/// All records up to the frontier are known, and events keep them current. A page is asked for with
/// a few records before it that are known already: if they come, nothing is missing between, though
/// others were added or removed meanwhile.
///
/// Limit: the order has to be the same here and there. Where a server orders otherwise, which shows
/// in what it sends, the whole service is read before anything counts as known.
///
/// Source: services protocol, section 8.4.
struct ServiceRun: Sendable {
  /// Which records are read, and in which order.
  struct ID: Hashable, Sendable {
    /// The place of the field in a record; nil for the id.
    var field: Path?
    var isDescending = false
    /// The field and the value that all records have; nil for no condition.
    var equal: Equal?
  }

  /// A condition that a field has a value.
  struct Equal: Hashable, Sendable {
    var field: Path
    var value: Leaf
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
  /// The call that reads the next page; nil for none.
  var call: Int?

  init(_ id: ID) { self.id = id }

  // MARK: Positions

  /// Returns the position of a record in this order.
  func position(of child: Child) -> IndexPosition {
    let value = id.field.map { IndexValue(child.node[$0]) } ?? .null
    return IndexPosition(value: value, key: .key(child.key))
  }

  /// True if all records up to a position were read.
  ///
  /// Where the server orders records with one value in a way of its own, only the values count.
  func reaches(_ position: IndexPosition) -> Bool {
    if isExhausted { return true }
    guard !isDisordered, let frontier else { return false }
    if hasOrderedTies {
      return id.isDescending ? frontier <= position : position <= frontier
    }
    return id.isDescending ? frontier.value < position.value : position.value < frontier.value
  }

  /// True if a record that changes now belongs to those that are known, or to a page on its way.
  func concerns(_ child: Child) -> Bool {
    if let equal = id.equal, child.node[equal.field].leaf != equal.value { return false }
    if isExhausted || call != nil || isDisordered { return true }
    guard let frontier else { return false }
    let position = position(of: child)
    return id.isDescending ? frontier <= position : position <= frontier
  }

  /// Notes that there are no records at all.
  mutating func noteEmpty() { isExhausted = true }

  // MARK: Pages

  /// The question for the next page.
  struct Page: Sendable {
    var query: ServiceQuery
    var skip: Int
    var limit: Int
  }

  /// Returns the question for the next page of about so many records.
  func nextPage(_ wanted: Int, idField: String) -> Page {
    // Whoever needs much gets ever larger pages.
    let limit = min(max(wanted, count / 2, 1), ServiceRun.pageMax)
    let most = min(limit, serverMax ?? limit)
    let overlap = min(count, max(0, most / 2), ServiceRun.overlapMin + 2 * drift)
    let direction: ServiceQuery.Direction = id.isDescending ? .descending : .ascending
    var query = ServiceQuery()
    if let equal = id.equal {
      query = query.eq(ServiceRun.name(of: equal.field), equal.value.json)
    }
    if let field = id.field { query = query.sort(ServiceRun.name(of: field), direction) }
    if id.field?.keys.map(\.text) != [idField] { query = query.sort(idField, direction) }
    let skip = count - overlap
    query = query.limit(limit)
    if skip > 0 { query = query.skip(skip) }
    return Page(query: query, skip: skip, limit: limit)
  }

  /// The dotted name of a field at a place in a record.
  static func name(of field: Path) -> String {
    field.keys.map { ServiceRecordCoding.name(of: $0.text) }.joined(separator: ".")
  }

  /// Takes a page.
  ///
  /// - Parameters:
  ///   - records: the records in the order of the server.
  ///   - received: the number of records that came; those that a tree cannot hold are not among the
  ///     first.
  ///   - page: the question.
  ///   - limit: the most records as the server decided it; nil if it does not tell.
  /// - Returns: false if records moved so much that they have to be read from the beginning.
  mutating func take(
    _ records: [Child], received: Int, _ page: Page, limit: Int?
  ) -> Bool {
    call = nil
    let effective = min(page.limit, limit ?? page.limit)
    let isLast = received < effective || received == 0 || received > page.limit
    if effective < page.limit { serverMax = max(effective, 1) }
    let overlap = records.prefix(count - page.skip)
    let isJoined = count == 0 || page.skip == count || overlap.contains { seen.contains($0.key) }
    if !isJoined, restarts < ServiceRun.restartsMax {
      restarts += 1
      (count, seen, drift) = (0, [], 0)
      return false
    }
    drift = 0
    for child in records {
      seen.insert(child.key)
      advance(to: position(of: child))
    }
    count = page.skip + received
    isExhausted = isLast
    return true
  }

  private mutating func advance(to position: IndexPosition) {
    guard let frontier else { return self.frontier = position }
    // A record of the overlap is behind the frontier.
    let isBeyond =
      hasOrderedTies
      ? (id.isDescending ? position <= frontier : frontier <= position)
      : (id.isDescending ? position.value <= frontier.value : frontier.value <= position.value)
    if isBeyond { self.frontier = position }
  }

  /// Compares the order of a page with that of the tree.
  mutating func checkOrder(_ records: [Child]) {
    for (left, right) in zip(records, records.dropFirst()) {
      var (low, high) = (position(of: left), position(of: right))
      if id.isDescending { swap(&low, &high) }
      if low <= high { continue }
      if low.value == high.value, id.field != nil {
        hasOrderedTies = false
      } else {
        isDisordered = true
      }
    }
  }
}

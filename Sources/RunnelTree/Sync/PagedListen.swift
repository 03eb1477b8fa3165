/// The queries with which a replica's paged window asks the origin for no more rows than it shows.
///
/// Terms. The *probe* is a limited query for the next rows. The *hold* is the range from the
/// frontier to the live end; through it the origin sends every change in the window.
///
/// ```
///   first page --probe answered--> held <--probe answered-- held, with a probe beyond the frontier
///                                    |                                ^
///                                    +------------ extend ------------+
/// ```
///
/// Invariants:
/// - I1. All rows shown lie within the hold, if there is one. So no row that comes, goes or moves
///   while a page is fetched makes a hole, and no row pushes another one out.
/// - I2. When a hold replaces another one, the old hold, and the probe from which the new one was
///   made, stay wanted until the new one is answered. So changes of every row shown are sent at any
///   time.
struct PagedListen: Sendable {
  /// The query of the listener; the window shows a part of it.
  let base: Query
  let anchor: Query.Side
  /// The number of rows in the first page.
  let firstCount: Int
  /// The number of rows that the probe is to gain; 0 if there is no probe.
  private(set) var wantedCount: Int
  private(set) var hold: Query?
  /// The queries that the hold replaces, until the hold is answered.
  private(set) var replaced: [Query] = []
  /// True if there may be rows beyond the frontier.
  private(set) var hasMore = true

  init(_ base: Query, _ paging: Paging) {
    self.base = base
    anchor = paging.anchor
    firstCount = paging.count
    wantedCount = PagedListen.limit(paging.count)
  }

  /// The limit for a page of `count` rows, reduced if needed so that one more row can be requested.
  private static func limit(_ count: Int) -> Int { min(count, Int.max - 1) }

  /// True if the first page has come and no other one is being fetched.
  var isSettled: Bool { hold != nil && wantedCount == 0 }

  /// The queries to ask the origin.
  var wanted: [Query] { replaced + [hold, probe].compactMap(\.self) }

  /// The part of the listener's rows that is shown now.
  var part: WindowPart {
    WindowPart(query: hold ?? limited(base, to: wantedCount), hasMore: hasMore)
  }

  /// The query for the next rows; it asks for one more than wanted, to see whether there are
  /// others.
  var probe: Query? {
    if wantedCount == 0 { return nil }
    return limited(beyond, to: wantedCount + 1)
  }

  /// The range beyond the frontier.
  private var beyond: Query {
    switch anchor {
    case .first:
      let bound = hold?.end.map { Query.Bound($0.position, isInclusive: !$0.isInclusive) }
      return base.part(from: bound ?? base.start, to: base.end)
    case .last:
      let bound = hold?.start.map { Query.Bound($0.position, isInclusive: !$0.isInclusive) }
      return base.part(from: base.start, to: bound ?? base.end)
    }
  }

  private func limited(_ query: Query, to count: Int) -> Query {
    query.part(
      from: query.start, to: query.end, limit: Query.Limit(count: count, side: anchor))
  }

  /// Asks for more rows.
  mutating func want(_ count: Int) {
    if hasMore { wantedCount = PagedListen.limit(wantedCount.addingClamped(count)) }
  }

  /// Takes the rows that the probe found, in order; `isAnswer` if there are no others.
  ///
  /// The frontier moves to the last of the rows that were wanted.
  mutating func reach(_ rows: [TreeRow], isAnswer: Bool) {
    let (count, probe) = (wantedCount, probe)
    wantedCount = 0
    var next: Query?
    if rows.count > count || !isAnswer {
      let gained = anchor == .first ? rows.prefix(count).last : rows.suffix(count).first
      let bound = gained.map { Query.Bound($0.position, isInclusive: true) }
      // Nothing was gained, so the frontier stays.
      guard let bound else { return }
      next =
        anchor == .first
        ? base.part(from: base.start, to: bound) : base.part(from: bound, to: base.end)
    } else {
      next = base
      hasMore = false
    }
    replaced += [hold, probe].compactMap(\.self)
    hold = next
  }

  /// Drops the replaced queries: the hold is answered, or there is no connection to ask on.
  mutating func dropReplaced() { replaced = [] }
}

extension Int {
  /// The sum, or the greatest number if the sum is too large.
  func addingClamped(_ other: Int) -> Int {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }
}

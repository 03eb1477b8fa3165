/// What a paged window on a replica asks the origin for, so that no more is fetched than it shows.
///
/// Terms. The *probe* is a limited query for the rows that are to come in. The *hold* is the range from
/// the frontier to the live end, by which the origin tells every change in the window.
///
/// ```
///   first page --probe answered--> held <--probe answered-- held, with a probe beyond the frontier
///                                    |                                ^
///                                    +------------ extend ------------+
/// ```
///
/// Invariants:
/// - I1. What is shown lies within the hold, if there is one. So no row that comes, goes or moves while
///   a page is fetched makes a hole, and none is pushed out by another.
/// - I2. A hold that was replaced, and the probe that the new one came from, are wanted until the new one
///   is answered. So every row shown is told of at any time.
struct PagedListen: Sendable {
  /// All that the listener requested, of which the window is a part.
  let base: Query
  let anchor: Query.Side
  /// How many rows the first page has.
  let firstCount: Int
  /// How many rows the probe is to gain; 0 if there is none.
  private(set) var wantedCount: Int
  private(set) var hold: Query?
  /// What was asked before the hold, until it is answered.
  private(set) var replaced: [Query] = []
  /// True if there may be rows beyond the frontier.
  private(set) var hasMore = true

  init(_ base: Query, _ paging: Paging) {
    self.base = base
    anchor = paging.anchor
    firstCount = paging.count
    wantedCount = PagedListen.limit(paging.count)
  }

  /// A row more than a page is asked for, which must be a number, too.
  private static func limit(_ count: Int) -> Int { min(count, Int.max - 1) }

  /// True if the first page is there and no other is asked for.
  var isSettled: Bool { hold != nil && wantedCount == 0 }

  /// All that the origin is to be asked.
  var wanted: [Query] { replaced + [hold, probe].compactMap(\.self) }

  /// What is shown now.
  var part: WindowPart {
    WindowPart(query: hold ?? limited(base, to: wantedCount), hasMore: hasMore)
  }

  /// What finds the next rows; one more than wanted tells whether there are others.
  var probe: Query? {
    if wantedCount == 0 { return nil }
    return limited(beyond, to: wantedCount + 1)
  }

  /// What lies beyond the frontier.
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

  /// More rows are to come in.
  mutating func want(_ count: Int) {
    if hasMore { wantedCount = PagedListen.limit(wantedCount.addingClamped(count)) }
  }

  /// The probe found these rows, in order; `isAnswer` if there are no others.
  ///
  /// The frontier moves to the last of those that were wanted.
  mutating func reach(_ rows: [TreeRow], isAnswer: Bool) {
    let (count, probe) = (wantedCount, probe)
    wantedCount = 0
    var next: Query?
    if rows.count > count || !isAnswer {
      let gained = anchor == .first ? rows.prefix(count).last : rows.suffix(count).first
      let bound = gained.map { Query.Bound($0.position, isInclusive: true) }
      // Nothing is gained: the frontier stays.
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

  /// The hold is answered, or nobody is there to be asked: what was before it is wanted no more.
  mutating func dropReplaced() { replaced = [] }
}

extension Int {
  /// The sum, or the greatest number.
  fileprivate func addingClamped(_ other: Int) -> Int {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }
}

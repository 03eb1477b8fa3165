import RunnelStreams
import RunnelTree
import RunnelWorkspace

/// A search through the rows beyond those that a list loads, for a filter that few of them fit.
///
/// It reads the rows part by part in the order of the list, and keeps none of them: so a search through
/// 300,000 rows needs the memory of two parts. While a part is looked through, the next one is read.
///
/// It belongs to the runtime's thread.
final class FarSearch {
  /// The number of rows of a part.
  static let partCount = 2000
  /// The least number of rows of a part that meet a condition.
  private static let askedMin = 20

  /// Rows that were read together.
  struct Part {
    /// The rows, in no particular order.
    var rows: [TreeRow] = []
    /// Whether there are no rows beyond.
    var isLast = false
  }

  /// The end of the list beyond which it searches.
  let end: ListEnd
  /// Whether rows that are not known here are being asked for.
  private let awaitsOrigin: () -> Bool
  /// The number of rows that are still to be found before it stops.
  var wantedCount = 0
  /// The number of rows that were looked through.
  private(set) var scannedCount = 0
  /// Those of them that further queries of the view have, too, by their ids.
  private(set) var shared: Set<String> = []
  /// Whether all rows beyond the end were looked through.
  private(set) var isExhausted = false
  /// The place up to which the rows were looked through, in the tree's order.
  private var place: IndexPosition
  private let definition: SourceDefinition
  /// The condition on the rows that are read; nil to read all of them.
  private let condition: ChildPredicate?
  private let source: any TreeSource
  private var listener: ListenerID?
  private var reading: [RunnelTree.Key: TreeRow] = [:]
  /// True once the part that is being read has come as far as it is known here.
  private var hasKnownPart = false
  /// True once the origin has answered the part that is being read.
  private var isAnswered = false

  /// Creates a search beyond a place, the last loaded row at the end; with a condition only the rows that
  /// meet it are read.
  init(
    beyond place: IndexPosition, at end: ListEnd, of definition: SourceDefinition,
    source: any TreeSource, asking condition: ChildPredicate? = nil,
    awaitsOrigin: @escaping () -> Bool = { false }
  ) {
    self.awaitsOrigin = awaitsOrigin
    self.condition = condition
    self.place = place
    self.end = end
    self.definition = definition
    self.source = source
  }

  deinit { if let listener { source.unlisten(listener) } }

  /// The state that the fetch-more row shows.
  var state: FetchState { listener != nil ? .fetching : isExhausted ? .exhausted : .more }

  /// Whether rows that meet a condition are asked for.
  var isAsking: Bool { condition != nil }

  /// Whether the search goes up in the tree's order.
  private var isForward: Bool { (end == .end) != definition.isDescending }

  /// Reads the next part; does nothing while one is read, or after the last one.
  ///
  /// - Throws: `TreeError` if the query of the source contradicts itself.
  func read() throws { try read(beyond: place) }

  private func read(beyond place: IndexPosition) throws {
    guard listener == nil, !isExhausted else { return }
    let side: Query.Side = isForward ? .first : .last
    var definition = definition
    if let condition {
      definition.filter = definition.filter.map { .all([$0, condition]) } ?? condition
    }
    var request = try definition.request()
    request.query = request.query.clipped(at: place, keeping: side.opposite)
    // Forwards, the part begins with the row at the place.
    // What is asked for fits, or most of it.
    let count = isAsking ? max(wantedCount, FarSearch.askedMin) : FarSearch.partCount
    request.paging = Paging(anchor: side, count: count + (isForward ? 1 : 0))
    request.events = [.children, .answered]
    (reading, hasKnownPart, isAnswered) = ([:], false, false)
    listener = source.listen(request)
  }

  /// Stops reading; the rows that were looked through need not be read again.
  func stop() {
    wantedCount = 0
    if let listener { source.unlisten(listener) }
    listener = nil
  }

  /// Takes events; returns the part once it is whole, without the row at its place.
  ///
  /// While the origin is being asked, the first part is what is known here, which may have gaps anywhere: it
  /// is whole when the origin has answered it, or with the part that the origin's answer makes of it.
  func take(_ events: [TreeEvent], from listener: ListenerID) -> Part? {
    guard listener == self.listener else { return nil }
    var hasMore: Bool?
    for event in events {
      switch event {
      case .childAdded(let row, _), .childChanged(let row, _), .childMoved(let row, _):
        reading[row.key] = row
      case .childRemoved(let row): reading[row.key] = nil
      case .answered: isAnswered = true
      case .page(let more): hasMore = more
      case .value, .pending: break
      }
    }
    let isWhole = isAnswered || hasKnownPart && hasMore != nil
    if hasMore != nil { hasKnownPart = true }
    guard hasKnownPart, isWhole || hasMore == false || !awaitsOrigin() else { return nil }
    return endPart(hasMore: hasMore ?? true)
  }

  /// Takes the part as far as it is known, because the origin will not answer; nil if none is being read.
  func takeKnown() -> Part? { listener != nil && hasKnownPart ? endPart(hasMore: true) : nil }

  private func endPart(hasMore: Bool) -> Part {
    if let listener { source.unlisten(listener) }
    listener = nil
    defer { reading = [:] }
    let rows = reading.values.filter { $0.position != place }
    return Part(rows: rows, isLast: !hasMore)
  }

  /// Takes the failure of a query; returns whether it was one of this search.
  func fails(_ listener: ListenerID) -> Bool {
    guard listener == self.listener else { return false }
    self.listener = nil
    stop()
    return true
  }

  /// Reads the part after a part that was not looked through yet.
  func readAhead(after part: Part) throws {
    guard !part.isLast, let last = last(of: part) else { return }
    try read(beyond: last)
  }

  /// Notes that a part was looked through, how many of its rows fit, and which others have, too.
  func note(_ part: Part, foundCount: Int, shared ids: [String]) {
    shared.formUnion(ids)
    scannedCount += part.rows.count
    wantedCount -= foundCount
    isExhausted = part.isLast
    place = last(of: part) ?? place
    // Without a connection no more rows are known, though there may be some: the next part would be empty, too.
    let endsUnknown = part.rows.isEmpty && !part.isLast
    // The part that is read ahead is read again when the user wants more.
    if wantedCount <= 0 || endsUnknown { stop() }
  }

  /// The place of the last row of a part, in the direction of the search.
  private func last(of part: Part) -> IndexPosition? {
    let places = part.rows.map(\.position)
    return isForward ? places.max() : places.min()
  }
}

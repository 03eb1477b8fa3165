public import RunnelBase

/// The rows of a stream, distributed over sections by a rule.
///
/// Within a section rows stand in the order of the source; the source's own sections are ignored.
/// If the rule puts a row into another section after a change, that is one move. Sections come and
/// go with their rows, except fixed ones.
///
/// A section may be collapsed or limited: rows that it does not show are counted in `hiddenCount`.
/// Changes of titles and footers are told by `BatchUpdate.reloadedSections`.
///
/// It follows its source as long as it lives. `start` and `stop` also start and stop the source, if
/// possible. While the source is stopped by itself the rows stay and nothing is told, also nothing of
/// changed sections; it goes on when the source is started, by itself or not.
///
/// Cost of a change: O(t log n) in the t rows that it touches, and O(s) in the sections. A change
/// that the source tells as a reload is O(n).
///
/// Invariants:
/// - I1. `rows` holds the rows of the source, in its order and by id.
/// - I2. Each row is in the section that the rule returned last, or in none if it returned none.
/// - I3. `shown` holds the sections that have rows, and the fixed ones unless `hidesEmptySections`,
///   in the order of `Section` or its opposite; `sections` is their content.
public final class PartitionedStream<Item: StreamItem, Section: Comparable & Hashable>:
  SectionedStream
{
  typealias Part = PartitionSection<Item, Section>
  typealias Row = PartitionRow<Item>

  /// The sections in the order of `Section`, or its opposite, each with its rows.
  public internal(set) var sections: [StreamSection<Item>] = []
  /// The load state of the source.
  public var loadState: LoadState { isStopped ? .idle : followedState }
  /// The latest time that the rule was given, in milliseconds since 1970.
  public internal(set) var now: Int64

  let source: any SectionedStream<Item>
  let rule: (Item, Int64) -> TimedSection<Section>?
  let sectionID: (Section) -> String
  let fixed: Set<Section>
  /// True if the sections are in the opposite of the order of `Section`.
  let isDescending: Bool
  let hub = ChangeHub<StreamChange<Item>>()
  var look = SectionLook<Section>()
  var rows = FollowedRows<Item>()
  var parts: [Section: Part] = [:]
  var shown: [Part] = []
  /// The rows whose section is valid until a certain time, ordered by that time; some are gone
  /// already, and for some the rule named a time that had passed.
  var due = Rows<(until: Int64, row: RowObject)>()
  /// The load state that the source told last.
  var followedState = LoadState.idle
  private var token: StreamToken?

  /// Makes a partition of a stream, which may have rows already.
  ///
  /// - Parameters:
  ///   - source: the stream.
  ///   - fixed: sections that are shown even if they are empty.
  ///   - isDescending: whether the sections are in the opposite order.
  ///   - sectionID: returns the id of a section; different sections need different ids.
  ///   - partition: returns the section of a row; nil for a row that is not shown. If the result
  ///     depends on more than the row, call `repartition` when that changes.
  public convenience init(
    _ source: any SectionedStream<Item>, fixed: [Section] = [], isDescending: Bool = false,
    sectionID: @escaping (Section) -> String, partition: @escaping (Item) -> Section?
  ) {
    self.init(
      source, fixed: fixed, now: 0, isDescending: isDescending, sectionID: sectionID
    ) { item, _ in
      partition(item).map { TimedSection($0) }
    }
  }

  /// Makes a partition that depends on the time, of a stream that may have rows already.
  ///
  /// It has no clock: `advance(to:)` tells it the time, and `nextChange` says when to call it.
  ///
  /// - Parameters:
  ///   - source: the stream.
  ///   - fixed: sections that are shown even if they are empty.
  ///   - now: the time, in milliseconds since 1970.
  ///   - isDescending: whether the sections are in the opposite order.
  ///   - sectionID: returns the id of a section; different sections need different ids.
  ///   - partition: returns the section of a row at a time, and until when it is valid; nil for a
  ///     row that is not shown.
  public init(
    _ source: any SectionedStream<Item>, fixed: [Section] = [], now: Int64,
    isDescending: Bool = false, sectionID: @escaping (Section) -> String,
    partition: @escaping (_ item: Item, _ now: Int64) -> TimedSection<Section>?
  ) {
    self.source = source
    self.fixed = Set(fixed)
    self.isDescending = isDescending
    self.now = now
    self.sectionID = sectionID
    rule = partition
    hub.follow([source], present: { [weak self] in self?.present })
    token = source.observe { [weak self] change in self?.follow(change) }
  }

  deinit {
    if let token { source.cancel(token) }
  }
}

/// The appearance of a partition's sections.
struct SectionLook<Section: Hashable> {
  var hidesEmptySections = false
  var limit: RowLimit?
  var limits: [Section: RowLimit] = [:]
  var collapsed: Set<Section> = []
  var title: ((Section) -> String?)?
  var footer: ((Section, _ totalCount: Int, _ hiddenCount: Int) -> String?)?

  /// The limit of the rows that a section shows.
  func limit(of section: Section) -> RowLimit? {
    collapsed.contains(section) ? RowLimit(0) : limits[section] ?? limit
  }
}

// MARK: Reading

extension PartitionedStream {
  /// The row with an id, if it is shown.
  ///
  /// O(1); O(log n) in a limited section.
  public func item(forID id: String) -> Item? {
    guard let row = rows.table[id], let part = part(of: row), part.rows.isShown(row) else {
      return nil
    }
    return Row.row(row).item
  }

  /// The place of the row with an id, if it is shown.
  ///
  /// O(log n).
  public func indexPath(forID id: String) -> ListIndexPath? {
    guard let row = rows.table[id], let part = part(of: row), let section = part.index,
      let index = part.rows.list.index(of: row)
    else { return nil }
    return ListIndexPath(section: section, row: index)
  }

  /// The values that the sections stand for, in order.
  public var sectionKeys: [Section] { shown.map(\.key) }

  /// The section that a row belongs to, shown or not; nil if there is no such row.
  ///
  /// O(1).
  public func section(ofID id: String) -> Section? {
    rows.table[id].flatMap { part(of: $0)?.key }
  }

  private func part(of row: RowObject) -> Part? { Row.row(row).place.map { Part.of($0) } }

  /// Tells the present state and every later change.
  public func observe(_ observer: @escaping (StreamChange<Item>) -> Void) -> StreamToken {
    hub.observe(observer, present: present)
  }

  /// Ends an observation.
  public func cancel(_ token: StreamToken) { hub.cancel(token) }
}

// MARK: Starting and stopping

extension PartitionedStream: StartableStream, RestartedStream {
  /// True from `stop` until `start`, and while the source is stopped.
  public var isStopped: Bool { hub.isStopped }

  /// Starts the source, if possible; tells the changes since it was stopped.
  public func start() {
    hub.start { (source as? any StartableStream)?.start() }
  }

  /// Stops the source, if possible; no observer is called until it is started again.
  ///
  /// The rows stay.
  public func stop() {
    hub.isSilent = true
    (source as? any StartableStream)?.stop()
  }

  func whenStarted(_ body: @escaping () -> Void) { hub.whenStarted(body) }
}

import OrderedCollections
public import RunnelBase
public import RunnelTree

/// The rows of a live query, in one section, in the tree's own order or its opposite.
///
/// Responsibilities:
/// - While it is started it listens to the query, and pages if the request is paged. Pages join the
///   present rows as one range and stay live.
/// - It turns each batch of events into one change.
/// - It shows the rows that a predicate accepts, up to a limit; when there is room again, rows
///   beyond the limit come back.
///
/// ```
///  idle --start--> loading --receive--> loaded --fetchMore--> loaded, fetching --receive--> loaded
///   ^                 |  ^                |  |                       |
///   |                 |  +------swap------+  |                       |
///   +------stop-------+---------stop---------+---------stop----------+
/// ```
///
/// `receive(failure:)` leads to the state failed: from loading, and from loaded if no page is being
/// fetched; `start` begins again. While it is stopped, the stream keeps its rows and tells nothing.
/// When it is started again, or gets another request, it tells the differences.
///
/// Terms. A *window* is a listener with its rows. There is one, or there are two for a stream that
/// is paged at both ends: they meet at the place where the stream starts.
///
/// Invariants:
/// - I1. Rows are strictly ordered by position; `ShownRows` holds them.
/// - I2. Events of a listener that was stopped are dropped.
/// - I3. A row belongs to the window that it came from last; another window cannot remove it.
public final class QueryStream<Item: StreamItem>: SectionedStream {
  typealias Row = QueryRow<Item>

  /// The present request.
  public internal(set) var request: ListenRequest
  /// True if the rows are in the opposite of the tree's order.
  public internal(set) var isDescending: Bool
  /// The load state.
  public internal(set) var loadState = LoadState.idle

  /// Called with each new item of a row and the row's previous item; returns the item to show.
  ///
  /// It can carry over properties that are not stored. It is called for the rows that come after it was set:
  /// for all of them, if it is set before `start`, or right after a session has returned the stream, whose rows
  /// come when the session next takes events.
  public var didConstruct: ((_ item: Item, _ previous: Item?) -> Item)?
  /// The distance from a paged end, in rows, at which the next page is fetched automatically; nil
  /// to fetch only on request.
  public var prefetchDistance: Int?
  /// The number of rows in a page that is fetched automatically: at least 1.
  public var prefetchCount = 50

  /// True while the origin of a replica is being asked for what is not known: rows that come before it has
  /// answered were there before.
  package var asksOrigin: () -> Bool = { false }
  /// True until a replica is connected for the first time: answers of an earlier connection are old.
  package var isUnconfirmed: () -> Bool = { false }
  /// True to show the rows of a new request only once the origin has answered: what is known may have gaps.
  package var waitsForAnswer = false {
    didSet { if oldValue, !waitsForAnswer { showKnown() } }
  }

  let source: any TreeSource
  /// Makes an item from a row; the second argument is true if the row has pending writes.
  let construct: (TreeRow, Bool) -> Item
  /// True if the rows contain whether they have pending writes.
  let showsPending: Bool
  /// The pending state of the query's place.
  var pending = PendingState()
  let hub = ChangeHub<StreamChange<Item>>()
  var windows: [QueryWindow]
  var rows: ShownRows<Item>
  /// The rows, by their keys in the tree.
  var rowsByTreeKey = RowTable<ByTreeKey<Item>>()
  /// The rows, by the ids of their items.
  var rowsByID = RowTable<ByID>()
  /// The rows received so far, while a window is not loaded.
  var staged: [Key: QueryPlace]?

  /// Makes a stream, which does nothing before it is started.
  ///
  /// - Parameters:
  ///   - request: the request. The stream listens to children, whatever events it names.
  ///   - isDescending: whether the rows are in the opposite order.
  ///   - place: where a stream starts that is paged at both ends; nil for one that starts at the
  ///     anchor of its paging. The first pages are the rows from the place on, and as many before
  ///     it.
  ///   - source: the tree; the stream keeps it.
  ///   - construct: makes an item from a row; called once for each new content. Different rows need
  ///     different ids.
  public convenience init(
    request: ListenRequest, isDescending: Bool = false, from place: IndexPosition? = nil,
    source: any TreeSource, construct: @escaping (TreeRow) -> Item
  ) {
    self.init(
      request: request, isDescending: isDescending, from: place, source: source,
      showsPending: false
    ) { row, _ in construct(row) }
  }

  /// Makes a stream, which does nothing before it is started.
  ///
  /// - Parameters:
  ///   - request: the request. The stream listens to children, whatever events it names.
  ///   - isDescending: whether the rows are in the opposite order.
  ///   - place: where a stream starts that is paged at both ends; nil for one that starts at the
  ///     anchor of its paging.
  ///   - source: the tree; the stream keeps it.
  ///   - showsPending: whether the rows contain their pending state; if not, it is always false.
  ///   - construct: makes an item from a row; the second argument is true if a pending write
  ///     changes the row. Called again when either changes. Different rows need different ids.
  public init(
    request: ListenRequest, isDescending: Bool = false, from place: IndexPosition? = nil,
    source: any TreeSource, showsPending: Bool, construct: @escaping (TreeRow, Bool) -> Item
  ) {
    self.request = QueryStream.childRequest(request, showsPending: showsPending)
    self.isDescending = isDescending
    self.source = source
    self.showsPending = showsPending
    self.construct = construct
    windows = QueryStream.windows(self.request, isDescending: isDescending, from: place)
    rows = ShownRows(by: QueryStream.order(isDescending: isDescending))
  }

  deinit {
    for listener in windows.compactMap(\.listener) { source.unlisten(listener) }
  }
}

extension QueryStream where Item == Record {
  /// Makes a stream of records, which does nothing before it is started.
  ///
  /// With `showsPending` the records contain their pending state; otherwise it is always false.
  public convenience init(
    request: ListenRequest, isDescending: Bool = false, from place: IndexPosition? = nil,
    source: any TreeSource, showsPending: Bool = false
  ) {
    let path = request.query.path
    let id = Record.id(of: path)
    self.init(
      request: request, isDescending: isDescending, from: place, source: source,
      showsPending: showsPending
    ) { row, isPending in
      Record(row, in: path, collectionID: id, hasPendingWrites: isPending)
    }
  }
}

// MARK: Reading

extension QueryStream {
  static func childRequest(_ request: ListenRequest, showsPending: Bool) -> ListenRequest {
    var request = request
    request.events = [.children, .answered]
    if showsPending { request.events.insert(.pending) }
    return request
  }

  static func windows(
    _ request: ListenRequest, isDescending: Bool, from place: IndexPosition?
  ) -> [QueryWindow] {
    guard let place, let paging = request.paging else {
      return [QueryWindow(request, isDescending: isDescending)]
    }
    return [Query.Side.first, .last].map { side in
      var half = request
      half.query = request.query.clipped(at: place, keeping: side.opposite)
      half.paging = Paging(anchor: side, count: paging.count)
      return QueryWindow(half, isDescending: isDescending)
    }
  }

  /// The order of the rows; each label is the order prefix of a row's position.
  static func order(isDescending: Bool) -> RowOrder {
    RowOrder(
      tie: isDescending
        ? { Record.isOrdered(Row.row($1).record, Row.row($0).record) }
        : { Record.isOrdered(Row.row($0).record, Row.row($1).record) })
  }

  /// A number that ascends with the order of the list.
  func label(of record: Record) -> Int { isDescending ? ~record.orderPrefix : record.orderPrefix }
}

// MARK: Reading

extension QueryStream {
  /// The rows in the order in which they are shown.
  public var items: Rows<Item> { rows.items }

  /// The rows, in one section.
  public var sections: [StreamSection<Item>] { [StreamSection(items: items)] }

  /// The number of rows that were read, whether they are shown or not.
  package var scannedCount: Int { rows.list.all.count }

  /// True while nothing is known of the rows of a page but that there are some: the origin of a
  /// replica has not answered yet.
  package var awaitsFirstPage: Bool { windows.contains(where: \.awaitsFirstPage) }

  /// True from `start` until `stop` or a failure.
  public var isStarted: Bool { windows[0].listener != nil }

  /// True from `stop` until `start`.
  public var isStopped: Bool { hub.isSilent }

  /// True if a write that the origin has not answered changes the row with a key.
  func isPending(_ key: Key) -> Bool { pending.isWhole || pending.children.contains(key) }

  /// The row with an id.
  ///
  /// O(1); O(log n) with a limit.
  public func item(forID id: String) -> Item? {
    guard let row = rowsByID[id], rows.isShown(row) else { return nil }
    return Row.row(row).item
  }

  /// The place of the row with an id.
  ///
  /// O(log n).
  public func indexPath(forID id: String) -> ListIndexPath? {
    rowsByID[id].flatMap { rows.list.index(of: $0) }.map { ListIndexPath(section: 0, row: $0) }
  }

  /// The row with a key in the tree, whatever the type of the items; nil if it is not shown.
  ///
  /// As `item(forID:)`.
  public func item(forKey key: String) -> Item? {
    guard let row = row(forKey: key), rows.isShown(row) else { return nil }
    return Row.row(row).item
  }

  /// The place of the row with a key in the tree; nil if it is not shown.
  ///
  /// As `indexPath(forID:)`.
  public func indexPath(forKey key: String) -> ListIndexPath? {
    row(forKey: key).flatMap { rows.list.index(of: $0) }.map { ListIndexPath(section: 0, row: $0) }
  }

  private func row(forKey key: String) -> RowObject? {
    // Nothing can be stored under an invalid key.
    guard let key = try? Key(key) else { return nil }
    return rowsByTreeKey[key]
  }

  /// The place of the first row that stands after a place in the tree's order, or after a row; nil if
  /// none does.
  ///
  /// O(log n). In a descending stream the first row after a place has a lower position.
  public func firstIndexPath(after position: IndexPosition) -> ListIndexPath? {
    let index = rows.count { !isOrdered(position, Row.row($0).record.row.position) }
    return index < items.count ? ListIndexPath(section: 0, row: index) : nil
  }

  /// The place of the last row that stands before a place in the tree's order; nil if none does.
  ///
  /// O(log n). In a descending stream the last row before a place has a higher position.
  public func lastIndexPath(before position: IndexPosition) -> ListIndexPath? {
    let count = rows.count { isOrdered(Row.row($0).record.row.position, position) }
    return count > 0 ? ListIndexPath(section: 0, row: count - 1) : nil
  }

  /// The place of the first row after a record, which need not be in the stream; nil if there is none.
  ///
  /// O(log n).
  public func firstIndexPath(after record: Record) -> ListIndexPath? {
    firstIndexPath(after: position(of: record))
  }

  /// The place of the last row before a record, which need not be in the stream; nil if there is none.
  ///
  /// O(log n).
  public func lastIndexPath(before record: Record) -> ListIndexPath? {
    lastIndexPath(before: position(of: record))
  }

  /// The position in this stream's order, whatever the order for which the record was made.
  private func position(of record: Record) -> IndexPosition {
    guard let node = record.row.node else { return record.row.position }
    let child = Child(key: record.row.key, node: node)
    return TreeRow(child, index: request.query.index, detail: .full).position
  }

  private func isOrdered(_ left: IndexPosition, _ right: IndexPosition) -> Bool {
    isDescending ? right < left : left < right
  }

  /// Tells the present state and every later change.
  public func observe(_ observer: @escaping (StreamChange<Item>) -> Void) -> StreamToken {
    hub.observe(observer, present: present)
  }

  /// Ends an observation.
  public func cancel(_ token: StreamToken) { hub.cancel(token) }
}

// MARK: Showing

extension QueryStream {
  /// The condition for rows to be shown; nil for all.
  ///
  /// Setting it applies it to every row: O(n).
  public var predicate: ((Item) -> Bool)? {
    get { rows.predicate }
    set { perform { $0.rows.filter(by: newValue) } }
  }

  /// The most rows that are shown of those that the predicate accepts; nil for all.
  ///
  /// A paged stream fetches more rows automatically while it has fewer.
  public var limit: RowLimit? {
    get { rows.list.limit }
    set { perform { $0.rows.limit(to: newValue) } }
  }

  /// Shows new content of a row, and tells it as changed even if it is equal: a property that is
  /// not stored has changed.
  ///
  /// The row keeps the place of its record. The predicate is applied again. Does nothing if there
  /// is no row with this id.
  public func itemChanged(_ item: Item) {
    perform { stream in
      guard let row = stream.rowsByID[item.id] else { return ChangeSet() }
      let old = Row.row(row)
      let new = Row(old.record, item, label: old.label, window: old.window)
      stream.register([.init(old: old, new: new)])
      return stream.rows.replace([.init(old: old, new: new)], changed: [item.id])
    }
  }

  private func perform(_ mutation: @escaping (QueryStream) -> ChangeSet) {
    hub.perform { [self] in
      let changes = mutation(self)
      refill()
      return changes.isEmpty ? nil : change(changes)
    }
  }
}

/// Rows of a query stream, by their keys in the tree.
enum ByTreeKey<Item: StreamItem>: RowNaming {
  static func key(of row: RowObject) -> Key { QueryRow<Item>.row(row).record.treeKey }
}

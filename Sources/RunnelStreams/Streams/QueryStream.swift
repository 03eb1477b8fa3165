import OrderedCollections
public import RunnelBase
public import RunnelTree

/// The rows of a live query, in one section, in the tree's own order or its opposite.
///
/// Responsibilities:
/// - It listens to the query while it is started, and pages if the request is paged. Pages join the
///   rows that are there as one range and stay live.
/// - It turns each batch of events into one change.
///
/// ```
///  idle --start--> loading --receive--> loaded --fetchMore--> loaded, fetching --receive--> loaded
///   ^                 |                   |                          |
///   +------stop-------+-------stop--------+-----------stop-----------+
/// ```
///
/// `receive(failure:)` leads from loading, and from loaded when no page is being fetched, to failed;
/// `start` leads on from there. Stopped, the stream keeps its rows, and its observers are told
/// nothing. Started again, it tells what became different meanwhile.
///
/// Invariants:
/// - I1. `entries` is strictly ordered by position, and `items` holds their items.
/// - I2. Events of a listener that was stopped are dropped.
public final class QueryStream<Item: KeyedItem>: SectionedStream {
  /// A row and the item that was made of it.
  final class Entry {
    let row: TreeRow
    let item: Item

    init(_ row: TreeRow, _ item: Item) {
      self.row = row
      self.item = item
    }
  }

  /// What is asked for.
  public let request: ListenRequest
  /// True if the rows stand in the opposite of the tree's order.
  public let isDescending: Bool
  /// How far the stream is loaded.
  public private(set) var loadState = LoadState.idle
  /// How far the stream has been paged.
  public private(set) var fetchState = FetchState.unknown
  /// The rows in the order in which they are shown.
  public private(set) var items: [Item] = []

  private let source: any TreeSource
  private let construct: (TreeRow) -> Item
  private let hub = ChangeHub<StreamChange<Item>>()
  private var listener: ListenerID?
  private var entries: [Entry] = []
  private var entriesByRow: [Key: Entry] = [:]
  private var entriesByItem: [String: Entry] = [:]

  /// Makes a stream; it asks for nothing before it is started.
  ///
  /// - Parameters:
  ///   - request: which rows. The stream listens to children, whatever events it names.
  ///   - isDescending: whether to show them in the opposite order.
  ///   - source: the tree; the stream keeps it.
  ///   - construct: makes an item of a row, called once for each new content. Two rows have two keys.
  public init(
    request: ListenRequest, isDescending: Bool = false, source: any TreeSource,
    construct: @escaping (TreeRow) -> Item
  ) {
    var request = request
    request.events = .children
    self.request = request
    self.isDescending = isDescending
    self.source = source
    self.construct = construct
  }
}

extension QueryStream where Item == Record {
  /// Makes a stream of records; it asks for nothing before it is started.
  public convenience init(
    request: ListenRequest, isDescending: Bool = false, source: any TreeSource
  ) {
    let path = request.query.path
    self.init(request: request, isDescending: isDescending, source: source) { row in
      Record(row, in: path)
    }
  }
}

// MARK: Reading

extension QueryStream {
  /// The rows, in one section.
  public var sections: [StreamSection<Item>] { [StreamSection(items: items)] }

  /// True from `start` until `stop` or a failure.
  public var isStarted: Bool { listener != nil }

  /// The row with a key.
  ///
  /// O(1).
  public func item(forKey key: String) -> Item? { entriesByItem[key]?.item }

  /// The place of the row with a key.
  ///
  /// O(log n).
  public func indexPath(forKey key: String) -> IndexPath? {
    entriesByItem[key].map { IndexPath(section: 0, row: index(of: $0.row.position)) }
  }

  /// Tells the present state and what happens from now on.
  public func observe(_ observer: @escaping (StreamChange<Item>) -> Void) -> StreamToken {
    hub.observe(observer, present: present)
  }

  /// Ends an observation.
  public func cancel(_ token: StreamToken) { hub.cancel(token) }
}

extension QueryStream: PagedStream {
  /// The key of the row at the end from which pages are fetched; nil if there are no rows.
  public var boundaryKey: String? { (isPagedAtStart ? items.first : items.last)?.key }

  /// True if pages are added before the rows that are there.
  public var isPagedAtStart: Bool { (request.paging?.anchor == .last) != isDescending }
}

// MARK: Starting, stopping, paging

extension QueryStream {
  /// Listens; the rows come by `receive`.
  ///
  /// Nothing happens if it is started already.
  ///
  /// A paged stream that was stopped asks for as many rows as it had.
  public func start() {
    if isStarted { return }
    var request = request
    if let paging = request.paging {
      request.paging = Paging(anchor: paging.anchor, count: max(paging.count, items.count))
    }
    let id = source.listen(request)
    listener = id
    hub.perform { [self] in
      guard listener == id else { return nil }
      hub.isSilent = false
      loadState = .loading
      return change(ChangeSet())
    }
  }

  /// Stops listening; the rows stay.
  ///
  /// No observer is called until it is started again.
  public func stop() {
    guard let id = listener else { return }
    source.unlisten(id)
    listener = nil
    hub.isSilent = true
    loadState = .idle
    if fetchState == .fetching { fetchState = .more }
  }

  /// Asks for up to `count` rows beyond the far end: at least 1.
  ///
  /// Nothing happens unless the stream is loaded and has more rows that were not asked for.
  public func fetchMore(_ count: Int) {
    precondition(count > 0, "A page holds at least one row.")
    hub.perform { [self] in
      guard let listener, loadState == .loaded else { return nil }
      switch fetchState {
      case .unknown, .fetching, .exhausted: return nil
      case .more, .failed: break
      }
      fetchState = .fetching
      source.extend(listener, by: count)
      return change(ChangeSet())
    }
  }
}

// MARK: Receiving

extension QueryStream {
  /// Takes what a listener is told: one call is one batch and becomes one change.
  ///
  /// The first call after `start` brings the initial events, even if there are none; without it an
  /// empty query would never be known to be loaded. Rows that the stream does not know are no
  /// error.
  ///
  /// - Parameters:
  ///   - events: the events, in order.
  ///   - listener: who is told; events for another than the present one are dropped.
  public func receive(_ events: [TreeEvent], from listener: ListenerID) {
    hub.perform { [self] in
      guard self.listener == listener else { return nil }
      return take(EventBatch(events))
    }
  }

  /// Takes the news that a listener could not be registered, could not be extended, or was ended.
  ///
  /// While a page is being fetched it is the page that failed; else the stream has to be started
  /// again.
  ///
  /// - Parameters:
  ///   - failure: what happened, for a person.
  ///   - listener: whom it happened to; news of another than the present one are dropped.
  public func receive(failure: String, from listener: ListenerID) {
    hub.perform { [self] in
      guard self.listener == listener else { return nil }
      if loadState == .loaded, fetchState == .fetching {
        fetchState = .failed(failure)
      } else {
        source.unlisten(listener)
        self.listener = nil
        loadState = .failed(failure)
      }
      return change(ChangeSet())
    }
  }

  private func take(_ batch: EventBatch) -> StreamChange<Item>? {
    let before = (loadState, fetchState)
    var batch = batch
    if loadState != .loaded {
      // The initial events say all there is.
      for entry in entries { batch.removeUnlessNamed(entry.row.key) }
    }
    let isFirst = loadState != .loaded && items.isEmpty
    var changes = apply(batch)
    if isFirst { changes = .reload }
    if request.paging != nil, let hasMore = batch.hasMore {
      fetchState = hasMore ? .more : .exhausted
    }
    loadState = .loaded
    return changes.isEmpty && before == (loadState, fetchState) ? nil : change(changes)
  }

  /// Brings the rows into the state that a batch says they are in.
  private func apply(_ batch: EventBatch) -> ChangeSet {
    let arrivals = arrivals(in: batch)
    var edit = RowEdit<Entry>()
    var added: [Entry] = []
    var (changed, arrived): (Set<String>, Set<String>) = ([], [])
    for (key, row) in batch.rows {
      let old = entriesByRow[key]
      if old?.row == row { continue }
      if let old { edit.removing.append(index(of: old.row.position)) }
      guard let row else { continue }
      let new = Entry(row, construct(row))
      added.append(new)
      if let old {
        if old.item != new.item { changed.insert(new.item.key) }
      } else if arrivals.contains(row.position) {
        arrived.insert(new.item.key)
      }
    }
    edit.removing.sort()
    added.sort { isOrdered($0.row.position, $1.row.position) }
    edit.inserting = added.map { .init(gap: index(of: $0.row.position), item: $0) }
    var changes = carryOut(edit, changed: changed)
    changes.arrivedKeys = arrived
    return changes
  }

  private func carryOut(_ edit: RowEdit<Entry>, changed: Set<String>) -> ChangeSet {
    if edit.isEmpty { return ChangeSet() }
    for index in edit.removing {
      entriesByRow[entries[index].row.key] = nil
      entriesByItem[entries[index].item.key] = nil
    }
    for insertion in edit.inserting {
      entriesByRow[insertion.item.row.key] = insertion.item
      entriesByItem[insertion.item.item.key] = insertion.item
    }
    entries = edit.applied(to: entries).items
    let itemEdit = RowEdit(
      removing: edit.removing,
      inserting: edit.inserting.map { .init(gap: $0.gap, item: $0.item.item) })
    return itemEdit.apply(to: &items, changed: changed)
  }

  /// How to tell the rows of a batch that arrived from those that the window took in.
  private func arrivals(in batch: EventBatch) -> Arrivals {
    if loadState != .loaded { return .none }
    let query = request.query
    let isPage = fetchState == .fetching && batch.hasMore != nil
    let isRefill =
      query.limit != nil && batch.rows.contains { $0.value == nil && entriesByRow[$0.key] != nil }
    guard isPage || isRefill else { return .all }
    // Rows are taken in at the side opposite to the one that the window is fixed to.
    let side = (request.paging?.anchor ?? query.limit?.side ?? .first).opposite
    let isLast = (side == .last) != isDescending
    guard let outermost = (isLast ? entries.last : entries.first)?.row.position else {
      return isPage ? .none : .all
    }
    return side == .first ? .after(outermost) : .before(outermost)
  }

  /// The first index whose row does not stand before a place in the tree's order.
  ///
  /// O(log n).
  private func index(of position: IndexPosition) -> Int {
    entries.lowerBound { isOrdered($0.row.position, position) }
  }

  private func isOrdered(_ left: IndexPosition, _ right: IndexPosition) -> Bool {
    isDescending ? right < left : left < right
  }
}

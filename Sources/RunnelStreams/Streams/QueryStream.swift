import RunnelBase
public import RunnelTree

/// The tree, as streams ask it. What comes of a request is given to the stream later.
public protocol TreeSource: AnyObject {
  /// Registers a listener and returns its name.
  func listen(_ request: ListenRequest) -> ListenerID
  /// Removes a listener.
  func unlisten(_ listener: ListenerID)
  /// Extends the window of a paged listener by up to `count` rows.
  func extend(_ listener: ListenerID, by count: Int)
}

/// How far a stream has been paged.
public enum FetchState: Hashable, Sendable {
  /// It is not known yet whether there are more rows.
  case unknown
  /// There are more rows.
  case more
  /// A page is being fetched.
  case fetching
  /// The last page could not be fetched, for this reason.
  case failed(String)
  /// There are no more rows.
  case exhausted
}

/// The rows of one query on the tree, live, in the tree's own order.
///
/// Pages that are fetched join the rows that are there as one range, and stay live: what is added,
/// changed, moved or removed anywhere in it shows.
///
/// It can be stopped and started any number of times. Events of an earlier run are dropped.
///
/// - Invariant: `rows` is sorted by position, and `values` holds the value of each row's key.
public final class QueryStream<Item: KeyedItem>: SectionedStream {
  /// The id of the stream's only section.
  public static var sectionID: String { "" }

  /// What the stream asks the tree.
  public let request: ListenRequest
  /// True if the items stand in the opposite of the tree's order.
  public let isDescending: Bool

  /// How far the stream is loaded.
  public private(set) var loadState = LoadState.idle
  /// How far the stream has been paged.
  public private(set) var fetchState = FetchState.unknown
  /// The items in the order in which they are shown.
  public private(set) var items: [Item] = []

  private let source: any TreeSource
  private let construct: (TreeRow) -> Item
  private let observers = StreamObservers<StreamChange<Item>>()
  private var listener: ListenerID?
  private var rows: [TreeRow] = []
  private var values: [Key: IndexValue] = [:]

  /// Makes a stream; it asks for nothing before it is started.
  ///
  /// - Parameters:
  ///   - request: which rows. The stream listens to children, whatever events it names.
  ///   - isDescending: whether to show them in the opposite order.
  ///   - source: the tree.
  ///   - construct: makes an item of a row; called once for each new or changed content.
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

  /// The stream's only section.
  public var sections: [StreamSection<Item>] {
    [StreamSection(id: QueryStream.sectionID, items: items)]
  }

  /// The row at the end from which pages are fetched; nil if there are no rows.
  public var boundaryItem: Item? {
    let isFirst = (request.paging?.anchor == .last) != isDescending
    return isFirst ? items.first : items.last
  }
}

extension QueryStream where Item == Record {
  /// Makes a stream of records.
  public convenience init(
    request: ListenRequest, isDescending: Bool = false, source: any TreeSource
  ) {
    let path = request.query.path
    self.init(request: request, isDescending: isDescending, source: source) { row in
      Record(row, in: path)
    }
  }
}

// MARK: Running

extension QueryStream {
  /// Starts to listen; nothing happens if it does already.
  public func start() {
    guard listener == nil else { return }
    loadState = .loading
    listener = source.listen(request)
  }

  /// Stops listening and lets go of all rows. Nothing is told.
  public func stop() {
    if let listener { source.unlisten(listener) }
    listener = nil
    loadState = .idle
    fetchState = .unknown
    rows = []
    items = []
    values = [:]
  }

  /// Asks for the next page; nothing happens while one is fetched, or if there are no more rows.
  ///
  /// - Parameter count: how many rows at most; at least 1.
  public func fetchMore(_ count: Int) {
    guard let listener, fetchState == .more || isFailed else { return }
    fetchState = .fetching
    source.extend(listener, by: count)
    observers.tell(StreamChange(update: BatchUpdate()))
  }

  private var isFailed: Bool { if case .failed = fetchState { true } else { false } }

  /// Tells the present state, and then each change.
  public func observe(_ observer: @escaping (StreamChange<Item>) -> Void) -> StreamToken {
    let token = observers.add(observer)
    observer(StreamChange(update: .reload, touched: items))
    return token
  }

  /// Stops telling an observer.
  public func cancel(_ token: StreamToken) { observers.cancel(token) }
}

// MARK: Events

extension QueryStream {
  /// Takes the events of one batch over; those for another listener are dropped.
  public func receive(_ events: [TreeEvent], from listener: ListenerID) {
    guard listener == self.listener else { return }
    let isFirst = loadState != .loaded
    let old = items.map(\.key)
    var touched: Set<Key> = []
    var known: Set<Key> = []
    var removed: Set<Key> = []
    var isPage = isFirst
    for event in events {
      switch event {
      case .childAdded(let row, _), .childChanged(let row, _), .childMoved(let row, _):
        let isKnown = values[row.key] != nil && !touched.contains(row.key)
        if isKnown || removed.contains(row.key) { known.insert(row.key) }
        if put(row) { touched.insert(row.key) }
      case .childRemoved(let row):
        if values[row.key] != nil, !touched.contains(row.key) { removed.insert(row.key) }
        remove(row.key)
        touched.remove(row.key)
      case .value: break
      case .page(let hasMore):
        isPage = true
        fetchState = hasMore ? .more : .exhausted
      }
    }
    loadState = .loaded
    if request.paging == nil { fetchState = .exhausted }
    tell(from: old, touched: touched, known: known, isFirst: isFirst, isPage: isPage)
  }

  /// Learns that the tree could not be read; events for another listener are dropped.
  public func receive(failure: String, from listener: ListenerID) {
    guard listener == self.listener else { return }
    if loadState == .loaded { fetchState = .failed(failure) } else { loadState = .failed(failure) }
    observers.tell(StreamChange(update: BatchUpdate()))
  }

  private func tell(
    from old: [String], touched: Set<Key>, known: Set<Key>, isFirst: Bool, isPage: Bool
  ) {
    let touchedItems = touched.sorted().compactMap { index(of: $0).map { items[shown($0)] } }
    if isFirst {
      observers.tell(StreamChange(update: .reload, touched: touchedItems))
      return
    }
    let changed = Set(
      known.intersection(touched).compactMap { index(of: $0).map { items[shown($0)].key } })
    let update = SectionedDiff.update(
      from: [KeyedSection(id: QueryStream.sectionID, keys: old)],
      to: [KeyedSection(id: QueryStream.sectionID, keys: items.map(\.key))], changed: changed)
    let arrived = isPage ? [] : Set(touchedItems.map(\.key)).subtracting(changed)
    observers.tell(StreamChange(update: update, touched: touchedItems, arrived: arrived))
  }

  /// Puts a row where it belongs; false if it stands there already with the same content.
  private func put(_ row: TreeRow) -> Bool {
    if let index = index(of: row.key) {
      if rows[index] == row { return false }
      if rows[index].value == row.value {
        rows[index] = row
        items[shown(index)] = construct(row)
        return true
      }
      remove(row.key)
    }
    let index = position(of: row.position)
    rows.insert(row, at: index)
    items.insert(construct(row), at: isDescending ? rows.count - 1 - index : index)
    values[row.key] = row.value
    return true
  }

  /// Takes a row away; one that is not there is ignored.
  private func remove(_ key: Key) {
    guard let index = index(of: key) else { return }
    items.remove(at: shown(index))
    rows.remove(at: index)
    values[key] = nil
  }

  /// Where the row at an index of `rows` stands in `items`.
  private func shown(_ index: Int) -> Int { isDescending ? rows.count - 1 - index : index }

  /// The index of a row in `rows`. O(log n).
  private func index(of key: Key) -> Int? {
    guard let value = values[key] else { return nil }
    return position(of: IndexPosition(value: value, key: .key(key)))
  }

  private func position(of position: IndexPosition) -> Int {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].position < position { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

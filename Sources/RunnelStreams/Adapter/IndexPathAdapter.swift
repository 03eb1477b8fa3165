import RunnelBase

/// Turns the changes of a stream into batch updates of a list, with the paging row in its place.
///
/// The *paging row* stands for what is not loaded, or says that everything is. It is a row like any
/// other: the first or last one of the section that holds the boundary row of the paged stream. If
/// no section holds it, the paging row is a section of its own at the end of the list, unless there
/// is nothing more to fetch.
///
/// The list is first told when the stream is loaded, as one reload. From then on each change is a
/// batch; a change of the paging row's state is one too.
///
/// Each batch is checked: what it leads to must be the list. A batch that fails the check stops a
/// debug build; in a release build, which checks less, the list is read anew and `mistakes` counts.
public final class IndexPathAdapter<Item: KeyedItem> {
  /// The key of the paging row, and the id of its section if it is alone.
  public let pagingKey: String
  /// How often a batch failed its check.
  public private(set) var mistakes = 0
  /// What was wrong with the last batch that failed its check, for a log.
  public private(set) var lastMistake: String?

  private let stream: any SectionedStream<Item>
  private let paged: (any PagedStream<Item>)?
  private let boundaryKey: () -> String?
  private let receive: (ListUpdate<Item>) -> Void
  private let hub = ChangeHub<ListUpdate<Item>> { $0 }
  private var cancellations: [() -> Void] = []
  private var isLoaded = false
  private var content: [StreamSection<Item>] = []
  private var side = PagingShift.Side(sections: [], row: nil)
  /// The list, the paging row included.
  public private(set) var sections: [KeyedSection] = []

  /// Makes an adapter; it tells nothing before it is started.
  ///
  /// - Parameters:
  ///   - stream: what the list shows.
  ///   - paged: the stream that is fetched page by page, which `stream` is or is made of; nil for a
  ///     list without a paging row.
  ///   - pagingKey: the key of the paging row; no item may have it, and no section.
  ///   - boundaryKey: the key of the row beside which the paging row stands; nil to take that of
  ///     `paged`. A list that shows some rows of `paged` elsewhere names the last that is in place.
  ///   - receive: what is told each update, the first one a reload. What it does to the streams
  ///     becomes a following update.
  public init(
    _ stream: any SectionedStream<Item>, paged: (any PagedStream<Item>)?,
    pagingKey: String = "fetch-more", boundaryKey: (() -> String?)? = nil,
    receive: @escaping (ListUpdate<Item>) -> Void
  ) {
    self.stream = stream
    self.paged = paged
    self.boundaryKey = boundaryKey ?? { paged?.boundaryKey }
    self.pagingKey = pagingKey
    self.receive = receive
  }

  deinit { stop() }

  /// The paging row; nil if the list has none.
  public var pagingRow: PagingRow? { side.row }

  /// Follows the stream; nothing happens if it does already.
  public func start() {
    guard cancellations.isEmpty else { return }
    let told = hub.observe(receive, present: nil)
    cancellations = [{ [hub] in hub.cancel(told) }]
    follow(stream) { adapter, change in adapter.take(change) }
    // The stream is told of the paged one's rows before; this is for a change of its state alone.
    if let paged { follow(paged) { adapter, _ in adapter.refreshPagingRow() } }
  }

  /// Stops following; nothing is told afterwards.
  ///
  /// Started again, it begins with a reload.
  public func stop() {
    for cancel in cancellations { cancel() }
    cancellations = []
    isLoaded = false
  }

  private func follow(
    _ followed: some SectionedStream<Item>,
    _ body: @escaping (IndexPathAdapter, StreamChange<Item>) -> ListUpdate<Item>?
  ) {
    let token = followed.observe { [weak self] change in
      guard let self else { return }
      hub.perform { self.cancellations.isEmpty ? nil : body(self, change) }
    }
    cancellations.append { followed.cancel(token) }
  }
}

// MARK: Following

extension IndexPathAdapter {
  private func take(_ change: StreamChange<Item>) -> ListUpdate<Item>? {
    guard isLoaded || change.loadState == .loaded else { return nil }
    var change = change
    if isLoaded, change.changes.batch.isReload {
      change.changes = SectionedDiff.changes(from: content, to: change.sections)
    } else if !isLoaded {
      change.changes = .reload
    }
    isLoaded = true
    let keyed = keyedSections(after: change)
    content = change.sections
    return advance(to: keyed, change)
  }

  private func refreshPagingRow() -> ListUpdate<Item>? {
    guard isLoaded else { return nil }
    let change = StreamChange(
      sections: content, changes: ChangeSet(), loadState: stream.loadState)
    return advance(to: side.sections, change)
  }

  private func advance(
    to keyed: [KeyedSection], _ change: StreamChange<Item>
  ) -> ListUpdate<Item>? {
    let new = PagingShift.Side(sections: keyed, row: pagingRow(in: keyed))
    let batch = PagingShift(old: side, new: new).translated(change.changes.batch)
    if batch.isEmpty { return nil }
    let list = new.list
    let update = checked(batch, from: sections, to: list)
    side = new
    sections = list
    return ListUpdate(
      sections: list, update: update, touched: change.touched, removed: change.changes.removedKeys,
      arrived: change.changes.arrivedKeys, pagingRow: new.row)
  }

  /// The keys of the stream's rows; those of sections that kept their rows are not read again.
  private func keyedSections(after change: StreamChange<Item>) -> [KeyedSection] {
    let batch = change.changes.batch
    var kept: [String: [String]] = [:]
    if !batch.isReload {
      for section in side.sections { kept[section.id] = section.keys }
      let from = batch.deletedRows.map(\.section) + batch.movedRows.map(\.from.section)
      for section in Set(from) { kept[side.sections[section].id] = nil }
      let to = batch.insertedRows.map(\.section) + batch.movedRows.map(\.to.section)
      for section in Set(to) { kept[change.sections[section].id] = nil }
    }
    return change.sections.map { section in
      KeyedSection(id: section.id, keys: kept[section.id] ?? section.items.map(\.key))
    }
  }

  /// Where the paging row stands among the rows of the stream, and what it says.
  private func pagingRow(in list: [KeyedSection]) -> PagingRow? {
    guard let paged, paged.fetchState != .unknown else { return nil }
    let state = paged.fetchState
    let isFirst = paged.isPagedAtStart
    let home = boundaryKey().flatMap { boundary in
      list.firstIndex { (isFirst ? $0.keys.first : $0.keys.last) == boundary }
        ?? list.firstIndex { $0.keys.contains(boundary) }
    }
    if let home {
      let path = IndexPath(section: home, row: isFirst ? 0 : list[home].keys.count)
      return PagingRow(key: pagingKey, path: path, state: state, isAlone: false)
    }
    if state == .exhausted { return nil }
    let path = IndexPath(section: list.count, row: 0)
    return PagingRow(key: pagingKey, path: path, state: state, isAlone: true)
  }

  /// The batch, or a reload if it does not lead from one list to the other.
  private func checked(
    _ batch: BatchUpdate, from old: [KeyedSection], to new: [KeyedSection]
  ) -> BatchUpdate {
    #if DEBUG
    let mistake = batch.mistake(from: old, to: new)
    #else
    let mistake = batch.countMistake(from: old, to: new)
    #endif
    guard let mistake else { return batch }
    mistakes += 1
    lastMistake = mistake
    assertionFailure(mistake)
    return .reload
  }
}

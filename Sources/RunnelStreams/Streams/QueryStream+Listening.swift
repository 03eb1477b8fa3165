import OrderedCollections
public import RunnelTree

// MARK: Starting and stopping

extension QueryStream {
  /// Listens; the rows come by `receive`.
  ///
  /// Nothing happens if it is started already.
  ///
  /// A paged stream that was stopped asks for as many rows as it had.
  public func start() {
    if isStarted { return }
    for index in windows.indices {
      windows[index].listener = source.listen(windows[index].restartRequest)
    }
    staged = [:]
    let first = windows[0].listener
    hub.perform { [self] in
      guard windows[0].listener == first else { return nil }
      hub.isSilent = false
      loadState = .loading
      return change(ChangeSet())
    }
  }

  /// Stops listening; the rows stay.
  ///
  /// No observer is called until it is started again.
  public func stop() {
    if !isStarted { return }
    unlisten()
    hub.isSilent = true
    loadState = .idle
  }

  /// Asks for something else, without letting go of what is shown: when the answer is there, rows that
  /// are in both are told as moved and changed, not as removed and added.
  ///
  /// A stream that is started listens at once. May be called at any rate; what was asked for before
  /// is dropped.
  ///
  /// - Parameters:
  ///   - request: which rows.
  ///   - isDescending: whether to show them in the opposite order.
  ///   - place: where a stream starts that is paged at both ends.
  public func swap(
    to request: ListenRequest, isDescending: Bool = false, from place: IndexPosition? = nil
  ) {
    let wasStarted = isStarted
    if wasStarted { unlisten() }
    self.request = QueryStream.childRequest(request)
    self.isDescending = isDescending
    windows = QueryStream.windows(self.request, isDescending: isDescending, from: place)
    if wasStarted { start() }
  }

  private func unlisten() {
    for index in windows.indices {
      if let listener = windows[index].listener { source.unlisten(listener) }
      tell(windows[index].stop(), .cancelled)
    }
    staged = nil
  }

  /// Calls those that wait for pages, after the observers.
  func tell(_ completions: [(FetchOutcome) -> Void], _ outcome: FetchOutcome) {
    for completion in completions {
      hub.perform {
        completion(outcome)
        return nil
      }
    }
  }
}

// MARK: Receiving

extension QueryStream {
  /// Takes what a listener is told: one call is one batch and becomes one change.
  ///
  /// The first call after `start` brings the initial events, even if there are none; without it an
  /// empty query would never be known to be loaded. Rows that the stream does not know are no
  /// error. A stream that is paged at both ends has two listeners, whose batches have to come in the
  /// order in which they happened.
  ///
  /// - Parameters:
  ///   - events: the events, in order.
  ///   - listener: who is told; events for another than the present one are dropped.
  public func receive(_ events: [TreeEvent], from listener: ListenerID) {
    if !windows.contains(where: { $0.listener == listener }) { return }
    hub.perform { [self] in
      guard let window = windows.firstIndex(where: { $0.listener == listener }) else { return nil }
      return take(EventBatch(events), window)
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
      guard let window = windows.firstIndex(where: { $0.listener == listener }) else { return nil }
      if windows[window].isLoaded, !windows[window].fetches.isEmpty {
        if let completion = windows[window].finishFetch() {
          windows[window].fetchState = .failed(failure)
          tell([completion], .failed(failure))
        }
      } else {
        unlisten()
        loadState = .failed(failure)
      }
      return change(ChangeSet())
    }
  }

  @specialized(where Item == Record)
  private func take(_ batch: EventBatch, _ window: Int) -> StreamChange<Item>? {
    let before = (loadState, windows.map(\.fetchState))
    let isPage =
      windows[window].isLoaded && batch.hasMore != nil && !windows[window].fetches.isEmpty
    let changes = staged == nil ? apply(batch, window, isPage: isPage) : stage(batch, window)
    windows[window].isLoaded = true
    if windows[window].request.paging != nil, let hasMore = batch.hasMore {
      windows[window].fetchState = hasMore ? .more : .exhausted
      if isPage, let completion = windows[window].finishFetch() { tell([completion], .fetched) }
    }
    let loaded = load() ?? changes
    refill()
    let isSame = loaded.isEmpty && before.0 == loadState && before.1 == windows.map(\.fetchState)
    return isSame ? nil : change(loaded)
  }
}

// MARK: Loading

extension QueryStream {
  /// Keeps the rows of a batch until all windows are loaded.
  private func stage(_ batch: EventBatch, _ window: Int) -> ChangeSet {
    if staged?.isEmpty == true { staged?.reserveCapacity(batch.lastEvents.count) }
    for (key, event) in batch.lastEvents {
      if let row = batch.row(event) {
        staged?[key] = QueryPlace(row: row, window: window)
      } else if staged?[key]?.window == window {
        staged?[key] = nil
      }
    }
    return ChangeSet()
  }

  /// Shows the rows that were staged, as soon as all windows are loaded; nil until then.
  ///
  /// O(n log n).
  private func load() -> ChangeSet? {
    guard let staged, windows.allSatisfy(\.isLoaded) else { return nil }
    self.staged = nil
    loadState = .loaded
    let (oldByTreeKey, oldByKey) = (rowsByTreeKey, rowsByKey)
    rowsByTreeKey = RowTable(minimumCapacity: staged.count)
    rowsByKey = RowTable(minimumCapacity: staged.count)
    for index in windows.indices { windows[index].rowCount = 0 }
    var loaded: [RowObject] = []
    loaded.reserveCapacity(staged.count)
    for place in staged.values {
      let row = load(place, oldByTreeKey[place.row.key].map { Row.row($0) }, oldByKey)
      loaded.append(row)
      rowsByTreeKey.insert(row)
      rowsByKey.insert(row)
      windows[place.window].rowCount += 1
    }
    return rows.reset(loaded, by: QueryStream.order(isDescending: isDescending))
  }

  /// What is kept of a row that is loaded; the item of one that is as it was stays.
  private func load(_ place: QueryPlace, _ old: Row?, _ others: RowTable<ByKey>) -> Row {
    let made = construct(place.row)
    let previous = others[made.key]
    let isSame = old != nil && old === previous && old?.record.content == place.row.content
    let shown =
      isSame ? old?.item : didConstruct?(made, previous.map { Row.row($0).item })
    return row(place.row, made, shown: shown ?? made, window: place.window)
  }

  /// What is kept of a row of the tree, of which one item was made and another may be shown.
  ///
  /// An item that is the record of the row is kept as what the tree told, too.
  private func row(_ row: TreeRow, _ made: Item, shown: Item, window: Int) -> Row {
    func told(_ item: Item) -> Record? {
      guard let record = item as? Record, record.says(row) else { return nil }
      return record
    }
    let record = told(shown) ?? told(made) ?? Record(placeless: row)
    return Row(record, shown, label: label(of: record), window: window)
  }
}

// MARK: Following

extension QueryStream {
  /// Brings the rows into the state that a batch says they are in.
  private func apply(_ batch: EventBatch, _ window: Int, isPage: Bool) -> ChangeSet {
    let arrivals = arrivals(in: batch, window, isPage: isPage)
    var replacements: [RowList.Replacement] = []
    var (changed, arrived): (Set<String>, Set<String>) = ([], [])
    for (key, event) in batch.lastEvents {
      let old = rowsByTreeKey[key].map { Row.row($0) }
      guard let told = batch.row(event) else {
        if let old, old.window == window { replacements.append(.init(old: old)) }
        continue
      }
      if let old, old.window == window, old.record.says(told) { continue }
      let made = construct(told)
      let shown = didConstruct?(made, old?.item) ?? made
      let new = row(told, made, shown: shown, window: window)
      replacements.append(.init(old: old, new: new))
      if let old {
        if old.item != new.item { changed.insert(new.key) }
      } else if arrivals.contains(told.position) {
        arrived.insert(new.key)
      }
    }
    register(replacements)
    var changes = rows.replace(replacements, changed: changed)
    changes.arrivedKeys = arrived.intersection(changes.insertedKeys)
    return changes
  }

  /// Notes rows that come in the place of others.
  func register(_ replacements: [RowList.Replacement]) {
    rowsByTreeKey.replace(replacements)
    rowsByKey.replace(replacements)
    for replacement in replacements {
      if let old = replacement.old { windows[old.origin].rowCount -= 1 }
      if let new = replacement.new { windows[new.origin].rowCount += 1 }
    }
  }

  /// How to tell the rows of a batch that arrived from those that the window took in.
  private func arrivals(in batch: EventBatch, _ window: Int, isPage: Bool) -> Arrivals {
    let query = windows[window].request.query
    let isRefill =
      query.limit != nil
      && batch.lastEvents.contains { batch.row($0.value) == nil && rowsByTreeKey[$0.key] != nil }
    guard isPage || isRefill else { return .all }
    // Rows are taken in at the side opposite to the one that the window is fixed to.
    let anchor = windows[window].request.paging?.anchor ?? query.limit?.side ?? .first
    let isLast = (anchor.opposite == .last) != isDescending
    guard
      let outermost = (isLast ? rows.list.all.last : rows.list.all.first).map({
        Row.row($0).record.row.position
      })
    else {
      return isPage ? .none : .all
    }
    return anchor.opposite == .first ? .after(outermost) : .before(outermost)
  }
}

import OrderedCollections
public import RunnelTree

// MARK: Starting and stopping

extension QueryStream {
  /// Begins to listen; the rows come through `receive`.
  ///
  /// Does nothing if it is started already. A paged stream that was stopped asks for as many rows
  /// as it had.
  public func start() {
    if isStarted { return }
    for index in windows.indices {
      windows[index].listener = source.listen(windows[index].restartRequest)
    }
    (staged, pending) = ([:], PendingState())
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
  /// No observer is called until it is started again. A stream that has failed is stopped as well, and is
  /// idle then.
  public func stop() {
    switch loadState {
    case .failed: break
    default: if !isStarted { return }
    }
    unlisten()
    hub.isSilent = true
    loadState = .idle
  }

  /// Asks for another request, and shows the old rows until its answer has come; rows that are in
  /// both are then told as moved and changed, not as removed and added.
  ///
  /// A started stream listens at once. It may be called at any rate; an earlier request without an
  /// answer is dropped.
  ///
  /// - Parameters:
  ///   - request: the new request.
  ///   - isDescending: whether the rows are in the opposite order.
  ///   - place: where a stream starts that is paged at both ends.
  public func swap(
    to request: ListenRequest, isDescending: Bool = false, from place: IndexPosition? = nil
  ) {
    let wasStarted = isStarted
    if wasStarted { unlisten() }
    self.request = QueryStream.childRequest(request, showsPending: showsPending)
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

  /// Calls the completions of pages, after the observers.
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
  /// Takes the events of a listener: one call is one batch and becomes one change.
  ///
  /// The first call after `start` brings the initial events, even if there are none; without it an
  /// empty query would never count as loaded. Rows that the stream does not know are no error. A
  /// stream that is paged at both ends has two listeners, whose batches must come in the order in
  /// which they happened.
  ///
  /// - Parameters:
  ///   - events: the events, in order.
  ///   - listener: the listener; events for another than the present one are dropped.
  public func receive(_ events: [TreeEvent], from listener: ListenerID) {
    if !windows.contains(where: { $0.listener == listener }) { return }
    hub.perform { [self] in
      guard let window = windows.firstIndex(where: { $0.listener == listener }) else { return nil }
      return take(EventBatch(events), window)
    }
  }

  /// Takes the failure of a listener: it could not be registered or extended, or was ended.
  ///
  /// While a page is being fetched, only the page has failed; otherwise the stream must be started
  /// again.
  ///
  /// - Parameters:
  ///   - failure: the failure.
  ///   - listener: the listener; failures of another than the present one are dropped.
  public func receive(failure: StreamFailure, from listener: ListenerID) {
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
    if !windows[window].isLoaded { windows[window].isLoaded = isWhole(batch, window) }
    if batch.isAnswer { windows[window].isAnswered = true }
    if windows[window].request.paging != nil, let hasMore = batch.hasMore {
      windows[window].fetchState = hasMore ? .more : .exhausted
      windows[window].awaitsFirstPage = false
      if isPage, let completion = windows[window].finishFetch() { tell([completion], .fetched) }
    }
    let loaded = load() ?? changes
    if loadState == .cached, windows.allSatisfy(\.isAnswered) { loadState = .loaded }
    refill()
    let isSame = loaded.isEmpty && before.0 == loadState && before.1 == windows.map(\.fetchState)
    return isSame ? nil : change(loaded)
  }

  /// True if a window can be shown with a batch.
  ///
  /// The first page of a replica is what it knows; the next one is the origin's.
  private func isWhole(_ batch: EventBatch, _ window: Int) -> Bool {
    defer { if batch.hasMore != nil { windows[window].hasKnownPage = true } }
    guard waitsForAnswer, windows[window].request.paging != nil, !batch.isAnswer else {
      return true
    }
    return batch.hasMore == false || batch.hasMore == true && windows[window].hasKnownPage
  }

  /// Shows what is known of a new request, for which the origin was waited.
  func showKnown() {
    hub.perform { [self] in
      guard staged != nil else { return nil }
      for index in windows.indices where windows[index].hasKnownPage {
        windows[index].isLoaded = true
      }
      guard let loaded = load() else { return nil }
      refill()
      return change(loaded)
    }
  }
}

// MARK: Loading

extension QueryStream {
  /// Keeps the rows of a batch until all windows are loaded.
  private func stage(_ batch: EventBatch, _ window: Int) -> ChangeSet {
    if let state = batch.pending { pending = state }
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

  /// Shows the staged rows if all windows are loaded; returns nil otherwise.
  ///
  /// O(n log n).
  private func load() -> ChangeSet? {
    guard let staged, windows.allSatisfy(\.isLoaded) else { return nil }
    self.staged = nil
    loadState = .cached
    let (oldByTreeKey, oldByID) = (rowsByTreeKey, rowsByID)
    rowsByTreeKey = RowTable(minimumCapacity: staged.count)
    rowsByID = RowTable(minimumCapacity: staged.count)
    for index in windows.indices { windows[index].rowCount = 0 }
    var loaded: [RowObject] = []
    loaded.reserveCapacity(staged.count)
    for place in staged.values {
      let row = load(place, oldByTreeKey[place.row.key].map { Row.row($0) }, oldByID)
      loaded.append(row)
      rowsByTreeKey.insert(row)
      rowsByID.insert(row)
      windows[place.window].rowCount += 1
    }
    for index in windows.indices {
      windows[index].awaitsFirstPage =
        windows[index].rowCount == 0 && windows[index].fetchState == .more
    }
    return rows.reset(loaded, by: QueryStream.order(isDescending: isDescending))
  }

  /// The row object of a loaded row; an unchanged row keeps its item.
  private func load(_ place: QueryPlace, _ old: Row?, _ others: RowTable<ByID>) -> Row {
    let isPending = isPending(place.row.key)
    let made = construct(place.row, isPending)
    let previous = others[made.id]
    let isSame =
      old != nil && old === previous && old?.record.hasPendingWrites == isPending
      && old?.record.content == place.row.content
    let shown =
      isSame ? old?.item : didConstruct?(made, previous.map { Row.row($0).item })
    return row(place.row, made, shown: shown ?? made, window: place.window)
  }

  /// The row object for a row of the tree; `made` is the item made of it, `shown` the one that is
  /// shown.
  ///
  /// If the item is the record of the row, it is stored only once.
  private func row(_ row: TreeRow, _ made: Item, shown: Item, window: Int) -> Row {
    let isPending = isPending(row.key)
    func told(_ item: Item) -> Record? {
      guard let record = item as? Record, record.says(row, hasPendingWrites: isPending) else {
        return nil
      }
      return record
    }
    let record =
      told(shown) ?? told(made) ?? Record(placeless: row, hasPendingWrites: isPending)
    return Row(record, shown, label: label(of: record), window: window)
  }
}

// MARK: Following

extension QueryStream {
  /// Applies a batch to the rows.
  private func apply(_ batch: EventBatch, _ window: Int, isPage: Bool) -> ChangeSet {
    let arrivals = arrivals(in: batch, window, isPage: isPage)
    let wasPending = pending
    if let state = batch.pending { pending = state }
    var replacements: [RowList.Replacement] = []
    replacements.reserveCapacity(batch.lastEvents.count)
    var (changed, arrived): (Set<String>, Set<String>) = ([], [])
    for (key, event) in batch.lastEvents {
      let old = rowsByTreeKey[key].map { Row.row($0) }
      guard let told = batch.row(event) else {
        if let old, old.window == window { replacements.append(.init(old: old)) }
        continue
      }
      let isPending = isPending(key)
      if let old, old.window == window, old.record.says(told, hasPendingWrites: isPending) {
        continue
      }
      let made = construct(told, isPending)
      let shown = didConstruct?(made, old?.item) ?? made
      let new = row(told, made, shown: shown, window: window)
      replacements.append(.init(old: old, new: new))
      if let old {
        if old.item != new.item { changed.insert(new.id) }
      } else if arrivals.contains(told.position) {
        arrived.insert(new.id)
      }
    }
    for row in rowsToMark(insteadOf: wasPending, besides: replacements) {
      let told = row.record.row
      let made = construct(told, isPending(told.key))
      let new = self.row(
        told, made, shown: didConstruct?(made, row.item) ?? made, window: row.window)
      replacements.append(.init(old: row, new: new))
      if row.item != new.item { changed.insert(new.id) }
    }
    register(replacements)
    var changes = rows.replace(replacements, changed: changed)
    changes.arrivedIDs = arrived.intersection(changes.insertedIDs)
    return changes
  }

  /// Returns the rows whose shown pending state is out of date, except those that are replaced
  /// anyway.
  ///
  /// O(k) in the keys that became pending or were answered; O(n) if that is the whole place.
  private func rowsToMark(
    insteadOf before: PendingState, besides replacements: [RowList.Replacement]
  ) -> [Row] {
    if pending == before { return [] }
    let replaced = Set(replacements.compactMap { $0.old.map { ObjectIdentifier($0) } })
    let rows: [RowObject] =
      pending.isWhole != before.isWhole
      ? Array(self.rows.list.all)
      : pending.children.symmetricDifference(before.children).sorted()
        .compactMap { rowsByTreeKey[$0] }
    return rows.map { Row.row($0) }.filter { row in
      row.record.hasPendingWrites != isPending(row.treeKey)
        && !replaced.contains(ObjectIdentifier(row))
    }
  }

  /// Updates the tables for replaced rows.
  func register(_ replacements: [RowList.Replacement]) {
    rowsByTreeKey.replace(replacements)
    rowsByID.replace(replacements)
    for replacement in replacements {
      if let old = replacement.old { windows[old.origin].rowCount -= 1 }
      if let new = replacement.new { windows[new.origin].rowCount += 1 }
    }
  }

  /// Distinguishes the rows of a batch that arrived from those that the window moved over, or that
  /// belong to its first page.
  private func arrivals(in batch: EventBatch, _ window: Int, isPage: Bool) -> Arrivals {
    if windows[window].awaitsFirstPage { return .none }
    if let paging = windows[window].request.paging,
      isUnconfirmed() || !windows[window].isAnswered && asksOrigin()
    {
      return unanswered(paging)
    }
    let query = windows[window].request.query
    let isRefill =
      query.limit != nil
      && batch.lastEvents.contains { batch.row($0.value) == nil && rowsByTreeKey[$0.key] != nil }
    guard isPage || isRefill else { return .all }
    // The window grows at the side opposite to its anchor.
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

  /// The rows of a page that arrived although the origin has not answered it before.
  ///
  /// In a history these are the rows newer than all that were known. The others may merely not have been known.
  private func unanswered(_ paging: Paging) -> Arrivals {
    guard paging.anchor == .last,
      let newest = isDescending ? rows.list.all.first : rows.list.all.last
    else { return .none }
    return .after(Row.row(newest).record.row.position)
  }
}

public import RunnelBase

/// Turns the changes of streams into updates of one list, with placeholders among its rows.
///
/// A list is made of parts, one after the other. Its rows are those of the parts' streams, and
/// *placeholders*: rows that stand for rows not loaded, for an empty list, or for a failure.
///
/// The first update comes when there is something to show, and is a reload; so is the first load of
/// a list's only rows. After that each change is a batch, also a change of a placeholder. A change
/// of very many rows is told as a reload, and so is a change that contradicts itself; both are
/// logged.
///
/// A debug build replays each batch on the ids of all rows, and logs one that is wrong, as long as the
/// part has at most 1000 rows; a longer part, and a release build, compares only numbers of rows.
///
/// While the adapter is held, changes are collected; on release it tells their sum.
///
/// Invariants:
/// - I1. Applying each update to the sections told before gives the sections told with it.
/// - I2. Updates never nest: if `receive` changes a stream, that becomes a following update.
/// - I3. After `stop` nothing is told.
public final class IndexPathAdapter<Item: StreamItem> {
  /// The index of its first section in the whole list; the sections before belong to others.
  public let sectionOffset: Int
  /// The most rows that one batch touches; a change of more rows is told as a reload.
  public let touchedRowsMax: Int
  /// True while it is held, so that nothing is told.
  public private(set) var isHeld = false

  /// The most rows of a part on which a debug build replays each batch.
  private static var replayedRowsMax: Int { 1000 }

  private let log: (String) -> Void
  private let receive: (ListUpdate<Item>) -> Void
  private let hub = ChangeHub<ListUpdate<Item>> { $0 }
  private var parts: [ListPartState<Item>]
  private var cancellations: [() -> Void] = []
  private var isTold = false

  /// Makes an adapter; it tells nothing before it is started.
  ///
  /// - Parameters:
  ///   - parts: the parts of the list, in order.
  ///   - sectionOffset: the index of its first section in a list that also has sections of others.
  ///     The number of sections before it must not change.
  ///   - touchedRowsMax: the most rows that one batch touches.
  ///   - log: called with the reason, for a person, if a reload is told instead of a batch.
  ///   - receive: called with each update; the first one is a reload.
  public init(
    _ parts: [ListPart<Item>], sectionOffset: Int = 0, touchedRowsMax: Int = 5000,
    log: @escaping (String) -> Void = { _ in }, receive: @escaping (ListUpdate<Item>) -> Void
  ) {
    self.parts = parts.map { ListPartState($0) }
    self.sectionOffset = sectionOffset
    self.touchedRowsMax = touchedRowsMax
    self.log = log
    self.receive = receive
  }

  deinit { stop() }

  /// Makes an adapter of one stream without placeholders.
  public convenience init(
    _ stream: any SectionedStream<Item>, receive: @escaping (ListUpdate<Item>) -> Void
  ) {
    self.init([ListPart(stream)], receive: receive)
  }
}

// MARK: Starting and stopping

extension IndexPathAdapter {
  /// The sections as they were last told.
  public var sections: [AdapterSection<Item>] { parts.flatMap(\.layout.sections) }

  /// Follows the streams; nothing happens if it does already.
  public func start() {
    guard cancellations.isEmpty else { return }
    let told = hub.observe(receive, present: nil)
    cancellations = [{ [hub] in hub.cancel(told) }]
    let wasHeld = isHeld
    isHeld = true
    for index in parts.indices {
      let part = parts[index].part
      follow(part.stream, for: index) { $0.note($1) }
      // The observer of the part's stream hears of new rows before; this one is for changes of the
      // fetch state.
      for paging in part.pagings where paging.stream !== part.stream {
        follow(paging.stream, for: index) { state, _ in state.noteRefresh() }
      }
    }
    isHeld = wasHeld
    hub.perform { [weak self] in self?.begin() }
  }

  /// Stops following; nothing is told afterwards.
  ///
  /// After a new start it begins with a reload.
  public func stop() {
    for cancel in cancellations { cancel() }
    cancellations = []
    for index in parts.indices { parts[index].reset() }
    isTold = false
  }

  /// Tells nothing until `release`, while the list is being changed or the user works in it.
  public func hold() { isHeld = true }

  /// Tells the changes since `hold`: one update for each part that changed.
  public func release() {
    isHeld = false
    for index in parts.indices { hub.perform { [weak self] in self?.advance(index) } }
  }

  /// Looks again at the fetch states of paging points that are known elsewhere than in the streams.
  package func refresh() {
    for index in parts.indices {
      hub.perform { [weak self] in
        guard let self, !cancellations.isEmpty else { return nil }
        parts[index].noteRefresh()
        return advance(index)
      }
    }
  }

  /// The number of rows with changes that wait to be told: those added, removed, changed or moved.
  ///
  /// O(those rows).
  public var waitingRowCount: Int { parts.reduce(0) { $0 + $1.waitingRowCount } }

  private func follow(
    _ stream: some SectionedStream<Item>, for index: Int,
    _ note: @escaping (inout ListPartState<Item>, StreamChange<Item>) -> Void
  ) {
    let token = stream.observe { [weak self] change in
      self?.hub.perform { [weak self] in
        guard let self, !cancellations.isEmpty else { return nil }
        note(&parts[index], change)
        return advance(index)
      }
    }
    cancellations.append { stream.cancel(token) }
  }
}

// MARK: Following

extension IndexPathAdapter {
  /// Shows the present rows of the streams.
  private func begin() -> ListUpdate<Item>? {
    if isHeld || isTold || cancellations.isEmpty { return nil }
    for index in parts.indices { _ = parts[index].advance() }
    isTold = parts.contains(where: \.isShown)
    return isTold ? reload() : nil
  }

  /// Shows the waiting changes of a part.
  @specialized(where Item == Record)
  private func advance(_ index: Int) -> ListUpdate<Item>? {
    if isHeld { return nil }
    guard let step = parts[index].advance() else { return nil }
    if !isTold {
      isTold = parts.contains(where: \.isShown)
      return isTold ? reload() : nil
    }
    let isOnlyLoad = step.isFirstLoad && parts.count { $0.content != nil } == 1
    if isOnlyLoad { return reload() }
    guard let changes = batch(step) else { return reload() }
    return changes.isEmpty ? nil : update(changes, of: step, sectionBase(of: index))
  }

  /// The changes of a step; nil if they must be told as a reload, which is logged.
  private func batch(_ step: ListPartState<Item>.Step) -> ChangeSet? {
    if let count = step.net?.rowCount, count > touchedRowsMax {
      log("A change of \(count) rows was told as a reload.")
      return nil
    }
    guard let changes = step.changes() else {
      log("A change of a stream contradicts what it told before: the list was read anew.")
      return nil
    }
    if let mistake = mistake(in: changes.batch, of: step) {
      log("A batch was wrong, the list was read anew: \(mistake)")
      return nil
    }
    return changes
  }

  /// The mistake in a batch; nil if none was found.
  private func mistake(in batch: BatchUpdate, of step: ListPartState<Item>.Step) -> String? {
    let (before, after) = (step.before.sections, step.after.sections)
    let (old, new) = (before.map(\.count), after.map(\.count))
    #if DEBUG
    if max(old.reduce(0, +), new.reduce(0, +)) <= IndexPathAdapter.replayedRowsMax {
      return batch.mistake(from: before.map(\.sectionIDs), to: after.map(\.sectionIDs))
    }
    #endif
    return batch.countMistake(from: old, to: new)
  }

  private func reload() -> ListUpdate<Item> {
    ListUpdate(
      sections: sections, update: .reload, touched: sections.flatMap(\.content.items), removed: [],
      arrived: [], sectionOffset: sectionOffset)
  }

  private func update(
    _ changes: ChangeSet, of step: ListPartState<Item>.Step, _ base: Int
  ) -> ListUpdate<Item> {
    let touched = changes.contentPaths.compactMap { path -> Item? in
      if case .item(let item) = step.after.sections[path.section][path.row] { item } else { nil }
    }
    let placeholders = Set(step.before.placeholders.map(\.row.id))
    return ListUpdate(
      sections: sections, update: changes.batch.shifted(bySections: base), touched: touched,
      removed: changes.removedIDs.filter { !placeholders.contains($0) },
      arrived: changes.arrivedIDs, sectionOffset: sectionOffset)
  }

  /// The index of a part's first section in the whole list.
  private func sectionBase(of index: Int) -> Int {
    parts[..<index].reduce(sectionOffset) { $0 + $1.layout.sections.count }
  }
}

// MARK: Prefetching

extension IndexPathAdapter {
  /// Fetches a page wherever a fetch-more row is near the visible rows, if the part asks for it.
  ///
  /// - Parameter rows: the first and the last visible row, in the whole list.
  public func didShow(_ rows: ClosedRange<ListIndexPath>) {
    let sections = sections
    let counts = sections.map(\.count)
    func number(_ path: ListIndexPath) -> Int {
      counts[..<min(max(path.section - sectionOffset, 0), counts.count)].reduce(path.row, +)
    }
    let shown = number(rows.lowerBound)...number(rows.upperBound)
    let placed = PartLayout(sections: sections).placeholders
    for part in parts.map(\.part) {
      for paging in part.pagings {
        guard let prefetch = paging.prefetch, paging.state() == .more,
          let row = placed.first(where: { $0.row.id == part.idPrefix + paging.id })
        else { continue }
        var path = row.path
        path.section += sectionOffset
        let place = number(path)
        let distance = max(shown.lowerBound - place, place - shown.upperBound, 0)
        if distance <= prefetch.distance { prefetch.fetch() }
      }
    }
  }
}

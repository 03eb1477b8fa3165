import OrderedCollections
public import RunnelBase
public import RunnelTree

/// A list of keys, joined with the records elsewhere that the keys name.
///
/// The rows are those of the stream of entries, in its sections and its order. An entry whose
/// record is missing is a row that says so, and gets the record when it comes. Each place that
/// entries name is listened to once, however many entries name it.
///
/// It follows the entries as long as it lives, but does not start or stop them. It is loaded when
/// the entries are loaded and each of the first records has been answered; until then only its load
/// state is told. It listens to the records between `start` and `stop`.
///
/// Invariants:
/// - I1. There is a row for each entry, at the entry's place.
/// - I2. While it is started, it listens to exactly the places that its rows name.
///
/// Cost of a change: O(t log n) in the rows that it touches.
public final class IndexStream: SectionedStream {
  /// A place that rows name.
  private struct Place {
    /// The listener; nil while the stream is stopped.
    var listener: ListenerID?
    var target = IndexedRecord.Target.loading
    /// The ids of the rows that name it.
    var rows: OrderedSet<String> = []
  }

  /// The rows as they were told last.
  public private(set) var sections: [StreamSection<IndexedRecord>] = []
  /// The load state of entries and records together.
  public private(set) var loadState = LoadState.idle
  /// True between `start` and `stop`.
  public private(set) var isStarted = false

  private let entries: any SectionedStream<Record>
  private let source: any TreeSource
  private let path: (Record) -> Path?
  private let hub = ChangeHub<StreamChange<IndexedRecord>>()
  private var token: StreamToken?
  private var entrySections: [StreamSection<Record>] = []
  private var entryState = LoadState.idle
  private var places: [Path: Place] = [:]
  private var pathsByListener: [ListenerID: Path] = [:]
  /// Places that a change may have left without rows.
  private var unnamed: Set<Path> = []

  /// Makes a stream; it listens to no record before it is started.
  ///
  /// - Parameters:
  ///   - entries: the index.
  ///   - source: the tree; the stream keeps it.
  ///   - path: returns the place of an entry's record; nil if the entry names none.
  public init(
    _ entries: any SectionedStream<Record>, source: any TreeSource,
    path: @escaping (Record) -> Path?
  ) {
    self.entries = entries
    self.source = source
    self.path = path
    token = entries.observe { [weak self] change in self?.follow(change) }
  }

  /// Makes a stream of entries whose keys are those of records in a collection.
  public convenience init(
    _ entries: any SectionedStream<Record>, source: any TreeSource, in collection: Path
  ) {
    self.init(entries, source: source) { entry in
      Path(unchecked: collection.keys + [entry.row.key])
    }
  }

  deinit {
    if let token { entries.cancel(token) }
    for listener in pathsByListener.keys.sorted() { source.unlisten(listener) }
  }
}

extension IndexStream: RowsOfTrees {
  var treesOfRows: [any NamedTree] { entries.knownTrees }
}

// MARK: Reading

extension IndexStream {
  /// The row with an id.
  public func item(forID id: String) -> IndexedRecord? {
    indexPath(forID: id).map { sections[$0.section].items[$0.row] }
  }

  /// The place of the row with an id, at the cost of finding it in the stream of entries.
  public func indexPath(forID id: String) -> ListIndexPath? {
    if let path = entries.indexPath(forID: id), sections.indices.contains(path.section),
      sections[path.section].items.indices.contains(path.row),
      sections[path.section].items[path.row].id == id
    {
      return path
    }
    // The stream of entries may be in a later state than the one it told.
    for (section, content) in sections.enumerated() {
      if let row = content.items.firstIndex(where: { $0.id == id }) {
        return ListIndexPath(section: section, row: row)
      }
    }
    return nil
  }

  /// Tells the present state and every later change.
  public func observe(
    _ observer: @escaping (StreamChange<IndexedRecord>) -> Void
  ) -> StreamToken {
    hub.observe(observer, present: present)
  }

  /// Ends an observation.
  public func cancel(_ token: StreamToken) { hub.cancel(token) }
}

// MARK: Starting and stopping

extension IndexStream: StartableStream, RestartedStream {
  /// True from `stop` until `start`.
  public var isStopped: Bool { hub.isSilent }

  /// Begins to listen to the records; does nothing if it listens already.
  public func start() {
    hub.perform { [self] in
      if isStarted { return nil }
      isStarted = true
      hub.isSilent = false
      for path in places.keys.sorted() { listen(to: path) }
      return advance(ChangeSet())
    }
  }

  /// Stops listening to the records; the rows stay as they are, and nothing is told.
  public func stop() {
    // Whoever is still to be told of a change is told no more, even if the rest has to wait.
    if isStarted { hub.isSilent = true }
    hub.perform { [self] in
      if !isStarted { return nil }
      isStarted = false
      hub.isSilent = true
      for listener in pathsByListener.keys.sorted() { source.unlisten(listener) }
      pathsByListener = [:]
      for path in places.keys { places[path]?.listener = nil }
      loadState = .idle
      return nil
    }
  }

  func whenStarted(_ body: @escaping () -> Void) { hub.whenStarted(body) }

  private func listen(to path: Path) {
    let listener = source.listen(ListenRequest(query: Query(path), events: .value))
    places[path]?.listener = listener
    pathsByListener[listener] = path
  }
}

// MARK: Following the entries

extension IndexStream {
  private func follow(_ change: StreamChange<Record>) {
    hub.perform { [self] in
      entryState = change.loadState
      let net = NetChange(change, from: entrySections)
      let batch = change.changes.batch
      let keepsSections =
        batch.insertedSections.isEmpty && batch.deletedSections.isEmpty
        && batch.movedSections.isEmpty
      if let net, keepsSections {
        edit(change, net)
      } else {
        readAnew(change)
      }
      entrySections = change.sections
      return advance(change.changes)
    }
  }

  /// Carries out a change in which every section stays.
  private func edit(_ change: StreamChange<Record>, _ net: NetChange) {
    for row in net.old.touched {
      release(sections[row.path.section].items[row.path.row])
    }
    var edits = Array(repeating: RowEdit<IndexedRecord>(), count: sections.count)
    for row in net.old.touched { edits[row.path.section].removing.append(row.path.row) }
    for row in net.new.touched {
      let section = row.path.section
      let item = retain(change.sections[section].items[row.path.row])
      // The number of staying rows before it: its index less the number of new rows before it.
      let staying = row.path.row - edits[section].inserting.count
      let removed = edits[section].removing
      let gap = staying + removed.indices.lowerBound { removed[$0] - $0 <= staying }
      edits[section].inserting.append(.init(gap: gap, item: item))
    }
    for (index, section) in change.sections.enumerated() {
      var items = sections[index].items
      items.apply(edits[index])
      sections[index] = section.holding(items)
    }
  }

  /// Makes all rows anew.
  ///
  /// O(n).
  private func readAnew(_ change: StreamChange<Record>) {
    let old = sections
    sections = change.sections.map { section in
      section.holding(Rows(section.items.map { retain($0) }))
    }
    // The old rows are released last, so that places that are still named keep their listeners.
    for section in old {
      for row in section.items { release(row) }
    }
    for section in sections {
      for row in section.items { note(row) }
    }
  }

  private func retain(_ entry: Record) -> IndexedRecord {
    guard let path = path(entry) else {
      return IndexedRecord(entry: entry, path: nil, target: .unnamed)
    }
    let isNew = places[path] == nil
    places[path, default: Place()].rows.append(entry.id)
    if isNew, isStarted { listen(to: path) }
    return IndexedRecord(entry: entry, path: path, target: places[path]?.target ?? .loading)
  }

  private func note(_ row: IndexedRecord) {
    if let path = row.path { places[path]?.rows.append(row.id) }
  }

  private func release(_ row: IndexedRecord) {
    guard let path = row.path else { return }
    places[path]?.rows.remove(row.id)
    if places[path]?.rows.isEmpty == true { unnamed.insert(path) }
  }

  /// Stops listening to places that no row names any more.
  private func forgetUnnamedPlaces() {
    for path in unnamed.sorted() {
      guard let place = places[path], place.rows.isEmpty else { continue }
      if let listener = place.listener {
        pathsByListener[listener] = nil
        source.unlisten(listener)
      }
      places[path] = nil
    }
    unnamed = []
  }
}

// MARK: Following the records

extension IndexStream: ListenerOwner {
  /// True if this is the listener of one of the records.
  package func listens(as listener: ListenerID) -> Bool { pathsByListener[listener] != nil }

  /// Takes events of a listener of a record.
  public func receive(_ events: [TreeEvent], from listener: ListenerID) {
    for case .value(let node) in events {
      answer(node.isEmpty ? .missing : .found(node), listener)
    }
  }

  /// Takes the failure of a listener of a record.
  public func receive(failure: StreamFailure, from listener: ListenerID) {
    answer(.failed(failure), listener)
  }

  private func answer(_ target: IndexedRecord.Target, _ listener: ListenerID) {
    if pathsByListener[listener] == nil { return }
    hub.perform { [self] in
      guard let path = pathsByListener[listener], let place = places[path],
        place.target != target
      else { return nil }
      places[path]?.target = target
      let paths = place.rows.compactMap { indexPath(forID: $0) }.sorted()
      var changes = ChangeSet()
      for path in paths {
        var row = sections[path.section].items[path.row]
        row.target = target
        sections[path.section].items.apply(
          RowEdit(removing: [path.row], inserting: [.init(gap: path.row, item: row)]))
        changes.updatedIDs.append(row.id)
      }
      changes.batch.reloadedRows = paths
      changes.contentPaths = paths
      return advance(changes)
    }
  }

  /// The change to tell: only the load state until the stream is loaded, then a reload.
  private func advance(_ changes: ChangeSet) -> StreamChange<IndexedRecord>? {
    forgetUnnamedPlaces()
    let before = loadState
    if isStarted, before != entryState {
      let isFirst = entryState.showsRows && !before.showsRows
      let isWaiting = isFirst && places.values.contains { $0.target == .loading }
      loadState = isWaiting ? .loading : entryState
    }
    if loadState.showsRows, before.showsRows {
      return changes.isEmpty && loadState == before ? nil : change(changes)
    }
    return loadState == before ? nil : change(.reload)
  }
}

extension StreamSection {
  /// The section with rows of another kind.
  fileprivate func holding<Other>(_ items: Rows<Other>) -> StreamSection<Other> {
    var section = StreamSection<Other>(id: id, items: items)
    section.title = title
    section.footer = footer
    section.hiddenCount = hiddenCount
    section.isCollapsed = isCollapsed
    return section
  }
}

public import RunnelBase

/// The rows of several streams, merged into one section or in sections one after the other, each
/// id once.
///
/// If several sources have an id, the row of the first source is shown; the others are *shadowed*.
/// When that source loses the id, the next one is revealed: the row is reloaded, and moved if its
/// place differs.
///
/// Ids of stored rows are made of their places. If rows of two databases have the same id, the union
/// has failed as long as that is so, since it would show one of them: give rows of several databases
/// ids of their own, by the `construct` of their streams.
///
/// Rows are sorted by the rank of their source, then by the order; rows that the order does not
/// distinguish are sorted by source, and those of one source by id. Sources of one rank are
/// merged; those of a higher rank come after them, whatever their rows are: in the same section, or
/// with a section for each rank. So a rank can also pin rows to an end. The order and the sections
/// of a source's own rows are ignored. A union that concatenates instead has a section for each
/// source, with the rows in the source's order.
///
/// Cost of a change: O(t log n) in the t rows that it touches.
///
/// It follows its sources as long as it lives. `start` and `stop` also start and stop those sources
/// that can be. It is loaded when all of them are, has failed as soon as one has, and is idle while
/// it, or all of them, are stopped. While one source is stopped by itself, its rows and its load state
/// count as it told them last; when it is started by itself, the union is loading until it is loaded.
public final class UnionStream<Item: StreamItem>: SectionedStream {
  /// A source and the rank of its rows.
  public struct Source {
    /// The stream.
    public var stream: any SectionedStream<Item>
    /// The rank; rows of sources with a lower rank come before.
    public var rank: Int

    /// Makes a source.
    public init(_ stream: any SectionedStream<Item>, rank: Int = 0) {
      self.stream = stream
      self.rank = rank
    }
  }

  /// A row.
  ///
  /// Its label is the index of its source's rank, or the first part of what the order compares; its
  /// origin is the source.
  typealias Row = RowBox<Item>

  /// The load state of the sources together.
  public var loadState: LoadState { isStopped ? .idle : followedState }

  private let sources: [Source]
  /// The order of the rows; nil if each section has the order of its source.
  private let order: ((Item, Item) -> Bool)?
  /// Returns the first part of what the order compares, as a number; nil if rows are compared only
  /// as a whole.
  ///
  /// It is used only for sources of one rank.
  private let prefix: ((Item) -> Int)?
  private let hub = ChangeHub<StreamChange<Item>>()
  private var tokens: [StreamToken] = []
  private var loadStates: [LoadState]
  /// The load state that the sources told last.
  private var followedState = LoadState.idle
  /// The rows of each section in order.
  private var rows: [ShownRows<Item>] = []
  private let sectionIDs: [String]
  private let hasSections: Bool
  private let isMerged: Bool
  private var entries = RowTable<ByID>()
  /// The index of each source's rank among the ranks in use.
  private let groups: [Int]
  /// The rows of each source in its order, if the sources are concatenated.
  private var followed: [FollowedRows<Item>] = []
  /// The trees of each source; empty unless rows of several trees may have the same id.
  private let trees: [[any NamedTree]]
  /// The ids that rows of several trees have.
  private var ambiguousIDs: Set<String> = []

  /// Makes a union of streams, which may have rows already.
  ///
  /// - Parameters:
  ///   - sources: the sources; if two have the same id, the earlier wins.
  ///   - sectionIDs: the ids of the sections, one for each rank in use, in their order; nil for one
  ///     section. It is a fault of the program, which ends it, if there are more or fewer, or two
  ///     are equal.
  ///   - order: returns true if the first row is before the second. It must be a strict weak order
  ///     that depends on nothing but the two rows.
  public convenience init(
    _ sources: [Source], sectionIDs: [String]? = nil, by order: @escaping (Item, Item) -> Bool
  ) {
    self.init(sources, sectionIDs: sectionIDs, order: order)
  }

  /// Makes a union in which each stream is a section, with the rows in the order of the stream.
  ///
  /// - Parameters:
  ///   - streams: the sources; if two have the same id, the earlier wins.
  ///   - sectionIDs: the id of each section. It is a fault of the program, which ends it, if there
  ///     are more or fewer than streams, or two are equal.
  public convenience init(
    concatenating streams: [any SectionedStream<Item>], sectionIDs: [String]
  ) {
    self.init(
      streams.enumerated().map { Source($1, rank: $0) }, sectionIDs: sectionIDs, order: nil)
  }

  private init(
    _ sources: [Source], sectionIDs: [String]?, order: ((Item, Item) -> Bool)?,
    prefix: ((Item) -> Int)? = nil
  ) {
    self.sources = sources
    self.order = order
    self.prefix = prefix
    trees = UnionStream.trees(of: sources)
    loadStates = sources.map(\.stream.loadState)
    let ranks = Set(sources.map(\.rank)).sorted()
    let groups = sources.map { source in ranks.lowerBound { $0 < source.rank } }
    self.groups = groups
    if let sectionIDs { UnionStream.check(sectionIDs, count: ranks.count) }
    self.sectionIDs = sectionIDs ?? [StreamSection<Item>().id]
    hasSections = sectionIDs != nil
    isMerged = ranks.count == 1
    let empty = ShownRows<Item>(by: order.map { UnionStream.rowOrder($0) } ?? RowOrder())
    if order == nil { followed = Array(repeating: FollowedRows(), count: sources.count) }
    rows = Array(repeating: empty, count: self.sectionIDs.count)
    followedState = LoadState.combined(loadStates)
    hub.follow(sources.map(\.stream), present: { [weak self] in self?.present })
    for (index, source) in sources.enumerated() {
      tokens.append(
        source.stream.observe { [weak self] change in self?.follow(change, of: index) })
    }
  }

  deinit {
    if !ambiguousIDs.isEmpty { note(nil) }
    for (source, token) in zip(sources, tokens) { source.stream.cancel(token) }
  }

  private static func check(_ sectionIDs: [String], count: Int) {
    precondition(
      sectionIDs.count == count,
      "A union of \(count) sections was given \(sectionIDs.count) section ids: give one for each.")
    precondition(
      Set(sectionIDs).count == count,
      "Two sections of a union have the same id: give each its own. They are \(sectionIDs).")
  }
}

extension UnionStream {
  /// Makes a union of streams whose rows are merged.
  public convenience init(
    _ streams: [any SectionedStream<Item>], by order: @escaping (Item, Item) -> Bool
  ) {
    self.init(streams.map { Source($0) }, by: order)
  }
}

extension UnionStream where Item == Record {
  /// Makes a union of streams of records, merged in the order of the tree, by the values that their
  /// queries compare: `row.value`, then the key.
  ///
  /// - Parameters:
  ///   - streams: the sources; their records must have values of the same order, ascending or
  ///     descending.
  ///   - isDescending: whether the rows are in the opposite order.
  public convenience init(
    inTreeOrder streams: [any SectionedStream<Record>], isDescending: Bool = false
  ) {
    self.init(
      streams.map { Source($0) }, sectionIDs: nil,
      order: isDescending ? { Record.isOrdered($1, $0) } : { Record.isOrdered($0, $1) },
      prefix: isDescending ? { ~$0.orderPrefix } : { $0.orderPrefix })
  }
}

// MARK: Reading

extension UnionStream {
  /// The rows in their sections.
  public var sections: [StreamSection<Item>] {
    zip(sectionIDs, rows).map { StreamSection(id: $0, items: $1.items) }
  }

  /// The rows in order.
  ///
  /// O(1) with one section, else O(n).
  public var items: Rows<Item> { rows.count == 1 ? rows[0].items : Rows(rows.flatMap(\.items)) }

  /// The row with an id.
  ///
  /// O(1).
  public func item(forID id: String) -> Item? { entries[id].map { Row.of($0).item } }

  /// The place of the row with an id.
  ///
  /// O(log n).
  public func indexPath(forID id: String) -> ListIndexPath? {
    entries[id].flatMap { row in
      let section = section(of: row)
      return rows[section].list.index(of: row).map { ListIndexPath(section: section, row: $0) }
    }
  }

  /// The index of the source of a shown row; nil if there is no such row.
  ///
  /// O(1).
  public func source(of id: String) -> Int? { entries[id]?.origin }

  /// The index of the source of the row at a place, and its place there; nil if the place is
  /// invalid, or the source is in a later state and no longer has the row.
  ///
  /// O(log n).
  public func origin(of path: ListIndexPath) -> (source: Int, path: ListIndexPath)? {
    guard rows.indices.contains(path.section),
      rows[path.section].items.indices.contains(path.row)
    else { return nil }
    let row = rows[path.section].list.shown[path.row]
    return sources[row.origin].stream.indexPath(forID: row.id).map { (row.origin, $0) }
  }

  /// The place of the row at a place of a source; nil if there is none, or it is shadowed.
  ///
  /// O(log n).
  public func indexPath(of path: ListIndexPath, inSource source: Int) -> ListIndexPath? {
    guard sources.indices.contains(source) else { return nil }
    let sections = sources[source].stream.sections
    guard sections.indices.contains(path.section),
      sections[path.section].items.indices.contains(path.row)
    else { return nil }
    let id = sections[path.section].items[path.row].id
    return self.source(of: id) == source ? indexPath(forID: id) : nil
  }

  /// The place of the first row after another one, which need not be in the stream; nil if there is
  /// none, or there are several groups of sources.
  ///
  /// O(log n).
  public func firstIndexPath(after item: Item) -> ListIndexPath? {
    guard isMerged, let order else { return nil }
    let index = rows[0].count { !order(item, Row.of($0).item) }
    return index < rows[0].items.count ? ListIndexPath(section: 0, row: index) : nil
  }

  /// The place of the last row before another one, which need not be in the stream; nil if there is
  /// none, or there are several groups of sources.
  ///
  /// O(log n).
  public func lastIndexPath(before item: Item) -> ListIndexPath? {
    guard isMerged, let order else { return nil }
    let count = rows[0].count { order(Row.of($0).item, item) }
    return count > 0 ? ListIndexPath(section: 0, row: count - 1) : nil
  }

  /// Tells the present state and every later change.
  public func observe(_ observer: @escaping (StreamChange<Item>) -> Void) -> StreamToken {
    hub.observe(observer, present: present)
  }

  /// Ends an observation.
  public func cancel(_ token: StreamToken) { hub.cancel(token) }
}

// MARK: Starting and stopping

extension UnionStream: StartableStream, RestartedStream {
  /// True from `stop` until `start`, and while all sources are stopped.
  public var isStopped: Bool { hub.isStopped }

  /// Starts the sources that can be started; tells the changes since it was stopped.
  public func start() {
    hub.start {
      for source in sources { (source.stream as? any StartableStream)?.start() }
    }
  }

  /// Stops the sources that can be stopped; no observer is called until it is started again.
  ///
  /// The rows stay.
  public func stop() {
    hub.isSilent = true
    for source in sources { (source.stream as? any StartableStream)?.stop() }
  }

  func whenStarted(_ body: @escaping () -> Void) { hub.whenStarted(body) }
}

// MARK: Following

extension UnionStream {
  /// The order of rows of sources of one rank.
  @specialized(where Item == Record)
  private static func rowOrder(_ order: @escaping (Item, Item) -> Bool) -> RowOrder {
    RowOrder { left, right in
      let (a, b) = (Row.of(left).item, Row.of(right).item)
      if order(a, b) { return true }
      if order(b, a) { return false }
      return left.origin == right.origin ? left.id < right.id : left.origin < right.origin
    }
  }

  private func follow(_ change: StreamChange<Item>, of source: Int) {
    hub.perform { [self] in
      let before = followedState
      loadStates[source] = change.loadState
      let ids = order == nil ? follow(change, inOrderOf: source) : touchedIDs(of: change, source)
      let changes = refresh(ids, arrived: change.changes.arrivedIDs)
      if !trees.isEmpty { lookForAmbiguousIDs(ids, isReload: change.changes.batch.isReload) }
      followedState = ambiguity.map { .failed($0) } ?? LoadState.combined(loadStates)
      return changes.isEmpty && followedState == before ? nil : self.change(changes)
    }
  }

  /// Follows a source in its own order; returns the ids that were touched.
  private func follow(_ change: StreamChange<Item>, inOrderOf source: Int) -> [String] {
    var ids = Set<String>()
    let replacements = followed[source].follow(change) { Row($0, origin: source) }
    return replacements.flatMap { [$0.old, $0.new] }.compactMap(\.?.id)
      .filter { ids.insert($0).inserted }
  }

  /// The ids whose winner or content may differ after a source's change.
  @specialized(where Item == Record)
  private func touchedIDs(of change: StreamChange<Item>, _ source: Int) -> [String] {
    let changes = change.changes
    if !changes.batch.isReload {
      return changes.removedIDs + changes.insertedIDs + changes.updatedIDs
    }
    // This is the order of the source, which is mostly that of the union.
    let ids = change.sections.flatMap { $0.items.map(\.id) }
    let present = Set(ids)
    return ids
      + entries.rows.filter { $0.origin == source && !present.contains($0.id) }.map(\.id)
  }

  /// Looks these ids up in the sources, and updates the rows.
  ///
  /// A source may be in a later state than the change that is followed; the rows that its next
  /// change touches are then in order already.
  @specialized(where Item == Record)
  private func refresh(_ ids: [String], arrived: Set<String>) -> ChangeSet {
    var replacements = rows.map { _ in [RowList.Replacement]() }
    var (changed, arrivals): (Set<String>, Set<String>) = ([], [])
    for id in ids {
      let old = entries[id]
      let new = order == nil ? winnerInOrder(id) : winner(of: id, shown: old)
      if old === new { continue }
      if let old {
        // A new row takes the place of the old one, which has the same id.
        if new == nil { entries.remove(old) }
        replacements[section(of: old)].append(.init(old: old))
      }
      guard let new else { continue }
      entries.insert(new)
      replacements[section(of: new)].append(.init(new: new))
      // The row of another source may be drawn differently, even if it is equal.
      if let old {
        let isSame = old.origin == new.origin && Row.of(old).item == Row.of(new).item
        if !isSame { changed.insert(id) }
      } else if arrived.contains(id) {
        arrivals.insert(id)
      }
    }
    var changes = carryOut(replacements, changed: changed)
    changes.arrivedIDs = arrivals
    return changes
  }

  private func carryOut(
    _ replacements: [[RowList.Replacement]], changed: Set<String>
  ) -> ChangeSet {
    if replacements.allSatisfy(\.isEmpty) { return ChangeSet() }
    let counts = rows.map(\.items.count)
    var (old, new): ([SectionedDiff.Row], [SectionedDiff.Row]) = ([], [])
    for section in rows.indices {
      let edit: RowEdit<RowObject> = rows[section].replace(replacements[section])
      old += edit.removedRows(section: section)
      new += edit.insertedRows(section: section)
    }
    return SectionedDiff.changes(
      from: .init(sections: sectionIDs, counts: counts, touched: old),
      to: .init(sections: sectionIDs, counts: rows.map(\.items.count), touched: new),
      changed: changed)
  }

  /// The row of the first source that has an id; the shown row, if it is the same and unchanged.
  private func winner(of id: String, shown: RowObject?) -> RowObject? {
    for (index, source) in sources.enumerated() {
      guard let item = source.stream.item(forID: id) else { continue }
      if let shown, shown.origin == index, Row.of(shown).item == item { return shown }
      return Row(item, label: prefix?(item) ?? groups[index], origin: index)
    }
    return nil
  }

  /// The row of the first source that has an id, in the state in which the sources were followed.
  private func winnerInOrder(_ id: String) -> RowObject? {
    for source in followed {
      if let row = source.table[id] { return row }
    }
    return nil
  }

  private func section(of row: RowObject) -> Int { hasSections ? groups[row.origin] : 0 }
}

// MARK: Several trees

extension UnionStream: RowsOfTrees {
  /// The trees of all sources.
  var treesOfRows: [any NamedTree] { sources.flatMap(\.stream.knownTrees) }

  /// The trees of each source, if ids that are made of places may be those of several trees.
  private static func trees(of sources: [Source]) -> [[any NamedTree]] {
    guard Item.self is any PlacedItem.Type else { return [] }
    let trees = sources.map(\.stream.knownTrees)
    return Set(trees.joined().map(\.treeName)).count > 1 ? trees : []
  }

  /// The reason why the union has failed, if rows of several trees have the same id.
  private var ambiguity: StreamFailure? {
    guard let id = ambiguousIDs.min() else { return nil }
    let names = Set(trees.joined().map(\.treeName)).sorted().joined(separator: " and ")
    return StreamFailure(
      "Rows of several databases (\(names)) have the same id, as \(id), and a union shows one row of an "
        + "id: make their streams with `construct:`, and give the rows ids of their own.",
      code: "refused")
  }

  /// Looks which of the ids that a change touched are those of rows of several trees.
  private func lookForAmbiguousIDs(_ ids: [String], isReload: Bool) {
    let before = ambiguity
    for id in isReload ? Array(ambiguousIDs.union(ids)) : ids {
      if isInSeveralTrees(id) { ambiguousIDs.insert(id) } else { ambiguousIDs.remove(id) }
    }
    let after = ambiguity
    if before != after { note(after) }
  }

  private func isInSeveralTrees(_ id: String) -> Bool {
    var first: Set<String>?
    for (index, source) in sources.enumerated() {
      let hasRow =
        order == nil ? followed[index].table[id] != nil : source.stream.item(forID: id) != nil
      if !hasRow || trees[index].isEmpty { continue }
      let names = Set(trees[index].map(\.treeName))
      if let first, first.isDisjoint(with: names) { return true }
      first = first ?? names
    }
    return false
  }

  private func note(_ failure: StreamFailure?) {
    for tree in trees.joined() { tree.note(failure, of: ObjectIdentifier(self)) }
  }
}

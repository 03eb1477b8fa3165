public import RunnelBase

/// The rows of several streams, merged into one section or one after the other in sections, each key
/// once.
///
/// A key that several sources have is shown as the first of them has it; the others are *shadowed*.
/// When the winner loses the key, the next one is revealed: the row is reloaded, and moved if its
/// place is another.
///
/// Rows stand by the rank of their source, then by the order; rows that it does not tell apart stand
/// in the order of their sources, and those of one source by key. Sources of one rank are
/// merged; those of a higher rank stand after them, whatever their rows are: in the same section, or
/// each rank in a section of its own. So a rank also pins rows to an end. How a source orders and
/// sections its own rows does not matter.
///
/// Cost of a change: O(t log n) in the t rows that it touches.
///
/// It follows its sources as long as it lives, and does not start or stop them. It is loaded when all
/// of them are, and has failed as soon as one has.
public final class UnionStream<Item: KeyedItem>: SectionedStream {
  /// A source and where its rows go.
  public struct Source {
    /// The stream.
    public var stream: any SectionedStream<Item>
    /// Rows of a source of lower rank stand before.
    public var rank: Int

    /// Makes a source.
    public init(_ stream: any SectionedStream<Item>, rank: Int = 0) {
      self.stream = stream
      self.rank = rank
    }
  }

  /// A row: what is shown, and of which source.
  private struct Entry: Equatable {
    var item: Item
    var source: Int
  }

  /// How far the sources together are loaded.
  public private(set) var loadState = LoadState.idle

  private let sources: [Source]
  private let order: (Item, Item) -> Bool
  private let hub = ChangeHub<StreamChange<Item>>()
  private var tokens: [StreamToken] = []
  private var loadStates: [LoadState]
  /// The rows of each section in order.
  private var rows: [Rows<Item>]
  private let sectionIDs: [String]
  private let hasSections: Bool
  private var entries: [String: Entry] = [:]
  /// For each source, the place of its rank among those in use.
  private let groups: [Int]
  /// How many rows of its section stand before those of each group, and how many there are at the end;
  /// not used if each group has a section.
  private var groupStarts: [Int]

  /// Makes a union of streams, which may have rows already.
  ///
  /// - Parameters:
  ///   - sources: the sources; of two with one key the earlier wins.
  ///   - sectionIDs: the ids of the sections, one for each rank in use, in their order; nil for one
  ///     section.
  ///   - order: true if the first row stands before the second. It must be a strict weak order that
  ///     looks at nothing but the two rows.
  public init(
    _ sources: [Source], sectionIDs: [String]? = nil, by order: @escaping (Item, Item) -> Bool
  ) {
    self.sources = sources
    self.order = order
    loadStates = sources.map(\.stream.loadState)
    let ranks = Set(sources.map(\.rank)).sorted()
    groups = sources.map { source in ranks.lowerBound { $0 < source.rank } }
    precondition(sectionIDs.map { $0.count == ranks.count } ?? true, "Each rank has a section.")
    self.sectionIDs = sectionIDs ?? [StreamSection<Item>().id]
    hasSections = sectionIDs != nil
    rows = Array(repeating: [], count: self.sectionIDs.count)
    groupStarts = Array(repeating: 0, count: ranks.count + 1)
    loadState = LoadState.combined(loadStates)
    for (index, source) in sources.enumerated() {
      tokens.append(
        source.stream.observe { [weak self] change in self?.follow(change, of: index) })
    }
  }

  deinit {
    for (source, token) in zip(sources, tokens) { source.stream.cancel(token) }
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

// MARK: Reading

extension UnionStream {
  /// The rows in their sections.
  public var sections: [StreamSection<Item>] {
    zip(sectionIDs, rows).map { StreamSection(id: $0, items: $1) }
  }

  /// The rows in order.
  ///
  /// O(1) with one section, else O(n).
  public var items: Rows<Item> { rows.count == 1 ? rows[0] : Rows(rows.joined()) }

  /// The row with a key.
  ///
  /// O(1).
  public func item(forKey key: String) -> Item? { entries[key]?.item }

  /// The place of the row with a key.
  ///
  /// O(log n).
  public func indexPath(forKey key: String) -> IndexPath? {
    entries[key].map { IndexPath(section: section(of: $0), row: index(of: $0)) }
  }

  /// The index of the source that a row is shown from; nil if there is no such row.
  ///
  /// O(1).
  public func source(of key: String) -> Int? { entries[key]?.source }

  /// The index of the source that the row at a place is shown from, and its place there; nil if the
  /// place is none, or the source is further than the union and has the row no more.
  ///
  /// O(log n).
  public func origin(of path: IndexPath) -> (source: Int, path: IndexPath)? {
    guard rows.indices.contains(path.section), rows[path.section].indices.contains(path.row),
      let entry = entries[rows[path.section][path.row].key],
      let origin = sources[entry.source].stream.indexPath(forKey: entry.item.key)
    else { return nil }
    return (entry.source, origin)
  }

  /// The place of the row that a source has at a place; nil if there is none, or it is shadowed.
  ///
  /// O(log n).
  public func indexPath(of path: IndexPath, inSource source: Int) -> IndexPath? {
    guard sources.indices.contains(source) else { return nil }
    let sections = sources[source].stream.sections
    guard sections.indices.contains(path.section),
      sections[path.section].items.indices.contains(path.row)
    else { return nil }
    let key = sections[path.section].items[path.row].key
    return entries[key]?.source == source ? indexPath(forKey: key) : nil
  }

  /// The place of the first row that stands after another one, which need not be in the stream; nil if
  /// none does, or there are several groups of sources.
  ///
  /// O(log n).
  public func firstIndexPath(after item: Item) -> IndexPath? {
    guard groupStarts.count == 2 else { return nil }
    let index = rows[0].lowerBound { !order(item, $0) }
    return index < rows[0].count ? IndexPath(section: 0, row: index) : nil
  }

  /// The place of the last row that stands before another one, which need not be in the stream; nil if
  /// none does, or there are several groups of sources.
  ///
  /// O(log n).
  public func lastIndexPath(before item: Item) -> IndexPath? {
    guard groupStarts.count == 2 else { return nil }
    let count = rows[0].lowerBound { order($0, item) }
    return count > 0 ? IndexPath(section: 0, row: count - 1) : nil
  }

  /// Tells the present state and what happens from now on.
  public func observe(_ observer: @escaping (StreamChange<Item>) -> Void) -> StreamToken {
    hub.observe(observer, present: present)
  }

  /// Ends an observation.
  public func cancel(_ token: StreamToken) { hub.cancel(token) }
}

// MARK: Following

extension UnionStream {
  private func follow(_ change: StreamChange<Item>, of source: Int) {
    hub.perform { [self] in
      let before = loadState
      loadStates[source] = change.loadState
      loadState = LoadState.combined(loadStates)
      let changes = refresh(touchedKeys(of: change, source), arrived: change.changes.arrivedKeys)
      return changes.isEmpty && loadState == before ? nil : self.change(changes)
    }
  }

  /// The keys whose winner or content a source's change may have touched.
  private func touchedKeys(of change: StreamChange<Item>, _ source: Int) -> Set<String> {
    let changes = change.changes
    if !changes.batch.isReload {
      return Set(changes.removedKeys).union(changes.insertedKeys).union(changes.updatedKeys)
    }
    var keys = Set(change.sections.flatMap { $0.items.map(\.key) })
    for (key, entry) in entries where entry.source == source { keys.insert(key) }
    return keys
  }

  /// Asks the sources about these keys and brings the rows into the state they are in.
  ///
  /// A source may be further than the change that is followed; then what its next change touches is
  /// found in order already.
  private func refresh(_ keys: Set<String>, arrived: Set<String>) -> ChangeSet {
    var gone: [Entry] = []
    var added: [Entry] = []
    var (changed, arrivals): (Set<String>, Set<String>) = ([], [])
    for key in keys {
      let (old, new) = (entries[key], winner(of: key))
      // A row of another source may be drawn differently, whatever it holds.
      if old == new { continue }
      if let old { gone.append(old) }
      guard let new else { continue }
      added.append(new)
      if old != nil {
        changed.insert(key)
      } else if arrived.contains(key) {
        arrivals.insert(key)
      }
    }
    let edits = edits(removing: gone, adding: added)
    for entry in gone { entries[entry.item.key] = nil }
    for entry in added { entries[entry.item.key] = entry }
    var changes = carryOut(edits, changed: changed)
    changes.arrivedKeys = arrivals
    return changes
  }

  /// What is to be done to each section.
  private func edits(removing gone: [Entry], adding added: [Entry]) -> [RowEdit<Item>] {
    var edits = Array(repeating: RowEdit<Item>(), count: rows.count)
    for entry in gone { edits[section(of: entry)].removing.append(index(of: entry)) }
    for entry in added.sorted(by: precedes) {
      edits[section(of: entry)].inserting.append(
        .init(gap: lowerBound(of: entry), item: entry.item))
    }
    for index in edits.indices {
      edits[index].removing.sort()
      edits[index].straighten()
    }
    for (entries, difference) in [(gone, -1), (added, 1)] {
      for entry in entries { countRow(of: entry, by: difference) }
    }
    return edits
  }

  private func carryOut(_ edits: [RowEdit<Item>], changed: Set<String>) -> ChangeSet {
    if edits.allSatisfy(\.isEmpty) { return ChangeSet() }
    let counts = rows.map(\.count)
    let old = edits.indices.flatMap { edits[$0].removedRows(of: rows[$0], section: $0) }
    for index in edits.indices { rows[index].apply(edits[index]) }
    let new = edits.indices.flatMap { edits[$0].insertedRows(section: $0) }
    return SectionedDiff.changes(
      from: .init(sections: sectionIDs, counts: counts, touched: old),
      to: .init(sections: sectionIDs, counts: rows.map(\.count), touched: new), changed: changed)
  }

  private func winner(of key: String) -> Entry? {
    for (index, source) in sources.enumerated() {
      if let item = source.stream.item(forKey: key) { return Entry(item: item, source: index) }
    }
    return nil
  }

  private func countRow(of entry: Entry, by difference: Int) {
    for group in (groups[entry.source] + 1)..<groupStarts.count {
      groupStarts[group] += difference
    }
  }
}

// MARK: Order

extension UnionStream {
  private func precedes(_ left: Entry, _ right: Entry) -> Bool {
    let (first, second) = (groups[left.source], groups[right.source])
    return first == second
      ? stands(left.item, of: left.source, before: right) : first < second
  }

  /// Orders rows of one group; the source is asked for only if the order does not tell.
  private func stands(_ item: Item, of source: @autoclosure () -> Int?, before other: Entry) -> Bool
  {
    if order(item, other.item) { return true }
    if order(other.item, item) { return false }
    let source = source() ?? other.source
    return source == other.source ? item.key < other.item.key : source < other.source
  }

  private func section(of entry: Entry) -> Int { hasSections ? groups[entry.source] : 0 }

  /// How many of the present rows of its section stand before one.
  private func lowerBound(of entry: Entry) -> Int {
    let rows = rows[section(of: entry)]
    func isBefore(_ item: Item) -> Bool { stands(item, of: source(of: item.key), before: entry) }
    if hasSections || groupStarts.count == 2 { return rows.lowerBound(isBefore) }
    let group = groups[entry.source]
    return rows[groupStarts[group]..<groupStarts[group + 1]].lowerBound(isBefore)
  }

  /// The index of a present row in its section.
  private func index(of entry: Entry) -> Int {
    let rows = rows[section(of: entry)]
    let index = lowerBound(of: entry)
    if rows.indices.contains(index), rows[index].key == entry.item.key { return index }
    // An order that contradicts itself finds no row by halves; it must not lose one.
    return rows.firstIndex { $0.key == entry.item.key } ?? index
  }
}

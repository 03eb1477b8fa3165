public import RunnelBase

/// The rows of several streams in one section, each key once.
///
/// A key that several sources have is shown as the first of them has it; the others are *shadowed*.
/// When the winner loses the key, the next one is revealed: the row is reloaded, and moved if its
/// place is another.
///
/// Rows stand by the rank of their source, then by the order; rows that it does not tell apart stand
/// in the order of their sources, and those of one source by key. Sources of one rank are
/// merged; those of a higher rank stand after them, whatever their rows are. How a source orders and
/// sections its own rows does not matter.
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
  /// The rows in order.
  public private(set) var items: Rows<Item> = []
  private var entries: [String: Entry] = [:]
  /// For each source, the place of its rank among those in use.
  private let groups: [Int]
  /// How many rows stand before those of each group, and how many there are at the end.
  private var groupStarts: [Int]

  /// Makes a union of streams, which may have rows already.
  ///
  /// - Parameters:
  ///   - sources: the sources; of two with one key the earlier wins.
  ///   - order: true if the first row stands before the second. It must be a strict weak order that
  ///     looks at nothing but the two rows.
  public init(_ sources: [Source], by order: @escaping (Item, Item) -> Bool) {
    self.sources = sources
    self.order = order
    loadStates = sources.map(\.stream.loadState)
    let ranks = Set(sources.map(\.rank)).sorted()
    groups = sources.map { source in ranks.lowerBound { $0 < source.rank } }
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
  /// The rows, in one section.
  public var sections: [StreamSection<Item>] { [StreamSection(items: items)] }

  /// The row with a key.
  ///
  /// O(1).
  public func item(forKey key: String) -> Item? { entries[key]?.item }

  /// The place of the row with a key.
  ///
  /// O(log n).
  public func indexPath(forKey key: String) -> IndexPath? {
    entries[key].map { IndexPath(section: 0, row: index(of: $0)) }
  }

  /// The index of the source that a row is shown from; nil if there is no such row.
  ///
  /// O(1).
  public func source(of key: String) -> Int? { entries[key]?.source }

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
    var edit = RowEdit<Item>()
    var added: [Entry] = []
    var (changed, arrivals): (Set<String>, Set<String>) = ([], [])
    for key in keys {
      let (old, new) = (entries[key], winner(of: key))
      // A row of another source may be drawn differently, whatever it holds.
      if old == new { continue }
      if let old { edit.removing.append(index(of: old)) }
      guard let new else { continue }
      added.append(new)
      if old != nil {
        changed.insert(key)
      } else if arrived.contains(key) {
        arrivals.insert(key)
      }
    }
    edit.removing.sort()
    added.sort(by: precedes)
    edit.inserting = added.map { .init(gap: lowerBound(of: $0), item: $0.item) }
    edit.straighten()
    for index in edit.removing { countRow(of: entries[items[index].key], by: -1) }
    for entry in added { countRow(of: entry, by: 1) }
    for index in edit.removing { entries[items[index].key] = nil }
    for entry in added { entries[entry.item.key] = entry }
    var changes = edit.apply(to: &items, changed: changed)
    changes.arrivedKeys = arrivals
    return changes
  }

  private func winner(of key: String) -> Entry? {
    for (index, source) in sources.enumerated() {
      if let item = source.stream.item(forKey: key) { return Entry(item: item, source: index) }
    }
    return nil
  }

  private func countRow(of entry: Entry?, by difference: Int) {
    guard let entry else { return }
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

  /// How many of the present rows stand before one.
  private func lowerBound(of entry: Entry) -> Int {
    let group = groups[entry.source]
    return items[groupStarts[group]..<groupStarts[group + 1]]
      .lowerBound { stands($0, of: source(of: $0.key), before: entry) }
  }

  /// The index of a present row.
  private func index(of entry: Entry) -> Int {
    let index = lowerBound(of: entry)
    if items.indices.contains(index), items[index].key == entry.item.key { return index }
    // An order that contradicts itself finds no row by halves; it must not lose one.
    return items.firstIndex { $0.key == entry.item.key } ?? index
  }
}

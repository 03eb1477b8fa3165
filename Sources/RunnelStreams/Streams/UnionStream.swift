import RunnelBase

/// The items of several streams as one, in one order.
///
/// Of items with one key that of the first source counts; when it goes, the next source's takes its
/// place, as a change of the same row.
///
/// A change costs O(n) in the items of all sources.
public final class UnionStream<Item: KeyedItem>: SectionedStream {
  /// The id of the stream's only section.
  public static var sectionID: String { "" }

  /// The items in order.
  public private(set) var items: [Item] = []
  private var sourceIndex: [String: Int] = [:]

  private let sources: [any SectionedStream<Item>]
  private let isOrdered: (Item, Item) -> Bool
  private let observers = StreamObservers<StreamChange<Item>>()
  private var tokens: [StreamToken] = []

  /// Makes a union and takes over what its sources hold already.
  ///
  /// - Parameters:
  ///   - sources: the streams, the one that counts first; at least one.
  ///   - isOrdered: whether an item comes before another; a strict order. Items that are equal to it
  ///     stand in the order of their sources.
  public init(
    _ sources: [any SectionedStream<Item>], by isOrdered: @escaping (Item, Item) -> Bool
  ) {
    precondition(!sources.isEmpty, "A union has at least one source.")
    self.sources = sources
    self.isOrdered = isOrdered
    var isReady = false
    for source in sources {
      let token = source.observe { [weak self] change in
        if isReady { self?.sourceChanged(change) }
      }
      tokens.append(token)
    }
    isReady = true
    (items, sourceIndex) = merged()
  }

  deinit {
    for (source, token) in zip(sources, tokens) { source.cancel(token) }
  }

  /// The stream's only section.
  public var sections: [StreamSection<Item>] {
    [StreamSection(id: UnionStream.sectionID, items: items)]
  }

  /// Loaded when all sources are; failed as soon as one is.
  public var loadState: LoadState {
    var state = LoadState.loaded
    for source in sources {
      switch source.loadState {
      case .failed: return source.loadState
      case .idle, .loading: state = source.loadState
      case .loaded: break
      }
    }
    return state
  }

  /// The index of the source that the item with a key comes from; nil if there is none. O(1).
  public func source(of key: String) -> Int? { sourceIndex[key] }

  /// Tells the present state, and then each change.
  public func observe(_ observer: @escaping (StreamChange<Item>) -> Void) -> StreamToken {
    let token = observers.add(observer)
    observer(StreamChange(update: .reload, touched: items))
    return token
  }

  /// Stops telling an observer.
  public func cancel(_ token: StreamToken) { observers.cancel(token) }

  private func sourceChanged(_ change: StreamChange<Item>) {
    let old = items
    let oldSource = sourceIndex
    (items, sourceIndex) = merged()
    // A row may have another content because its source said so, or because it has another source.
    let mentioned = Set(change.touched.map(\.key))
    let touched = items.filter { item in
      mentioned.contains(item.key) || oldSource[item.key] != sourceIndex[item.key]
    }
    let changed = Set(touched.map(\.key))
    var update = BatchUpdate.reload
    if !change.update.isReload {
      update = SectionedDiff.update(
        from: [KeyedSection(id: UnionStream.sectionID, keys: old.map(\.key))],
        to: [KeyedSection(id: UnionStream.sectionID, keys: items.map(\.key))], changed: changed)
    }
    // A row that another source showed already has not arrived.
    let arrived = change.arrived.filter { oldSource[$0] == nil }
    observers.tell(StreamChange(update: update, touched: touched, arrived: arrived))
  }

  private func merged() -> (items: [Item], sources: [String: Int]) {
    var owners: [String: Int] = [:]
    var lists: [[Item]] = []
    for (index, source) in sources.enumerated() {
      var list: [Item] = []
      for item in source.sections.flatMap(\.items) where owners[item.key] == nil {
        owners[item.key] = index
        list.append(item)
      }
      lists.append(list)
    }
    let all = lists.reduce([], merge)
    return (all, owners)
  }

  /// Merges two lists, each of which is in order, in O(n).
  ///
  /// A list that is not in this order (a source may have another) is sorted first.
  private func merge(_ left: [Item], _ right: [Item]) -> [Item] {
    let right = sorted(right)
    var result: [Item] = []
    result.reserveCapacity(left.count + right.count)
    var (i, j) = (0, 0)
    while i < left.count, j < right.count {
      if isOrdered(right[j], left[i]) {
        result.append(right[j])
        j += 1
      } else {
        result.append(left[i])
        i += 1
      }
    }
    return result + left[i...] + right[j...]
  }

  private func sorted(_ items: [Item]) -> [Item] {
    let isSorted = zip(items, items.dropFirst()).allSatisfy { !isOrdered($1, $0) }
    return isSorted ? items : items.sorted(by: isOrdered)
  }
}

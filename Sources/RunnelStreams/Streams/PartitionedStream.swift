import RunnelBase

/// The items of a stream in sections, by what a function says of each.
///
/// Sections come and go with their items, unless they are fixed. An item whose section changes is one
/// row that moves.
///
/// A change costs O(n) in the items.
public final class PartitionedStream<Item: KeyedItem, Section: Comparable & Hashable>:
  SectionedStream
{
  /// The sections with their items, in the order of `Section`.
  public private(set) var sections: [StreamSection<Item>] = []

  private let source: any SectionedStream<Item>
  private let fixed: [Section]
  private let partition: (Item) -> Section
  private let sectionID: (Section) -> String
  private let observers = StreamObservers<StreamChange<Item>>()
  private var token: StreamToken?

  /// Makes a partitioned stream and takes over what its source holds already.
  ///
  /// - Parameters:
  ///   - source: the stream.
  ///   - fixed: sections that are there even without items.
  ///   - sectionID: the id of a section; two sections have two ids.
  ///   - partition: the section of an item.
  public init(
    _ source: any SectionedStream<Item>, fixed: [Section] = [],
    sectionID: @escaping (Section) -> String, partition: @escaping (Item) -> Section
  ) {
    self.source = source
    self.fixed = fixed
    self.sectionID = sectionID
    self.partition = partition
    var isReady = false
    token = source.observe { [weak self] change in
      if isReady { self?.sourceChanged(change) }
    }
    isReady = true
    sections = partitioned()
  }

  deinit { if let token { source.cancel(token) } }

  /// That of the source.
  public var loadState: LoadState { source.loadState }

  /// Tells the present state, and then each change.
  public func observe(_ observer: @escaping (StreamChange<Item>) -> Void) -> StreamToken {
    let token = observers.add(observer)
    observer(StreamChange(update: .reload, touched: sections.flatMap(\.items)))
    return token
  }

  /// Stops telling an observer.
  public func cancel(_ token: StreamToken) { observers.cancel(token) }

  /// Asks the function about every item again, because what it depends on changed.
  public func repartition() { sourceChanged(StreamChange(update: BatchUpdate())) }

  private func sourceChanged(_ change: StreamChange<Item>) {
    let old = sections
    sections = partitioned()
    var update = BatchUpdate.reload
    if !change.update.isReload {
      update = SectionedDiff.update(
        from: old.map { KeyedSection(id: $0.id, keys: $0.items.map(\.key)) },
        to: sections.map { KeyedSection(id: $0.id, keys: $0.items.map(\.key)) },
        changed: Set(change.touched.map(\.key)))
    }
    observers.tell(
      StreamChange(update: update, touched: change.touched, arrived: change.arrived))
  }

  private func partitioned() -> [StreamSection<Item>] {
    var members: [Section: [Item]] = [:]
    for section in fixed { members[section] = [] }
    for item in source.sections.flatMap(\.items) {
      members[partition(item), default: []].append(item)
    }
    return members.keys.sorted().map {
      StreamSection(id: sectionID($0), items: members[$0] ?? [])
    }
  }
}

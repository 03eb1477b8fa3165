import RunnelBase

/// Items that are not stored: what is being typed, who is present, a hint among the rows.
///
/// They stand in the order in which they were added; a union puts them where its order says.
public final class TransientStream<Item: KeyedItem>: SectionedStream {
  /// The id of the stream's only section.
  public static var sectionID: String { "" }

  /// The items in the order in which they were added.
  public private(set) var items: [Item] = []
  private let observers = StreamObservers<StreamChange<Item>>()

  /// Makes a stream without items.
  public init() {}

  /// The stream's only section.
  public var sections: [StreamSection<Item>] {
    [StreamSection(id: TransientStream.sectionID, items: items)]
  }

  /// Always loaded.
  public var loadState: LoadState { .loaded }

  /// Adds items, or gives those whose keys are there their new content.
  public func put(_ newItems: Item...) {
    var items = items
    for item in newItems {
      if let index = items.firstIndex(where: { $0.key == item.key }) {
        items[index] = item
      } else {
        items.append(item)
      }
    }
    reset(items)
  }

  /// Removes items by their keys; a key that is not there is ignored.
  public func remove(_ keys: String...) { reset(items.filter { !keys.contains($0.key) }) }

  /// Replaces all items. The last of those with one key counts.
  public func reset(_ newItems: [Item] = []) {
    let old = items
    items = []
    for item in newItems {
      items.removeAll { $0.key == item.key }
      items.append(item)
    }
    let before = Dictionary(uniqueKeysWithValues: old.map { ($0.key, $0) })
    let touched = items.filter { before[$0.key] != $0 }
    let update = SectionedDiff.update(
      from: [KeyedSection(id: TransientStream.sectionID, keys: old.map(\.key))],
      to: [KeyedSection(id: TransientStream.sectionID, keys: items.map(\.key))],
      changed: Set(touched.map(\.key)))
    if !update.isEmpty { observers.tell(StreamChange(update: update, touched: touched)) }
  }

  /// Tells the present state, and then each change.
  public func observe(_ observer: @escaping (StreamChange<Item>) -> Void) -> StreamToken {
    let token = observers.add(observer)
    observer(StreamChange(update: .reload, touched: items))
    return token
  }

  /// Stops telling an observer.
  public func cancel(_ token: StreamToken) { observers.cancel(token) }
}

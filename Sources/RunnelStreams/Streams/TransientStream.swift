public import RunnelBase

/// Rows that exist only in the program, in one section: a message being written, a hint.
///
/// It is always loaded. Every call that changes something becomes one change; one made while
/// observers are told takes effect when they were.
public final class TransientStream<Item: KeyedItem>: SectionedStream {
  private let order: ((Item, Item) -> Bool)?
  private let hub = ChangeHub<StreamChange<Item>>()
  /// The rows in order.
  public private(set) var items: Rows<Item> = []
  private var places: [String: Int] = [:]

  /// Makes a stream.
  ///
  /// - Parameters:
  ///   - items: the first rows.
  ///   - order: true if the first row stands before the second; nil for the order of insertion.
  public init(_ items: [Item] = [], order: ((Item, Item) -> Bool)? = nil) {
    self.order = order
    replace(with: items)
  }
}

// MARK: Reading

extension TransientStream {
  /// The rows, in one section.
  public var sections: [StreamSection<Item>] { [StreamSection(items: items)] }
  /// Always loaded.
  public var loadState: LoadState { .loaded }

  /// The row with a key.
  ///
  /// O(1).
  public func item(forKey key: String) -> Item? { places[key].map { items[$0] } }

  /// The place of the row with a key.
  ///
  /// O(1).
  public func indexPath(forKey key: String) -> IndexPath? {
    places[key].map { IndexPath(section: 0, row: $0) }
  }

  /// Tells the present state and what happens from now on.
  public func observe(_ observer: @escaping (StreamChange<Item>) -> Void) -> StreamToken {
    hub.observe(observer, present: present)
  }

  /// Ends an observation.
  public func cancel(_ token: StreamToken) { hub.cancel(token) }
}

// MARK: Changing

extension TransientStream {
  /// Adds rows after those there are; one whose key is there already replaces that one.
  ///
  /// O(n log n) with an order, O(n) without.
  public func put(contentsOf items: [Item]) { change { $0 += items } }

  /// Adds rows after those there are; one whose key is there already replaces that one.
  public func put(_ items: Item...) { put(contentsOf: items) }

  /// Replaces the row with the key of `item`; nothing happens if there is none.
  public func update(_ item: Item) {
    change { items in
      if let index = items.firstIndex(where: { $0.key == item.key }) { items[index] = item }
    }
  }

  /// Removes the rows with these keys; unknown ones are ignored.
  public func remove(_ keys: String...) {
    let keys = Set(keys)
    change { items in items.removeAll { keys.contains($0.key) } }
  }

  /// Replaces all rows.
  public func reset(_ items: [Item] = []) { change { $0 = items } }

  private func change(_ body: @escaping (inout [Item]) -> Void) {
    hub.perform { [self] in
      let before = sections
      var items = Array(items)
      body(&items)
      replace(with: items)
      let changes = SectionedDiff.changes(from: before, to: sections)
      return changes.isEmpty ? nil : change(changes)
    }
  }

  /// Takes rows of which a later one replaces an earlier one with its key, at the earlier's place.
  private func replace(with items: [Item]) {
    var result: [Item] = []
    var places: [String: Int] = [:]
    for item in items {
      if let place = places[item.key] {
        result[place] = item
      } else {
        places[item.key] = result.count
        result.append(item)
      }
    }
    if let order {
      result = result.stablySorted(by: order)
      for (place, item) in result.enumerated() { places[item.key] = place }
    }
    (self.items, self.places) = (Rows(result), places)
  }
}

extension Array {
  /// The elements in an order, those that it does not tell apart in the order they are in.
  fileprivate func stablySorted(by order: (Element, Element) -> Bool) -> [Element] {
    enumerated().sorted { left, right in
      if order(left.element, right.element) { return true }
      return !order(right.element, left.element) && left.offset < right.offset
    }.map(\.element)
  }
}

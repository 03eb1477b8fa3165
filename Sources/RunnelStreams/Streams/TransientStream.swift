public import RunnelBase

/// Rows that exist only in the program, in one section: a message being written, a hint.
///
/// Rows are sorted by an order, and rows that it does not distinguish by the time of insertion;
/// without an order only by the latter. To pin them to an end of a list, give the stream a rank of
/// its own in a union.
///
/// It is always loaded. Every call that changes something becomes one change; a call made while
/// observers are being told takes effect afterwards.
public final class TransientStream<Item: StreamItem>: SectionedStream {
  /// The origin of a row is the number of its insertion; a row that replaces another one keeps it.
  ///
  /// Without an order it is also the label.
  typealias Entry = RowBox<Item>

  private let hub = ChangeHub<StreamChange<Item>>()
  private let order: RowOrder
  private let isOrdered: Bool
  private var rows: ShownRows<Item>
  private var entries = RowTable<ByID>()
  /// The numbers in use.
  private var numbers = 0..<0

  /// Makes a stream.
  ///
  /// - Parameters:
  ///   - items: the first rows.
  ///   - order: returns true if the first row is before the second; nil for the order of insertion.
  public init(_ items: [Item] = [], order: ((Item, Item) -> Bool)? = nil) {
    isOrdered = order != nil
    self.order = RowOrder(
      tie: order.map { order in
        { left, right in
          let (a, b) = (Entry.of(left).item, Entry.of(right).item)
          if order(a, b) { return true }
          return order(b, a) ? false : left.origin < right.origin
        }
      })
    rows = ShownRows(by: self.order)
    _ = replace(with: items)
  }
}

// MARK: Reading

extension TransientStream {
  /// The rows that are shown, in order.
  public var items: Rows<Item> { rows.items }
  /// The rows, in one section.
  public var sections: [StreamSection<Item>] { [StreamSection(items: items)] }
  /// Always loaded.
  public var loadState: LoadState { .loaded }

  /// The row with an id, if it is shown.
  ///
  /// O(1).
  public func item(forID id: String) -> Item? {
    guard let entry = entries[id], entry.isAccepted else { return nil }
    return Entry.of(entry).item
  }

  /// The place of the row with an id, if it is shown.
  ///
  /// O(log n).
  public func indexPath(forID id: String) -> ListIndexPath? {
    entries[id].flatMap { rows.list.index(of: $0) }.map { ListIndexPath(section: 0, row: $0) }
  }

  /// Tells the present state and every later change.
  public func observe(_ observer: @escaping (StreamChange<Item>) -> Void) -> StreamToken {
    hub.observe(observer, present: present)
  }

  /// Ends an observation.
  public func cancel(_ token: StreamToken) { hub.cancel(token) }
}

// MARK: Changing

extension TransientStream {
  /// The condition for rows to be shown; nil for all.
  ///
  /// O(n) to set.
  public var predicate: ((Item) -> Bool)? {
    get { rows.predicate }
    set { perform { $0.rows.filter(by: newValue) } }
  }

  /// Adds rows before or after the present ones; a row whose id exists replaces the row with that
  /// id, at its place.
  ///
  /// O(t log n) in the t rows.
  public func put(contentsOf items: [Item], at end: ListEnd = .end) {
    perform { $0.insert(items, at: end) }
  }

  /// Adds rows before or after the present ones; a row whose id exists replaces the row with that
  /// id.
  public func put(_ items: Item..., at end: ListEnd = .end) { put(contentsOf: items, at: end) }

  /// Replaces the row with the id of `item`; does nothing if there is none.
  ///
  /// O(log n).
  public func update(_ item: Item) {
    perform { stream in
      stream.entries[item.id] == nil ? ChangeSet() : stream.insert([item], at: .end)
    }
  }

  /// Tells a row as changed although it is equal.
  ///
  /// It is for properties that `==` does not compare. The predicate is applied again. Does nothing
  /// if there is no row with the id of `item`.
  ///
  /// O(log n).
  public func itemChanged(_ item: Item) {
    perform { stream in
      guard let old = stream.entries[item.id] else { return ChangeSet() }
      let new = Entry(item, label: old.label, origin: old.origin)
      return stream.carryOut([.init(old: old, new: new)], changed: [item.id])
    }
  }

  /// Removes the rows with these ids; unknown ones are ignored.
  ///
  /// O(log n) for each.
  public func remove(_ ids: String...) { remove(contentsOf: ids) }

  /// Removes the rows with these ids; unknown ones are ignored.
  public func remove(contentsOf ids: [String]) {
    perform { stream in
      let entries = Set(ids).compactMap { stream.entries[$0] }
      return stream.carryOut(entries.map { .init(old: $0) }, changed: [])
    }
  }

  /// Replaces all rows.
  ///
  /// O(n log n).
  public func reset(_ items: [Item] = []) { perform { $0.replace(with: items) } }

  private func perform(_ mutation: @escaping (TransientStream) -> ChangeSet) {
    hub.perform { [self] in
      let changes = mutation(self)
      return changes.isEmpty ? nil : change(changes)
    }
  }

  private func insert(_ items: [Item], at end: ListEnd) -> ChangeSet {
    var number = end == .end ? numbers.upperBound : numbers.lowerBound - items.count
    var changed = Set<String>()
    var replacements: [RowList.Replacement] = []
    for item in TransientStream.unique(items) {
      let old = entries[item.id].map { Entry.of($0) }
      if let old, old.item == item { continue }
      if old != nil { changed.insert(item.id) }
      replacements.append(.init(old: old, new: entry(item, number: old?.origin ?? number)))
      number += 1
    }
    numbers = min(numbers.lowerBound, number - items.count)..<max(numbers.upperBound, number)
    return carryOut(replacements, changed: changed)
  }

  private func carryOut(
    _ replacements: [RowList.Replacement], changed: Set<String>
  ) -> ChangeSet {
    entries.replace(replacements)
    return rows.replace(replacements, changed: changed)
  }

  private func replace(with items: [Item]) -> ChangeSet {
    let items = TransientStream.unique(items)
    let new = items.enumerated().map { entry($1, number: $0) }
    numbers = 0..<items.count
    entries = RowTable(minimumCapacity: new.count)
    for entry in new { entries.insert(entry) }
    return rows.reset(new, by: order)
  }

  private func entry(_ item: Item, number: Int) -> Entry {
    Entry(item, label: isOrdered ? 0 : number, origin: number)
  }

  /// The rows with each id once: a later row replaces an earlier one with its id, at the earlier
  /// place.
  private static func unique(_ items: [Item]) -> [Item] {
    var places: [String: Int] = [:]
    var result: [Item] = []
    for item in items {
      if let place = places[item.id] {
        result[place] = item
      } else {
        places[item.id] = result.count
        result.append(item)
      }
    }
    return result
  }
}

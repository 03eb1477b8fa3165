import OrderedCollections
import RunnelTree

/// What a batch of events comes to: the last word on each row.
struct EventBatch {
  /// The rows that the events are about, in the order of their first events; nil for one that is
  /// gone.
  private(set) var rows: OrderedDictionary<Key, TreeRow?> = [:]
  /// Whether there are rows beyond the window, if the batch says so.
  private(set) var hasMore: Bool?

  /// Reads the events of a listener.
  init(_ events: [TreeEvent]) {
    rows.reserveCapacity(events.count)
    for event in events {
      switch event {
      case .childAdded(let row, _), .childChanged(let row, _), .childMoved(let row, _):
        rows.updateValue(row, forKey: row.key)
      case .childRemoved(let row): rows.updateValue(nil, forKey: row.key)
      case .page(let hasMore): self.hasMore = hasMore
      case .pending: break
      case .value: break
      }
    }
  }

  /// Adds the removal of a row, unless the events are about it.
  mutating func removeUnlessNamed(_ key: Key) {
    if !rows.keys.contains(key) { rows.updateValue(nil, forKey: key) }
  }
}

/// Which of the rows new to a window arrived by themselves.
enum Arrivals {
  /// None: they were there before.
  case none
  /// All of them.
  case all
  /// Those after a place in the tree's order; the others were taken in by the window.
  case after(IndexPosition)
  /// Those before a place in the tree's order.
  case before(IndexPosition)

  /// True if a new row at a place arrived.
  func contains(_ position: IndexPosition) -> Bool {
    switch self {
    case .none: false
    case .all: true
    case .after(let outermost): outermost < position
    case .before(let outermost): position < outermost
    }
  }
}

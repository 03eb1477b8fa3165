import OrderedCollections
import RunnelTree

/// What a batch of events comes to: the last word on each row.
struct EventBatch {
  /// The index of the last event about each row, in the order of their first ones.
  private(set) var lastEvents: OrderedDictionary<Key, Int> = [:]
  /// Whether there are rows beyond the window, if the batch says so.
  private(set) var hasMore: Bool?

  private let events: [TreeEvent]

  /// Reads the events of a listener.
  init(_ events: [TreeEvent]) {
    self.events = events
    lastEvents.reserveCapacity(events.count)
    for (index, event) in events.enumerated() {
      switch event {
      case .childAdded(let row, _), .childChanged(let row, _), .childMoved(let row, _),
        .childRemoved(let row):
        lastEvents[row.key] = index
      case .page(let hasMore): self.hasMore = hasMore
      case .pending: break
      case .value: break
      }
    }
  }

  /// What an event says of its row; nil if it is gone.
  func row(_ event: Int) -> TreeRow? {
    switch events[event] {
    case .childAdded(let row, _), .childChanged(let row, _), .childMoved(let row, _): row
    case .childRemoved, .page, .pending, .value: nil
    }
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

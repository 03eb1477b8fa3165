import OrderedCollections
import RunnelTree

/// The sum of a batch of events: the last event of each row.
struct EventBatch {
  /// The index of the last event of each row, in the order of the rows' first events.
  private(set) var lastEvents: OrderedDictionary<Key, Int> = [:]
  /// Whether there are rows beyond the window; nil if the batch does not tell.
  private(set) var hasMore: Bool?
  /// The pending state of the place; nil if the batch does not contain it.
  private(set) var pending: PendingState?
  /// True if the rows are then all that the origin has.
  private(set) var isAnswer = false

  private let events: [TreeEvent]

  /// Reads the events of a listener.
  init(_ events: [TreeEvent]) {
    self.events = events
    lastEvents.reserveCapacity(events.count)
    // A span lends its elements; an array copies them.
    let all = events.span
    for index in all.indices {
      if let key = EventBatch.key(of: all[index]) {
        lastEvents[key] = index
      } else {
        note(all[index])
      }
    }
  }

  /// The key of the row that an event is about; nil if it is about no row.
  ///
  /// A copy of the event would count references to the row's content, which mostly is in no cache. The
  /// compiler copies a row that several patterns of one case bind, so each has a case of its own.
  @inline(never)
  private static func key(of event: TreeEvent) -> Key? {
    switch event {
    case .childAdded(let row, _): row.key
    case .childChanged(let row, _): row.key
    case .childMoved(let row, _): row.key
    case .childRemoved(let row): row.key
    case .value, .page, .pending, .answered: nil
    }
  }

  /// Takes over what an event tells about the whole window.
  private mutating func note(_ event: TreeEvent) {
    switch event {
    case .page(let hasMore): self.hasMore = hasMore
    case .pending(let state): pending = state
    case .answered: isAnswer = true
    case .childAdded, .childChanged, .childMoved, .childRemoved, .value: break
    }
  }

  /// The row of an event; nil if the row was removed.
  func row(_ event: Int) -> TreeRow? { EventBatch.row(of: events.span[event]) }

  @inline(never)
  private static func row(of event: TreeEvent) -> TreeRow? {
    switch event {
    case .childAdded(let row, _): row
    case .childChanged(let row, _): row
    case .childMoved(let row, _): row
    case .childRemoved, .page, .pending, .value, .answered: nil
    }
  }
}

/// The new rows of a window that arrived by themselves.
enum Arrivals {
  /// No rows: all existed before.
  case none
  /// All rows.
  case all
  /// The rows after a position in the tree's order; the window has moved over the others.
  case after(IndexPosition)
  /// The rows before a position in the tree's order.
  case before(IndexPosition)

  /// True if a new row at a position arrived by itself.
  func contains(_ position: IndexPosition) -> Bool {
    switch self {
    case .none: false
    case .all: true
    case .after(let outermost): outermost < position
    case .before(let outermost): position < outermost
    }
  }
}

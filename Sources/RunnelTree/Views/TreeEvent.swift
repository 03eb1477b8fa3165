/// An event for a listener.
///
/// `previous` is the key of the row before this one in the view after the whole batch, in the order
/// of the query; nil for the first row.
///
/// Source: tree semantics, section 6.
public enum TreeEvent: Hashable, Sendable {
  /// A row entered the view.
  case childAdded(TreeRow, previous: Key?)
  /// A row's content changed.
  case childChanged(TreeRow, previous: Key?)
  /// The value by which a row is ordered changed, whether or not its rank did.
  case childMoved(TreeRow, previous: Key?)
  /// A row left the view; it is given as it was.
  case childRemoved(TreeRow)
  /// The whole content of the view.
  case value(Node)
  /// A paged view was loaded or extended: all rows up to its frontier were delivered before this
  /// event. `hasMore` tells whether there are others beyond the frontier.
  case page(hasMore: Bool)
  /// The pending writes at the place of the view changed: this is everything that is pending now.
  case pending(PendingState)
  /// The rows of the view are all that the origin has: it has answered. A tree of its own tells this
  /// with the initial events.
  case answered

  /// The row that the event is about; nil for the others.
  public var row: TreeRow? {
    switch self {
    case .childAdded(let row, _), .childChanged(let row, _), .childMoved(let row, _),
      .childRemoved(let row):
      row
    case .value, .page, .pending, .answered: nil
    }
  }
}

/// The kinds of events that a listener wants.
public struct EventKinds: OptionSet, Hashable, Sendable {
  /// The bits of the set, one for each kind.
  public var rawValue: UInt8

  /// Makes a set from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Rows that enter.
  public static let added = EventKinds(rawValue: 1)
  /// Rows whose content changes.
  public static let changed = EventKinds(rawValue: 2)
  /// Rows whose order value changes.
  public static let moved = EventKinds(rawValue: 4)
  /// Rows that leave.
  public static let removed = EventKinds(rawValue: 8)
  /// The whole content.
  public static let value = EventKinds(rawValue: 16)
  /// Pending changes at the place.
  public static let pending = EventKinds(rawValue: 32)
  /// The origin's answer.
  public static let answered = EventKinds(rawValue: 64)
  /// The four events about children.
  public static let children: EventKinds = [.added, .changed, .moved, .removed]
  /// All events about shown data.
  public static let all: EventKinds = [.children, .value]

  /// True if a listener of these kinds is told an event; `page` is always told.
  public func contains(_ event: TreeEvent) -> Bool {
    switch event {
    case .childAdded: contains(.added)
    case .childChanged: contains(.changed)
    case .childMoved: contains(.moved)
    case .childRemoved: contains(.removed)
    case .value: contains(.value)
    case .page: true
    case .pending: contains(.pending)
    case .answered: contains(EventKinds.answered)
    }
  }
}

extension EventKinds: CustomStringConvertible {
  /// The names of the kinds: `removed`, or `[added, removed]` for several.
  public var description: String {
    let all: [(kind: EventKinds, name: String)] = [
      (.added, "added"), (.changed, "changed"), (.moved, "moved"), (.removed, "removed"),
      (.value, "value"), (.pending, "pending"), (.answered, "answered"),
    ]
    let names = all.filter { contains($0.kind) }.map(\.name)
    return names.count == 1 ? names[0] : "[" + names.joined(separator: ", ") + "]"
  }
}

/// The name of a listener, chosen by the caller that registers it.
public struct ListenerID: Hashable, Sendable, Comparable {
  /// The number.
  public var rawValue: Int

  /// Makes a name from a number.
  public init(_ rawValue: Int) { self.rawValue = rawValue }

  /// Orders by number.
  public static func < (left: ListenerID, right: ListenerID) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// An event on its way to one listener.
public struct Delivery: Hashable, Sendable {
  /// The listener.
  public var listener: ListenerID
  /// The event.
  public var event: TreeEvent

  /// Makes a delivery.
  public init(listener: ListenerID, event: TreeEvent) {
    self.listener = listener
    self.event = event
  }
}

/// A listener's request.
public struct ListenRequest: Hashable, Sendable {
  /// The rows to listen to, and their order.
  ///
  /// A paged request has no limit of its own; a database refuses one that has.
  public var query: Query
  /// The paging of the window; nil to show exactly the rows of the query.
  public var paging: Paging?
  /// The amount of each row that is read.
  ///
  /// The `value` of a shallow view holds no children.
  public var detail: TreeRow.Detail
  /// The events to be told.
  public var events: EventKinds

  /// Makes a request.
  public init(
    query: Query, paging: Paging? = nil, detail: TreeRow.Detail = .full,
    events: EventKinds = .children
  ) {
    self.query = query
    self.paging = paging
    self.detail = detail
    self.events = events
  }

  /// Checks that the parts of the request do not contradict each other.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if a paged query has a limit of its own, or its first page
  ///   has no rows.
  package func check() throws(TreeError) {
    guard let paging else { return }
    if query.limit != nil {
      throw TreeError(
        .invalidQuery,
        "A paged query has no limit of its own. Remove the limit, or read it without paging.",
        path: query.path.description)
    }
    if paging.count < 1 {
      throw TreeError(
        .invalidQuery, "A page holds at least one row, but \(paging.count) were asked for.",
        path: query.path.description)
    }
  }
}

/// A window that is live at one end of an order and grows towards the other, page by page.
///
/// Everything between the live end and the *frontier* belongs to the window and stays live: the
/// listener is told of rows that enter, change or leave there. The frontier moves when the window
/// is extended, and when all rows of the window have gone and there are others beyond: these become
/// the first page, on a replica once the origin has told them.
public struct Paging: Hashable, Sendable {
  /// The live end; it is `last` for a history whose newest row comes last.
  public var anchor: Query.Side
  /// The number of rows that are loaded at first: at least 1; a database refuses less.
  public var count: Int

  /// Makes a paging that starts with `count` rows at the end `anchor`.
  public init(anchor: Query.Side, count: Int) {
    self.anchor = anchor
    self.count = count
  }
}

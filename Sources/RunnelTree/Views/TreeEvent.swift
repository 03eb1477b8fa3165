/// What a listener is told.
///
/// `previous` is the key of the row before it in the view after the whole batch, in the order of the
/// query; nil for the first row.
///
/// Source: tree semantics, section 6.
public enum TreeEvent: Hashable, Sendable {
  /// A row entered the view.
  case childAdded(TreeRow, previous: Key?)
  /// A row's content changed.
  case childChanged(TreeRow, previous: Key?)
  /// What the order compares of a row changed, whether or not its rank did.
  case childMoved(TreeRow, previous: Key?)
  /// A row left the view; it is given as it was.
  case childRemoved(TreeRow)
  /// The whole content of the view.
  case value(Node)
  /// A paged view was loaded or extended: the rows delivered before this event are all there are
  /// up to its frontier, and `hasMore` tells whether others lie beyond.
  case page(hasMore: Bool)
  /// What waits for the origin at the place of the view changed: this is pending now, and nothing
  /// besides.
  case pending(PendingState)

  /// The row that the event is about; nil for the others.
  public var row: TreeRow? {
    switch self {
    case .childAdded(let row, _), .childChanged(let row, _), .childMoved(let row, _),
      .childRemoved(let row):
      row
    case .value, .page, .pending: nil
    }
  }
}

/// Which events a listener wants.
public struct EventKinds: OptionSet, Hashable, Sendable {
  /// One bit for each kind.
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
  /// What waits for the origin.
  public static let pending = EventKinds(rawValue: 32)
  /// The four events about children.
  public static let children: EventKinds = [.added, .changed, .moved, .removed]
  /// Everything about what is shown.
  public static let all: EventKinds = [.children, .value]

  /// True if a listener of these kinds is told the event; `page` always is.
  public func contains(_ event: TreeEvent) -> Bool {
    switch event {
    case .childAdded: contains(.added)
    case .childChanged: contains(.changed)
    case .childMoved: contains(.moved)
    case .childRemoved: contains(.removed)
    case .value: contains(.value)
    case .page: true
    case .pending: contains(.pending)
    }
  }
}

/// The name of a listener, given by whoever registers it.
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
  /// Who is told.
  public var listener: ListenerID
  /// What is told.
  public var event: TreeEvent

  /// Makes a delivery.
  public init(listener: ListenerID, event: TreeEvent) {
    self.listener = listener
    self.event = event
  }
}

/// What a listener asks for.
public struct ListenRequest: Hashable, Sendable {
  /// Which rows, in which order.
  ///
  /// A paged request has no limit of its own.
  public var query: Query
  /// How the window grows; nil to show exactly what the query asks for.
  public var paging: Paging?
  /// How much of each row is read.
  ///
  /// The `value` of a shallow view holds no children.
  public var detail: TreeRow.Detail
  /// Which events are told.
  public var events: EventKinds

  /// Makes a request.
  public init(
    query: Query, paging: Paging? = nil, detail: TreeRow.Detail = .full,
    events: EventKinds = .children
  ) {
    precondition(paging == nil || query.limit == nil, "A paged query has no limit of its own.")
    self.query = query
    self.paging = paging
    self.detail = detail
    self.events = events
  }
}

/// A window that is live at one end of an order and grows towards the other, page by page.
///
/// Everything between the live end and the *frontier* belongs to the window and stays live: rows
/// that enter, change or leave there are told. The frontier moves only when the window is extended; on a
/// replica also when all its rows have gone and the origin has others, which are the first page then.
public struct Paging: Hashable, Sendable {
  /// The live end: `last` for a history whose newest row comes last.
  public var anchor: Query.Side
  /// How many rows are loaded at first: at least 1.
  public var count: Int

  /// Makes a paging that starts with `count` rows at the end `anchor`.
  public init(anchor: Query.Side, count: Int) {
    precondition(count > 0, "A page holds at least one row.")
    self.anchor = anchor
    self.count = count
  }
}

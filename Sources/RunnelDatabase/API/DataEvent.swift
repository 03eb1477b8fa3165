public import RunnelTree

/// An event for an observer.
///
/// `previousKey` is the key of the child before it in the order of the query after the whole batch;
/// nil for the first child.
///
/// Order: within one batch, which is the result of one write, all `childRemoved` come first, then
/// all `childAdded`, `childMoved` and `childChanged`, then `value`.
///
/// Source: tree semantics, section 6.
public enum DataEvent: Hashable, Sendable {
  /// A child entered the query.
  case childAdded(DataSnapshot, previousKey: String?)
  /// A child changed.
  case childChanged(DataSnapshot, previousKey: String?)
  /// The value of a child by which the query orders changed, whether or not its rank did.
  case childMoved(DataSnapshot, previousKey: String?)
  /// A child left the query; it is given as it was.
  case childRemoved(DataSnapshot)
  /// The whole result of the query.
  case value(DataSnapshot)
}

extension DataEvent {
  /// The child that the event is about; everything for `value`.
  public var snapshot: DataSnapshot {
    switch self {
    case .childAdded(let snapshot, _), .childChanged(let snapshot, _),
      .childMoved(let snapshot, _), .childRemoved(let snapshot), .value(let snapshot):
      snapshot
    }
  }

  /// The key of the child before it; nil for the first child, for `childRemoved` and for `value`.
  public var previousKey: String? {
    switch self {
    case .childAdded(_, let key), .childChanged(_, let key), .childMoved(_, let key): key
    case .childRemoved, .value: nil
    }
  }

  /// The kind of the event, as a set of one.
  public var kind: EventKinds {
    switch self {
    case .childAdded: .added
    case .childChanged: .changed
    case .childMoved: .moved
    case .childRemoved: .removed
    case .value: .value
    }
  }
}

extension DataEvent {
  /// The event for the observers of a query; nil for events that are only for views.
  ///
  /// `pending` holds the places of the writes that wait for the origin.
  init?(_ event: TreeEvent, in query: DatabaseQuery, pending: [Path]) {
    switch event {
    case .childAdded(let row, let previous):
      self = .childAdded(query.snapshot(of: row, pending), previousKey: previous?.text)
    case .childChanged(let row, let previous):
      self = .childChanged(query.snapshot(of: row, pending), previousKey: previous?.text)
    case .childMoved(let row, let previous):
      self = .childMoved(query.snapshot(of: row, pending), previousKey: previous?.text)
    case .childRemoved(let row): self = .childRemoved(query.snapshot(of: row, pending))
    case .value(let node): self = .value(query.snapshot(of: node, pending))
    case .page, .pending, .answered: return nil
    }
  }
}

extension DataEvent: CustomStringConvertible {
  /// The kind of the event, the place and the value: `childAdded /guests/ana: {"name":"Ana"}`.
  ///
  /// O(n) in the value.
  public var description: String {
    let name =
      switch self {
      case .childAdded: "childAdded"
      case .childChanged: "childChanged"
      case .childMoved: "childMoved"
      case .childRemoved: "childRemoved"
      case .value: "value"
      }
    return "\(name) \(snapshot)"
  }
}

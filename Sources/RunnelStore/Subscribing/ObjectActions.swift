public import RunnelTree

// The actions about the objects of a query. Each names the query, so that a part of a state can
// hold the objects of one query and ignore those of others.

/// A query of objects is subscribed to from now on, or is no longer.
///
/// At the beginning `ObjectsLoaded` follows. At the end nothing follows.
public struct ObjectSubscribed<Object: TreeObject>: Action, Equatable {
  /// The query.
  public var query: Query
  /// True if it is subscribed to from now on, false if it is no longer.
  public var isSubscribed: Bool

  /// Makes the action.
  public init(_ query: Query, isSubscribed: Bool) {
    self.query = query
    self.isSubscribed = isSubscribed
  }
}

/// The objects of a query, in its order; they replace the objects known before.
///
/// It comes once after each beginning of a subscription. For each child that is not an object of
/// the type, an `ObjectErrored` follows.
public struct ObjectsLoaded<Object: TreeObject>: Action, Equatable {
  /// The query.
  public var query: Query
  /// The objects.
  public var entries: [ObjectEntry<Object>]

  /// Makes the action.
  public init(_ query: Query, entries: [ObjectEntry<Object>]) {
    self.query = query
    self.entries = entries
  }
}

/// An object entered a query, or a child of the query became an object.
public struct ObjectAdded<Object: TreeObject>: Action, Equatable {
  /// The query.
  public var query: Query
  /// The object.
  public var entry: ObjectEntry<Object>
  /// The key of the object before it; nil if it is the first.
  public var previous: Key?

  /// Makes the action.
  public init(_ query: Query, _ entry: ObjectEntry<Object>, previous: Key?) {
    self.query = query
    self.entry = entry
    self.previous = previous
  }
}

/// An object of a query changed; it keeps its place.
public struct ObjectChanged<Object: TreeObject>: Action, Equatable {
  /// The query.
  public var query: Query
  /// The object as it is now.
  public var entry: ObjectEntry<Object>

  /// Makes the action.
  public init(_ query: Query, _ entry: ObjectEntry<Object>) {
    self.query = query
    self.entry = entry
  }
}

/// The value by which the query orders an object changed.
public struct ObjectMoved<Object: TreeObject>: Action, Equatable {
  /// The query.
  public var query: Query
  /// The object as it is now.
  public var entry: ObjectEntry<Object>
  /// The key of the object that is now before it; nil if it is the first.
  public var previous: Key?

  /// Makes the action.
  public init(_ query: Query, _ entry: ObjectEntry<Object>, previous: Key?) {
    self.query = query
    self.entry = entry
    self.previous = previous
  }
}

/// An object left a query, or is no longer an object of the type.
public struct ObjectRemoved<Object: TreeObject>: Action, Equatable {
  /// The query.
  public var query: Query
  /// Its key.
  public var id: Key
  /// The object as it was; nil if a node that is not an object took its place.
  public var object: Object?

  /// Makes the action.
  public init(_ query: Query, id: Key, object: Object?) {
    self.query = query
    self.id = id
    self.object = object
  }
}

/// A child is not an object of the type, or the query cannot be listened to.
public struct ObjectErrored<Object: TreeObject>: FailureAction, Equatable {
  /// The query.
  public var query: Query
  /// The child; the place of the query if it cannot be listened to.
  public var path: Path
  /// The reason: `noData`, `malformedData`, or why the query cannot be listened to.
  public var error: TreeError

  /// Makes the action.
  public init(_ query: Query, path: Path, error: TreeError) {
    self.query = query
    self.path = path
    self.error = error
  }
}

/// An event of a single object that is observed.
public struct ObjectObserved<Object: TreeObject>: Action, Equatable {
  /// The events of an observed object.
  public enum Event: Equatable, Sendable {
    /// The observation has begun; `object` or an `ObjectErrored` follows.
    case began
    /// The object as it is now; nil if nothing is there.
    case object(Object?)
    /// The observation has ended.
    case ended
  }

  /// The place of the object.
  public var path: Path
  /// The event.
  public var event: Event

  /// Makes the action.
  public init(_ path: Path, _ event: Event) {
    self.path = path
    self.event = event
  }
}

/// The origin of the tree can be reached from now on, or no longer.
public struct ConnectionChanged: Action, Equatable {
  /// True if it can be reached.
  public var isConnected: Bool

  /// Makes the action.
  public init(isConnected: Bool) { self.isConnected = isConnected }
}

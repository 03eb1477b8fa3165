public import RunnelTree

// What is told of the objects of a query. Each action names the query, so that a state holds the
// objects of one and leaves those of others alone.

/// A query of objects is subscribed to from now on, or no longer.
///
/// When it begins, `ObjectsLoaded` follows. When it ends, nothing follows.
public struct ObjectSubscribed<Object: TreeObject>: Action, Equatable {
  /// The query.
  public var query: Query
  /// True from now on; false: no longer.
  public var isSubscribed: Bool

  /// Makes the action.
  public init(_ query: Query, isSubscribed: Bool) {
    self.query = query
    self.isSubscribed = isSubscribed
  }
}

/// All objects of a query, in its order, in the place of those known before.
///
/// It comes once after each beginning of a subscription; for each child that is no such object an
/// `ObjectErrored` comes with it.
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

/// An object entered a query, or became one.
public struct ObjectAdded<Object: TreeObject>: Action, Equatable {
  /// The query.
  public var query: Query
  /// The object.
  public var entry: ObjectEntry<Object>
  /// The object that is before it; nil if it is the first.
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

/// An object of a query changed in what the query orders by.
public struct ObjectMoved<Object: TreeObject>: Action, Equatable {
  /// The query.
  public var query: Query
  /// The object as it is now.
  public var entry: ObjectEntry<Object>
  /// The object that is before it now; nil if it is the first.
  public var previous: Key?

  /// Makes the action.
  public init(_ query: Query, _ entry: ObjectEntry<Object>, previous: Key?) {
    self.query = query
    self.entry = entry
    self.previous = previous
  }
}

/// An object left a query, or is none any more.
public struct ObjectRemoved<Object: TreeObject>: Action, Equatable {
  /// The query.
  public var query: Query
  /// Its key.
  public var id: Key
  /// The object as it was; nil if what stands there now is no such object.
  public var object: Object?

  /// Makes the action.
  public init(_ query: Query, id: Key, object: Object?) {
    self.query = query
    self.id = id
    self.object = object
  }
}

/// A child is no such object, or the query cannot be listened to.
public struct ObjectErrored<Object: TreeObject>: FailureAction, Equatable {
  /// The query.
  public var query: Query
  /// The child; the place of the query if it cannot be listened to.
  public var path: Path
  /// What is wrong: `noData`, `malformedData`, or why nobody may listen.
  public var error: TreeError

  /// Makes the action.
  public init(_ query: Query, path: Path, error: TreeError) {
    self.query = query
    self.path = path
    self.error = error
  }
}

/// A single object is observed.
public struct ObjectObserved<Object: TreeObject>: Action, Equatable {
  /// What is told of the object.
  public enum Event: Equatable, Sendable {
    /// It is observed from now on; `object` or an `ObjectErrored` follows.
    case began
    /// The object as it is now; nil if nothing stands there.
    case object(Object?)
    /// It is observed no longer.
    case ended
  }

  /// The place of the object.
  public var path: Path
  /// What is told of it.
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

public import RunnelTree

/// A part of a state that holds the objects of a subscription.
public protocol SubscribingState: Sendable {
  /// The type of the objects.
  associatedtype Object: TreeObject

  /// True while the query is subscribed to, as `ObjectSubscribed` tells.
  var isSubscribed: Bool { get }
}

/// The objects of one query as a part of a state: in the order of the query, with the errors of
/// children that are not objects of the type.
///
/// `reduce` maintains it. When a subscription ends, the objects stay until a new one loads.
///
/// ```swift
/// struct AppState { var groups = ObjectsState<Group>(of: Query(groupsPath)) }
/// let reducer = reducing(\AppState.groups, by: ObjectsState.reduce)
/// ```
public struct ObjectsState<Object: TreeObject>: SubscribingState, Equatable {
  /// The query.
  public let query: Query
  /// True while there is a subscription.
  public private(set) var isSubscribed = false
  /// True once all objects of the present subscription have come.
  public private(set) var isLoaded = false
  /// The objects in the order of the query.
  public private(set) var entries: [ObjectEntry<Object>] = []
  /// The errors of children that are not objects of the type.
  public private(set) var errors: [Key: TreeError] = [:]
  /// The reason why the query cannot be listened to; nil if it can.
  public private(set) var failure: TreeError?

  /// Makes the state of a query without a subscription.
  public init(of query: Query) { self.query = query }

  /// The object with a key; nil if there is none.
  ///
  /// O(n).
  public subscript(id: Key) -> Object? { index(of: id).map { entries[$0].object } }

  private func index(of id: Key) -> Int? { entries.firstIndex { $0.id == id } }
}

// MARK: Reducing

extension ObjectsState {
  /// The reducer: takes the actions about objects of this type and query, and ignores all others.
  ///
  /// O(n) in the objects for each action.
  public static func reduce(_ state: inout ObjectsState, _ action: any Action) {
    switch action {
    case let action as ObjectSubscribed<Object> where action.query == state.query:
      state.subscribed(action.isSubscribed)
    case let action as ObjectsLoaded<Object> where action.query == state.query:
      state.load(action.entries)
    case let action as ObjectAdded<Object> where action.query == state.query:
      state.put(action.entry, after: action.previous)
    case let action as ObjectMoved<Object> where action.query == state.query:
      state.put(action.entry, after: action.previous)
    case let action as ObjectChanged<Object> where action.query == state.query:
      state.change(action.entry)
    case let action as ObjectRemoved<Object> where action.query == state.query:
      state.remove(action.id)
    case let action as ObjectErrored<Object> where action.query == state.query:
      state.note(action.error, at: action.path)
    default: break
    }
  }

  private mutating func subscribed(_ isSubscribed: Bool) {
    self.isSubscribed = isSubscribed
    isLoaded = false
    if isSubscribed { failure = nil }
  }

  private mutating func load(_ entries: [ObjectEntry<Object>]) {
    self.entries = entries
    errors = [:]
    isLoaded = true
  }

  private mutating func put(_ entry: ObjectEntry<Object>, after previous: Key?) {
    remove(entry.id)
    let before = previous.flatMap(index(of:))
    entries.insert(entry, at: before.map { $0 + 1 } ?? 0)
  }

  private mutating func change(_ entry: ObjectEntry<Object>) {
    if let index = index(of: entry.id) { entries[index] = entry }
  }

  private mutating func remove(_ id: Key) {
    errors[id] = nil
    if let index = index(of: id) { entries.remove(at: index) }
  }

  private mutating func note(_ error: TreeError, at path: Path) {
    if path == query.path {
      failure = error
    } else if let id = path.lastKey {
      errors[id] = error
    }
  }
}

public import RunnelTree

/// The name of a subscription, an observation or a watch on the connection: of the caller's choice, and
/// what ends that one and no other.
public struct SubscriptionName: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name as text.
  public let text: String

  /// Makes a name.
  public init(_ text: String) { self.text = text }

  /// Makes a name from a literal.
  public init(stringLiteral text: String) { self.text = text }
}

/// An action that begins a subscription under a name; `TreeAccess` carries it out.
///
/// A name stands for one subscription. Begun again for the same, nothing happens; begun for something
/// else, it ends what it stood for.
public struct Subscribe<Object: TreeObject>: TreeCommand {
  /// What can be subscribed to.
  enum Target: Sendable {
    case objects(Query)
    case object(Path)
  }

  let name: SubscriptionName
  let target: Target
  /// True of a state in which nothing is to be done.
  var isGuarded: @Sendable (Any?) -> Bool = { _ in false }

  func carriedOut(by access: TreeAccess, state: Any?) -> [any Action] {
    if isGuarded(state) { return [] }
    let made: any ObjectListener =
      switch target {
      case .objects(let query): ObjectsListener<Object>(query: query)
      case .object(let path): SingleObjectListener<Object>(path: path)
      }
    return access.subscribe(name, to: made)
  }
}

/// An action that ends a subscription or an observation; a name that stands for none is ignored.
///
/// Others that subscribed to the same query go on being told.
public struct Unsubscribe: TreeCommand {
  let name: SubscriptionName

  /// Makes the action for a name.
  public init(_ name: SubscriptionName) { self.name = name }

  func carriedOut(by access: TreeAccess, state: Any?) -> [any Action] {
    access.unsubscribe(name)
  }
}

// MARK: Action creators

extension TreeObject {
  /// Subscribes to the objects of a query: `ObjectSubscribed` follows at once, then `ObjectsLoaded`, then
  /// what happens to them.
  ///
  /// A query that is subscribed to already is shared: nothing is told anew, for the state has it.
  public static func subscribeToObjects(
    _ query: Query, as name: SubscriptionName
  ) -> Subscribe<Self> {
    Subscribe(name: name, target: .objects(query))
  }

  /// Subscribes to the objects of a part of the state, unless that part says that it is subscribed when
  /// the action is handled.
  ///
  /// - Parameters:
  ///   - part: where the state of the store holds the objects; of two such actions that are dispatched
  ///     one after the other, the second finds it subscribed.
  ///   - query: the query.
  ///   - name: what ends the subscription.
  /// - Returns: the action.
  /// - Precondition: the action is dispatched to a store of this state.
  public static func subscribeToObjects<State, Part: SubscribingState>(
    of part: any KeyPath<State, Part> & Sendable, _ query: Query, as name: SubscriptionName
  ) -> Subscribe<Self> where Part.Object == Self {
    Subscribe(name: name, target: .objects(query)) { state in
      guard let state = state as? State else {
        preconditionFailure("A subscription for \(State.self) was dispatched to another store.")
      }
      return state[keyPath: part].isSubscribed
    }
  }

  /// Observes a single object: `ObjectObserved` tells that it began, and then the object whenever it is
  /// another.
  public static func observeObject(at path: Path, as name: SubscriptionName) -> Subscribe<Self> {
    Subscribe(name: name, target: .object(path))
  }
}

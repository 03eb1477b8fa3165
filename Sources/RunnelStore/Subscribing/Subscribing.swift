public import RunnelTree

/// The name of a subscription, an observation or a watch on the connection.
///
/// The caller chooses it, and ends the subscription by it.
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
/// A name stands for one subscription. If it stands for the same one already, nothing happens; if
/// it stands for another one, that one ends.
public struct Subscribe<Object: TreeObject>: TreeCommand {
  /// The target of a subscription.
  enum Target: Sendable {
    case objects(Query)
    case object(Path)
  }

  let name: SubscriptionName
  let target: Target
  /// Returns true for a state in which the subscription exists already.
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
/// Other subscribers of the same query are still told.
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
  /// Subscribes to the objects of a query: `ObjectSubscribed` follows at once, then
  /// `ObjectsLoaded`, then the changes of the objects.
  ///
  /// If the query is subscribed to already, the subscription is shared and nothing is told again,
  /// since the state has the objects.
  public static func subscribeToObjects(
    _ query: Query, as name: SubscriptionName
  ) -> Subscribe<Self> {
    Subscribe(name: name, target: .objects(query))
  }

  /// Subscribes to the objects of a part of the state, unless that part is subscribed already when
  /// the action is handled.
  ///
  /// - Parameters:
  ///   - part: the part of the store's state that holds the objects. If two such actions are
  ///     dispatched one after the other, the second finds the part subscribed.
  ///   - query: the query.
  ///   - name: the name that ends the subscription.
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

  /// Observes a single object: `ObjectObserved` tells that it began, and then the object whenever
  /// it changes.
  public static func observeObject(at path: Path, as name: SubscriptionName) -> Subscribe<Self> {
    Subscribe(name: name, target: .object(path))
  }
}

/// A value that says what happened, or what is wanted.
///
/// The store turns it into a new state.
public protocol Action: Sendable {}

/// Makes a new state from an old one and an action: pure, without effects.
public typealias Reducer<State> = (_ state: inout State, _ action: any Action) -> Void

/// Sees every action on its way to the reducer; passes it on, changes it, or keeps it.
///
/// It may dispatch others: they are queued, and reduced after the present one.
public typealias Middleware<State> = (
  _ action: any Action, _ state: State, _ dispatch: (any Action) -> Void
) -> (any Action)?

/// The one place of a program's state: it changes by actions only, one at a time.
///
/// Rules:
/// - Actions are reduced in the order in which they were dispatched. One that is dispatched while
///   another is being handled waits for its turn, so all subscribers see the same states.
/// - After each action, subscribers whose selection changed are told, in order of subscription.
/// - A reducer that dispatches is a mistake, and traps.
///
/// Isolation: used by one thread. Source: ReSwift's store, without its re-entrancy.
public final class Store<State> {
  /// The present state.
  public private(set) var state: State

  private let reducer: Reducer<State>
  private let middleware: [Middleware<State>]
  private var subscriptions: [(token: StoreToken, tell: (_ old: State, _ new: State) -> Void)] = []
  private var lastToken = 0
  private var queue: [any Action] = []
  private var isDispatching = false
  private var isReducing = false

  /// Makes a store with its first state.
  ///
  /// - Parameters:
  ///   - state: the first state.
  ///   - middleware: what sees each action before the reducer, in this order.
  ///   - reducer: what makes the next state.
  public init(
    state: State, middleware: [Middleware<State>] = [], reducer: @escaping Reducer<State>
  ) {
    self.state = state
    self.middleware = middleware
    self.reducer = reducer
  }

  /// Handles an action, or queues it if one is being handled.
  ///
  /// - Precondition: it is not called by the reducer.
  public func dispatch(_ action: any Action) {
    precondition(!isReducing, "A reducer is pure: dispatch from middleware or a subscriber.")
    queue.append(action)
    if isDispatching { return }
    isDispatching = true
    defer { isDispatching = false }
    while !queue.isEmpty { handle(queue.removeFirst()) }
  }

  private func handle(_ action: any Action) {
    var passed: any Action = action
    for layer in middleware {
      guard let next = layer(passed, state, dispatch) else { return }
      passed = next
    }
    // Copies are made only where someone compares.
    let old = subscriptions.isEmpty ? nil : state
    isReducing = true
    reducer(&state, passed)
    isReducing = false
    guard let old else { return }
    for subscription in subscriptions { subscription.tell(old, state) }
  }
}

/// The name of a subscription; it removes that one and no other.
public struct StoreToken: Hashable, Sendable {
  let rawValue: Int
}

extension Store {
  /// Tells a part of the state now, and again after each action that changed it.
  ///
  /// - Parameters:
  ///   - select: the part of interest; it is compared by `==`.
  ///   - body: what is called with the part.
  /// - Returns: the token by which the subscription is removed.
  public func subscribe<Part: Equatable>(
    to select: @escaping (State) -> Part, _ body: @escaping (Part) -> Void
  ) -> StoreToken {
    lastToken += 1
    let token = StoreToken(rawValue: lastToken)
    subscriptions.append(
      (
        token,
        { old, new in
          let part = select(new)
          if select(old) != part { body(part) }
        }
      ))
    body(select(state))
    return token
  }

  /// Removes a subscription; one that is removed already is ignored.
  ///
  /// A subscriber that is removed while others are being told may still be told of that one action.
  public func unsubscribe(_ token: StoreToken) {
    subscriptions.removeAll { $0.token == token }
  }
}

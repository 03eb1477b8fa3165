/// The single place of a program's state.
///
/// The state changes only by actions, one at a time.
///
/// Invariants:
/// - I1. An action that is dispatched by middleware or by a thunk is handled at once, through the
///   whole chain: `state` is its result when `dispatch` returns. An action that is dispatched while
///   subscribers are told waits until the action under way was handled; those that wait are handled
///   in the order in which they were dispatched.
/// - I2. After an action was handled, and before middleware dispatches a further one, subscribers are
///   told in the order in which they subscribed. The state does not change until all of them are
///   told, so all see the same states in the same order, and the value they are told is `state`.
///   Notifications never nest.
/// - I3. If a middleware keeps an action back, so that no reducer sees it, no subscriber is told.
/// - I4. A subscriber that was removed is told nothing more, not even the state that others are
///   being told.
/// - I5. A reducer neither dispatches nor reads the store: the program would stop, with the reason.
///
/// ```
///           dispatch               queue empty
///  idle ----------------> busy ------------------> idle
///                         chain -> reduce -> tell, for each action of the queue
/// ```
///
/// Isolation: it belongs to one thread or actor. Actions from other threads come through an
/// `Inbox`; see `dispatch(from:)`.
///
/// Source: ReSwift's store; what subscribers dispatch is not handled within their calls.
public final class Store<State: Sendable> {
  /// Work that waits for its turn.
  private enum Work {
    case dispatch(any Action)
    /// An action that a middleware passed on later than it received it.
    case reduce(any Action)
    case restore(State)
  }

  /// A subscription.
  private final class Subscriber {
    let token: StoreToken
    let tell: (State) -> Void
    var isActive = true

    init(token: StoreToken, tell: @escaping (State) -> Void) {
      self.token = token
      self.tell = tell
    }
  }

  private var present: State
  private let reducer: Reducer<State>
  /// The middleware, and innermost the reducer.
  private var chain: DispatchFunction = { _ in }
  private var subscribers: [Subscriber] = []
  private var lastToken = 0
  private var queue: [Work] = []
  /// Whether the queue holds anything, and whether there are subscribers: each action asks for
  /// both, and for most the answer to both is no.
  private var (hasWork, hasSubscribers) = (false, false)
  private var isBusy = false
  private var isInChain = false
  private var isTelling = false
  /// Whether an action was reduced of which subscribers are not told yet.
  private var isUntold = false
  /// The action that is being reduced.
  private var reduced: (any Action)?

  /// Makes a store with its first state.
  ///
  /// - Parameters:
  ///   - state: the first state.
  ///   - middleware: the functions that see each action before the reducer; the first is the
  ///     outermost.
  ///   - reducer: computes the next state.
  public init(
    state: State, middleware: [Middleware<State>] = [], reducer: @escaping Reducer<State>
  ) {
    present = state
    self.reducer = reducer
    let dispatch: DispatchFunction = { [weak self] action in self?.dispatch(action) }
    let getState = { [weak self] in self?.state }
    let reduce: DispatchFunction = { [weak self] action in self?.takeFromChain(action) }
    chain = combineMiddleware(middleware)(dispatch, getState)(reduce)
  }

  /// The present state.
  ///
  /// - Precondition: the reducer does not read it; it is given the state.
  public var state: State {
    // Reading one field of a large state does not copy the whole state.
    _read {
      if let reduced { refuse("reads the state of its store", while: reduced) }
      yield present
    }
  }

  /// Handles an action; it waits if subscribers are being told.
  ///
  /// What middleware or a thunk dispatches is handled before this function returns. Such calls use
  /// the stack if one dispatches within the other; those of subscribers do not.
  ///
  /// - Precondition: the reducer does not call it.
  public func dispatch(_ action: any Action) {
    if let reduced { refuse("dispatches \(type(of: action))", while: reduced) }
    // Most actions need not wait, and skip the queue.
    if isBusy {
      if isInChain, !isTelling { return pass(action) }
      return enqueue(.dispatch(action))
    }
    work { pass(action) }
  }

  /// Replaces the present state by another one, after the actions that wait, and tells subscribers.
  ///
  /// Neither middleware nor reducer sees it; it serves time travel.
  ///
  /// - Precondition: the reducer does not call it.
  public func restore(_ state: State) {
    if let reduced { refuse("restores a state", while: reduced) }
    enqueue(.restore(state))
    work {}
  }
}

// MARK: Handling

extension Store {
  /// Runs `body`, and then the work that waits; if work is being done already, only runs `body`.
  private func work(_ body: () -> Void) {
    if isBusy { return body() }
    isBusy = true
    defer { isBusy = false }
    body()
    if !hasWork { return }
    var next = 0
    while next < queue.count {
      let work = queue[next]
      next += 1
      // Finished work is released, a little at a time.
      if next > 256 {
        queue.removeFirst(next)
        next = 0
      }
      handle(work)
    }
    queue.removeAll(keepingCapacity: true)
    hasWork = false
  }

  private func enqueue(_ work: Work) {
    queue.append(work)
    hasWork = true
  }

  private func handle(_ work: Work) {
    switch work {
    case .dispatch(let action): pass(action)
    case .reduce(let action):
      reduce(action)
      tell()
    case .restore(let state):
      present = state
      tell()
    }
  }

  /// Hands an action to the middleware and, if that lets it through, to the reducer.
  private func pass(_ action: any Action) {
    // The middleware that dispatches may have passed on an action before: its state is told first.
    if isUntold { tell() }
    let isNested = isInChain
    isInChain = true
    chain(action)
    isInChain = isNested
    if isUntold { tell() }
  }

  private func takeFromChain(_ action: any Action) {
    if let reduced { refuse("hands on \(type(of: action))", while: reduced) }
    if isInChain, !isTelling { return reduce(action) }
    enqueue(.reduce(action))
    work {}
  }

  private func reduce(_ action: any Action) {
    assert(!(action is any CommandAction), missingMiddleware(for: action))
    reduced = action
    reducer(&present, action)
    reduced = nil
    isUntold = true
  }

  private func tell() {
    isUntold = false
    if !hasSubscribers { return }
    isTelling = true
    defer { isTelling = false }
    // One copy serves all of them; it is released before the next action, which then changes the
    // state in place.
    let (state, subscribers) = (present, subscribers)
    for index in subscribers.indices {
      let subscriber = subscribers[index]
      if subscriber.isActive { subscriber.tell(state) }
    }
  }

  private func missingMiddleware(for action: any Action) -> String {
    let name = (action as? any CommandAction).map { type(of: $0).middlewareName } ?? ""
    return "\(type(of: action)) reached the reducer, which does not know it: "
      + "give the store the middleware \(name)."
  }

  private func refuse(_ deed: String, while action: any Action) -> Never {
    fatalError(
      "The reducer \(deed) while it reduces \(type(of: action)). A reducer makes the next state of "
        + "the state that it is given, and does nothing else: dispatch from middleware, a thunk or a "
        + "subscriber.")
  }
}

// MARK: Subscribing

/// The identity of a subscription; it removes that subscription and no other.
public struct StoreToken: Hashable, Sendable {
  let rawValue: Int
}

extension Store {
  /// Tells every state: the present one now, and one after each action that was reduced.
  ///
  /// - Parameter body: called with each state.
  /// - Returns: the token by which the subscription is removed.
  @inlinable
  public func subscribe(_ body: @escaping (State) -> Void) -> StoreToken {
    subscribe(selecting: { $0 }, body)
  }

  /// Tells a part of the state now, and again after each action that changed it.
  ///
  /// - Parameters:
  ///   - part: the part of the state; its values are compared by `==`.
  ///   - body: called with the part.
  /// - Returns: the token by which the subscription is removed.
  @inlinable
  public func subscribe<Part: Equatable>(
    to part: @escaping (State) -> Part, _ body: @escaping (Part) -> Void
  ) -> StoreToken {
    // This equals `select(part).skipRepeats()` in one function, since most subscriptions are of
    // this kind.
    var old: Part?
    return add { state in
      let new = part(state)
      if new == old { return }
      old = new
      body(new)
    }
  }

  /// Tells the values that a selection makes of the states, beginning with the present state.
  ///
  /// It may be called at any time except by the reducer. A subscriber that is added while others
  /// are told is told the present state at once; actions that it dispatches then wait as always.
  /// O(1).
  ///
  /// - Parameters:
  ///   - selection: makes the selection, starting with the one that passes on all states.
  ///   - body: called with the values.
  /// - Returns: the token by which the subscription is removed.
  @inlinable
  public func subscribe<Value>(
    selecting selection: (Selection<State, State>) -> Selection<State, Value>,
    _ body: @escaping (Value) -> Void
  ) -> StoreToken {
    add(selection(Selection()).attach(body))
  }

  @usableFromInline
  func add(_ tell: @escaping (State) -> Void) -> StoreToken {
    let state = state
    lastToken += 1
    let subscriber = Subscriber(token: StoreToken(rawValue: lastToken), tell: tell)
    subscribers.append(subscriber)
    hasSubscribers = true
    work {
      let isNested = isTelling
      isTelling = true
      tell(state)
      isTelling = isNested
    }
    return subscriber.token
  }

  /// Removes a subscription; one that is removed already is ignored.
  ///
  /// O(n) in the subscriptions.
  public func unsubscribe(_ token: StoreToken) {
    guard let index = subscribers.firstIndex(where: { $0.token == token }) else { return }
    subscribers.remove(at: index).isActive = false
    hasSubscribers = !subscribers.isEmpty
  }
}

/// The one place of a program's state: it changes by actions only, one at a time.
///
/// Invariants:
/// - I1. Actions are handled one by one, in the order in which they were dispatched. One that is
///   dispatched while another is handled, or while subscribers are told, waits.
/// - I2. After an action was handled, subscribers are told in the order in which they subscribed. The
///   state does not change before all of them know it, so all see the same states in the same order,
///   and what they are told is what `state` is. They never nest.
/// - I3. An action that no reducer saw, because a middleware kept it back, tells nobody.
/// - I4. A subscriber that was removed is told nothing more, not even of the state that is being told.
/// - I5. A reducer neither dispatches nor reads the store: that stops the program, with the reason.
///
/// ```
///           dispatch               queue empty
///  idle ----------------> busy ------------------> idle
///                         chain -> reduce -> tell, for each action of the queue
/// ```
///
/// Isolation: it belongs to one thread or actor. Actions of others come through an `Inbox`; see
/// `dispatch(from:)`.
///
/// Source: ReSwift's store, without its re-entrancy.
public final class Store<State: Sendable> {
  /// What waits for its turn.
  private enum Work {
    case dispatch(any Action)
    /// An action that was handed on by a middleware at another time than it got it.
    case reduce(any Action)
    case restore(State)
  }

  /// One who is told.
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
  /// Whether anything is in the queue, and whether anybody is told: asked for at each action, of which
  /// most find neither.
  private var (hasWork, hasSubscribers) = (false, false)
  private var isBusy = false
  private var isInChain = false
  private var isReduced = false
  /// What is being reduced.
  private var reduced: (any Action)?

  /// Makes a store with its first state.
  ///
  /// - Parameters:
  ///   - state: the first state.
  ///   - middleware: what sees each action before the reducer: the first is the outermost.
  ///   - reducer: what makes the next state.
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
  /// - Precondition: it is not read by the reducer, which is given the state.
  public var state: State {
    // Whoever wants one field of a large state is not given a copy of all.
    _read {
      if let reduced { refuse("reads the state of its store", while: reduced) }
      yield present
    }
  }

  /// Handles an action, or lets it wait if one is being handled.
  ///
  /// - Precondition: it is not called by the reducer.
  public func dispatch(_ action: any Action) {
    if let reduced { refuse("dispatches \(type(of: action))", while: reduced) }
    // Most actions wait for nothing, and are spared the queue.
    if isBusy { return enqueue(.dispatch(action)) }
    work { pass(action) }
  }

  /// Puts another state in the place of the present one, after the actions that wait, and tells it.
  ///
  /// Neither middleware nor reducer sees it: this is how to travel in time.
  ///
  /// - Precondition: it is not called by the reducer.
  public func restore(_ state: State) {
    if let reduced { refuse("restores a state", while: reduced) }
    enqueue(.restore(state))
    work {}
  }
}

// MARK: Handling

extension Store {
  /// Does something during which actions wait, then what waits; if that is being done, only the first.
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
      // What is done is let go of, a little at a time.
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
    isReduced = false
    isInChain = true
    chain(action)
    isInChain = false
    if isReduced { tell() }
  }

  private func takeFromChain(_ action: any Action) {
    if let reduced { refuse("hands on \(type(of: action))", while: reduced) }
    if isInChain { return reduce(action) }
    enqueue(.reduce(action))
    work {}
  }

  private func reduce(_ action: any Action) {
    assert(!(action is any CommandAction), missingMiddleware(for: action))
    reduced = action
    reducer(&present, action)
    reduced = nil
    isReduced = true
  }

  private func tell() {
    if !hasSubscribers { return }
    // One copy for all of them; it is gone before the next action changes the state in its place.
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

/// The name of a subscription; it removes that one and no other.
public struct StoreToken: Hashable, Sendable {
  let rawValue: Int
}

extension Store {
  /// Tells every state: the present one now, and one after each action that was reduced.
  ///
  /// - Parameter body: what is called with the state.
  /// - Returns: the token by which the subscription is removed.
  @inlinable
  public func subscribe(_ body: @escaping (State) -> Void) -> StoreToken {
    subscribe(selecting: { $0 }, body)
  }

  /// Tells a part of the state now, and again after each action that changed it.
  ///
  /// - Parameters:
  ///   - part: the part of interest; it is compared by `==`.
  ///   - body: what is called with the part.
  /// - Returns: the token by which the subscription is removed.
  @inlinable
  public func subscribe<Part: Equatable>(
    to part: @escaping (State) -> Part, _ body: @escaping (Part) -> Void
  ) -> StoreToken {
    // What `select(part).skipRepeats()` does, in one function: most subscriptions are of this kind.
    var old: Part?
    return add { state in
      let new = part(state)
      if new == old { return }
      old = new
      body(new)
    }
  }

  /// Tells what a selection makes of the states, beginning with the present one.
  ///
  /// It may be called at any time but by the reducer; a subscriber that comes while others are told is
  /// told the present state at once. What it dispatches then waits as always. O(1).
  ///
  /// - Parameters:
  ///   - selection: makes the selection from the one that lets all states through.
  ///   - body: what is called with the values.
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
    work { tell(state) }
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

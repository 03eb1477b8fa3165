public import RunnelTree

/// Carries out what actions ask of the tree: the middleware between a store and an open database.
///
/// It touches nothing itself. Requests and subscriptions become `TreeEffect`s, which the owner takes
/// after each dispatch and carries out; what comes of them the owner dispatches as `TreeAnswer`s, which
/// become the actions that reducers know.
///
/// ```
///  ObjectRequest, Subscribe  -->  TreeAccess  -->  RequestPending, ObjectSubscribed  -->  reducer
///                                   |    ^   -->  RequestSucceeded, ObjectAdded      -->  reducer
///                       TreeEffect  v    |  TreeAnswer
///                                  database
/// ```
///
/// Invariants:
/// - I1. A request is waited for from its `RequestPending` to its last answer or its cancelling; what
///   comes of another request is dropped.
/// - I2. One query of one object type has one listener, however many subscribe to it; it is let go of
///   with the last of them. What comes of another listener is dropped.
///
/// Isolation: that of the store it is a middleware of; one store each.
///
/// Source: FirebaseReSwift's access and subscribing; the origins document, section 3.
public final class TreeAccess {
  private let now: () -> Int64
  private var random: any RandomNumberGenerator
  private var objectIDs = PushIDGenerator()
  private var lastRequest = 0
  private var waiting: [RequestID: any AnyWaitingRequest] = [:]
  private var effects: [TreeEffect] = []
  /// The types of actions that are no commands.
  private var otherActions: Set<ObjectIdentifier> = []
  var subscriptions: SubscriptionTable
  var connection = ConnectionMonitor()

  /// Makes the access of a store.
  ///
  /// - Parameters:
  ///   - now: the time in milliseconds since 1970, for new keys.
  ///   - random: the random numbers, for new keys.
  ///   - firstListener: the name of the first listener; those of the others follow it.
  public init(
    now: @escaping () -> Int64, random: any RandomNumberGenerator,
    firstListener: ListenerID = ListenerID(1)
  ) {
    self.now = now
    self.random = random
    subscriptions = SubscriptionTable(next: firstListener)
  }

  /// What is to be done since this was asked last, in order.
  public func takeEffects() -> [TreeEffect] {
    defer { effects = [] }
    return effects
  }

  /// A new key, which sorts after those made before, as `createObject(_:in:)` makes them.
  public func newObjectID() -> Key { objectIDs.next(now: now(), random: &random) }

  /// The middleware that carries out what actions ask of the tree; every other action it hands on.
  ///
  /// What it makes of one action, subscribers are told at once.
  public func middleware<State>() -> Middleware<State> {
    { [self] _, getState in
      { next in
        { action in
          guard let command = self.command(action) else { return next(action) }
          for result in command.carriedOut(by: self, state: getState()) { next(result) }
        }
      }
    }
  }

  /// The action as a command; nil if it is none.
  ///
  /// To ask a type whether it is one takes longer than most actions do: it is asked once.
  private func command(_ action: any Action) -> (any TreeCommand)? {
    let type = ObjectIdentifier(type(of: action))
    if otherActions.contains(type) { return nil }
    let command = action as? any TreeCommand
    if command == nil { otherActions.insert(type) }
    return command
  }

  /// Asks for something to be done.
  func perform(_ effect: TreeEffect) { effects.append(effect) }
}

/// An action that `TreeAccess` carries out.
protocol TreeCommand: CommandAction {
  /// Carries it out; returns the actions that follow from it, for the reducer.
  func carriedOut(by access: TreeAccess, state: Any?) -> [any Action]
}

extension TreeCommand {
  package static var middlewareName: String { "TreeAccess.middleware()" }
}

// MARK: Requests

extension TreeAccess {
  func nextRequestID() -> RequestID {
    repeat { lastRequest += 1 } while isWaiting(RequestID("#\(lastRequest)"))
    return RequestID("#\(lastRequest)")
  }

  func isWaiting(_ id: RequestID) -> Bool { waiting[id] != nil }

  func wait(for request: some AnyWaitingRequest, _ effect: TreeEffect) {
    waiting[request.summary.id] = request
    perform(effect)
  }

  func cancel(_ id: RequestID) -> [any Action] {
    guard let request = waiting.removeValue(forKey: id) else { return [] }
    perform(.cancel(id))
    return request.cancelled()
  }
}

extension TreeAnswer: TreeCommand {
  func carriedOut(by access: TreeAccess, state: Any?) -> [any Action] { access.receive(self) }
}

extension TreeAccess {
  fileprivate func receive(_ answer: TreeAnswer) -> [any Action] {
    switch answer {
    case .written(let id, awaitsOrigin: true):
      return waiting[id]?.written(awaitsOrigin: true) ?? []
    case .written(let id, awaitsOrigin: false):
      return waiting.removeValue(forKey: id)?.written(awaitsOrigin: false) ?? []
    case .acknowledged(let id): return waiting.removeValue(forKey: id)?.acknowledged() ?? []
    case .found(let id, let node): return waiting.removeValue(forKey: id)?.found(node) ?? []
    case .rows(let id, let rows): return waiting.removeValue(forKey: id)?.rows(rows) ?? []
    case .failed(let id, let error): return waiting.removeValue(forKey: id)?.failed(error) ?? []
    case .deliveries(let deliveries): return subscriptions.receive(deliveries)
    case .listenFailed(let listener, let error): return subscriptions.fail(listener, error)
    case .connection(let isConnected): return connection.receive(isConnected)
    }
  }
}

public import RunnelTree

/// The middleware between a store and an open database: it carries out actions that request
/// something of the tree.
///
/// It has no side effects. It turns requests and subscriptions into `TreeEffect`s, which the owner
/// of the store takes and carries out after each dispatch. The owner dispatches the results as
/// `TreeAnswer`s, which become the actions that reducers know.
///
/// ```
///  ObjectRequest, Subscribe  -->  TreeAccess  -->  RequestPending, ObjectSubscribed  -->  reducer
///                                   |    ^   -->  RequestSucceeded, ObjectAdded      -->  reducer
///                       TreeEffect  v    |  TreeAnswer
///                                  database
/// ```
///
/// Invariants:
/// - I1. A request waits from its `RequestPending` until its last answer or its cancellation;
///   answers to other requests are dropped.
/// - I2. A query of one object type has one listener, however many names subscribe to it; the
///   listener ends with the last of them. Events for other listeners are dropped.
///
/// Isolation: that of the store. Each store needs one of its own.
///
/// Source: FirebaseReSwift's access and subscribing; the origins document, section 3.
public final class TreeAccess {
  private let now: () -> Int64
  private var random: any RandomNumberGenerator
  private var objectIDs = PushIDGenerator()
  private var lastRequest = 0
  private var waiting: [RequestID: any AnyWaitingRequest] = [:]
  private var effects: [TreeEffect] = []
  /// The types of actions that are known not to be commands.
  private var otherActions: Set<ObjectIdentifier> = []
  var subscriptions: SubscriptionTable
  var connection = ConnectionMonitor()

  /// Makes the access of a store.
  ///
  /// - Parameters:
  ///   - now: the time in milliseconds since 1970, for new keys.
  ///   - random: the random numbers, for new keys.
  ///   - firstListener: the name of the first listener; the others are numbered from there.
  public init(
    now: @escaping () -> Int64, random: any RandomNumberGenerator,
    firstListener: ListenerID = ListenerID(1)
  ) {
    self.now = now
    self.random = random
    subscriptions = SubscriptionTable(next: firstListener)
  }

  /// Removes and returns the effects since the last call, in order.
  public func takeEffects() -> [TreeEffect] {
    defer { effects = [] }
    return effects
  }

  /// A new key, which sorts after those made before, as `createObject(_:in:)` makes them.
  public func newObjectID() -> Key { objectIDs.next(now: now(), random: &random) }

  /// The middleware that carries out requests of the tree and passes on every other action.
  ///
  /// Subscribers are told once of all actions that it makes from one. A request that middleware
  /// behind this one dispatches meanwhile waits until all of them are handed on, so that reducers see
  /// them in their order.
  public func middleware<State>() -> Middleware<State> {
    { [self] _, getState in
      { next in
        var resultsLeft = 0
        var waiting: [any TreeCommand] = []
        func carryOut(_ command: any TreeCommand) {
          let results = command.carriedOut(by: self, state: getState())
          for (index, result) in results.enumerated() {
            resultsLeft = results.count - index - 1
            next(result)
          }
          while !waiting.isEmpty { carryOut(waiting.removeFirst()) }
        }
        return { action in
          guard let command = self.command(action) else { return next(action) }
          if resultsLeft == 0 { carryOut(command) } else { waiting.append(command) }
        }
      }
    }
  }

  /// The action as a command; nil if it is not one.
  ///
  /// Testing the type takes longer than handling most actions, so each type is tested once.
  private func command(_ action: any Action) -> (any TreeCommand)? {
    let type = ObjectIdentifier(type(of: action))
    if otherActions.contains(type) { return nil }
    let command = action as? any TreeCommand
    if command == nil { otherActions.insert(type) }
    return command
  }

  /// Adds an effect for the owner of the store.
  func perform(_ effect: TreeEffect) { effects.append(effect) }
}

/// An action that `TreeAccess` carries out.
protocol TreeCommand: CommandAction {
  /// Carries out the request; returns the resulting actions for the reducer.
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

public import RunnelStore
import Synchronization

/// A session with an account service: who is signed in, and the tokens that show it.
///
/// Responsibilities:
/// - It signs users in and out, and changes their accounts; each function has an error of its own.
/// - It keeps the session, restores it without a network, and exchanges the ID token before it
///   expires.
/// - It notices that the session was ended elsewhere, and tells the state to whoever wants it.
///
/// The session ends only when the user signs out or is deleted, or when the service refuses the
/// credential itself: not without a connection, and not by errors of the service.
///
/// Any task may call it. What is decided is in `AccountMachine`; here are its effects.
public actor AccountSession {
  /// Does something for a user who signs out; see `beforeForgetting`.
  public typealias Departure = @Sendable (_ user: String) async -> DepartureResult

  private static var pauseMin: Int64 { 2000 }
  private static var pauseMax: Int64 { 300_000 }

  /// The account service.
  public nonisolated let provider: any AccountProvider
  private nonisolated let storage: any AccountStorage
  private nonisolated let clock: AccountClock
  private nonisolated let lastID = Mutex(0)
  /// What connections were given last: if one is refused, it is the one that the server refused.
  nonisolated let given = GivenTokens()
  private let options: AccountOptions
  private var machine: AccountMachine
  private var waiting: [Int: CheckedContinuation<Result<AccountOutcome, AccountFailure>, Never>] =
    [:]
  /// Requests that were cancelled before they arrived here.
  private var cancelled: Set<Int> = []
  private var calls: [Int: Task<Void, Never>] = [:]
  private var observers: [Int: AsyncStream<AccountState>.Continuation] = [:]
  private var tokenObservers: [Int: (user: String, AsyncStream<Secret<String>>.Continuation)] = [:]
  private var toldToken: Secret<String>?
  private var signInCount = 0
  /// The user whose account could not be kept; nil if it was.
  private var unkept: String?
  private var timer: DeadlineTimer
  private var departures: [Departure] = []
  private var departing: [String: RunningDeparture] = [:]
  private var isClosed = false

  /// Makes a session, and restores the kept account; it does not wait for the network.
  ///
  /// - Parameters:
  ///   - provider: the account service.
  ///   - storage: keeps the accounts; `AccountMemory` keeps nothing.
  ///   - options: the options.
  public init(
    _ provider: any AccountProvider, storage: any AccountStorage,
    options: AccountOptions = AccountOptions()
  ) async {
    (self.provider, self.storage, self.options) = (provider, storage, options)
    clock = options.clock
    timer = DeadlineTimer(options.clock)
    machine = AccountMachine(seed: options.seed)
    var kept: KeptAccount?
    var old: [KeptAccount] = []
    do throws(AccountFailure) {
      kept = try storage.signedIn()
      old = try storage.departing()
    } catch {
      options.notice(error)
    }
    handle(.begin(kept, departing: old))
  }

  /// Ends the session in this process: what waits is cancelled, and the kept account stays.
  public func close() {
    if isClosed { return }
    isClosed = true
    timer.cancel()
    for task in calls.values { task.cancel() }
    calls = [:]
    for running in departing.values { running.cancel() }
    departing = [:]
    for (_, continuation) in waiting.sorted(by: { $0.key < $1.key }) {
      continuation.resume(returning: .failure(.cancelled))
    }
    waiting = [:]
    for observer in observers.values { observer.finish() }
    for (_, observer) in tokenObservers.values { observer.finish() }
    (observers, tokenObservers) = ([:], [:])
  }
}

// MARK: The state

extension AccountSession {
  /// The present state.
  public var state: AccountState { machine.state }

  /// The user who is signed in; nil if nobody is.
  public var user: AccountUser? { machine.state.user }

  /// True if the token says something else of the user than what is known by now.
  package var tokenSaysOther: Bool { machine.keeper?.saysOther ?? false }

  /// Returns whether a user who is signed in surely did so after a time in milliseconds since 1970, as the token
  /// tells: see `TokenClaims.isSignIn(after:)`.
  package func hasSignedIn(_ user: String, after time: Int64) -> Bool {
    guard let account = machine.keeper?.account, account.user.id == user else { return false }
    return TokenClaims(account.tokens.idToken)?.isSignIn(after: time) ?? false
  }

  /// Who is signed in, who is departing, and how many times somebody signed in, at one moment.
  package var snapshot: (user: String?, departing: [String], signInCount: Int) {
    (machine.state.user?.id, machine.departing.keys.sorted(), signInCount)
  }

  /// A stream of the state now and after each change, until the session is closed.
  ///
  /// A slow reader gets only the newest 16 states.
  public nonisolated var states: AsyncStream<AccountState> {
    AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
      Task { await self.add(continuation) }
    }
  }

  private func add(_ continuation: AsyncStream<AccountState>.Continuation) {
    if isClosed { return continuation.finish() }
    let id = newID()
    observers[id] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.forget(observer: id) } }
    continuation.yield(machine.state)
  }

  private func forget(observer id: Int) {
    observers[id] = nil
    tokenObservers[id] = nil
  }

  /// A stream of the ID tokens of a user: the present one, and each new one.
  nonisolated func tokens(of user: String) -> AsyncStream<Secret<String>> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      Task { await self.add(continuation, of: user) }
    }
  }

  private func add(_ continuation: AsyncStream<Secret<String>>.Continuation, of user: String) {
    if isClosed { return continuation.finish() }
    let id = newID()
    tokenObservers[id] = (user, continuation)
    continuation.onTermination = { [weak self] _ in Task { await self?.forget(observer: id) } }
    if let account = machine.keeper?.account, account.user.id == user {
      continuation.yield(account.tokens.idToken)
    }
  }

  private func tellToken() {
    guard let account = machine.keeper?.account, account.tokens.idToken != toldToken else { return }
    toldToken = account.tokens.idToken
    for (user, observer) in tokenObservers.values where user == account.user.id {
      observer.yield(account.tokens.idToken)
    }
  }
}

/// An observation of a session's state; it ends when it is cancelled or released.
public final class AccountObservation: Sendable {
  private let task: Task<Void, Never>

  /// Tells the state now and after each change.
  ///
  /// - Parameters:
  ///   - session: the session.
  ///   - isolation: the actor on which `tell` is called: by default the one of the caller. Without one
  ///     it is called on a thread of the concurrency runtime, one call at a time.
  ///   - tell: called with the state.
  public init(
    of session: AccountSession, isolation: isolated (any Actor)? = #isolation,
    _ tell: @escaping (AccountState) -> Void
  ) {
    let states = session.states
    task = Task {
      _ = isolation
      for await state in states {
        if Task.isCancelled { return }
        tell(state)
      }
    }
  }

  deinit { task.cancel() }

  /// Ends the observation.
  public func cancel() { task.cancel() }
}

// MARK: Requests

extension AccountSession {
  private nonisolated func newID() -> Int {
    lastID.withLock { id in
      id += 1
      return id
    }
  }

  /// Does an operation.
  ///
  /// If the task is cancelled, it throws at once; the service may have done the operation.
  ///
  /// - Throws: `AccountFailure`.
  @discardableResult
  public func perform(
    _ operation: AccountOperation
  ) async throws(AccountFailure) -> AccountOutcome {
    try await request { .ask($0, operation) }
  }

  /// Returns an ID token that servers accept; requests another one if that is needed.
  ///
  /// - Parameters:
  ///   - user: the id of the user: of the one who is signed in, or of one who signed out and for whom
  ///     something is still to be done; nil for the one who is signed in.
  ///   - refused: the token that a server has refused, so that another one is needed.
  /// - Returns: the token.
  /// - Throws: `AccountFailure`: `notSignedIn`, `offline`, or the reason of the service.
  public func idToken(
    of user: String? = nil, refused: Secret<String>? = nil
  ) async throws(AccountFailure) -> Secret<String> {
    try await token { .wantToken($0, of: user, refused: refused) }
  }

  /// Returns an ID token for a new connection: as `idToken`, but the kept account is read first, so that
  /// none is given after the user has signed out in another process.
  ///
  /// - Throws: `AccountFailure`.
  package func checkedToken(
    of user: String, refused: Secret<String>? = nil
  ) async throws(AccountFailure) -> Secret<String> {
    try await token { .wantToken($0, of: user, refused: refused, isChecked: true) }
  }

  private func token(
    _ event: (Int) -> AccountEvent
  ) async throws(AccountFailure) -> Secret<String> {
    guard let token = try await request(event).token else { throw .notSignedIn }
    return token
  }

  private func request(
    _ event: (Int) -> AccountEvent
  ) async throws(AccountFailure) -> AccountOutcome {
    let id = newID()
    let event = event(id)
    let result: Result<AccountOutcome, AccountFailure> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if isClosed || cancelled.remove(id) != nil || Task.isCancelled {
          return continuation.resume(returning: .failure(.cancelled))
        }
        waiting[id] = continuation
        handle(event)
      }
    } onCancel: {
      Task { await self.cancel(id) }
    }
    cancelled.remove(id)
    return try result.get()
  }

  private func cancel(_ id: Int) {
    if waiting[id] == nil {
      cancelled.insert(id)
    } else {
      handle(.cancel(id))
    }
  }
}

// MARK: Signing out

extension AccountSession {
  /// Registers what is done for a user who signs out or is replaced by another, before the
  /// credential is forgotten.
  ///
  /// The function gets a token by `idToken(of:)`. While it answers `later`, the credential is kept
  /// for it alone and the function is called again, also after a restart; for the program, the user
  /// is signed out. It must bear being called again.
  public func beforeForgetting(_ departure: @escaping Departure) {
    departures.append(departure)
    machine.replacedDepart = true
    for user in machine.departing.keys.sorted() { begin(departureOf: user) }
  }

  /// Signs the user out; that always succeeds.
  ///
  /// It returns when what is to be done before was done and the service was told, or after two seconds;
  /// the rest is done later, but the service is not told again.
  public func signOut() async {
    let leaving = machine.keeper?.account
    handle(.signOut(keepsCredential: !departures.isEmpty))
    guard let leaving, !isClosed else { return }
    let done = departing[leaving.user.id]?.attempt
    let attempt = Task { [provider] in
      // What could not be done yet needs the token.
      if let done, await done.value == .later { return }
      await provider.signOut(leaving.tokens.idToken)
    }
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let (clock, milliseconds) = (clock, options.signOutMilliseconds)
    let waits = [
      Task {
        _ = await attempt.value
        end.finish()
      },
      Task {
        // A cancelled wait ends it too.
        try? await clock.sleep(milliseconds)
        end.finish()
      },
    ]
    for await _ in ends {}
    for wait in waits { wait.cancel() }
  }

  /// Ends the session for a reason that does not come from the service; the account is forgotten.
  public func end(_ failure: AccountFailure) { handle(.end(failure)) }

  /// Begins again at once what is still to be done for users who signed out.
  public func retryDepartures() {
    for running in departing.values { running.cancel() }
    departing = [:]
    for user in machine.departing.keys.sorted() { begin(departureOf: user) }
  }

  private func begin(departureOf user: String) {
    guard departing[user] == nil, !departures.isEmpty, !isClosed,
      let account = machine.departing[user]?.account
    else { return }
    let last = account.tokens.obtained + options.departureMilliseconds
    let attempt = Task { [weak self] in await self?.depart(user, last: last) ?? .done }
    let repetition = Task { [weak self, clock] in
      var (pause, result) = (AccountSession.pauseMin, await attempt.value)
      while result == .later, !Task.isCancelled {
        do { try await clock.sleep(pause) } catch { return }
        pause = min(AccountSession.pauseMax, pause * 2)
        guard let session = self else { return }
        result = await session.depart(user, last: last)
      }
    }
    departing[user] = RunningDeparture(attempt: attempt, repetition: repetition)
  }

  /// Does once what is to be done for a user who signed out.
  private func depart(_ user: String, last: Int64) async -> DepartureResult {
    guard machine.departing[user] != nil else { return .done }
    for departure in departures where await departure(user) == .later {
      if clock.now() < last { return .later }
    }
    if Task.isCancelled || isClosed { return .done }
    departing[user] = nil
    handle(.departed(user))
    return .done
  }
}

// MARK: Effects

extension AccountSession {
  private func handle(_ event: AccountEvent) {
    if isClosed { return }
    let effects = machine.handle(event, now: clock.now())
    for effect in effects where !effect.isAnswer { carryOut(effect) }
    // Whoever is answered may end the program, so what is to be kept comes before.
    for effect in effects where effect.isAnswer { carryOut(effect) }
    tellToken()
    for user in departing.keys where machine.departing[user] == nil {
      departing.removeValue(forKey: user)?.cancel()
    }
    setTimer()
  }

  private func carryOut(_ effect: AccountEffect) {
    switch effect {
    case .call(let id, let call): ask(id, call)
    case .abandon(let id): calls.removeValue(forKey: id)?.cancel()
    case .read(let user): read(user)
    case .keep(let account, let isSignIn):
      if isSignIn { signInCount += 1 }
      let isKept = store { storage throws(AccountFailure) in
        try storage.keep(account, isSignIn: isSignIn)
      }
      unkept = isKept ? nil : account.user.id
    case .remember(let user, let failure):
      store { storage throws(AccountFailure) in try storage.rememberEnd(of: user, failure) }
    case .forget(let user):
      store { storage throws(AccountFailure) in try storage.forget(user) }
    case .depart(let account):
      store { storage throws(AccountFailure) in try storage.depart(account) }
      begin(departureOf: account.user.id)
    case .forgetDeparting(let user):
      store { storage throws(AccountFailure) in try storage.forgetDeparting(user) }
    case .finish(let id, let result):
      waiting.removeValue(forKey: id)?.resume(returning: result)
    case .show(let state): for observer in observers.values { observer.yield(state) }
    }
  }

  private func ask(_ id: Int, _ call: AccountCall) {
    let provider = provider
    calls[id] = Task { [weak self] in
      let result: Result<AccountReply, AccountFailure>
      do throws(AccountFailure) {
        result = .success(try await provider.perform(call))
      } catch {
        result = .failure(error)
      }
      await self?.take(id, result)
    }
  }

  private func take(_ id: Int, _ result: Result<AccountReply, AccountFailure>) {
    guard calls.removeValue(forKey: id) != nil else { return }
    handle(.answered(id, result))
  }

  /// Reads a kept account; the answer is handled after the effects that are being carried out.
  private func read(_ user: String) {
    Task { [weak self] in await self?.answer(reading: user) }
  }

  private func answer(reading user: String) {
    // What is kept is older than what could not be, or nothing.
    if user == unkept, user == machine.keeper?.account.user.id {
      return handle(.unreadable(user))
    }
    do throws(AccountFailure) {
      if let account = try storage.account(of: user) { return handle(.read(user, account)) }
      handle(.gone(user, try storage.end(of: user)))
    } catch {
      options.notice(error)
      handle(.unreadable(user))
    }
  }

  @discardableResult
  private func store(
    _ change: (any AccountStorage) throws(AccountFailure) -> Void
  ) -> Bool {
    do throws(AccountFailure) {
      try change(storage)
      return true
    } catch {
      options.notice(error)
      return false
    }
  }

  /// Sets the timer to the machine's deadline.
  private func setTimer() {
    timer.set(isClosed ? nil : machine.deadline) { [weak self] time in await self?.timeIsUp(time) }
  }

  private func timeIsUp(_ time: Int64) {
    guard timer.take(time) else { return }
    handle(.time)
  }
}

/// What is being done for a user who signed out: the first attempt, and later ones.
private struct RunningDeparture {
  var attempt: Task<DepartureResult, Never>
  var repetition: Task<Void, Never>

  func cancel() {
    attempt.cancel()
    repetition.cancel()
  }
}

import RunnelAccounts
import RunnelClient
import RunnelDevices
import RunnelStore
import RunnelWorkspace
import Synchronization

/// Does what the workspace asks of accounts, off the terminal's thread, and keeps what became of it
/// until the application's loop takes it.
///
/// It holds the session of the user whose data is shown, and gives its tokens to the connection.
/// Other accounts have a session only while something is done with them.
actor AccountWork {
  /// What happened since the last look.
  struct News {
    var facts: AccountFacts?
    var answers: [(id: AppRequestID, answer: Answer)] = []
  }

  /// What any thread may read and change.
  struct Shared {
    /// The user whose data is shown; nil for nobody.
    var user: String?
    /// What was told last of the account of the user.
    var told: AccountFacts.Account?
    /// The account of the user who took this device away, until an account is shown again: who signs in by another
    /// window is shown here too, however soon that was.
    var revoked: AccountFacts.Account?
    /// The number of the workspace that asks: later answers to earlier ones are dropped.
    var stay = 0
    var running: [AppRequestID: Task<Void, Never>] = [:]
    var news = News()
    /// Whether the accounts are listed on the screen, and whether nothing lies over the list.
    var (isListed, isInFront) = (false, false)
    /// The newest refused write.
    var refused: AppRequestID?
    /// Whether the accounts are to be read again, and whether the service is being asked about the user.
    var (isToFollow, isAsking) = (false, false)
    /// Whether the waiting writes of the other accounts are to be counted again.
    var isToCount = false
    /// Whether writes wait of the user, whose session has ended.
    var isLeftWithWrites = false
    /// The accounts whose waiting writes are among the facts, but that of the user.
    var counted: [String] = []
    /// False until something is asked of a session: there is none before.
    var hasBegun = false
    /// What to serve as soon as something is asked of a session.
    var served: Served?
  }

  /// What the tokens of the user's session are for.
  struct Served {
    weak var link: OriginLink?
    weak var devices: DeviceWork?
    /// Connects to services anew; nil for a tree's server.
    var retryServices: (@Sendable () -> Void)?
  }

  /// The session of the user whose data is shown.
  struct Opened {
    let user: String
    let session: AccountSession
    let access: OriginAccess
    let watch: Task<Void, Never>
  }

  nonisolated let home: AccountHome
  nonisolated let shared = Mutex(Shared())
  private nonisolated let wake: @Sendable () -> Void
  nonisolated let departures: Departures?
  private nonisolated let revocation: DeviceRevocation?
  /// What waits in the replicas of all users.
  nonisolated let replicas: WaitingReplicas
  let options: AccountOptions
  private(set) var opened: Opened?
  private var opening: (user: String, task: Task<Void, Never>)?
  /// Counts the openings and closings, so that an earlier opening ends.
  private var turn = 0
  private weak var link: OriginLink?
  /// Connects to services anew; nil for a tree's server.
  private var retryServices: (@Sendable () -> Void)?
  private(set) weak var devices: DeviceWork?
  /// The last known service, with which new accounts sign in.
  private var service: (any AccountProvider)?

  /// Makes the work.
  ///
  /// - Parameters:
  ///   - home: the accounts at the database.
  ///   - departures: removes this device from the lists of users who sign out; nil if it is in none.
  ///   - revocation: finds out whether this device was taken away; nil if it is in no list.
  ///   - options: the options of the sessions.
  ///   - replicas: tells what waits in the replicas of all users.
  ///   - wake: called on any thread when there is something to take.
  init(
    _ home: AccountHome, _ departures: Departures? = nil, _ revocation: DeviceRevocation? = nil,
    options: AccountOptions = AccountOptions(), replicas: WaitingReplicas = WaitingReplicas(),
    wake: @escaping @Sendable () -> Void
  ) {
    (self.home, self.departures, self.revocation) = (home, departures, revocation)
    (self.options, self.replicas, self.wake) = (options, replicas, wake)
  }
}

// MARK: The application's loop

extension AccountWork {
  /// Begins with the data of a user; nil for nobody.
  ///
  /// What was asked before is not answered any more.
  ///
  /// - Returns: what is known of the accounts without a session.
  nonisolated func begin(as user: String?) -> AccountFacts {
    let (old, hasWork) = shared.withLock { shared in
      defer { (shared.user, shared.running, shared.news) = (user, [:], News()) }
      shared.stay += 1
      if user != nil { shared.revoked = nil }
      if user != nil || departures != nil { shared.hasBegun = true }
      return (shared.running.values, shared.hasBegun)
    }
    for task in old { task.cancel() }
    let facts = facts(of: user, nil)
    shared.withLock { $0.told = facts.current }
    // The first task starts a pool of threads, which wakes once a second from then on.
    if hasWork {
      Task {
        _ = await self.session()
        await self.departures?.begin()
      }
    }
    return facts
  }

  /// Returns the access of a user to the database; nil for nobody.
  ///
  /// - Parameters:
  ///   - user: the id of the user.
  ///   - checksDevice: whether it is asked first if this device was taken away; then what waits is not sent.
  /// - Returns: the access.
  nonisolated func access(of user: String?, checksDevice: Bool = false) -> OriginAccess {
    guard let user else { return .nobody }
    var access = OriginAccess(user: user) { isRefresh in
      guard self.shared.withLock({ $0.user == user }), let opened = await self.session() else {
        throw AccountFailure(.notSignedIn, "The session has ended.")
      }
      if checksDevice { try await self.revocation?.check(opened.session) }
      return try await opened.access.provider?(isRefresh)
    }
    access.isAskedEachTime = true
    return access
  }

  /// Gives the tokens of the user's session to a connection, and the session to the list of devices,
  /// from now on.
  nonisolated func serve(_ link: OriginLink, _ devices: DeviceWork?) {
    serve(Served(link: link, devices: devices))
  }

  /// Calls `retry` when another token is at hand, from now on.
  nonisolated func serve(retry: @escaping @Sendable () -> Void) {
    serve(Served(retryServices: retry))
  }

  private nonisolated func serve(_ served: Served) {
    let hasBegun = shared.withLock { shared in
      shared.served = served
      return shared.hasBegun
    }
    if hasBegun { Task { await self.takeServed() } }
  }

  /// Starts a request; its answer is among the news.
  nonisolated func start(_ id: AppRequestID, _ request: AccountRequest) {
    shared.withLock { shared in
      let stay = shared.stay
      shared.hasBegun = true
      shared.running[id] = Task {
        let answer = await self.answer(request)
        self.finish(id, answer, stay)
      }
    }
  }

  /// Stops a request; it is not answered.
  nonisolated func stop(_ id: AppRequestID) {
    shared.withLock { $0.running.removeValue(forKey: id) }?.cancel()
  }

  /// Returns and removes the news since the last call.
  nonisolated func news() -> News {
    shared.withLock { shared in
      defer { shared.news = News() }
      return shared.news
    }
  }

  private nonisolated func finish(_ id: AppRequestID, _ answer: Answer, _ stay: Int) {
    let isWanted = shared.withLock { shared in
      guard shared.stay == stay, shared.running.removeValue(forKey: id) != nil else {
        return false
      }
      shared.news.answers.append((id, answer))
      return true
    }
    if isWanted { wake() }
  }
}

// MARK: The session

extension AccountWork {
  private nonisolated var user: String? { shared.withLock { $0.user } }

  /// Returns the session of the user whose data is shown; nil for nobody.
  func session() async -> Opened? {
    takeServed()
    let user = user
    if let opened, opened.user != user { await close() }
    guard let user else {
      publish(nil)
      return nil
    }
    let isNew = await closeEnded(user)
    if opening?.user != user {
      turn += 1
      opening = (user, Task { [turn] in await self.open(user, turn) })
    }
    await opening?.task.value
    // It may have been closed meanwhile, and be opened again.
    if opened == nil, opening?.user == user { await opening?.task.value }
    if isNew {
      link?.retry()
      retryServices?()
    }
    return opened?.user == user ? opened : nil
  }

  /// Closes a session that has ended if its user has signed in again by another program; returns whether it
  /// was.
  private func closeEnded(_ user: String) async -> Bool {
    guard let ended = opened, ended.user == user, await ended.session.user == nil,
      ((try? home.all()) ?? []).contains(where: { $0.user.id == user }),
      opened?.session === ended.session
    else { return false }
    await close()
    return true
  }

  private func open(_ user: String, _ own: Int) async {
    let known: (any AccountProvider)? = try? home.service(of: user)
    let service: any AccountProvider = known ?? serviceForSignIn()
    let storage = ChosenAccount(home.folder(service), user: user)
    let session = await AccountSession(service, storage: storage, options: options)
    guard self.user == user, turn == own else { return await session.close() }
    self.service = service
    let watch = Task { [weak self] in
      for await state in session.states { await self?.take(state, of: session) }
    }
    opened = Opened(
      user: user, session: session, access: session.access(of: user), watch: watch)
    if let link { session.keepAuthenticated(link, as: user) }
    devices?.use(session)
  }

  /// Closes the session in this process; the account stays signed in.
  private func close() async {
    let old = opened
    (opened, opening) = (nil, nil)
    turn += 1
    old?.watch.cancel()
    await old?.session.close()
  }

  /// Gives the tokens of the session to what is served since, now or as soon as there is one.
  private func takeServed() {
    let served = shared.withLock { shared in
      defer { shared.served = nil }
      return shared.served
    }
    guard let served else { return }
    if let retry = served.retryServices { retryServices = retry }
    guard let link = served.link else { return }
    (self.link, devices) = (link, served.devices)
    if let user, let opened, opened.user == user {
      opened.session.keepAuthenticated(link, as: user)
      devices?.use(opened.session)
    }
  }

  private func take(_ state: AccountState, of session: AccountSession) async {
    // The user may have signed in again since.
    guard session === opened?.session else { return }
    publish(state)
    guard case .ended(_, let failure) = state else { return }
    if [.signedOutElsewhere, .accountDeleted].contains(failure.code) {
      await devices?.leaveWithConnection()
      // The user may have signed in again meanwhile, too.
      guard session === opened?.session else { return }
    }
    // Nothing more is read or sent under a credential that was given before.
    link?.endConnection(failure.message)
    // What the service refused to this session, it refuses to connections by itself.
    guard failure.serviceCode == nil else { return }
    retryServices?()
    // What another program could not do for the user who signed out is to be done here.
    await departures?.begin()
  }

  /// Tells what is known of the accounts, with the state of the session.
  func publish(_ state: AccountState?) {
    var facts = facts(of: user, state)
    shared.withLock { shared in
      guard shared.user == facts.current?.id else { return }
      // Nothing is stored any more of a user who signs out.
      if let told = shared.told, let current = facts.current, current == .init(id: told.id) {
        facts.current = told
      }
      shared.told = facts.current
      if facts.isRevoked, let current = facts.current { shared.revoked = current }
      shared.news.facts = facts
    }
    wake()
  }
}

// MARK: Requests

extension AccountWork {
  private func answer(_ request: AccountRequest) async -> Answer {
    do throws(AccountFailure) {
      let user = try await carryOut(request)
      return .account(user: user, isLater: isLater(request))
    } catch {
      return .refused(Refusal(error, of: request))
    }
  }

  /// Carries out a request; returns the id of the user who is signed in by it, or comes next; of a new password,
  /// the address if it is that of a new account now.
  private func carryOut(_ request: AccountRequest) async throws(AccountFailure) -> String? {
    switch request {
    case .signIn(let email, let password):
      return try await signIn(.signIn(email: email, password: password))
    case .signUp(let email, let password):
      return try await signIn(.signUp(email: email, password: password))
    case .signInAnonymously: return try await signIn(.signInAnonymously)
    case .upgrade(let email, let password):
      try await perform(.upgrade(email: email, password: password))
    case .sendReset(let email): try await performForNobody(.sendPasswordReset(email: email))
    case .resetPassword(let code, let password):
      let code = try await performForNobody(.resetPassword(code: code, password)).code
      return code?.isOfNewAccount == true ? code?.email : nil
    case .signOut(let user): return try await signOut(user)
    case .use(let user):
      // One whose session has ended is shown, and commands act as before.
      if try home.service(of: user) != nil {
        try home.activate(user)
      } else if let end = try home.ended(user), end.isRevoked {
        throw end.failure
      }
      return user
    case .giveUp(let user): try await giveUp(user)
    case .changePassword(let password, let current):
      try await perform(.changePassword(password, current: current))
    case .changeEmail(let email, let current):
      try await perform(.verifyAndChangeEmail(email, current: current))
    case .sendVerification:
      if let opened = await session() {
        await lookUp(opened.session)
        // What was confirmed meanwhile is among the facts.
        if await opened.session.user?.isEmailVerified == true { return nil }
      }
      try await perform(.sendEmailVerification)
    case .applyCode(let code):
      if let opened = await session(), await opened.session.user != nil {
        // The token keeps the session; without one the code is used all the same.
        _ = try? await opened.session.idToken()
        try await opened.session.perform(.applyCode(code))
        // The code was used in any case.
        try? await perform(.reload)
      } else {
        try await performForNobody(.applyCode(code))
      }
    case .delete(let current):
      try await delete(current: current)
      return try activateNext()
    }
    return nil
  }

  /// Does something with the account of the user whose data is shown.
  func perform(_ operation: AccountOperation) async throws(AccountFailure) {
    guard let opened = await session() else {
      throw AccountFailure(.notSignedIn, "Nobody is signed in.")
    }
    try await opened.session.perform(operation)
  }

  /// Does something that needs no account.
  @discardableResult
  private func performForNobody(
    _ operation: AccountOperation
  ) async throws(AccountFailure) -> AccountOutcome {
    let session = await AccountSession(
      serviceForSignIn(), storage: AccountMemory(), options: options)
    let outcome: AccountOutcome
    do throws(AccountFailure) {
      outcome = try await session.perform(operation)
    } catch {
      await session.close()
      throw error
    }
    await session.close()
    return outcome
  }

  /// The service with which accounts sign in: that of the accounts that are known, or else that of
  /// the server itself.
  private func serviceForSignIn() -> any AccountProvider {
    if let service { return service }
    let kept: KeptAccount? = (try? home.signedIn()) ?? (try? home.all())?.first
    let known: (any AccountProvider)? = kept.flatMap { try? home.service(of: $0.user.id) }
    return known ?? home.ownService
  }

  /// Signs a user in, beside the accounts that are signed in.
  private func signIn(_ operation: AccountOperation) async throws(AccountFailure) -> String? {
    let service = serviceForSignIn()
    let storage = ChosenAccount(home.folder(service), user: nil)
    let session = await AccountSession(service, storage: storage, options: options)
    // The user may be one who departs, and whose device stays then.
    await departures?.end()
    await home.waitAfterRevocation(options.clock)
    let outcome: AccountOutcome
    do throws(AccountFailure) {
      outcome = try await session.perform(operation)
    } catch {
      await session.close()
      await departures?.begin()
      throw error
    }
    await session.close()
    await departures?.begin()
    if let failure = storage.failure { throw failure }
    self.service = service
    guard let user = outcome.user else {
      throw AccountFailure(.missingUserID, "The service did not say who is signed in.")
    }
    await home.checkEarlier(of: user, options: options)
    let id = user.id
    if id == self.user {
      // The new tokens are read from the file.
      await close()
      _ = await self.session()
      link?.retry()
      retryServices?()
    } else {
      publish(await opened?.session.state)
    }
    return id
  }

  /// Signs a user out; returns the id of the user whose account is active then, or nil.
  private func signOut(_ id: String) async throws(AccountFailure) -> String? {
    let kept = try home.all().first { $0.user.id == id }?.user
    let ended = try home.ended(id)?.user
    if id == user, let opened = await session() {
      await opened.session.signOut()
      // What could not be done now is done by the departures, as the replica of the user closes.
      if departures == nil { try home.folder(home.ownService).forgetDeparting(id) }
    } else {
      let service: any AccountProvider = try home.service(of: id) ?? home.ownService
      let storage = ChosenAccount(home.folder(service), user: id)
      let session = await AccountSession(service, storage: storage, options: options)
      await departures?.take(session)
      await session.signOut()
      await session.close()
      await departures?.begin()
    }
    // Another program may have signed the user out before: then only this one knows the address.
    try home.noteSignOut(
      of: kept ?? ended ?? known(id) ?? AccountUser(id: id), writesWait: replicas.count(id) > 0)
    let next = try activateNext()
    publish(await opened?.session.state)
    return next
  }

  /// Makes another account the active one if none is; returns the id of its user, or nil.
  private func activateNext() throws(AccountFailure) -> String? {
    if let active = try home.signedIn() { return active.user.id }
    guard let next = try home.all().first else { return nil }
    try home.activate(next.user.id)
    return next.user.id
  }
}

import Logging
import RunnelBase
import RunnelDatabase
import RunnelIdentity
import RunnelNetwork
import RunnelSync
import RunnelTree
import Synchronization

/// The accounts of a server: it answers the requests of the API, from the stored accounts.
///
/// Requests are decided one by one on a thread of their own; passwords are hashed on others. An
/// answer is sent when its changes are on disk.
actor AccountService {
  /// A request under way.
  private struct Request: Sendable {
    var number: Int64
    var call: IdentityCall
    var isPrivileged: Bool
    var names: [AttemptGuard.Name]
    /// The household of the client.
    var client: String
    var done: PasswordPool.Results = [:]
    var roundCount = 0
    var reply: @Sendable (Reply) -> Void
  }

  /// The most requests at once.
  private static let requestsMax = 4096
  /// The most times that a request is decided, also if its accounts change all the time.
  private static let roundsMax = 6
  private static let careMilliseconds = 3_600_000
  /// The time after which a request for a mail is answered: it does not tell whether one was written.
  private static let mailMilliseconds = 100
  private static let blindLookMilliseconds = 250
  private static let safetyLookMilliseconds = 60_000
  /// The time between two looks for mails that are owed and that nobody is sending.
  private static let mailLookMilliseconds = 600_000
  /// The time between two trials of a storage that failed.
  private static let trialMilliseconds = 500

  nonisolated let policy: IdentityPolicy
  nonisolated let tokens: IssuedTokens
  /// Verifies administrators: the secrets and service accounts of the accounts file.
  nonisolated let administrators: TokenVerifier
  nonisolated let place: AccountsPlace
  /// Who follows the accounts in a store; nil for a file.
  private nonisolated let follower: AccountFollower?
  /// The number of the newest change in the store that was looked at; -1 for none.
  nonisolated let seenHead = Atomic<Int64>(-1)
  private nonisolated let hasFailed = Atomic<Bool>(false)
  private nonisolated let executor: TreeExecutor
  private nonisolated let pool: PasswordPool
  nonisolated let mailer: AccountMailer
  nonisolated let logger: Logger
  nonisolated let calendar: @Sendable () -> Int64
  /// The requests under way.
  nonisolated let requests = OwedReplies(countMax: requestsMax)
  /// Makes the connections of users check their credentials again; nil for all connections.
  private nonisolated let review: @Sendable (Set<String>?) -> Void
  // This thread only:
  let store: AccountStore
  private var attempts = AttemptGuard()
  private let watch: ChangeWatch?
  private var subscriptions: [TreeExecutor.Subscription] = []
  private(set) var (isClosed, isStoreClosed) = (false, false)
  var owedMails = OwedMailNotes()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Opens the accounts.
  ///
  /// - Throws: `ServerError`, `DatabaseError` or `PostgresError` that names the problem with the place.
  init(
    _ place: AccountsPlace, policy: IdentityPolicy, mailer: AccountMailer,
    logger: Logger, calendar: @escaping @Sendable () -> Int64,
    review: @escaping @Sendable (Set<String>?) -> Void
  ) throws {
    self.place = place
    (self.policy, self.mailer, self.logger) = (policy, mailer, logger)
    (self.calendar, self.review) = (calendar, review)
    executor = try TreeExecutor(label: "runnel.accounts")
    pool = try PasswordPool(cost: policy.cost)
    var environment = DatabaseEnvironment.system
    environment.now = calendar
    let store = try place.open(environment)
    tokens = IssuedTokens(policy)
    let currency = place.currency
    administrators = TokenVerifier(
      TokenVerifier.Knowledge(
        secrets: try place.file.map { try ServerSecrets(file: ServerSecrets.file(beside: $0)) }
          ?? ServerSecrets(),
        accounts: try place.file.map { try ServiceAccounts(file: ServiceAccounts.file(beside: $0)) }
          ?? ServiceAccounts(),
        currency: currency, areForAll: place.file == nil),
      isEmulator: policy.isEmulator)
    watch = place.file.flatMap { ChangeWatch(database: $0) }
    self.store = store
    try store.rotateKeys(now: calendar())
    attempts.restore(try store.lockOuts(), now: calendar())
    follower = try AccountService.follower(
      of: place, tokens, administrators, currency, logger, review)
    let news = AccountService.publish(store, tokens, follower == nil ? administrators : nil)
    for alarm in news.alarms { logger.critical("\(place.name): \(alarm)") }
    if follower == nil {
      tokens.findAccounts { [weak self] user in
        guard let self else { return }
        executor.submit { self.assumeIsolated { $0.find(account: user) } }
      }
    }
    mailer.ask { [weak self] mail, answer in
      guard let self else { return answer(true) }
      executor.submit { answer(self.assumeIsolated { $0.isWanted(mail) }) }
    }
    mailer.noteEnds { [weak self] mail, isLeft in
      guard let self, let id = mail.owed else { return }
      executor.submit { self.assumeIsolated { $0.noteEnd(of: id, isLeft: isLeft) } }
    }
  }

  /// Opens who follows the accounts in a store; nil for a file.
  private static func follower(
    of place: AccountsPlace, _ tokens: IssuedTokens, _ administrators: TokenVerifier,
    _ currency: AccountCurrency?, _ logger: Logger,
    _ review: @escaping @Sendable (Set<String>?) -> Void
  ) throws -> AccountFollower? {
    guard let currency, let store = try place.openForFollowing() else { return nil }
    return try AccountFollower(
      store, currency, name: place.loggedName, tokens, administrators, logger, review: review)
  }

  /// Finds a code that can still be used, or nil; `answer` is called once, on another thread.
  nonisolated func find(code: String, _ answer: @escaping @Sendable (FoundCode) -> Void) {
    guard case .taken(let number) = requests.begin(giveUp: { answer(.unknown) }) else {
      return answer(.unknown)
    }
    executor.submit {
      let found = self.assumeIsolated { $0.found(code) }
      self.requests.answer(number) { answer(found) }
    }
  }

  private func found(_ text: String) -> FoundCode {
    isStoreClosed
      ? .unknown : FoundCode(text, in: store, now: calendar(), isEmulator: policy.isEmulator)
  }

  /// Opens the accounts of a configuration; nil if it has none.
  ///
  /// - Throws: `ServerError`, `DatabaseError` or `PostgresError` that names the problem with the place.
  static func open(
    _ configuration: ServerConfiguration, _ keeper: StoreKeeper?, _ world: ServerWorld,
    _ logger: Logger
  ) throws -> AccountService? {
    guard let accounts = configuration.accounts else { return nil }
    let place = try AccountsPlace(accounts, configuration, keeper)
    let folder = accounts.mailFolder ?? DatabaseNames.stem(of: accounts.file) + ".mail"
    let policy = accounts.policy(configuration)
    let host = IdentityDecider.host(of: policy.actionURL) ?? "localhost"
    let sender = try AccountMailer.sender(accounts.mailSender, host: host)
    if accounts.mailServer == nil, let given = accounts.mailFolder, !configuration.isEmulator {
      try AccountMailer.make(folder: given)
    }
    let destination: AccountMailer.Destination =
      accounts.mailServer.map { .server($0) } ?? .folder(folder)
    let mailer = try AccountMailer(
      configuration.isEmulator ? .log : destination,
      sender: sender, clientName: MailAddress.domain(host) ?? "localhost", logger: logger,
      calendar: world.calendar)
    return try AccountService(
      place, policy: policy, mailer: mailer, logger: logger, calendar: world.calendar,
      review: { users in
        guard let users else { return world.switchboard.reviewCredentials() }
        world.switchboard.reviewCredentials(of: users)
      })
  }

  private nonisolated var loggedName: String { place.loggedName }

  /// The name of the accounts, in backups and of `/readyz`.
  nonisolated var name: String {
    place.file.map { DatabaseNames.name(of: $0) } ?? StoreAccounts.namespace
  }

  /// How old the accounts in a store may be; nil for a file.
  nonisolated var currency: AccountCurrency? { follower?.currency }

  /// The folder for mails; nil if there is none.
  nonisolated var mailFolder: String? { mailer.folder }

  /// True from a failure of the storage until it takes a write again.
  nonisolated var isUnusable: Bool { hasFailed.load(ordering: .relaxed) }

  /// Starts to follow the writes of other processes, and to take care of keys and old records.
  nonisolated func start() { executor.submit { self.assumeIsolated { $0.follow() } } }

  private func follow() {
    if let watch {
      subscriptions.append(
        executor.watch(watch.descriptor, owner: watch) { [weak self] in
          self?.assumeIsolated { if $0.watch?.drain() == true { $0.look() } }
        })
    }
    let interval =
      watch == nil && place.file != nil
      ? AccountService.blindLookMilliseconds : AccountService.safetyLookMilliseconds
    subscriptions.append(
      executor.repeating(everyMilliseconds: interval) { [weak self] in
        self?.assumeIsolated { $0.look() }
      })
    subscriptions.append(
      executor.repeating(everyMilliseconds: AccountService.careMilliseconds) { [weak self] in
        self?.assumeIsolated { $0.care() }
      })
    subscriptions.append(
      executor.repeating(everyMilliseconds: AccountService.mailLookMilliseconds) { [weak self] in
        self?.assumeIsolated { $0.sendOwed() }
      })
    follower?.start()
    care()
    sendOwed(isStart: true)
  }

  /// Ends, after the requests that were submitted before; waits until that is done.
  nonisolated func close() {
    executor.submitAndWait { self.assumeIsolated { $0.end() } }
    // What is sent meanwhile is noted.
    mailer.close()
    executor.submitAndWait { self.assumeIsolated { $0.shutDown() } }
    follower?.close()
  }

  private func end() {
    isClosed = true
    for subscription in subscriptions { subscription.cancel() }
  }

  private func shutDown() {
    isStoreClosed = true
    do {
      try store.close()
    } catch {
      logger.error("\(loggedName): \(error)")
    }
  }

  /// Looks for the writes of other servers, if the newest change has another number than before.
  nonisolated func note(head: Int64) {
    if seenHead.exchange(head, ordering: .relaxed) == head { return }
    if let follower { return follower.lookSoon() }
    executor.submit { [weak self] in self?.assumeIsolated { $0.look() } }
  }

  private func look() {
    // What follows a store has a thread of its own: here, a write may wait for long.
    if isClosed || follower != nil { return }
    store.removeRemains()
    do {
      try store.catchUp()
    } catch {
      noteFailure(error)
    }
    publish()
  }

  /// Notes that the storage failed, and tries it until it takes a write.
  func noteFailure(_ error: any Error, _ what: String = "") {
    logger.error("\(loggedName): \(what)\(error)")
    if !hasFailed.exchange(true, ordering: .relaxed) { tryLater() }
  }

  private func tryLater() {
    executor.submit(afterMilliseconds: AccountService.trialMilliseconds) { [weak self] in
      self?.assumeIsolated { $0.tryAgain() }
    }
  }

  private func tryAgain() {
    if isClosed { return }
    do {
      try store.tryWriting()
    } catch {
      // The failure is in the log.
      return tryLater()
    }
    hasFailed.store(false, ordering: .relaxed)
    logger.notice("\(loggedName) can be used again")
    look()
    forgetSent()
  }

  /// Rotates the keys, and removes what has expired.
  private func care() {
    if isClosed { return }
    let now = calendar()
    do {
      try store.rotateKeys(now: now)
      try store.removeExpired(now: now, isEmulator: policy.isEmulator)
    } catch {
      noteFailure(error)
    }
    mailer.removeRemains()
    tokens.forgetRevocations(
      before: IdentityTime.seconds(now) - IdentityPolicy.tokenSeconds - 600)
    publish()
    // The keys that were made or removed are those of the server when this returns.
    follower?.lookNow()
  }

  /// Takes the care that is due by now; for tests with a clock of their own.
  nonisolated func careNow() { executor.submitAndWait { self.assumeIsolated { $0.care() } } }

  /// Looks for the account of a token; without one, the tokens of the user end.
  private func find(account user: String) {
    // A storage that cannot be read refuses nobody.
    let isThere = isStoreClosed ? nil : try? store.has(account: user)
    tokens.didLook(for: user, isThere: isThere)
    publish()
    if isThere == false { review([user]) }
  }

  /// Tells the others what was written: ends of tokens, new keys, and who is an administrator.
  private func publish() {
    let news = AccountService.publish(store, tokens, follower == nil ? administrators : nil)
    // Who follows a store tells of the others.
    for alarm in news.alarms where follower == nil { logger.critical("\(loggedName): \(alarm)") }
    if follower == nil, news.access != nil || news.isAnew { return review(nil) }
    if !news.revocations.isEmpty, !policy.isEmulator { review(Set(news.revocations.keys)) }
  }

  /// Without `administrators`, only the ends of tokens are told: of all else the last state counts, which who
  /// follows the store tells.
  private static func publish(
    _ store: AccountStore, _ tokens: IssuedTokens, _ administrators: TokenVerifier?
  ) -> AccountStore.News {
    let news = store.takeNews()
    if !news.revocations.isEmpty { tokens.revoke(news.revocations) }
    guard let administrators else { return news }
    if let access = news.access {
      administrators.change { ($0.secrets, $0.accounts) = (access.secrets, access.accounts) }
    }
    if news.hasNewKeys, let keys = try? store.keys() { tokens.take(keys) }
    if news.isAnew { tokens.doubtAll() }
    return news
  }

  // MARK: Requests

  /// Answers a request; `reply` is called once, on another thread.
  nonisolated func submit(
    _ call: IdentityCall, from address: String, reply: @escaping @Sendable (Reply) -> Void
  ) {
    let number: Int64
    switch requests.begin(giveUp: { reply(Reply(.unavailable)) }) {
    case .taken(let taken): number = taken
    case .isFull: return reply(Reply(.tooManyAttempts))
    case .hasEnded: return reply(Reply(.unavailable))
    }
    executor.submit {
      self.assumeIsolated { service in
        service.begin(number, call, address) { answer in
          service.requests.answer(number) { reply(answer) }
        }
      }
    }
  }

  private func begin(
    _ number: Int64, _ call: IdentityCall, _ address: String,
    _ reply: @escaping @Sendable (Reply) -> Void
  ) {
    if !requests.isOwed(number) { return }
    if case .bearer = call.credential, !policy.isEmulator, currency?.isCurrent == false {
      return reply(Reply(.unavailable))
    }
    let isPrivileged = isPrivileged(call.credential)
    let household = AddressRange.household(of: address)
    var request = Request(
      number: number, call: call, isPrivileged: isPrivileged, names: [], client: household,
      reply: reply)
    if call.operation == .sendOobCode, !policy.isEmulator, !isPrivileged {
      request.reply = { [executor] answer in
        executor.submit(afterMilliseconds: AccountService.mailMilliseconds) { reply(answer) }
      }
    }
    if !policy.isEmulator, !isPrivileged {
      // A field of a wrong kind is refused elsewhere.
      let token = (try? call.fields.text("idToken")) ?? nil
      request.names = AttemptNames.of(
        call, from: household,
        user: token.flatMap { tokens.claims(of: $0)?["sub"]?.string })
      let wait = attempts.begin(request.names, now: calendar())
      keepLockOuts()
      if wait > 0 {
        let seconds = (wait + 999) / 1000
        var answer = Reply(.tooManyAttempts(waiting: seconds))
        answer.retrySeconds = seconds
        return reply(answer)
      }
    }
    decide(request)
  }

  private func isPrivileged(_ credential: CallCredential) -> Bool {
    guard case .bearer(let text) = credential else { return false }
    if policy.isEmulator { return text.lowercased() == "owner" || text.hasPrefix("ya29.") }
    return administrators.isAdministrator(text, now: calendar())
  }

  private func keepLockOuts() {
    do {
      try store.write(attempts.takeChanges())
    } catch {
      noteFailure(error, "a lock-out was not stored: ")
    }
  }

  /// Decides a request, and answers it or starts the work that it needs.
  private func decide(_ request: Request) {
    if isClosed { return request.reply(Reply(.unavailable)) }
    // What was answered with an error is not done afterwards.
    if !requests.isOwed(request.number) { return attempts.undecided(request.names) }
    if !tokens.canSign(now: calendar()) {
      attempts.undecided(request.names)
      return request.reply(withoutKeys())
    }
    do throws(IdentityStop) {
      let decision = try decision(request)
      finish(request, decision)
    } catch {
      switch error {
      case .error(let error): request.reply(Reply(error))
      case .work(let work): start(work, for: request)
      case .storage(let error):
        attempts.undecided(request.names)
        noteFailure(error)
        request.reply(Reply(.unavailable))
      }
    }
  }

  private func decision(_ request: Request) throws(IdentityStop) -> IdentityDecision {
    var context = context(calendar())
    (context.isPrivileged, context.done) = (request.isPrivileged, request.done)
    return try store.decide(request.call, context)
  }

  private func start(_ work: [PasswordWork], for request: Request) {
    if request.roundCount >= AccountService.roundsMax {
      return request.reply(Reply(.unavailable))
    }
    let isTaken = pool.submit(work, for: request.client) { result in
      self.executor.submit {
        self.assumeIsolated { $0.goOn(request, result) }
      }
    }
    if !isTaken { request.reply(Reply(.tooManyAttempts)) }
  }

  private func goOn(_ request: Request, _ result: Result<PasswordPool.Results, any Error>) {
    switch result {
    case .failure(is PasswordPool.GaveWay): request.reply(Reply(.tooManyAttempts))
    case .failure(let error):
      logger.error("A password cannot be hashed: \(error)")
      request.reply(Reply(.unavailable))
    case .success(let results):
      var request = request
      request.done.merge(results) { $1 }
      request.roundCount += 1
      decide(request)
    }
  }

  private func finish(_ request: Request, _ decision: IdentityDecision) {
    if decision.provenAccount != nil, !request.names.isEmpty {
      attempts.succeeded(request.names)
      keepLockOuts()
    }
    // After a write, the number that was seen before it is news: a backup was restored.
    seenHead.store(-1, ordering: .relaxed)
    publish()
    for mail in decision.mails { send(mail) }
    let now = calendar()
    var isSigned = true
    let body =
      request.call.operation == .publicKeys
      ? tokens.keySet
      : decision.answer.json { claims in
        let token = tokens.sign(claims, now: now)
        if token == nil { isSigned = false }
        return token ?? ""
      }
    if !isSigned { return request.reply(withoutKeys()) }
    var reply = Reply(body)
    reply.redirect = decision.answer.redirect
    request.reply(reply)
  }
}

import Logging
import RunnelDatabase
import RunnelIdentity
import RunnelPostgres
import Synchronization

/// Follows the accounts in a store, for the verification of tokens and secrets.
///
/// It has a thread and a connection of its own, and writes nothing: a new primary that confirms no writes yet
/// is read at once, while a request that writes waits for it.
actor AccountFollower {
  private static let lookMilliseconds = 250

  /// How old the accounts may be.
  nonisolated let currency: AccountCurrency
  private nonisolated let executor: TreeExecutor
  /// True while a look is going to be done.
  private nonisolated let isDue = Atomic<Bool>(false)
  private nonisolated let tokens: IssuedTokens
  private nonisolated let administrators: TokenVerifier
  private nonisolated let logger: Logger
  /// The name of the accounts in the log.
  private nonisolated let name: String
  /// Makes the connections of users check their credentials again; nil for all connections.
  private nonisolated let review: @Sendable (Set<String>?) -> Void
  // Its thread only:
  private let store: AccountStore
  private var subscription: TreeExecutor.Subscription?
  /// True from new keys until they were read.
  private var owesKeys = true
  /// True while the log says that the accounts cannot be read.
  private var isTold = false
  private var isClosed = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Opens the accounts, which are there, and takes what is in them.
  ///
  /// - Throws: `PostgresError` or `ServerError` that names the problem.
  init(
    _ store: AccountStore, _ currency: AccountCurrency, name: String, _ tokens: IssuedTokens,
    _ administrators: TokenVerifier, _ logger: Logger,
    review: @escaping @Sendable (Set<String>?) -> Void
  ) throws {
    // Nothing is signed without a key.
    tokens.take(try store.keys())
    executor = try TreeExecutor(label: "runnel.follow")
    (self.store, self.currency, self.name) = (store, currency, name)
    (self.tokens, self.administrators, self.logger) = (tokens, administrators, logger)
    self.review = review
    executor.submitAndWait { self.assumeIsolated { _ = $0.publish() } }
    tokens.findAccounts { [weak self] user in
      guard let self else { return }
      executor.submit { self.assumeIsolated { $0.find(account: user) } }
    }
  }

  /// Begins to look for what others write.
  nonisolated func start() {
    executor.submit {
      self.assumeIsolated { follower in
        follower.subscription = follower.executor.repeating(
          everyMilliseconds: AccountFollower.lookMilliseconds
        ) { [weak follower] in follower?.assumeIsolated { $0.look() } }
      }
    }
  }

  /// Looks soon; returns at once.
  nonisolated func lookSoon() {
    if isDue.exchange(true, ordering: .relaxed) { return }
    executor.submit { self.assumeIsolated { $0.look() } }
  }

  /// Looks, and waits until that is done.
  nonisolated func lookNow() { executor.submitAndWait { self.assumeIsolated { $0.look() } } }

  /// Ends; waits until that is done.
  nonisolated func close() {
    executor.submitAndWait {
      self.assumeIsolated { follower in
        follower.isClosed = true
        follower.subscription?.cancel()
        // Nothing of it is written.
        try? follower.store.close()
      }
    }
  }

  private func look() {
    isDue.store(false, ordering: .relaxed)
    if isClosed { return }
    let start = currency.time
    let wasCurrent = currency.isCurrent
    do {
      try store.catchUp()
    } catch {
      return note(error)
    }
    if !publish() { return }
    currency.confirm(since: start)
    if wasCurrent { return }
    if isTold { logger.notice("\(name): the accounts are read again") }
    isTold = false
    // What was kept meanwhile is judged by what is known now.
    review(nil)
  }

  /// Logs once that the accounts have not been read for a while.
  private func note(_ failure: any Error) {
    if isTold || currency.isFresh { return }
    isTold = true
    logger.error("\(name) cannot be read, so that no token or secret of it is accepted: \(failure)")
  }

  /// Looks for the account of a token; without one, the tokens of the user end.
  private func find(account user: String) {
    // Whether a storage that cannot be read is a reason to refuse is decided by the time.
    let isThere = isClosed ? nil : try? store.has(account: user)
    _ = publish()
    tokens.didLook(for: user, isThere: isThere)
    if isThere == false { review([user]) }
  }

  /// Tells the others what was written: ends of tokens, new keys, and who is an administrator.
  ///
  /// - Returns: false if the keys could not be read.
  private func publish() -> Bool {
    let news = store.takeNews()
    for alarm in news.alarms { logger.critical("\(name): \(alarm)") }
    if let access = news.access {
      administrators.change { ($0.secrets, $0.accounts) = (access.secrets, access.accounts) }
    }
    if !news.revocations.isEmpty { tokens.revoke(news.revocations) }
    if news.isAnew { tokens.doubtAll() }
    if news.hasNewKeys { owesKeys = true }
    if owesKeys {
      do {
        tokens.take(try store.keys())
        owesKeys = false
      } catch {
        note(error)
      }
    }
    if news.access != nil || news.isAnew {
      review(nil)
    } else if !news.revocations.isEmpty {
      review(Set(news.revocations.keys))
    }
    return !owesKeys
  }
}

import RunnelBase
import RunnelStore

/// Keeps the tokens of one account fresh.
///
/// ```
///   idle --due, asked--> reading --as before--> asking --tokens--> idle
///     ^                     | other tokens         | failed
///     +---------------------+                      v
///                    reading <--due, asked--- pausing
/// ```
/// For a connection, `checking` comes before a token that is still good: the user may have signed out in
/// another process. A refusal is believed only after the kept account was read again, since another process may have
/// exchanged the refresh token meanwhile.
struct TokenKeeper: Sendable {
  enum Phase: Equatable {
    case idle
    /// The kept account is being read only to see whether it is still there; then comes idling, or the
    /// pause until this time.
    case checking(pausingUntil: Int64?)
    /// The kept account is being read: before the question, or after this refusal.
    case reading(after: AccountFailure?)
    case asking
    /// An attempt failed; the next one is made at this time.
    case pausing(until: Int64)
  }

  /// What is to be done.
  enum Step: Equatable {
    case give(Int, Secret<String>)
    case fail(Int, AccountFailure)
    case read
    case ask(Secret<String>)
    case keep
    /// The session has ended at the service, or in another process.
    case end(AccountFailure)
  }

  private static let pauseMin: Int64 = 1000
  private static let pauseMax: Int64 = 300_000
  private static let waitersMax = 1000
  /// The shortest time between two refreshes that are not asked for.
  private static let intervalMin: Int64 = 5000
  /// The time before the expiry from which a token is not given out, for it has to arrive.
  private static let travelTime: Int64 = 10_000

  private(set) var account: KeptAccount
  private(set) var phase = Phase.idle
  private var waiters: [Int] = []
  /// Those for whom the token is good as soon as the kept account was read.
  private var checkers: [Int] = []
  private var isRefused = false
  private var attempts = 0
  private var lastFailure: (time: Int64, failure: AccountFailure)?
  private var dueTime: Int64 = 0
  private var random: SeededRandom

  init(_ account: KeptAccount, seed: UInt64) {
    self.account = account
    random = SeededRandom(seed: seed)
    setDueTime()
  }

  /// True if the ID token says something else of the user than what is known by now.
  var saysOther: Bool { TokenClaims(account.tokens.idToken)?.differs(from: account.user) ?? false }

  /// True while another token is being requested.
  var isRefreshing: Bool {
    switch phase {
    case .reading, .asking: true
    case .idle, .checking, .pausing: false
    }
  }

  /// Returns whether servers would accept the ID token.
  func isUsable(now: Int64) -> Bool {
    let tokens = account.tokens
    let travel = min(TokenKeeper.travelTime, (tokens.expires - tokens.obtained) / 2)
    // A clock that was set back does not tell how old a token is.
    return !isRefused && now < tokens.expires - travel && now >= tokens.obtained - 60_000
  }

  /// The time of the next refresh; nil while one is under way.
  var deadline: Int64? {
    switch phase {
    case .idle: dueTime
    case .pausing(let time): time
    case .checking, .reading, .asking: nil
    }
  }

  /// Lies between a tenth and a fifth of the lifetime before the expiry.
  private mutating func setDueTime() {
    let tokens = account.tokens
    let lifetime = max(0, tokens.expires - tokens.obtained)
    let margin = lifetime / 10 + Int64.random(in: 0...(lifetime / 10), using: &random)
    dueTime = max(tokens.obtained + TokenKeeper.intervalMin, tokens.expires - margin)
  }

  // MARK: Requests

  /// Gives a usable token, or requests one.
  ///
  /// - Parameters:
  ///   - id: the request.
  ///   - refused: the token that a server refused.
  ///   - isChecked: whether the kept account is read before a token is given.
  ///   - now: the time.
  /// - Returns: what is to be done.
  mutating func want(
    _ id: Int, refused: Secret<String>?, isChecked: Bool = false, now: Int64
  ) -> [Step] {
    if let refused, refused == account.tokens.idToken { isRefused = true }
    let isUsable = isUsable(now: now)
    // Before a question, the kept account was just read.
    if isUsable, !isChecked || phase == .asking { return [.give(id, account.tokens.idToken)] }
    if waiters.count + checkers.count >= TokenKeeper.waitersMax { return [.fail(id, .busy)] }
    if isUsable {
      checkers.append(id)
      return check()
    }
    if case .pausing = phase, let lastFailure, now >= lastFailure.time,
      now < lastFailure.time + TokenKeeper.pauseMin
    {
      return [.fail(id, lastFailure.failure)]
    }
    waiters.append(id)
    return begin()
  }

  /// Requests another token, although the present one is usable.
  mutating func renew(_ id: Int) -> [Step] {
    if waiters.count >= TokenKeeper.waitersMax { return [.fail(id, .busy)] }
    waiters.append(id)
    return begin()
  }

  /// Forgets who waits for a token.
  mutating func forget(_ id: Int) -> Bool {
    let count = waiters.count + checkers.count
    waiters.removeAll { $0 == id }
    checkers.removeAll { $0 == id }
    return waiters.count + checkers.count < count
  }

  /// Removes all who wait, and returns them.
  mutating func takeWaiters() -> [Int] {
    defer { (waiters, checkers) = ([], []) }
    return waiters + checkers
  }

  /// Requests a token if it is time to.
  mutating func advance(now: Int64) -> [Step] {
    guard let deadline, deadline <= now else { return [] }
    return begin()
  }

  private mutating func begin() -> [Step] {
    switch phase {
    case .idle, .pausing:
      phase = .reading(after: nil)
      return [.read]
    case .checking:
      // The answer that is under way will do.
      phase = .reading(after: nil)
      return []
    case .reading, .asking: return []
    }
  }

  private mutating func check() -> [Step] {
    switch phase {
    case .idle: phase = .checking(pausingUntil: nil)
    case .pausing(let time): phase = .checking(pausingUntil: time)
    case .checking, .reading, .asking: return []
    }
    return [.read]
  }

  // MARK: Answers

  private var isReading: Bool {
    switch phase {
    case .checking, .reading: true
    case .idle, .asking, .pausing: false
    }
  }

  /// Ends, as the kept account is gone.
  mutating func lose(_ reason: AccountFailure) -> [Step] {
    guard isReading else { return [] }
    phase = .idle
    return [.end(reason)]
  }

  /// Continues with the kept account: the present one if it could not be read.
  mutating func read(_ kept: KeptAccount, now: Int64) -> [Step] {
    guard isReading else { return [] }
    guard kept.user.id == account.user.id else { return lose(.signedOutElsewhere) }
    let before = phase
    let isNew = take(kept: kept)
    if case .checking(let pause) = before {
      phase = pause.map { isNew ? .idle : .pausing(until: $0) } ?? .idle
      return passCheckers(now: now)
    }
    if isNew {
      if isUsable(now: now) {
        phase = .idle
        attempts = 0
        return giveAll()
      }
    } else if case .reading(let refusal?) = before {
      phase = .idle
      return [.end(refusal)]
    }
    phase = .asking
    return [.ask(account.tokens.refreshToken)] + passCheckers(now: now)
  }

  /// Takes what another process has kept meanwhile; returns whether it has.
  private mutating func take(kept: KeptAccount) -> Bool {
    let (theirs, ours) = (kept.tokens, account.tokens)
    let isNew =
      theirs.refreshToken != ours.refreshToken || theirs.obtained > ours.obtained
      || theirs.obtained == ours.obtained && theirs.idToken != ours.idToken
    guard isNew else {
      // Another process may have learnt of the user without getting other tokens.
      if theirs == ours { account.user = kept.user }
      return false
    }
    if kept.tokens.idToken != account.tokens.idToken { isRefused = false }
    account = kept
    setDueTime()
    return true
  }

  /// Gives the token to those for whom the kept account was read; if it is not usable by now, they wait for
  /// another one.
  private mutating func passCheckers(now: Int64) -> [Step] {
    let passed = checkers
    checkers = []
    if passed.isEmpty { return [] }
    if isUsable(now: now) { return passed.map { .give($0, account.tokens.idToken) } }
    waiters += passed
    return begin()
  }

  /// Continues with new tokens.
  mutating func take(_ new: KeptAccount) -> [Step] {
    adopt(new)
    return [.keep] + giveAll()
  }

  /// Replaces the account after an operation that gave new tokens; a refresh under way is void.
  mutating func adopt(_ new: KeptAccount) {
    account = new
    (phase, isRefused, attempts, lastFailure) = (.idle, false, 0, nil)
    setDueTime()
  }

  /// Replaces what is known of the user.
  mutating func update(_ user: AccountUser) { account.user = user }

  /// Marks the ID token as one that the service refused.
  mutating func refuse() { isRefused = true }

  private mutating func giveAll() -> [Step] {
    takeWaiters().map { .give($0, account.tokens.idToken) }
  }

  /// Continues after a failure of the question.
  mutating func take(_ failure: AccountFailure, now: Int64) -> [Step] {
    guard phase == .asking else { return [] }
    if failure.endsRefresh {
      phase = .reading(after: failure)
      return [.read]
    }
    attempts += 1
    lastFailure = (now, failure)
    let longest = min(
      TokenKeeper.pauseMax, TokenKeeper.pauseMin << Int64(min(attempts, 16)))
    let pause = Int64.random(in: (longest / 2)...longest, using: &random)
    phase = .pausing(until: now + pause)
    return takeWaiters().map { .fail($0, failure) }
  }
}

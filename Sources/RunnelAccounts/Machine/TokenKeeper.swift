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
/// A refusal is believed only after the kept account was read again, since another process may have
/// exchanged the refresh token meanwhile.
struct TokenKeeper: Sendable {
  enum Phase: Equatable {
    case idle
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

  /// True while another token is being requested.
  var isRefreshing: Bool {
    switch phase {
    case .reading, .asking: true
    case .idle, .pausing: false
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
    case .reading, .asking: nil
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

  /// Gives a usable token, or requests one; `refused` is the token that a server refused.
  mutating func want(_ id: Int, refused: Secret<String>?, now: Int64) -> [Step] {
    if let refused, refused == account.tokens.idToken { isRefused = true }
    if isUsable(now: now) { return [.give(id, account.tokens.idToken)] }
    if waiters.count >= TokenKeeper.waitersMax { return [.fail(id, .busy)] }
    if case .pausing = phase, let lastFailure, now >= lastFailure.time,
      now < lastFailure.time + TokenKeeper.pauseMin
    {
      return [.fail(id, lastFailure.failure)]
    }
    waiters.append(id)
    return begin()
  }

  /// Forgets who waits for a token.
  mutating func forget(_ id: Int) -> Bool {
    guard let index = waiters.firstIndex(of: id) else { return false }
    waiters.remove(at: index)
    return true
  }

  /// Removes all who wait, and returns them.
  mutating func takeWaiters() -> [Int] {
    defer { waiters = [] }
    return waiters
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
    case .reading, .asking: return []
    }
  }

  // MARK: Answers

  /// Continues with the kept account: nil if it is gone, and the present one if it could not be read.
  mutating func read(_ kept: KeptAccount?, now: Int64) -> [Step] {
    guard case .reading(let refusal) = phase else { return [] }
    guard let kept, kept.user.id == account.user.id else {
      phase = .idle
      return [.end(.signedOutElsewhere)]
    }
    if kept.tokens.refreshToken != account.tokens.refreshToken
      || kept.tokens.obtained > account.tokens.obtained
    {
      let isSame = kept.tokens.idToken == account.tokens.idToken
      account = kept
      if !isSame { isRefused = false }
      setDueTime()
      if isUsable(now: now) {
        phase = .idle
        attempts = 0
        return giveAll()
      }
    } else if let refusal {
      phase = .idle
      return [.end(refusal)]
    }
    phase = .asking
    return [.ask(account.tokens.refreshToken)]
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

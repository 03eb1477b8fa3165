import RunnelBase
import RunnelStore

/// What a session is told.
enum AccountEvent: Equatable, Sendable {
  /// The program begins, with the accounts that were kept.
  case begin(KeptAccount?, departing: [KeptAccount])
  /// An operation is requested.
  case ask(Int, AccountOperation)
  /// An ID token is requested: of the signed-in user, or of one who is departing. `refused` is the
  /// token that a server has refused. If it is checked, the kept account is read first.
  case wantToken(Int, of: String?, refused: Secret<String>?, isChecked: Bool = false)
  /// A request is taken back.
  case cancel(Int)
  /// The user signs out. The credential is kept if something is still to be done with it.
  case signOut(keepsCredential: Bool)
  /// All is done that had to be done with the credential of a user who signed out.
  case departed(String)
  /// The session ends for another reason.
  case end(AccountFailure)
  /// The service answered a question.
  case answered(Int, Result<AccountReply, AccountFailure>)
  /// The kept account was read.
  case read(String, KeptAccount)
  /// The kept account is gone, for a reason that another process told; nil if its user signed out.
  case gone(String, AccountFailure?)
  /// The kept account could not be read.
  case unreadable(String)
  /// Time passed.
  case time
}

/// What a session does.
enum AccountEffect: Equatable, Sendable {
  /// Ask the service.
  case call(Int, AccountCall)
  /// The answer to a question is not wanted any more.
  case abandon(Int)
  /// Read the kept account of a user.
  case read(String)
  /// Keep the signed-in account; `isSignIn` if its user has just signed in.
  case keep(KeptAccount, isSignIn: Bool)
  /// Remember why the session of a user was ended, before the account is forgotten.
  case remember(AccountUser, AccountFailure)
  /// Forget the signed-in account.
  case forget(String)
  /// Keep an account as departing instead of signed in, or keep its new tokens.
  case depart(KeptAccount)
  /// Forget a departing account.
  case forgetDeparting(String)
  /// A request is answered.
  case finish(Int, Result<AccountOutcome, AccountFailure>)
  /// The state changed.
  case show(AccountState)

  /// True if somebody who waits is answered.
  var isAnswer: Bool { if case .finish = self { true } else { false } }
}

/// Decides what a session with an account service does; it is pure.
///
/// Invariants:
/// - A1. Each request is finished once.
/// - A2. The answer to an abandoned question changes nothing.
/// - A3. A kept account is forgotten only if the user signs out, is replaced or deleted, or if the
///   service refuses the credential itself: not without a connection, nor by errors of the service.
/// - A4. For each account, at most one refresh is under way.
/// - A5. Operations are done one after the other; a token is given only of the user who is asked for.
///
/// Compared: functions that `await` one answer after the other. There, each wait is a place where
/// another request may have changed the account, which nothing enumerates.
struct AccountMachine: Sendable {
  static let jobsMax = 64
  static let departingMax = 10

  /// A requested operation; the first of the queue is under way.
  struct Job {
    enum Step: Equatable {
      case waiting, confirming(Int), token, asking(Int)
      /// All is done, and a token is requested that says of the user what is known by now.
      case renewing
    }
    let id: Int
    let operation: AccountOperation
    var step = Step.waiting
    var isConfirmed = false
    var isRepeated = false
  }

  /// Who asked the service.
  enum Asker: Equatable { case job, keeper, departing(String) }

  var state = AccountState.signedOut
  var keeper: TokenKeeper?
  var departing: [String: TokenKeeper] = [:]
  /// True if an account that is replaced by another one departs, instead of being forgotten.
  var replacedDepart = false
  var resting = AccountState.signedOut
  var jobs: [Job] = []
  var calls: [Int: Asker] = [:]
  var lastCall = 0
  var effects: [AccountEffect] = []
  var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  /// The time at which `time` is due; nil for never.
  var deadline: Int64? { keeper?.deadline }

  /// Handles an event at a time in milliseconds since 1970.
  mutating func handle(_ event: AccountEvent, now: Int64) -> [AccountEffect] {
    react(event, now: now)
    startJob(now: now)
    var shown = resting
    if let keeper {
      let user = keeper.account.user
      shown = keeper.isRefreshing ? .refreshing(user) : .signedIn(user)
    } else if jobs.first?.operation.signsIn == true {
      shown = .signingIn
    }
    if shown != state {
      state = shown
      effects.append(.show(shown))
    }
    defer { effects = [] }
    return effects
  }

  mutating func react(_ event: AccountEvent, now: Int64) {
    switch event {
    case .begin(let kept, let old): begin(kept, old)
    case .ask(let id, let operation):
      if jobs.count >= AccountMachine.jobsMax { return finish(id, .failure(.busy)) }
      jobs.append(Job(id: id, operation: operation))
    case .wantToken(let id, let user, let refused, let isChecked):
      if keeper != nil, user == nil || user == keeper?.account.user.id {
        carryOut(
          keeper?.want(id, refused: refused, isChecked: isChecked, now: now) ?? [], of: nil,
          now: now)
      } else if let user, departing[user] != nil {
        carryOut(
          departing[user]?.want(id, refused: refused, isChecked: isChecked, now: now) ?? [],
          of: user, now: now)
      } else {
        finish(id, .failure(.notSignedIn))
      }
    case .cancel(let id): cancel(id)
    case .signOut(let keepsCredential): signOut(keepsCredential)
    case .departed(let user): forgetDeparting(user, .cancelled)
    case .end(let failure): if keeper != nil { end(failure) }
    case .answered(let call, let result): take(call, result, now: now)
    case .read(let user, let kept):
      if keeper?.account.user.id == user {
        carryOut(keeper?.read(kept, now: now) ?? [], of: nil, now: now)
      } else {
        carryOut(departing[user]?.read(kept, now: now) ?? [], of: user, now: now)
      }
    case .gone(let user, let reason):
      let failure = reason ?? .signedOutElsewhere
      if keeper?.account.user.id == user {
        carryOut(keeper?.lose(failure) ?? [], of: nil, now: now)
      } else {
        carryOut(departing[user]?.lose(failure) ?? [], of: user, now: now)
      }
    case .unreadable(let user):
      // What this process has is the best that there is.
      if let keeper, keeper.account.user.id == user {
        carryOut(self.keeper?.read(keeper.account, now: now) ?? [], of: nil, now: now)
      } else if let other = departing[user] {
        carryOut(departing[user]?.read(other.account, now: now) ?? [], of: user, now: now)
      }
    case .time: carryOut(keeper?.advance(now: now) ?? [], of: nil, now: now)
    }
  }

  mutating func finish(_ id: Int, _ result: Result<AccountOutcome, AccountFailure>) {
    effects.append(.finish(id, result))
  }

  mutating func begin(_ kept: KeptAccount?, _ old: [KeptAccount]) {
    if let kept { keeper = TokenKeeper(kept, seed: random.next()) }
    for account in old.prefix(AccountMachine.departingMax) where account.user.id != kept?.user.id {
      departing[account.user.id] = TokenKeeper(account, seed: random.next())
    }
  }
}

// MARK: Tokens

extension AccountMachine {
  /// Carries out the steps of a keeper: the one of the signed-in user, or of a departing one.
  mutating func carryOut(_ steps: [TokenKeeper.Step], of user: String?, now: Int64) {
    for step in steps {
      switch step {
      case .give(let id, let token):
        if jobs.first?.id == id {
          isRenewing(id) ? succeed(AccountReply()) : ask(token)
        } else {
          finish(id, .success(AccountOutcome(token: token)))
        }
      case .fail(let id, let failure):
        // The next refresh gives such a token.
        if isRenewing(id) { succeed(AccountReply()) } else { fail(id, failure) }
      case .read: effects.append(.read(user ?? keeper?.account.user.id ?? ""))
      case .ask(let token):
        call(.refresh(refreshToken: token), by: user.map { .departing($0) } ?? .keeper)
      case .keep:
        if let account = user.flatMap({ departing[$0]?.account }) {
          effects.append(.depart(account))
        } else if let account = keeper?.account {
          effects.append(.keep(account, isSignIn: false))
        }
      case .end(let failure):
        if let user { forgetDeparting(user, failure) } else { end(failure) }
      }
    }
  }

  /// Answers a request, or the job under way, with a failure.
  mutating func fail(_ id: Int, _ failure: AccountFailure) {
    if jobs.first?.id == id { jobs.removeFirst() }
    _ = keeper?.forget(id)
    finish(id, .failure(failure))
  }

  mutating func call(_ question: AccountCall, by asker: Asker) {
    lastCall += 1
    calls[lastCall] = asker
    effects.append(.call(lastCall, question))
  }

  mutating func abandon(where isMeant: (Asker) -> Bool) {
    for (call, asker) in calls.sorted(by: { $0.key < $1.key }) where isMeant(asker) {
      calls[call] = nil
      effects.append(.abandon(call))
    }
  }

  mutating func take(
    _ call: Int, _ result: Result<AccountReply, AccountFailure>, now: Int64
  ) {
    switch calls.removeValue(forKey: call) {
    case nil: break
    case .job: takeForJob(call, result, now: now)
    case .keeper:
      guard let account = keeper?.account else { return }
      let result = refreshed(account, result, now: now)
      carryOut(AccountMachine.apply(result, to: &keeper, now: now), of: nil, now: now)
    case .departing(let user):
      guard let account = departing[user]?.account else { return }
      let result = refreshed(account, result, now: now)
      carryOut(AccountMachine.apply(result, to: &departing[user], now: now), of: user, now: now)
    }
  }

  /// Returns the refreshed account, or why there is none.
  func refreshed(
    _ account: KeptAccount, _ result: Result<AccountReply, AccountFailure>, now: Int64
  ) -> Result<KeptAccount, AccountFailure> {
    result.flatMap { reply in
      var reply = reply
      // A service may leave out a refresh token that did not change.
      reply.refreshToken = reply.refreshToken ?? account.tokens.refreshToken
      return signedIn(reply, now: now).flatMap {
        $0.user.id == account.user.id ? .success($0) : .failure(.userMismatch)
      }
    }
  }

  static func apply(
    _ result: Result<KeptAccount, AccountFailure>, to keeper: inout TokenKeeper?, now: Int64
  ) -> [TokenKeeper.Step] {
    switch result {
    case .success(let account): keeper?.take(account) ?? []
    case .failure(let failure): keeper?.take(failure, now: now) ?? []
    }
  }

  /// Returns the account that an answer with tokens describes.
  func signedIn(
    _ reply: AccountReply, now: Int64
  ) -> Result<KeptAccount, AccountFailure> {
    guard let idToken = reply.idToken, let refreshToken = reply.refreshToken else {
      return .failure(.malformed("it has no tokens"))
    }
    let claims = TokenClaims(idToken)
    guard let id = reply.userID ?? claims?.userID, !id.isEmpty else {
      return .failure(.missingUserID)
    }
    if let other = claims?.userID, other != id { return .failure(.userMismatch) }
    var user = keeper?.account.user ?? AccountUser(id: id)
    if user.id != id { user = departing[id]?.account.user ?? AccountUser(id: id) }
    claims?.fill(&user)
    if let told = reply.user, told.id == id {
      let method = told.method ?? user.method
      user = told
      user.method = method
    }
    let seconds = min(max(reply.lifetimeSeconds ?? 3600, 1), 31_536_000)
    let tokens = AccountTokens(
      idToken: idToken, refreshToken: refreshToken, obtained: now, expires: now + seconds * 1000)
    return .success(KeptAccount(user, tokens))
  }
}

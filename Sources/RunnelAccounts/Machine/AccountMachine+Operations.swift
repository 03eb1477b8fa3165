import RunnelBase
import RunnelStore

extension AccountMachine {
  /// Starts the first operation of the queue.
  mutating func startJob(now: Int64) {
    while let job = jobs.first, job.step == .waiting {
      if job.operation.needsUser, keeper == nil {
        fail(job.id, .notSignedIn)
      } else {
        continueJob(now: now)
        if jobs.first?.id == job.id { return }
      }
    }
  }

  mutating func continueJob(now: Int64) {
    guard let job = jobs.first else { return }
    guard job.operation.needsUser, let account = keeper?.account else {
      // A code needs no token: one that is at hand keeps the session.
      let isUsable = keeper?.isUsable(now: now) == true
      return ask(isUsable ? keeper?.account.tokens.idToken : nil)
    }
    if let password = job.operation.currentPassword, !job.isConfirmed {
      guard let email = account.user.email else {
        return fail(
          job.id, AccountFailure(.missingEmail, "The account has no e-mail address and password."))
      }
      call(.signIn(email: email, password: password), by: .job)
      jobs[0].step = .confirming(lastCall)
      return
    }
    if case .reauthenticate = job.operation { return succeed(AccountReply()) }
    jobs[0].step = .token
    // The account is kept again afterwards, and must not replace newer tokens.
    carryOut(
      keeper?.want(job.id, refused: nil, isChecked: true, now: now) ?? [], of: nil, now: now)
  }

  /// Returns whether a request is the job under way, and waits only for another token.
  func isRenewing(_ id: Int) -> Bool {
    jobs.first.map { $0.id == id && $0.step == .renewing } ?? false
  }

  /// Asks the service for the job under way.
  mutating func ask(_ token: Secret<String>?) {
    guard let job = jobs.first, let question = job.operation.call(token) else { return }
    call(question, by: .job)
    jobs[0].step = .asking(lastCall)
  }

  mutating func takeForJob(
    _ call: Int, _ result: Result<AccountReply, AccountFailure>, now: Int64
  ) {
    guard let job = jobs.first else { return }
    let isConfirming = job.step == .confirming(call)
    switch result {
    case .success(let reply):
      isConfirming ? confirm(reply, now: now) : takeReply(reply, now: now)
    case .failure(let failure):
      guard !isConfirming, job.operation.needsUser else { return fail(job.id, failure) }
      if failure.refusesUser {
        fail(job.id, failure)
        end(failure)
      } else if failure.refusesToken, !job.isRepeated {
        jobs[0].isRepeated = true
        keeper?.refuse()
        continueJob(now: now)
      } else {
        fail(job.id, failure)
      }
    }
  }

  /// Continues after the present password was accepted.
  mutating func confirm(_ reply: AccountReply, now: Int64) {
    guard let job = jobs.first, let user = keeper?.account.user else { return }
    switch signedIn(reply, now: now) {
    case .success(let account) where account.user.id == user.id:
      adopt(account, now: now)
      jobs[0].isConfirmed = true
      continueJob(now: now)
    case .success: fail(job.id, .userMismatch)
    case .failure(let failure): fail(job.id, failure)
    }
  }

  mutating func takeReply(_ reply: AccountReply, now: Int64) {
    guard let job = jobs.first else { return }
    switch job.operation {
    case .signUp, .signIn, .signInAnonymously, .signInWithToken:
      switch signedIn(reply, now: now) {
      case .success(let account): replace(by: account, now: now)
      case .failure(let failure): return fail(job.id, failure)
      }
    case .upgrade, .changePassword, .changeEmail:
      guard let user = keeper?.account.user else { return }
      if case .success(let account) = signedIn(reply, now: now), account.user.id == user.id {
        adopt(account, now: now)
      } else {
        // The old token is refused from now on.
        keeper?.refuse()
      }
      if case .changeEmail(let email, _) = job.operation {
        update { $0.email = $0.email == user.email ? EmailAddress(email).text : $0.email }
      }
    case .applyCode:
      // A code that changes the address ends the other sessions only.
      if let user = keeper?.account.user, case .success(let account) = signedIn(reply, now: now),
        account.user.id == user.id
      {
        adopt(account, now: now)
      }
    case .changeProfile(let profile):
      update { user in
        if let name = profile.displayName { user.displayName = name.isEmpty ? nil : name }
        if let photo = profile.photoURL { user.photoURL = photo.isEmpty ? nil : photo }
      }
      if renews(job.id, now: now) { return }
    case .reload:
      guard let found = reply.user, found.id == keeper?.account.user.id else {
        return fail(job.id, .malformed("it does not describe the user"))
      }
      update { user in
        let (method, lastSignIn) = (user.method, user.lastSignIn)
        user = found
        user.method = found.method ?? method
        user.lastSignIn = found.lastSignIn ?? lastSignIn
      }
      if renews(job.id, now: now) { return }
    case .delete:
      // Other processes are told why the account is gone.
      if let user = keeper?.account.user { effects.append(.remember(user, .accountDeleted)) }
      leave(because: .accountDeleted) { .forget($0.user.id) }
      resting = .signedOut
    default: break
    }
    succeed(reply)
  }

  /// Requests another token if the present one says something else of the user: rules see what the token says.
  private mutating func renews(_ id: Int, now: Int64) -> Bool {
    guard keeper?.saysOther == true else { return false }
    jobs[0].step = .renewing
    carryOut(keeper?.renew(id) ?? [], of: nil, now: now)
    return true
  }

  mutating func succeed(_ reply: AccountReply) {
    guard !jobs.isEmpty else { return }
    let job = jobs.removeFirst()
    finish(
      job.id, .success(AccountOutcome(user: keeper?.account.user, code: reply.code)))
  }

  /// Takes new tokens of the signed-in user, and gives them to all who wait.
  mutating func adopt(_ account: KeptAccount, isSignIn: Bool = false, now: Int64) {
    abandon { $0 == .keeper }
    let waiters = keeper?.takeWaiters() ?? []
    keeper?.adopt(account)
    effects.append(.keep(account, isSignIn: isSignIn))
    for id in waiters {
      carryOut(keeper?.want(id, refused: nil, now: now) ?? [], of: nil, now: now)
    }
  }

  mutating func update(_ change: (inout AccountUser) -> Void) {
    guard var user = keeper?.account.user else { return }
    change(&user)
    keeper?.update(user)
    if let account = keeper?.account { effects.append(.keep(account, isSignIn: false)) }
  }

  /// Takes another user, or the same one again.
  mutating func replace(by account: KeptAccount, now: Int64) {
    let id = account.user.id
    if departing[id] != nil { forgetDeparting(id, .cancelled) }
    if keeper?.account.user.id == id { return adopt(account, isSignIn: true, now: now) }
    if keeper != nil {
      let departs = replacedDepart
      leave { departs ? .depart($0) : .forget($0.user.id) }
      // Nobody may act for the new user by a request that was made for the old one.
      failJobs(after: 1, .cancelled)
    }
    keeper = TokenKeeper(account, seed: random.next())
    effects.append(.keep(account, isSignIn: true))
  }
}

// MARK: Ends

extension AccountMachine {
  mutating func signOut(_ keepsCredential: Bool) {
    abandon { $0 == .job }
    failJobs(after: 0, .cancelled)
    resting = .signedOut
    leave { keepsCredential ? .depart($0) : .forget($0.user.id) }
  }

  /// Ends the session for a reason that the user did not give.
  mutating func end(_ failure: AccountFailure) {
    guard let user = keeper?.account.user else { return }
    resting = .ended(user, failure)
    effects.append(.remember(user, failure))
    if let job = jobs.first, job.operation.needsUser {
      abandon { $0 == .job }
      fail(job.id, failure)
    }
    leave(because: failure) { .forget($0.user.id) }
  }

  /// Lets go of the signed-in account.
  mutating func leave(
    because failure: AccountFailure = .notSignedIn, _ effect: (KeptAccount) -> AccountEffect
  ) {
    guard var old = keeper else { return }
    keeper = nil
    abandon { $0 == .keeper }
    for id in old.takeWaiters() { fail(id, failure) }
    let made = effect(old.account)
    effects.append(made)
    if case .depart = made {
      if departing.count >= AccountMachine.departingMax,
        let oldest = departing.min(by: {
          $0.value.account.tokens.obtained < $1.value.account.tokens.obtained
        })
      {
        forgetDeparting(oldest.key, .cancelled)
      }
      departing[old.account.user.id] = TokenKeeper(old.account, seed: random.next())
    }
  }

  mutating func forgetDeparting(_ user: String, _ failure: AccountFailure) {
    guard var old = departing.removeValue(forKey: user) else { return }
    abandon { $0 == .departing(user) }
    for id in old.takeWaiters() { finish(id, .failure(failure)) }
    effects.append(.forgetDeparting(user))
  }

  /// Fails the operations of the queue from an index on: those that need a user, or all.
  mutating func failJobs(after index: Int, _ failure: AccountFailure) {
    let failed = jobs.dropFirst(index).filter { index == 0 || $0.operation.needsUser }
    jobs.removeAll { job in failed.contains { $0.id == job.id } }
    for job in failed {
      _ = keeper?.forget(job.id)
      finish(job.id, .failure(failure))
    }
  }

  mutating func cancel(_ id: Int) {
    if jobs.first?.id == id { abandon { $0 == .job } }
    var isKnown = jobs.contains { $0.id == id }
    jobs.removeAll { $0.id == id }
    if keeper?.forget(id) == true { isKnown = true }
    for user in departing.keys where departing[user]?.forget(id) == true { isKnown = true }
    if isKnown { finish(id, .failure(.cancelled)) }
  }
}

import RunnelAccounts
import RunnelClient
import RunnelWorkspace
import Synchronization

// What is known of the accounts, as the workspace shows it.

extension AccountWork {
  /// What is known of the accounts.
  ///
  /// - Parameters:
  ///   - user: the id of the user whose data is shown; nil for nobody.
  ///   - state: the state of the user's session; nil before it is opened.
  /// - Returns: the facts.
  nonisolated func facts(of user: String?, _ state: AccountState?) -> AccountFacts {
    // What cannot be read is told when it is needed.
    let ended: EndedAccount? = user.map { try? home.ended($0) } ?? (try? home.ended())
    let kept: [KeptAccount] = (try? home.all()) ?? []
    var facts = AccountFacts(kept, of: user, state, ended: ended)
    if user == nil, facts.revokedAccount == nil {
      facts.revokedAccount = shared.withLock { $0.revoked }
    }
    tell(&facts, of: user)
    return facts
  }

  /// Adds what waits of others than the user whose data is shown: of accounts that are signed in, whose sessions
  /// have ended, or whose users are signed out.
  private nonisolated func tell(_ facts: inout AccountFacts, of user: String?) {
    let signedIn = facts.accounts.map { AccountFacts.Waiting($0, count: 0) }
    let ended = home.allEnded().map { AccountFacts.Waiting($0, count: 0) }
    let left = home.allLeft().map { AccountFacts.Waiting(left: $0) }
    var seen = Set([user].compactMap(\.self))
    // What is known best comes first.
    let known = (signedIn + ended + left).filter { seen.insert($0.account.id).inserted }
    let others = replicas.users().filter { seen.insert($0).inserted }
    let found = others.prefix(WaitingReplicas.usersMax).compactMap { other in
      other == OriginAccess.nobody.user ? nil : AccountFacts.Waiting(left: AccountUser(id: other))
    }
    facts.waiting = (known + found).compactMap { account in
      var account = account
      account.count = replicas.count(account.account.id)
      return account.count == 0 ? nil : account
    }
    let nobody = OriginAccess.nobody.user
    let hasOfNobody = user != nil && others.contains(nobody)
    (facts.nobodyCount, facts.nobodyRefusedCount) = hasOfNobody ? replicas.counts(nobody) : (0, 0)
    // Only who has an account here, or has written, may write.
    let counted =
      known.map(\.account.id)
      + facts.waiting.map(\.account.id).filter { id in !known.contains { $0.account.id == id } }
      + (facts.tellsOfNobody ? [nobody] : [])
    shared.withLock { $0.counted = counted }
  }

  /// Whether something is still to be done at the server for a user who has just signed out.
  nonisolated func isLater(_ request: AccountRequest) -> Bool {
    guard case .signOut(let user) = request else { return false }
    // What cannot be read is told when somebody signs in.
    let departing: [KeptAccount] = (try? home.departing()) ?? []
    return departing.contains { $0.user.id == user }
  }

  /// Gives up the writes of a user who is signed out.
  func giveUp(_ user: String) async throws(AccountFailure) {
    do {
      try replicas.drop(user)
    } catch {
      throw AccountFailure(.storage, "\(error)")
    }
    try home.forgetLeft(user)
    publish(await opened?.session.state)
  }
}

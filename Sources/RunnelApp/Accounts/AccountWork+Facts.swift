import RunnelAccounts
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
    facts.revokedCount = facts.revokedUser.map(countWaiting) ?? 0
    facts.waiting = waiting(of: facts.accounts, besides: user)
    return facts
  }

  /// The accounts but that of a user whose writes wait: those signed in, and those whose sessions have ended.
  private nonisolated func waiting(
    of signedIn: [AccountFacts.Account], besides user: String?
  ) -> [AccountFacts.Waiting] {
    let kept = signedIn.filter { $0.id != user }.map { AccountFacts.Waiting($0, count: 0) }
    let ended = home.allEnded().filter { end in
      // What is kept of a device that was taken away is shown only after a new sign-in.
      !end.isRevoked && end.user.id != user && !signedIn.contains { $0.id == end.user.id }
    }
    let all = kept + ended.map { AccountFacts.Waiting($0, count: 0) }
    shared.withLock { $0.counted = all.map(\.account.id) }
    return all.compactMap { account in
      var account = account
      account.count = countWaiting(account.account.id)
      return account.count == 0 ? nil : account
    }
  }
}

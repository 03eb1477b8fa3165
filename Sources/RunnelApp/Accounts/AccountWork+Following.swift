import RunnelAccounts
import RunnelWorkspace
import Synchronization

// What other windows and commands do with the accounts, and what the service knows of them.

extension AccountWork {
  /// Reads the accounts anew when they begin to be listed, and when a form over the list is closed: other
  /// programs may have signed some in or out, and a link may have confirmed an address.
  nonisolated func note(isListed: Bool, isInFront: Bool) {
    let begins = shared.withLock { shared in
      defer { (shared.isListed, shared.isInFront) = (isListed, isInFront) }
      return isListed && !shared.isListed || isInFront && !shared.isInFront
    }
    if begins { Task { await self.lookAgain() } }
  }

  /// Asks the service about the user when another write was refused: a link may have confirmed the address,
  /// and the token may not say so yet.
  nonisolated func note(refused: AppRequestID?) {
    let begins = shared.withLock { shared in
      guard let refused, refused != shared.refused else { return false }
      shared.refused = refused
      if shared.isAsking || shared.user == nil { return false }
      shared.isAsking = true
      return true
    }
    guard begins else { return }
    Task {
      await self.lookAgain()
      self.shared.withLock { $0.isAsking = false }
    }
  }

  /// Keeps the address of a user who signed out elsewhere as soon as writes wait: when the user signed out, none may
  /// have waited, and nothing else tells whose they are.
  nonisolated func note(isLeftWithWrites: Bool) {
    let begins = shared.withLock { shared in
      defer { shared.isLeftWithWrites = isLeftWithWrites }
      return isLeftWithWrites && !shared.isLeftWithWrites
    }
    if begins { Task { await self.keepAddress() } }
  }

  private func keepAddress() {
    guard let id = shared.withLock({ $0.user }), let user = known(id), user.email != nil else {
      return
    }
    // What cannot be read or written is told when somebody signs in.
    guard let kept = try? home.all(), !kept.contains(where: { $0.user.id == id }),
      (try? home.ended(id)) == nil, (try? home.left(id)) == nil
    else { return }
    try? home.noteSignOut(of: user, writesWait: true)
  }

  /// What this workspace was told of its user; nil for other users.
  nonisolated func known(_ id: String) -> AccountUser? {
    guard let told = shared.withLock({ $0.told }), told.id == id else { return nil }
    var user = AccountUser(id: id)
    (user.email, user.displayName) = (told.email, told.name)
    user.isEmailVerified = told.isVerified
    if told.isAnonymous { user.method = "anonymous" }
    return user
  }

  /// Follows what is stored of the accounts, which has changed: other windows and commands share it.
  nonisolated func follow() {
    let begins = shared.withLock { shared in
      defer { if shared.hasBegun { shared.isToFollow = true } }
      return shared.hasBegun && !shared.isToFollow
    }
    if begins { Task { await self.readAgain() } }
  }

  /// The accounts whose waiting writes are told, but that of the user.
  nonisolated var countedUsers: [String] { shared.withLock { $0.counted } }

  /// The pause before writes are counted: a program that sends many is not followed at each one.
  static let countMilliseconds: Int64 = 300

  /// Counts the waiting writes of the other accounts again: another program may have sent some.
  nonisolated func countAgain() {
    let begins = shared.withLock { shared in
      defer { shared.isToCount = true }
      return !shared.isToCount
    }
    if begins { Task { await self.count() } }
  }

  private func count() async {
    // Without the pause it is counted earlier.
    try? await options.clock.sleep(AccountWork.countMilliseconds)
    // What is written from now on is counted once more.
    shared.withLock { $0.isToCount = false }
    publish(await opened?.session.state)
  }

  /// Reads the accounts: the user may have signed out or in elsewhere, or have got other tokens.
  private func readAgain() async {
    // What changes from now on is read once more.
    shared.withLock { $0.isToFollow = false }
    _ = await session()
    publish(await opened?.session.state)
    // Without a connection, what is known stays.
    if let opened { _ = try? await opened.session.checkedToken(of: opened.user) }
  }

  private func lookAgain() async {
    await readAgain()
    if let opened { await lookUp(opened.session) }
  }

  /// Asks the service whether the address was confirmed, by a link for example; then the token says so, too.
  func lookUp(_ session: AccountSession) async {
    guard let user = await session.user, user.email != nil else { return }
    if user.isEmailVerified, await !session.tokenSaysOther { return }
    // Without an answer, what is known stays.
    _ = try? await session.reload()
    publish(await session.state)
  }
}

import Synchronization

/// Keeps one account of a folder: a certain one, or one that signs in beside the others, which stay.
package final class ChosenAccount: AccountStorage {
  private struct State {
    var failure: AccountFailure?
    /// The users who signed out here.
    var departed: Set<String> = []
  }

  private let folder: AccountFolder
  private let user: String?
  private let state = Mutex(State())

  /// Keeps the account of a user, whichever is the active one; nil for one that signs in.
  package init(_ folder: AccountFolder, user: String?) { (self.folder, self.user) = (folder, user) }

  /// The reason why the account could not be kept; nil if it was.
  package var failure: AccountFailure? { state.withLock { $0.failure } }

  package func signedIn() throws(AccountFailure) -> KeptAccount? {
    folder.removeRemains()
    guard let user else { return nil }
    return try folder.account(of: user, isDeparting: false)
  }

  package func account(of user: String) throws(AccountFailure) -> KeptAccount? {
    // For others, a user who signs out here is gone.
    let isDeparting = state.withLock { $0.departed.contains(user) }
    return try folder.account(of: user, isDeparting: isDeparting)
  }

  package func departing() -> [KeptAccount] { [] }

  package func keep(_ account: KeptAccount, isSignIn: Bool) throws(AccountFailure) {
    do throws(AccountFailure) {
      try folder.keep(account, isSignIn: isSignIn)
    } catch {
      state.withLock { $0.failure = error }
      throw error
    }
    _ = state.withLock { $0.departed.remove(account.user.id) }
  }

  package func depart(_ account: KeptAccount) throws(AccountFailure) {
    let isFirst = state.withLock { $0.departed.insert(account.user.id).inserted }
    if isFirst { try folder.depart(account) } else { try folder.renewDeparting(account) }
  }

  package func forget(_ user: String) throws(AccountFailure) { try folder.forget(user) }
  package func forgetDeparting(_ user: String) throws(AccountFailure) {
    try folder.forgetDeparting(user)
  }
  package func rememberEnd(
    of user: AccountUser, _ failure: AccountFailure
  ) throws(AccountFailure) {
    try folder.rememberEnd(of: user, failure)
  }
  package func end(of user: String) throws(AccountFailure) -> AccountFailure? {
    try folder.end(of: user)
  }
}

import Synchronization

/// Keeps one account of a folder: a certain one, or one that signs in beside the others, which stay.
package final class ChosenAccount: AccountStorage {
  private let folder: AccountFolder
  private let user: String?
  private let state = Mutex<AccountFailure?>(nil)

  /// Keeps the account of a user, whichever is the active one; nil for one that signs in.
  package init(_ folder: AccountFolder, user: String?) { (self.folder, self.user) = (folder, user) }

  /// The reason why the account could not be kept; nil if it was.
  package var failure: AccountFailure? { state.withLock { $0 } }

  package func signedIn() throws(AccountFailure) -> KeptAccount? {
    guard let user else { return nil }
    return try folder.account(of: user)
  }

  package func account(of user: String) throws(AccountFailure) -> KeptAccount? {
    try folder.account(of: user)
  }

  package func departing() -> [KeptAccount] { [] }

  package func keep(_ account: KeptAccount, isSignIn: Bool) throws(AccountFailure) {
    do throws(AccountFailure) {
      try folder.keep(account, isSignIn: isSignIn)
    } catch {
      state.withLock { $0 = error }
      throw error
    }
  }

  package func depart(_ account: KeptAccount) throws(AccountFailure) { try folder.depart(account) }
  package func forget(_ user: String) throws(AccountFailure) { try folder.forget(user) }
  package func forgetDeparting(_ user: String) throws(AccountFailure) {
    try folder.forgetDeparting(user)
  }
  package func rememberEnd(
    of user: AccountUser, _ failure: AccountFailure
  ) throws(AccountFailure) {
    try folder.rememberEnd(of: user, failure)
  }
}

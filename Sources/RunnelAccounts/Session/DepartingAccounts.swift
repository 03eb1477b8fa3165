/// Keeps the departing accounts of a folder, for a session as nobody that only finishes what is to be done
/// for users who signed out; accounts that are signed in stay as they are.
package struct DepartingAccounts: AccountStorage {
  private let folder: AccountFolder
  private let users: Set<String>

  /// Keeps the departing accounts of some users.
  package init(_ folder: AccountFolder, users: Set<String>) {
    (self.folder, self.users) = (folder, users)
  }

  package func signedIn() -> KeptAccount? { nil }

  package func account(of user: String) throws(AccountFailure) -> KeptAccount? {
    try folder.account(of: user, isDeparting: true)
  }

  package func departing() throws(AccountFailure) -> [KeptAccount] {
    try folder.departing().filter { users.contains($0.user.id) }
  }

  /// Does nothing: nobody signs in here.
  package func keep(_ account: KeptAccount, isSignIn: Bool) {}

  package func depart(_ account: KeptAccount) throws(AccountFailure) {
    try folder.renewDeparting(account)
  }

  /// Does nothing: nobody is signed in here.
  package func forget(_ user: String) {}

  package func forgetDeparting(_ user: String) throws(AccountFailure) {
    try folder.forgetDeparting(user)
  }
}

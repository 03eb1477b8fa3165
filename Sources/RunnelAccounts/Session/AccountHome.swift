package import RunnelSync

/// The accounts of a user at a server's database: who is signed in there, and with which service.
package struct AccountHome: Sendable {
  /// The service of the server at the address of the database.
  package let ownService: any AccountProvider
  /// Sends requests for accounts.
  package let transport: IdentityToolkit.Transport
  private let name: String
  private let parent: String

  /// Finds the accounts for a database.
  ///
  /// - Parameters:
  ///   - address: the address of the database.
  ///   - transport: sends requests for accounts.
  ///   - environment: the environment variables of the process.
  /// - Throws: `AccountFailure` (`storage`) if the user has no home.
  package init(
    _ address: OriginAddress, _ transport: @escaping IdentityToolkit.Transport,
    environment: [String: String]
  ) throws(AccountFailure) {
    let scheme = address.isSecure ? "https" : "http"
    self.init(
      of: address.name, IdentityToolkit.server("\(scheme)://\(address.host)", transport), transport,
      below: try AccountFolder.stateFolder(environment) + "/accounts")
  }

  /// Finds the accounts for the services of a Feathers server.
  ///
  /// - Throws: `AccountFailure` (`storage`) if the user has no home.
  package init(
    _ address: OriginAddress, _ service: FeathersAccounts,
    _ transport: @escaping IdentityToolkit.Transport, environment: [String: String]
  ) throws(AccountFailure) {
    self.init(
      of: address.name, service, transport,
      below: try AccountFolder.stateFolder(environment) + "/accounts")
  }

  /// Makes the home of the accounts for the name of a database, below a folder.
  package init(
    of name: String, _ service: any AccountProvider,
    _ transport: @escaping IdentityToolkit.Transport,
    below folder: String
  ) {
    (self.name, parent) = (name, folder)
    (ownService, self.transport) = (service, transport)
  }

  /// Returns the folder of the accounts, for a service.
  package func folder(_ service: any AccountProvider) -> AccountFolder {
    AccountFolder(for: name, service: service.name, below: parent)
  }

  /// The path of the folder of the accounts, which need not exist.
  package var path: String { folderOfAnyService.path }

  private var folderOfAnyService: AccountFolder {
    AccountFolder(for: name, service: "", below: parent)
  }

  /// Reads the account that is signed in; nil if there is none.
  ///
  /// - Throws: `AccountFailure` (`storage`) if it cannot be read.
  package func signedIn() throws(AccountFailure) -> KeptAccount? {
    try folderOfAnyService.signedIn()
  }

  /// Reads all accounts, of which at most one is active.
  ///
  /// - Throws: `AccountFailure` (`storage`) if one cannot be read.
  package func all() throws(AccountFailure) -> [KeptAccount] { try folderOfAnyService.accounts() }

  /// Reads the accounts whose users signed out, and of which something is still to be done.
  ///
  /// - Throws: `AccountFailure` (`storage`) if one cannot be read.
  package func departing() throws(AccountFailure) -> [KeptAccount] {
    try folderOfAnyService.departing()
  }

  /// Reads the user whose session was ended last; nil if somebody signed in since, or out.
  ///
  /// - Throws: `AccountFailure` (`storage`) if it cannot be read.
  package func ended() throws(AccountFailure) -> EndedAccount? { try folderOfAnyService.ended() }

  /// Reads the end of a user's session, which is known until the user signs in again, or out; nil if there was
  /// none.
  ///
  /// - Throws: `AccountFailure` (`storage`) if it cannot be read.
  package func ended(_ user: String) throws(AccountFailure) -> EndedAccount? {
    try folderOfAnyService.ended(user)
  }

  /// Reads the ends of all sessions whose users did not sign in since, nor out; without files that cannot be
  /// read.
  package func allEnded() -> [EndedAccount] { folderOfAnyService.allEnded() }

  /// Reads a user who signed out while writes waited, and did not sign in since; nil for none.
  ///
  /// - Throws: `AccountFailure` (`storage`) if it cannot be read.
  package func left(_ user: String) throws(AccountFailure) -> AccountUser? {
    try folderOfAnyService.left(user)
  }

  /// Reads the users who signed out while writes waited, and did not sign in since; without files that cannot be
  /// read.
  package func allLeft() -> [AccountUser] { folderOfAnyService.allLeft() }

  /// Forgets the address of a user who signed out, as no write waits any more.
  ///
  /// - Throws: `AccountFailure` (`storage`) if the file cannot be removed.
  package func forgetLeft(_ user: String) throws(AccountFailure) {
    try folderOfAnyService.forgetLeft(user)
  }

  /// Forgets that the session of a user was ended.
  ///
  /// - Throws: `AccountFailure` (`storage`) if the file cannot be removed.
  package func forgetEnd(of user: String) throws(AccountFailure) {
    try folderOfAnyService.forgetEnd(of: user)
  }

  /// Notes that a user signed out; the end of an account to which nobody can sign in again is told while writes of
  /// it wait, and the address of another one is kept as long.
  ///
  /// - Throws: `AccountFailure` (`storage`) if that cannot be written.
  package func noteSignOut(of user: AccountUser, writesWait: Bool) throws(AccountFailure) {
    try folderOfAnyService.noteSignOut(of: user, writesWait: writesWait)
  }

  /// Waits until a sign-in is surely after each revocation of this device that is known here: times of sign-in are in
  /// whole seconds, and in the same second the revocation wins.
  ///
  /// It waits at most a second, and not after a step of the clock.
  package func waitAfterRevocation(_ clock: AccountClock = .system) async {
    let pause = folderOfAnyService.pauseAfterRevocation(now: clock.now())
    // A cancelled wait ends earlier.
    if pause > 0 { try? await clock.sleep(pause) }
  }

  /// Asks the service whether the sessions of other accounts with the address of a user hold, after the user signed
  /// in: an address has one account, so the earlier one was deleted, or has another address now.
  ///
  /// Without an answer, what is known stays.
  package func checkEarlier(
    of user: AccountUser, options: AccountOptions = AccountOptions()
  ) async {
    guard user.email != nil else { return }
    let kept: [KeptAccount] = (try? all()) ?? []
    for account in kept
    where account.user.id != user.id && EmailAddress.areSame(account.user.email, user.email) {
      let known: (any AccountProvider)? = try? service(of: account.user.id)
      let service = known ?? ownService
      let storage = ChosenAccount(folder(service), user: account.user.id)
      let session = await AccountSession(service, storage: storage, options: options)
      _ = try? await session.perform(.reload)
      await session.close()
    }
  }

  /// Makes another account the active one.
  ///
  /// - Throws: `AccountFailure` (`storage`) if that cannot be written.
  package func activate(_ user: String) throws(AccountFailure) {
    try folderOfAnyService.activate(user)
  }

  /// Returns the service of a user's account; nil if there is no such account.
  ///
  /// - Throws: `AccountFailure` (`storage`) if it cannot be read.
  package func service(of user: String) throws(AccountFailure) -> (any AccountProvider)? {
    guard let name = try folderOfAnyService.service(of: user) else { return nil }
    return name == ownService.name ? ownService : IdentityToolkit.named(name, transport)
  }
}

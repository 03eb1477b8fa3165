import Foundation
import Glibc
import RunnelAccounts
import RunnelApp
import RunnelClient
import RunnelDevices
import RunnelNetwork
import RunnelServicesNetwork
import RunnelStore
import RunnelSync

/// The accounts of the user at a server's database, for commands: failures are those of commands.
struct AccountPlace {
  let choice: OriginChoice
  let home: AccountHome

  /// Finds the accounts for a database.
  ///
  /// - Throws: `Failure` if the user has no home.
  init(_ choice: OriginChoice) throws {
    self.choice = choice
    let environment = ProcessInfo.processInfo.environment
    let transport = IdentityToolkit.transport(choice.arguments.client)
    let services = try choice.address.hasServices ? AccountPlace.services(choice) : nil
    do throws(AccountFailure) {
      home =
        if let services {
          try AccountHome(choice.address, services, transport, environment: environment)
        } else {
          try AccountHome(choice.address, transport, environment: environment)
        }
    } catch {
      throw Failure(error.message)
    }
  }

  /// The accounts of a Feathers server.
  ///
  /// - Throws: `Failure` of usage if its profile says how to sign in.
  private static func services(_ choice: OriginChoice) throws -> FeathersAccounts {
    if choice.profile?.signInFile != nil {
      throw Failure(
        "\(choice.name) signs in by the file that `sign-in` of its profile names.", status: .usage)
    }
    return FeathersAccounts.server(
      try choice.servicesHost(), ServiceAccess(choice.arguments))
  }

  /// Finds the accounts for a database; nil if there can be none, as the user has no home.
  static func known(_ choice: OriginChoice) -> AccountPlace? { try? AccountPlace(choice) }

  /// Finds the accounts for the name of a database, as a command takes it.
  ///
  /// - Throws: `Failure` of usage if it is neither an address nor a profile.
  init(_ name: String, _ arguments: OriginArguments) throws {
    guard let choice = try OriginChoice(name, arguments) else {
      throw Failure(
        "\(name) is neither an address nor a profile\(OriginChoice.question(for: name)): write the name of a "
          + "profile, or https://HOST/?ns=NAME.", status: .usage)
    }
    try self.init(choice)
  }

  /// The service of the server at the address of the database.
  var ownService: any AccountProvider { home.ownService }

  /// Sends requests for accounts.
  var transport: IdentityToolkit.Transport { home.transport }

  /// The folder of the accounts, for a service.
  func folder(_ service: any AccountProvider) -> AccountFolder { home.folder(service) }

  // MARK: Who is signed in

  /// The account that is signed in; nil if there is none.
  ///
  /// - Throws: `Failure` if the file cannot be read.
  func signedIn() throws -> KeptAccount? {
    try accounts { () throws(AccountFailure) in try home.signedIn() }
  }

  /// All accounts, of which at most one is active.
  ///
  /// - Throws: `Failure` if a file cannot be read.
  func all() throws -> [KeptAccount] {
    try accounts { () throws(AccountFailure) in try home.all() }
  }

  /// Makes another account the active one.
  ///
  /// - Throws: `Failure` if it cannot be written.
  func activate(_ user: String) throws {
    try accounts { () throws(AccountFailure) in try home.activate(user) }
  }

  /// Makes another account the active one if none is, so that commands go on working, and says so.
  ///
  /// - Throws: `Failure` if it cannot be written.
  func activateNext() throws {
    guard try signedIn() == nil, let next = try all().first else { return }
    try activate(next.user.id)
    StandardError.say(
      "Commands act as \(next.user.email ?? next.user.id) from now on, who is signed in too: "
        + "`runnel account use` chooses.")
  }

  /// Notes that a user signed out; that nobody can sign in to the account again is told while writes of it wait.
  ///
  /// - Throws: `Failure` if that cannot be written.
  func noteSignOut(of user: AccountUser) throws {
    let waits = waitingCount(of: user.id) > 0
    try accounts { () throws(AccountFailure) in
      try home.noteSignOut(of: user, writesWait: waits)
    }
  }

  /// The number of a user's writes that wait in the replica.
  func waitingCount(of user: String) -> Int {
    ReplicaFolder.waitingFile(
      for: choice.address, user: user, environment: ProcessInfo.processInfo.environment)?
      .pendingCount ?? 0
  }

  /// The service of a user's account; the own one if that is not known.
  func service(of user: String) throws -> any AccountProvider {
    try accounts { () throws(AccountFailure) in try home.service(of: user) } ?? ownService
  }

  /// Finds out whether this device was taken away from the user; nil if it is in no list.
  private var revocation: DeviceRevocation? {
    choice.devices.flatMap {
      ListedDevice(
        at: choice.address, $0, transport, environment: ProcessInfo.processInfo.environment)
    }
    .map(DeviceRevocation.init)
  }

  /// Removes this device from the lists of users who sign out; nil if it is in no list.
  var departures: Departures? {
    choice.profile?.devices.flatMap { lists in
      Departures(
        home, at: choice.address, lists, environment: ProcessInfo.processInfo.environment)
    }
  }

  /// Opens a session of the user who is signed in, unless the user took this device away.
  ///
  /// - Throws: `Failure` if nobody is, or if the device was taken away.
  func checkedSession() throws -> (session: AccountSession, user: AccountUser) {
    let (session, user) = try session()
    if let revocation {
      try answer { try await revocation.check(session) }
    }
    return (session, user)
  }

  /// Opens a session of the user who is signed in.
  ///
  /// - Throws: `Failure` if nobody is.
  func session() throws -> (session: AccountSession, user: AccountUser) {
    guard let account = try signedIn() else { throw nobody }
    return (try session(of: account), account.user)
  }

  /// Opens a session of an account.
  ///
  /// - Throws: `Failure` if the file cannot be read.
  func session(of account: KeptAccount) throws -> AccountSession {
    let service = try service(of: account.user.id)
    let storage = ChosenAccount(folder(service), user: account.user.id)
    var options = AccountOptions()
    options.notice = { StandardError.say($0.message) }
    return try AsyncWork.wait { [options] in
      await AccountSession(service, storage: storage, options: options)
    }
  }

  /// The user whose session was ended last; nil for nobody, or if that cannot be read.
  var ended: EndedAccount? { try? home.ended() }

  /// The sentence that other accounts are signed in, of which none is active; nil if there are none, or if that
  /// cannot be read.
  var choosing: String? {
    guard let accounts = try? all(), let first = accounts.first, (try? signedIn()) == nil else {
      return nil
    }
    let name = first.user.email ?? first.user.id
    let more = accounts.count == 1 ? "is" : "and \(accounts.count - 1) more are"
    return "\(name) \(more) signed in, but no account is active: "
      + "`runnel account use \(choice.word) \(name)` chooses."
  }

  /// The failure that nobody is signed in, or that no account is active.
  var nobody: Failure {
    if let ended {
      let once = ended.failure.code == .userDisabled ? " once it is enabled" : ""
      let signIn =
        ended.isFinal
        ? "Nobody can sign in to this account again: `runnel login \(choice.word)` signs in with another."
        : "`runnel login \(choice.word)` signs in again\(once)."
      return Failure(
        "\(choice.name): \(ended.user.email ?? ended.user.id) is signed out. \(ended.reason) "
          + signIn + (choosing.map { " " + $0 } ?? ""))
    }
    if let choosing { return Failure("\(choice.name): \(choosing)") }
    return Failure("Nobody is signed in to \(choice.name): `runnel login \(choice.word)` signs in.")
  }

  /// The failure that the account has no address and no password, with the command that gives it both.
  func lacksAddress(_ email: String = "EMAIL") -> Failure {
    Failure(
      "The account has neither an address nor a password: `runnel account upgrade \(choice.word) \(email)` "
        + "gives it both.")
  }

  private func accounts<Value>(_ body: () throws(AccountFailure) -> Value) throws -> Value {
    do throws(AccountFailure) {
      return try body()
    } catch {
      throw Failure(error.message)
    }
  }

  // MARK: Access

  /// The access of the user who is signed in; nil if nobody is.
  ///
  /// No thread starts before a credential is asked for, so that signals can still be blocked.
  ///
  /// - Throws: `Failure` if the file cannot be read.
  func access() throws -> OriginAccess? {
    guard let user = try signedIn()?.user.id else { return nil }
    let service = try service(of: user)
    let late = LateSession(
      service, ChosenAccount(folder(service), user: user), user, revocation)
    var access = OriginAccess(user: user) { try await late.credential(isRefresh: $0) }
    access.isAskedEachTime = true
    return access
  }

  /// A valid ID token of the user who is signed in; nil if nobody is.
  ///
  /// - Throws: `Failure` if it cannot be had; the user is told to sign in again if that is needed.
  func token() throws -> Secret<String>? {
    guard try signedIn() != nil else { return nil }
    let (session, _) = try checkedSession()
    return try answer { try await session.idToken() }
  }

  /// Says that the session of the last user has ended, if that is so: the command goes on as nobody.
  func tellEnd() {
    // A file that cannot be read is told by the commands about accounts.
    guard let end = try? home.ended() else { return }
    let reason =
      switch end.failure.code {
      case .userDisabled: ", as the account is disabled"
      case .revoked: ", as this device was revoked"
      default: ""
      }
    let enabled = end.failure.code == .userDisabled ? ", once it is enabled" : ""
    StandardError.say(
      "The session of \(end.user.email ?? end.user.id) at \(choice.name) has ended\(reason), so this is done "
        + "without signing in: `runnel login \(choice.word)` signs in again\(enabled).")
  }

  /// The time after which it is said that the answer is waited for.
  private static let patience = Duration.seconds(5)

  /// Waits for the answer of an account service; after some seconds it says so.
  ///
  /// - Parameters:
  ///   - isChange: whether the service changes something, of which a lost answer does not tell.
  ///   - work: what asks the service.
  /// - Returns: what `work` returns.
  /// - Throws: `Failure` with the reason, and what to do.
  func answer<Value: Sendable>(
    isChange: Bool = false, _ work: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let notice = Task.detached { [name = choice.name] in
      guard (try? await Task.sleep(for: AccountPlace.patience)) != nil else { return }
      StandardError.say("Waiting for the answer of the account service of \(name).")
    }
    defer { notice.cancel() }
    do {
      return try AsyncWork.wait(work)
    } catch let error as AccountFailure {
      throw failure(error, isChange)
    } catch let error as any AccountOperationError {
      throw failure(error.failure, isChange)
    }
  }

  private func failure(_ failure: AccountFailure, _ isChange: Bool) -> Failure {
    switch failure.code {
    case .sessionEnded, .signedOutElsewhere, .notSignedIn, .userDisabled, .revoked:
      return Failure(
        "\(choice.name): \(failure.message)"
          + (failure.code == .userDisabled
            ? "" : " `runnel login \(choice.word)` signs in again."))
    case .needsRecentSignIn, .accountDeleted:
      return Failure("\(choice.name): \(failure.message)")
    default:
      let status: ExitStatus = failure.isTemporary ? .retryable : .failure
      let unknown =
        isChange && failure.isSent
        ? " It is not known whether it was done: `runnel whoami \(choice.word) --check` shows the account, and "
          + "`runnel login \(choice.word)` whether it can sign in." : ""
      return Failure("\(choice.name): \(failure.message)\(unknown)", status: status)
    }
  }
}

/// A session that is opened when a credential is asked for.
private actor LateSession {
  private let service: any AccountProvider
  private let storage: ChosenAccount
  private let user: String
  private let revocation: DeviceRevocation?
  private var opening: Task<AccountSession, Never>?
  private var given: OriginAccess?

  init(
    _ service: any AccountProvider, _ storage: ChosenAccount, _ user: String,
    _ revocation: DeviceRevocation?
  ) {
    (self.service, self.storage, self.user) = (service, storage, user)
    self.revocation = revocation
  }

  func credential(isRefresh: Bool) async throws -> Credential? {
    let task =
      opening
      ?? Task { [service, storage] in await AccountSession(service, storage: storage) }
    opening = task
    let session = await task.value
    try await revocation?.check(session)
    let access = given ?? session.access(of: user)
    given = access
    return try await access.provider?(isRefresh)
  }
}

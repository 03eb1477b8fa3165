import ArgumentParser
import RunnelAccounts
import RunnelStore
import RunnelSync

/// `runnel login`: signs in to a server's database with an account.
struct LoginCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login",
    abstract: "Sign in to a server's database with an account.",
    discussion: """
      The accounts are those of the server at the address: of a Runnel server with accounts, of a Feathers server \
      (feathers+https://HOST), of the official emulator (--emulator), or of the official service (--api-key). From \
      then on, `runnel open` and the commands use this account for the database, unless a token is given. Several \
      accounts may be signed in; the last one is active, and `runnel account use` changes that.

      The session is kept in a file that only you may read, in the state folder ($XDG_STATE_HOME/runnel/accounts). It \
      ends by `runnel logout`, or if the server refuses it.

      Examples:
        runnel login prod --email ana@example.com
        runnel login 'https://chat.example.com/?ns=main' --sign-up --email ana@example.com
        runnel login prod --email ana@example.com --password-fd 3 3< password.txt
      """)

  @Argument(
    help: "The server's database: its address, or the name of a profile.",
    completion: DatabaseCompletion.profiles)
  var database: String
  @Option(help: "The e-mail address of the account (default: asks for it).") var email: String?
  @Flag(help: "Make a new account.") var signUp = false
  @Flag(help: "Sign in as a new user without an e-mail address.") var anonymous = false
  @OptionGroup var password: PasswordOptions
  @Option(
    help: ArgumentHelp("The address of the official emulator for accounts.", valueName: "address"))
  var emulator: String?
  @Option(
    help: ArgumentHelp(
      "The API key of a project, for the accounts of the official service.", valueName: "key"))
  var apiKey: String?
  @OptionGroup var trust: TrustArguments

  func validate() throws {
    if anonymous,
      signUp || email != nil || password.passwordFile != nil
        || password.passwordFd != nil
    {
      throw ValidationError("--anonymous takes no e-mail address and no password.")
    }
    if emulator != nil, apiKey != nil {
      throw ValidationError("--emulator and --api-key exclude each other.")
    }
  }

  func run() throws {
    let place = try AccountPlace(database, trust.origin)
    if place.choice.address.hasServices, emulator != nil || apiKey != nil {
      throw Failure(
        "\(place.choice.name) is a Feathers server: it has accounts of its own.", status: .usage)
    }
    let other =
      emulator.map { IdentityToolkit.emulator($0, place.transport) }
      ?? apiKey.map { IdentityToolkit.production(key: $0, place.transport) }
    let service: any AccountProvider = other ?? place.ownService
    let operation: AccountOperation
    if anonymous {
      operation = .signInAnonymously
    } else {
      let email = try email ?? LoginCommand.ask("E-mail: ")
      operation =
        signUp
        ? .signUp(email: email, password: try password.newPassword("Password: "))
        : .signIn(email: email, password: try password.password())
    }
    // A session without an account: those that are signed in stay so.
    let storage = ChosenAccount(place.folder(service), user: nil)
    let home = place.home
    let outcome = try place.answer(isChange: signUp || anonymous) {
      await home.waitAfterRevocation()
      let session = await AccountSession(service, storage: storage)
      let outcome = try await session.perform(operation)
      await session.close()
      if let failure = storage.failure { throw failure }
      return outcome
    }
    guard let user = outcome.user else { throw place.nobody }
    StandardError.say("Signed in to \(place.choice.name) as \(user.email ?? user.id).")
    try place.answer { await home.checkEarlier(of: user) }
    let count = place.waitingCount(of: user.id)
    if count > 0 {
      StandardError.say(
        (count == 1 ? "1 write waits" : "\(count) writes wait")
          + " of this account: `\(place.choice.sendingCommand)`, or an open workspace, sends "
          + (count == 1 ? "it." : "them."))
    }
    for entry in OthersWrites(place.choice).earlier(than: user) { StandardError.say(entry.line) }
  }

  /// Asks for a line of text.
  private static func ask(_ question: String) throws -> String {
    if StandardInput.isTerminal { StandardError.write(question) }
    var lines = StandardInputLines()
    guard let line = try lines.next() else { throw Failure("No e-mail address was given.") }
    return String(decoding: line, as: UTF8.self)
  }
}

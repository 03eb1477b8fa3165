import ArgumentParser
import RunnelAccounts
import RunnelApp
import RunnelBase
import RunnelStore

/// `runnel account`: lists and changes accounts.
struct AccountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "account",
    abstract: "List, choose and change accounts of a server's database.",
    discussion: """
      Examples:
        runnel account list prod
        runnel account use prod bo@example.com
        runnel account password prod
        runnel account reset prod ana@example.com
      """,
    subcommands: [
      AccountListCommand.self, AccountUseCommand.self, AccountPasswordCommand.self,
      AccountEmailCommand.self, AccountUpgradeCommand.self, AccountVerifyCommand.self,
      AccountResetCommand.self, AccountNameCommand.self, AccountDeleteCommand.self,
    ])
}

/// The database whose accounts are meant, and how to reach it.
struct AccountArguments: ParsableArguments {
  @Argument(
    help: "The server's database: its address, or the name of a profile.",
    completion: DatabaseCompletion.profiles)
  var database: String
  @OptionGroup var trust: TrustArguments

  /// The accounts.
  func place() throws -> AccountPlace { try AccountPlace(database, trust.origin) }
}

/// `runnel account list`: lists the accounts that are signed in.
struct AccountListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the accounts that are signed in, one JSON object per line.")

  @OptionGroup var account: AccountArguments

  func run() throws {
    let place = try account.place()
    let active = try place.signedIn()?.user.id
    for kept in try place.all() {
      let members = WhoAmICommand.json(kept.user, place.choice).object ?? []
      let json = JSONValue.object(
        members + [JSONMember("active", .bool(kept.user.id == active))])
      try StandardOutput.write(json.jsonText() + "\n")
    }
  }
}

/// `runnel account use`: makes another account the active one.
struct AccountUseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "use", abstract: "Make another account the active one.")

  @OptionGroup var account: AccountArguments
  @Argument(help: "The e-mail address or the id of the account.") var user: String

  func run() throws {
    let place = try account.place()
    let meant = try place.all().filter {
      $0.user.id == user || EmailAddress.areSame($0.user.email, user)
    }
    guard let first = meant.first else {
      throw Failure(
        "\(user) is not signed in to \(place.choice.name): `runnel account list` lists who is.")
    }
    if meant.count > 1 {
      throw Failure(
        "Several accounts have the address \(user): give the id, which is one of "
          + meant.map(\.user.id).joined(separator: ", ") + ".", status: .usage)
    }
    try place.activate(first.user.id)
    StandardError.say(
      "\(place.choice.name) is used as \(first.user.email ?? first.user.id) from now on.")
  }
}

/// `runnel account password`: changes the password.
struct AccountPasswordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "password",
    abstract: "Change the password; other sessions of the account end.",
    discussion: """
      The present password is asked for and checked first, then the new one is asked for twice. From a file or a \
      descriptor, the new password is read; the present one then comes from --current-file.
      """)

  @OptionGroup var account: AccountArguments
  @OptionGroup var password: PasswordOptions
  @OptionGroup var presentPassword: PresentPasswordOptions

  func run() throws {
    let place = try account.place()
    let (session, user) = try place.checkedSession()
    if user.isAnonymous { throw place.lacksAddress() }
    let new = try StandardInput.hidden {
      let current = try presentPassword.password()
      _ = try place.answer { try await session.reauthenticate(password: current) }
      return try password.newPassword()
    }
    _ = try place.answer(isChange: true) { try await session.changePassword(to: new) }
    StandardError.say("The password was changed.")
  }
}

/// `runnel account email`: changes the e-mail address.
struct AccountEmailCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "email",
    abstract: "Send a code to a new e-mail address, which then replaces the old one.",
    discussion: """
      The message has a code for `runnel account verify --code`, which keeps this session; other sessions end.

      With --now the new address is not confirmed: confirm it with `runnel account verify` before you need a new \
      password. If the old address was confirmed, and the change can still be taken back, a new password by a message \
      to the new one makes a new account for it, and this one is left without an address.
      """)

  @OptionGroup var account: AccountArguments
  @Argument(help: "The new e-mail address.") var email: String
  @Flag(help: "Change the address at once, without a code; it is not confirmed then.") var now =
    false
  @OptionGroup var presentPassword: PresentPasswordOptions

  func run() throws {
    let place = try account.place()
    let (session, user) = try place.checkedSession()
    if user.isAnonymous { throw place.lacksAddress(email) }
    if EmailAddress.areSame(user.email, email) {
      throw Failure("\(email) is the address of this account already.")
    }
    let current = try presentPassword.password()
    let (email, now) = (email, now)
    try place.answer(isChange: true) {
      if now {
        try await session.changeEmail(to: email, current: current)
      } else {
        try await session.verifyAndChangeEmail(to: email, current: current)
      }
    }
    StandardError.say(
      now
        ? "The address is \(email) from now on, and not confirmed: `runnel account verify \(place.choice.word)` "
          + "confirms it. Do it before you ever need a new password: a message that sets one could make a new account "
          + "for the address." : AccountVerifyCommand.sent(to: email))
  }
}

/// `runnel account upgrade`: gives an anonymous account an e-mail address and a password.
struct AccountUpgradeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upgrade",
    abstract: "Give an account without an address an e-mail address and a password.",
    discussion: """
      The account keeps its id, its data and what waits. The password is asked for twice, or read as --password-file and \
      --password-fd say. The address is not confirmed then: `runnel account verify` confirms it.
      """)

  @OptionGroup var account: AccountArguments
  @Argument(help: "The e-mail address.") var email: String
  @OptionGroup var password: PasswordOptions

  func run() throws {
    let place = try account.place()
    let (session, user) = try place.checkedSession()
    guard user.isAnonymous else {
      throw Failure(
        "\(user.email ?? user.id) has signed in with an address already: `runnel account email \(place.choice.word) "
          + "\(email)` changes it.")
    }
    let email = email
    let password = try password.newPassword()
    _ = try place.answer(isChange: true) {
      try await session.perform(.upgrade(email: email, password: password))
    }
    StandardError.say(
      "The account \(user.id) has the address \(email) now, which is not confirmed: `runnel account verify "
        + "\(place.choice.word)` confirms it.")
  }
}

/// `runnel account verify`: confirms the e-mail address.
struct AccountVerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Send a message that confirms the e-mail address, or use the code in it.")

  @OptionGroup var account: AccountArguments
  @Flag(help: "Ask for the code of the message, and use it.") var code = false

  func run() throws {
    let place = try account.place()
    let (session, user) = try place.checkedSession()
    if code {
      let text = Secret(try StandardInput.secret("Code: "))
      let email = try place.answer(isChange: true) {
        try await session.applyCode(text)
        return await session.user?.email
      }
      StandardError.say(
        email == nil || email == user.email
          ? "The address was confirmed." : "The address is \(email ?? "") from now on.")
    } else {
      if user.isAnonymous { throw place.lacksAddress() }
      // It may have been confirmed by the link of an earlier message.
      let isConfirmed = try place.answer { try await session.reload().isEmailVerified }
      if isConfirmed {
        return StandardError.say("\(user.email ?? user.id) is confirmed already.")
      }
      try place.answer(isChange: true) { try await session.sendEmailVerification() }
      StandardError.say(AccountVerifyCommand.sent(to: user.email ?? user.id))
    }
  }

  /// The words that the server sends a message; whether it is delivered is not known here.
  static func sent(to email: String) -> String {
    let sent = "The server sends a message to \(email)."
    if email.prefix(while: { $0 != "@" }).allSatisfy(\.isASCII) { return sent }
    return sent
      + " Not every server of mail takes such letters before the @: if none comes, its log says why."
  }
}

/// `runnel account reset`: sets a new password for a forgotten one.
struct AccountResetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset",
    abstract: "Send a message that sets a new password, or use the code in it.",
    discussion: """
      The server may not say whether there is such an account. With --code, the code is asked for at a prompt, and then \
      the new password.
      """)

  @OptionGroup var account: AccountArguments
  @Argument(help: "The e-mail address of the account.") var email: String
  @Flag(help: "Ask for the code of the message, and set a new password.") var code = false
  @OptionGroup var password: PasswordOptions

  func run() throws {
    let place = try account.place()
    let service = try place.signedIn().map { try place.service(of: $0.user.id) }
    let provider = service ?? place.ownService
    let (email, code) = (email, code)
    let (text, new) = try StandardInput.hidden { () -> (Secret<String>?, Secret<String>?) in
      if !code { return (nil, nil) }
      return (Secret(try StandardInput.secret("Code: ")), try password.newPassword())
    }
    let isOfNewAccount = try place.answer(isChange: true) { () -> Bool in
      let session = await AccountSession(provider, storage: AccountMemory())
      var isOfNewAccount = false
      if let text, let new {
        if let known = try await session.checkCode(text).email, !known.isEmpty,
          !EmailAddress.areSame(known, email)
        {
          throw AccountFailure(.userMismatch, "The code is not for the account of \(email).")
        }
        let outcome = try await session.perform(.resetPassword(code: text, new))
        isOfNewAccount = outcome.code?.isOfNewAccount == true
      } else {
        try await session.sendPasswordReset(email: email)
      }
      await session.close()
      return isOfNewAccount
    }
    if isOfNewAccount {
      return StandardError.say(
        "\(email) belongs to a new account now, with this password. The earlier account, which had not confirmed the "
          + "address, keeps its id and its data, and has neither an address nor a password: the link in the message to "
          + "its former address takes that back, and a message then sets a new password.")
    }
    StandardError.say(
      code ? "The password was changed." : "If there is such an account, a message was sent.")
  }
}

/// `runnel account name`: changes the name for people.
struct AccountNameCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "name", abstract: "Change the name that other people see.")

  @OptionGroup var account: AccountArguments
  @Argument(help: "The new name.") var name: String?
  @Flag(help: "Remove the name.") var remove = false

  func validate() throws {
    if (name == nil) != remove { throw ValidationError("give a name, or --remove.") }
    if let name { try ShownName.check(name, else: "--remove takes it away") }
  }

  func run() throws {
    let place = try account.place()
    let (session, _) = try place.checkedSession()
    let profile = AccountProfile(displayName: name ?? "")
    _ = try place.answer(isChange: true) { try await session.changeProfile(profile) }
    StandardError.say(name.map { "The name is \($0) now." } ?? "The name was removed.")
  }
}

/// `runnel account delete`: deletes the account.
struct AccountDeleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete the account on the server, and sign out.",
    discussion: """
      The data that the account wrote stays on the server. What waits to be sent is never sent then: it is said how much \
      that is. The present password is asked for, or read as --password-file and --password-fd say, and the deletion \
      must be confirmed, or --force be given.
      """)

  @OptionGroup var account: AccountArguments
  @Flag(help: "Delete without asking.") var force = false
  @OptionGroup var password: PasswordOptions
  @OptionGroup var presentPassword: PresentPasswordOptions

  func validate() throws {
    // Other commands read a new password from the one, and the present password from the other.
    if presentPassword.currentFile != nil,
      password.passwordFile != nil || password.passwordFd != nil
    {
      throw ValidationError(
        "the password is that of the account: give --password-file, --password-fd or --current-file alone."
      )
    }
  }

  /// Reads the present password.
  private func askPresent() throws -> Secret<String> {
    if presentPassword.currentFile != nil { return try presentPassword.password() }
    return try password.password("Present password: ")
  }

  func run() throws {
    let place = try account.place()
    let (session, user) = try place.checkedSession()
    let name = user.email ?? user.id
    let count = place.waitingCount(of: user.id)
    let writes =
      count == 0
      ? ""
      : (count == 1 ? " 1 write waits, and is" : " \(count) writes wait, and are")
        + " never sent then"
    let way = count == 0 ? "" : ": `\(place.choice.sendingCommand)` sends what waits."
    try Consent(isGiven: force).require(
      "Delete the account \(name)?\(writes)\(way)",
      because: "This would delete the account \(name).\(writes)\(way)")
    let current = user.email == nil ? nil : try askPresent()
    let departures = place.departures
    try place.answer(isChange: true) {
      if let departures {
        // A wrong password must not remove the device.
        if let current { try await session.reauthenticate(password: current) }
        await departures.removeDevice(of: user.id, in: session)
      }
      try await session.deleteAccount(current: current)
    }
    let left = OthersWrites(place.choice).entry(of: user.id).map { " " + $0.line } ?? ""
    StandardError.say("The account \(name) was deleted.\(left)")
    try place.activateNext()
  }
}

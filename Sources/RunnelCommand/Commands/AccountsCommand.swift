import ArgumentParser
import Glibc
import RunnelBase
import RunnelServer

/// `runnel accounts`: the accounts of a server.
struct AccountsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accounts",
    abstract: "List, make and change the accounts of a server.",
    discussion: """
      These commands work with the file after --accounts of `runnel serve`, while the server runs \
      or not. A running server takes the changes at once: a user who is disabled or deleted loses \
      access. NAME is the address or the id of a user. With --store, the accounts are those of \
      --store-accounts, in the store.

      Examples:
        runnel accounts list
        runnel accounts add ada@x.org accounts.db
        runnel accounts update ada@x.org accounts.db --claims '{"role":"editor"}'
        runnel accounts disable ada@x.org accounts.db
        runnel accounts export accounts.db --to accounts.json
        runnel accounts import accounts.json accounts.db
        runnel accounts list --store main
      """,
    subcommands: [
      ListAccountsCommand.self, AddAccountCommand.self, UpdateAccountCommand.self,
      DisableAccountCommand.self, EnableAccountCommand.self, ResetAccountCommand.self,
      DeleteAccountCommand.self,
      ExportAccountsCommand.self, ImportAccountsCommand.self,
    ])
}

/// The accounts of a command: a file, or those of a store.
struct AccountsFileArgument: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The accounts file (default: accounts.db).", valueName: "file"),
    completion: .file(), transform: DatabaseOptions.fileName)
  var file: String?
  @Option(
    help: ArgumentHelp(
      "The store that has the accounts, in the place of a file.", valueName: "name"))
  var store: String?

  func validate() throws {
    if file != nil, store != nil {
      throw ValidationError("give a file of accounts, or --store and a name, not both.")
    }
  }

  /// Calls `body` with the accounts.
  ///
  /// - Throws: `Failure` if they cannot be read or written, or the file does not exist and is not to
  ///   be made.
  func with(
    makesFile: Bool = false, passwordLengthMin: Int? = nil,
    _ body: (AccountAdministration) throws -> Void
  ) throws {
    do {
      let accounts = try opened(makesFile, passwordLengthMin)
      do {
        try body(accounts)
      } catch {
        // The first error matters; an error of closing is dropped.
        try? accounts.close()
        throw error
      }
      try accounts.close()
    } catch let error as ServerError {
      throw Failure(error.message, status: error.isUsage ? .usage : .failure)
    }
  }

  private func opened(
    _ makesFile: Bool, _ passwordLengthMin: Int?
  ) throws -> AccountAdministration {
    if let store {
      return try AccountAdministration(
        store: StoreOption.place(named: store), passwordLengthMin: passwordLengthMin)
    }
    let file = file ?? "accounts.db"
    if !makesFile, access(file, F_OK) != 0 {
      throw Failure("\(file) does not exist: name the file after --accounts of `runnel serve`.")
    }
    return try AccountAdministration(file: file, passwordLengthMin: passwordLengthMin)
  }
}

/// The password for an account.
struct NewPasswordOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The file whose first line is the password; - for standard input (default: ask).",
      valueName: "file"), completion: .file())
  var passwordFile: FileName?
  @Option(
    help: ArgumentHelp(
      "The least number of characters of a password (default: 8).", valueName: "count"))
  var passwordMinLength: Int?

  var fileNames: [FileName] { passwordFile.map { [$0] } ?? [] }

  func validate() throws {
    if let passwordMinLength, passwordMinLength < 1 {
      throw ValidationError("--password-min-length is a number from 1.")
    }
  }

  /// Reads the password, or asks for it twice.
  ///
  /// - Throws: `Failure` if it cannot be read.
  func password() throws -> String {
    if let passwordFile {
      let document = try InputDocument(passwordFile, .text(bytesMax: 65_536))
      let bytes = document.withBytes { Array($0.prefix { $0 != 10 && $0 != 13 }) }
      guard let password = String(validating: bytes, as: UTF8.self), !password.isEmpty else {
        throw Failure("\(passwordFile.shown) has no password in its first line.")
      }
      return password
    }
    return try StandardInput.hidden {
      let password = try StandardInput.secret("Password: ")
      if StandardInput.isTerminal, try StandardInput.secret("Again: ") != password {
        throw Failure("The two passwords differ. Nothing was changed.")
      }
      return password
    }
  }
}

/// `runnel accounts list`: lists the accounts.
struct ListAccountsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the accounts: a line of JSON for each, without its password.")

  @OptionGroup var accounts: AccountsFileArgument

  func run() throws {
    try accounts.with { accounts in
      try accounts.forEach(hasHashes: false) { account in
        let members = (account.object ?? []).filter { $0.name != "passwordHash" }
        try StandardOutput.say(JSONValue.object(members).jsonText() + "\n")
      }
    }
  }
}

/// `runnel accounts add`: makes an account.
struct AddAccountCommand: ParsableCommand, FileNaming {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Make an account, and print its id; the file is made if it does not exist.")

  @Argument(help: "The e-mail address.") var email: String
  @OptionGroup var accounts: AccountsFileArgument
  @OptionGroup var password: NewPasswordOptions
  @Flag(help: "Make no password: the user resets it by mail.") var noPassword = false
  @Option(help: "The id (default: a random one).") var id: String?
  @Option(help: "The name that is shown.") var name: String?
  @Flag(help: "The address is known to be the user's.") var verified = false
  @Option(
    help: ArgumentHelp("Additional claims for rules, an object.", valueName: "json"))
  var claims: String?

  var fileNames: [FileName] { password.fileNames }

  func validate() throws {
    if let name { try ShownName.check(name, else: "leave --name out for none") }
  }

  func run() throws {
    try accounts.with(makesFile: true, passwordLengthMin: password.passwordMinLength) { accounts in
      let password = noPassword ? nil : try self.password.password()
      let id = try accounts.add(
        email: email, password: password, id: id, displayName: name, isVerified: verified,
        claims: claims)
      try StandardOutput.say(id + "\n")
    }
  }
}

/// The user whom a command is about.
struct UserArgument: ParsableArguments {
  @Argument(help: "The address or the id of the user.") var name: String
}

/// `runnel accounts update`: changes what is known of an account.
struct UpdateAccountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Change an account's claims, its name, or whether its address is confirmed.",
    discussion: """
      The user stays signed in. Rules see the change with the next token of each session: an hour later at most, or \
      after a new sign-in. The user's `runnel whoami --check` gets one at once for another name or confirmation.

      Examples:
        runnel accounts update ada@x.org accounts.db --claims '{"role":"editor"}'
        runnel accounts update ada@x.org accounts.db --name Ada --verified
      """)

  @OptionGroup var user: UserArgument
  @OptionGroup var accounts: AccountsFileArgument
  @Option(
    help: ArgumentHelp(
      "The claims for rules, an object, which replaces those of before; {} for none.",
      valueName: "json"))
  var claims: String?
  @Option(
    name: .customLong("name"),
    help: ArgumentHelp("The name that is shown.", valueName: "name"))
  var displayName: String?
  @Flag(help: "No name is shown.") var noName = false
  @Flag(inversion: .prefixedNo, help: "The address is known to be the user's, or is not.")
  var verified: Bool?

  func validate() throws {
    if noName, displayName != nil {
      throw ValidationError("give --name or --no-name, not both.")
    }
    if let displayName { try ShownName.check(displayName, else: "--no-name takes it away") }
    if claims == nil, displayName == nil, !noName, verified == nil {
      throw ValidationError(
        "give what is to be changed: --claims, --name, --no-name, --verified or --no-verified.")
    }
  }

  func run() throws {
    try accounts.with { accounts in
      try accounts.update(
        accounts.id(of: user.name), displayName: noName ? "" : displayName, isVerified: verified,
        claims: claims)
    }
    StandardError.say("The account \(user.name) was changed; its next tokens say so.")
  }
}

/// `runnel accounts disable`: disables an account.
struct DisableAccountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable",
    abstract: "Disable an account: the user loses access at once, and cannot sign in.")

  @OptionGroup var user: UserArgument
  @OptionGroup var accounts: AccountsFileArgument

  func run() throws {
    try accounts.with { try $0.setDisabled($0.id(of: user.name), true) }
    StandardError.say("The account \(user.name) is disabled.")
  }
}

/// `runnel accounts enable`: enables an account again.
struct EnableAccountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable", abstract: "Enable an account again.")

  @OptionGroup var user: UserArgument
  @OptionGroup var accounts: AccountsFileArgument

  func run() throws {
    try accounts.with { try $0.setDisabled($0.id(of: user.name), false) }
    StandardError.say("The account \(user.name) is enabled.")
  }
}

/// `runnel accounts reset`: sets a new password.
struct ResetAccountCommand: ParsableCommand, FileNaming {
  static let configuration = CommandConfiguration(
    commandName: "reset",
    abstract: "Set a new password, and sign the user out everywhere.")

  @OptionGroup var user: UserArgument
  @OptionGroup var accounts: AccountsFileArgument
  @OptionGroup var password: NewPasswordOptions

  var fileNames: [FileName] { password.fileNames }

  func run() throws {
    try accounts.with(passwordLengthMin: password.passwordMinLength) { accounts in
      let id = try accounts.id(of: user.name)
      try accounts.setPassword(id, password.password())
    }
    StandardError.say("The account \(user.name) has a new password, and is signed out everywhere.")
  }
}

/// `runnel accounts delete`: deletes an account.
struct DeleteAccountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete an account; it cannot be brought back.")

  @OptionGroup var user: UserArgument
  @OptionGroup var accounts: AccountsFileArgument
  @Flag(help: "Do not ask.") var force = false

  func run() throws {
    try accounts.with { accounts in
      let id = try accounts.id(of: user.name)
      try Consent(isGiven: force).require(
        "Delete the account \(user.name)? It cannot be brought back.",
        because: "This would delete the account \(user.name).")
      try accounts.delete(id)
    }
    StandardError.say("The account \(user.name) was deleted.")
  }
}

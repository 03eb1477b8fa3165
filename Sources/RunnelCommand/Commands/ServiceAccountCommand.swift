import ArgumentParser
import RunnelDatabase
import RunnelNetwork
import RunnelServer

/// `runnel serve service-account`: the service accounts of a served database.
struct ServiceAccountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "service-account",
    abstract: "Make, list and remove the service accounts of a served database.",
    discussion: """
      A service account makes an admin SDK an administrator: the SDK signs an assertion with the \
      private key of the key file, and the server exchanges it for an access token that is valid \
      for an hour. A key file is written only once; keep it secret like a password. The server \
      stores the public key in a file beside the database (chat.service-accounts.json for \
      chat.db). A running server applies changes automatically; a removed account loses its access \
      at once.

      Examples:
        runnel serve service-account new backend chat.db --server https://chat.example
        runnel serve service-account list chat.db
        runnel serve service-account remove backend chat.db
      """,
    subcommands: [
      NewServiceAccountCommand.self, ListServiceAccountsCommand.self,
      RemoveServiceAccountCommand.self,
    ])
}

/// The database whose service accounts a command changes or lists.
struct ServiceAccountsArgument: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The database file (default: that of the commands).", valueName: "file"),
    completion: .file(), transform: DatabaseOptions.fileName)
  var file: String?

  /// Calls `body` with the accounts, the path of their file, and that of the database.
  ///
  /// - Throws: `Failure` if they cannot be read or written.
  func with(_ body: (inout ServiceAccounts, String, _ database: String) throws -> Void) throws {
    let options = DatabaseOptions(database: file, .none)
    let database = try options.file(for: .read)
    let path = ServiceAccounts.file(beside: database)
    do {
      var accounts = try ServiceAccounts(file: path)
      try body(&accounts, path, database)
    } catch let error as ServerError {
      throw Failure(error.message, status: error.isUsage ? .usage : .failure)
    }
  }
}

/// `runnel serve service-account new`: makes an account and its key file.
struct NewServiceAccountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new", abstract: "Make a service account, and write its key file.",
    discussion: """
      The key file is NAME.key.json in this folder, or the file after --to. Only you may read it. \
      It contains the address of the server, where SDKs request their tokens.
      """)

  @Argument(help: "The name of the new account: small letters, digits and hyphens.")
  var name: String
  @OptionGroup var database: ServiceAccountsArgument
  @Option(
    help: ArgumentHelp("The address of the server, without a path.", valueName: "address"))
  var server = "http://localhost:9000"
  @Option(
    help: ArgumentHelp("The path of the key file.", valueName: "file"), completion: .file())
  var to: String?

  func validate() throws {
    guard let address = WebAddress(server), address.target == "/" else {
      throw ValidationError(
        "--server is an address without a path: https://HOST or https://HOST:PORT.")
    }
  }

  func run() throws {
    try database.with { accounts, file, database in
      let server = self.server.hasSuffix("/") ? String(self.server.dropLast()) : self.server
      let now = DatabaseEnvironment.system.now()
      guard let key = try accounts.add(name, for: database, server: server, now: now) else {
        throw Failure(
          "There is a service account \(name) already: remove it first, or give another name.")
      }
      let keyFile = to ?? "\(name).key.json"
      // An unused key is better than an account whose key is lost, so the key is written first.
      try SecretFile.write(key, to: keyFile)
      try accounts.write(to: file)
      try StandardOutput.say("\(keyFile)\n")
    }
  }
}

/// `runnel serve service-account list`: lists the names of service accounts.
struct ListServiceAccountsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the names of the service accounts.")

  @OptionGroup var database: ServiceAccountsArgument

  func run() throws {
    try database.with { accounts, _, _ in
      for account in accounts.all { try StandardOutput.say(account.name + "\n") }
    }
  }
}

/// `runnel serve service-account remove`: revokes a service account.
struct RemoveServiceAccountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract:
      "Remove a service account: its key, and the tokens that it has, are refused from now on.")

  @Argument(help: "The name of the account.") var name: String
  @OptionGroup var database: ServiceAccountsArgument

  func run() throws {
    try database.with { accounts, file, _ in
      guard accounts.remove(name) else {
        throw Failure(
          "There is no service account \(name): `runnel serve service-account list` names those "
            + "there are.")
      }
      try accounts.write(to: file)
    }
  }
}

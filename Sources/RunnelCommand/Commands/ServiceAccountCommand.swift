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
      chat.db), or in a store with --store, for all its servers. A running server applies changes \
      automatically, within two seconds; a removed account loses its access then.

      Examples:
        runnel serve service-account new backend chat.db --server https://chat.example
        runnel serve service-account list chat.db
        runnel serve service-account remove backend chat.db
        runnel serve service-account new backend --store main --server https://chat.example
      """,
    subcommands: [
      NewServiceAccountCommand.self, ListServiceAccountsCommand.self,
      RemoveServiceAccountCommand.self,
    ])
}

/// `runnel serve service-account new`: makes an account and its key file.
struct NewServiceAccountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new", abstract: "Make a service account, and write its key file.",
    discussion: """
      The key file is NAME.key.json in this folder, or the file after --to. Only you may read it. \
      It contains the address of the server, where SDKs request their tokens. A \
      running server accepts the account within two seconds.
      """)

  @Argument(help: "The name of the new account: small letters, digits and hyphens.")
  var name: String
  @OptionGroup var database: AccessArgument
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
    let keyFile = to ?? "\(name).key.json"
    try database.change { (accounts: inout ServiceAccounts, database) in
      let server = self.server.hasSuffix("/") ? String(self.server.dropLast()) : self.server
      let now = DatabaseEnvironment.system.now()
      guard let key = try accounts.add(name, for: database, server: server, now: now) else {
        throw Failure(
          "There is a service account \(name) already: remove it first, or give another name.")
      }
      // An unused key is better than an account whose key is lost, so the key is written first.
      try SecretFile.write(key, to: keyFile)
    }
    try StandardOutput.say("\(keyFile)\n")
  }
}

/// `runnel serve service-account list`: lists the names of service accounts.
struct ListServiceAccountsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the names of the service accounts.")

  @OptionGroup var database: AccessArgument

  func run() throws {
    let accounts: ServiceAccounts = try database.read()
    for account in accounts.all { try StandardOutput.say(account.name + "\n") }
  }
}

/// `runnel serve service-account remove`: revokes a service account.
struct RemoveServiceAccountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract:
      "Remove a service account: running servers refuse its key and its tokens within two seconds.")

  @Argument(help: "The name of the account.") var name: String
  @OptionGroup var database: AccessArgument

  func run() throws {
    try database.change { (accounts: inout ServiceAccounts, _) in
      guard accounts.remove(name) else {
        throw Failure(
          "There is no service account \(name): `runnel serve service-account list\(database.words)` names "
            + "those there are.")
      }
    }
  }
}

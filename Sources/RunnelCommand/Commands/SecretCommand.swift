import ArgumentParser
import Glibc
import RunnelDatabase
import RunnelServer

/// `runnel serve secret`: the secrets of a served database.
struct SecretCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "secret",
    abstract: "Make, list and remove the secrets of a served database.",
    discussion: """
      The owner of a secret is an administrator, who is not bound by rules. A client sends the \
      secret as `auth=SECRET`. A secret can also sign tokens for users (HS256, the variable `auth` \
      in the claim `d`). Secrets are in a file beside the database (chat.secrets.json for \
      chat.db), which only its owner may read, or in a store with --store, for all its servers. A running \
      server applies changes automatically, within two seconds.

      Examples:
        runnel serve secret new backup chat.db
        runnel serve secret list chat.db
        runnel serve secret remove backup chat.db
        runnel serve secret new backup --store main --namespace chat
      """,
    subcommands: [NewSecretCommand.self, ListSecretsCommand.self, RemoveSecretCommand.self])
}

/// `runnel serve secret new`: makes a secret and shows it.
struct NewSecretCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new", abstract: "Make a secret, and print it; it is not shown again.",
    discussion: "A running server accepts it within two seconds.")

  @Argument(help: "The name of the new secret.") var name: String
  @OptionGroup var database: AccessArgument

  func run() throws {
    try checkName()
    let (text, place) = try database.change { (secrets: inout ServerSecrets, place) in
      guard let secret = secrets.add(name, now: DatabaseEnvironment.system.now()) else {
        throw Failure("There is a secret \(name) already: remove it first, or give another name.")
      }
      return (secret.text, place)
    }
    try StandardOutput.say(text + "\n")
    StandardError.say("The secret \(name) is for \(database.holds ?? place).")
  }

  /// Refuses the file of a database in the place of the name, which was left out.
  private func checkName() throws {
    let isAlone = database.file == nil && database.store == nil
    guard name.hasSuffix(".db") || isAlone && access(name, F_OK) == 0 else { return }
    throw Failure(
      "\(name) is the name of a file: name the secret before it, as in `runnel serve secret new NAME "
        + "\(name)`.", status: .usage)
  }
}

/// `runnel serve secret list`: lists the names of secrets.
struct ListSecretsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the names of the secrets.")

  @OptionGroup var database: AccessArgument

  func run() throws {
    let secrets: ServerSecrets = try database.read()
    for secret in secrets.all { try StandardOutput.say(secret.name + "\n") }
  }
}

/// `runnel serve secret remove`: revokes a secret.
struct RemoveSecretCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract:
      "Remove a secret: running servers refuse it, and tokens that it signed, within two seconds.")

  @Argument(help: "The name of the secret.") var name: String
  @OptionGroup var database: AccessArgument

  func run() throws {
    try database.change { (secrets: inout ServerSecrets, _) in
      guard secrets.remove(name) else {
        throw Failure(
          "There is no secret \(name): `runnel serve secret list\(database.words)` lists the existing ones."
        )
      }
    }
  }
}

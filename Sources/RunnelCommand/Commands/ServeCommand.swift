import ArgumentParser
import RunnelApp

/// `runnel serve`: serves databases to clients of the Realtime Database.
struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve a database to clients of the Realtime Database, and over HTTP.",
    usage: """
      runnel serve [<file>] [--listen <address>] [--rules <file>] ...
      runnel serve secret new <name> [<file>]
      runnel serve service-account new <name> [<file>]
      """,
    discussion: """
      Clients connect as to the Realtime Database: by WebSocket (protocol version 5), or by HTTP \
      with event streams. The workspace and the commands can use the file at the same time. A \
      write is confirmed when it is on disk.

      Security rules decide who may read and write: chat.rules.json for chat.db, or the file after \
      --rules. Without rules, every program on this machine may read and write the whole database, \
      and other machines cannot connect. To serve other machines, a server needs rules, and a \
      certificate with its key, or a proxy that has them.

      The owner of a secret from `runnel serve secret new` is an administrator, and can sign \
      tokens for users with it. Admin SDKs become administrators with a key file from `runnel \
      serve service-account new`. With --emulator, credentials are accepted without proof, for \
      tests.

      With --accounts, users sign up and sign in at the server, with the libraries of Firebase \
      Authentication; rules see them in `auth`. `runnel accounts` administers their accounts.

      With --services, collections are offered as services of Feathers, over REST and Socket.IO, \
      under the same rules and accounts: `--services messages` has the children of /messages as \
      its records, `--services notes=users/notes` those of /users/notes; with `,multi` behind it, \
      one call may concern several records.

      Clients are limited: the metrics count each time that a client reaches a limit of `runnel \
      serve run --help`.

      The server prints its addresses to standard output, and its log to standard error, as lines \
      of JSON. SIGINT or SIGTERM ends it, after it has sent pending answers, which may take 10 \
      seconds. It reloads its files on SIGHUP, and when they change; on SIGHUP it also fetches \
      published keys again.

      Examples:
        runnel serve chat.db
        runnel serve chat.db --listen localhost:9000 --rules rules.json
        runnel serve chat.db --accounts accounts.db --issuer https://chat.example
        runnel serve chat.db --services messages,multi --services notes=users/notes
        runnel serve --databases data --emulator --create-databases 10
      """,
    subcommands: [
      RunServerCommand.self, SecretCommand.self, ServiceAccountCommand.self,
    ],
    defaultSubcommand: RunServerCommand.self)
}

/// `runnel serve run`: the default command of `runnel serve`.
struct RunServerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Serve; this is the default of `runnel serve`.",
    discussion: """
      The server listens on all addresses of a host: localhost is 127.0.0.1 and ::1, and * is \
      every address of the machine. Addresses that the machine does not have are skipped.

      Clients name the database by `ns=NAME` or by the first part of the host; if there is only \
      one database, no name is needed. In a folder, the name of NAME.db is NAME.

      Administrators of the machine send requests to a Unix socket, which only the owner of the \
      server can use: chat.admin.sock beside chat.db, or admin.sock in the folder; and to the \
      address of --admin. The requests are GET /healthz, /readyz, /metrics and /connections, and \
      DELETE /connections/ID.

      A server without rules accepts only the host name localhost, and web pages of localhost: \
      --host-name and --allow-origin add others.

      With --project, tokens that were made for the project are accepted. They are verified by the \
      keys that Google publishes, or by those of --keys: a JSON Web Key Set, or certificates by \
      the names of their keys. Keys from an address are kept for their max-age, and then fetched \
      again; if that fails, the old keys stay.
      """)

  @Argument(
    help: ArgumentHelp("The database file (default: that of the commands).", valueName: "file"),
    completion: .file(), transform: DatabaseOptions.fileName)
  var file: String?
  @Option(
    help: ArgumentHelp(
      "A YAML file with these options by name; the command line overrides it.",
      valueName: "file"), completion: .file())
  var config: String?
  @OptionGroup var serving: ServeOptionGroup<ServingTable>
  @OptionGroup(title: "Access") var access: ServeOptionGroup<AccessTable>
  @OptionGroup(title: "Accounts") var accounts: ServeOptionGroup<AccountTable>
  @OptionGroup(title: "Backups") var backups: ServeOptionGroup<BackupTable>
  @OptionGroup(title: "Limits") var limits: ServeOptionGroup<LimitTable>
  @OptionGroup(title: "Log") var log: ServeOptionGroup<LogTable>

  func run() throws {
    var settings = ServeSettings(
      file: file,
      [
        serving.values, access.values, accounts.values, backups.values, limits.values, log.values,
      ])
    if let config {
      do {
        try settings.take(settingsFile: config)
      } catch let error as ConfigurationError {
        throw Failure("\(error)", status: .usage)
      }
    }
    try ServerRun(settings.configuration()).run()
  }
}

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
      Clients connect as to the service: by WebSocket (protocol version 5), and by HTTP with event \
      streams. The workspace and the commands may use the same file meanwhile. A write is answered \
      when it is on disk.

      Security rules say who may do what: chat.rules.json for chat.db, or the file after --rules. \
      Without rules, everybody on this machine may read and write all of it, and nobody else can \
      connect. To listen for others, a server needs rules, and a certificate and its key, or a proxy \
      that has them.

      Who has a secret of `runnel serve secret new` is an administrator, and signs tokens for others \
      with it. Admin SDKs are administrators by a key file of `runnel serve service-account new`. With \
      --emulator, tests may claim to be anybody.

      What a client may use is limited: each limit of `runnel serve run --help` is counted in the \
      metrics when it is reached.

      Standard output tells where it listens; the log goes to standard error, a line of JSON each. \
      The server ends by SIGINT or SIGTERM, when answers are out; SIGHUP has it read its files again, \
      which it also does when they change.

      Examples:
        runnel serve chat.db
        runnel serve chat.db --listen localhost:9000 --rules rules.json
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
    commandName: "run", abstract: "Serve; this is what `runnel serve` does by itself.",
    discussion: """
      A host to listen on stands for all of its addresses: localhost is 127.0.0.1 and ::1, and * is \
      every address of the machine. Addresses that the machine lacks are skipped.

      Clients name the database by `ns=NAME` or by the first part of the host; without that the only \
      one is meant. In a folder, NAME is that of NAME.db.

      Administrators of the machine ask at a Unix socket, chat.admin.sock beside chat.db or admin.sock \
      in the folder, which only the owner of the server may use, and at --admin if it is given: \
      /healthz, /readyz, /metrics and /connections by GET, and DELETE /connections/ID.

      A server without rules answers to localhost only, and to pages of localhost: --host-name and \
      --allow-origin name others.

      With --project, tokens that were made for it are taken. They are checked by the keys that Google \
      publishes, or by those of --keys: a JSON Web Key Set, or certificates by the names of their \
      keys. What is read from an address is kept as long as its max-age says, and got again; while \
      that fails, the old keys stay.
      """)

  @Argument(
    help: ArgumentHelp("The database file (default: that of the commands).", valueName: "file"),
    completion: .file(), transform: DatabaseOptions.fileName)
  var file: String?
  @Option(
    help: ArgumentHelp(
      "A YAML file with these options by their names; the command line counts more.",
      valueName: "file"), completion: .file())
  var config: String?
  @OptionGroup var serving: ServeOptionGroup<ServingTable>
  @OptionGroup(title: "Access") var access: ServeOptionGroup<AccessTable>
  @OptionGroup(title: "Backups") var backups: ServeOptionGroup<BackupTable>
  @OptionGroup(title: "Limits") var limits: ServeOptionGroup<LimitTable>
  @OptionGroup(title: "Log") var log: ServeOptionGroup<LogTable>

  func run() throws {
    var settings = ServeSettings(
      file: file, [serving.values, access.values, backups.values, limits.values, log.values])
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

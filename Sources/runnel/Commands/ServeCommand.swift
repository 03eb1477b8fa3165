import ArgumentParser
import RunnelNetwork
import RunnelServer
import RunnelSync

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
      connect. To listen for others, a server needs rules, and a certificate and its key.

      Who has a secret of `runnel serve secret new` is an administrator, and signs tokens for others \
      with it. Admin SDKs are administrators by a key file of `runnel serve service-account new`. With --emulator, tests may claim to be anybody.

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

/// `runnel serve run`: what `runnel serve` does without another word.
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
    help: ArgumentHelp("Serve each NAME.db of a folder instead.", valueName: "folder"),
    completion: .directory)
  var databases: String?
  @Option(
    help: ArgumentHelp("The name of the database (default: that of the file).", valueName: "name"))
  var name: String?
  @Flag(help: "Make the database if it does not exist; the default one is made in any case.")
  var create = false
  @Option(
    help: ArgumentHelp(
      "Where to listen, HOST:PORT (default: localhost:9000); may be given more than once.",
      valueName: "address"))
  var listen: [String] = []
  @Option(
    help: ArgumentHelp(
      "Where administrators may ask besides the socket, HOST:PORT of this machine.",
      valueName: "address"))
  var admin: String?
  @OptionGroup(title: "Access") var access: ServerAccessOptions
  @OptionGroup(title: "Backups") var backups: ServerBackupOptions
  @OptionGroup(title: "Limits and log") var limits: ServerLimitOptions

  func validate() throws {
    if file != nil, databases != nil {
      throw ValidationError("Give a file, or --databases and a folder, not both.")
    }
    if databases != nil, name != nil || access.rules != nil || create {
      throw ValidationError("--name, --rules and --create are for a single file.")
    }
    if databases == nil, access.createDatabases != nil {
      throw ValidationError("--create-databases makes them in a folder: give --databases.")
    }
    if (access.tlsCert == nil) != (access.tlsKey == nil) {
      throw ValidationError("--tls-cert and --tls-key go together.")
    }
  }

  func run() throws {
    var configuration = ServerConfiguration(try served())
    if !listen.isEmpty { configuration.listen = listen }
    configuration.adminAddress = admin
    access.apply(to: &configuration)
    backups.apply(to: &configuration)
    limits.apply(to: &configuration)
    try ServerRun(configuration).run()
  }

  private func served() throws -> ServerConfiguration.Databases {
    if let databases { return .folder(databases) }
    var options = DatabaseOptions()
    options.database = file
    return .file(try options.file(for: create ? .create : .createDefault), name: name)
  }
}

/// The options that say who may connect, and as whom.
struct ServerAccessOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The file of the security rules.", valueName: "file"), completion: .file())
  var rules: String?
  @Option(
    help: ArgumentHelp("The file of the certificate for TLS, in PEM.", valueName: "file"),
    completion: .file())
  var tlsCert: String?
  @Option(
    help: ArgumentHelp("The file of the certificate's key, in PEM.", valueName: "file"),
    completion: .file())
  var tlsKey: String?
  @Flag(help: "Believe credentials without proof, for tests; only this machine can connect.")
  var emulator = false
  @Option(
    help: ArgumentHelp("How many databases requests may make.", valueName: "count"))
  var createDatabases: Int?
  @Option(
    help: ArgumentHelp("A name by which this machine is called.", valueName: "name"))
  var hostName: [String] = []
  @Option(
    help: ArgumentHelp("An origin whose pages may use the server.", valueName: "origin"))
  var allowOrigin: [String] = []
  @Option(
    help: ArgumentHelp(
      "Public keys that sign tokens: a file or an https address (default: those of Google).",
      valueName: "place"),
    completion: .file())
  var keys: String?
  @Option(
    help: ArgumentHelp("The project whose tokens are taken.", valueName: "name"))
  var project: String?

  func apply(to configuration: inout ServerConfiguration) {
    configuration.rulesFile = rules
    if let tlsCert, let tlsKey {
      configuration.tls = TLSFiles(certificate: tlsCert, key: tlsKey)
    }
    configuration.isEmulator = emulator
    configuration.creationsMax = createDatabases ?? 0
    configuration.hostNames = hostName
    configuration.allowedOrigins = allowOrigin
    configuration.keys = keys
    configuration.project = project
  }
}

/// How much connections may use, and what is logged of them.
struct ServerLimitOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The most connections of one address.", valueName: "count"),
    transform: ServerLimitOptions.count)
  var connectionsPerAddress: Int?
  @Option(
    help: ArgumentHelp("The most listens of one connection.", valueName: "count"),
    transform: ServerLimitOptions.count)
  var listensPerConnection: Int?
  @Option(
    help: ArgumentHelp("The most requests of one connection in a second.", valueName: "count"),
    transform: ServerLimitOptions.count)
  var requestsPerSecond: Int?
  @Option(
    help: ArgumentHelp("The most bytes of one connection in a second.", valueName: "bytes"),
    transform: ServerLimitOptions.count)
  var bytesPerSecond: Int?
  @Option(
    help: ArgumentHelp("The most bytes of one write over HTTP.", valueName: "bytes"),
    transform: ServerLimitOptions.count)
  var maxWrite: Int?
  @Option(
    help: ArgumentHelp(
      "The most bytes that wait for a client that does not read.", valueName: "bytes"),
    transform: ServerLimitOptions.count)
  var maxUnsent: Int?
  @Option(
    help: ArgumentHelp(
      "How the addresses of clients stand in the log: full, short (without the last part) or none.",
      valueName: "how"),
    transform: ServerLimitOptions.addresses)
  var logAddresses = LoggedAddresses.short
  @Flag(help: "Do not log requests and connections.")
  var noAccessLog = false

  private static func count(_ text: String) throws -> Int {
    guard let number = Int(text), number > 0 else {
      throw ValidationError("give a number from 1.")
    }
    return number
  }

  private static func addresses(_ text: String) throws -> LoggedAddresses {
    guard let addresses = LoggedAddresses(rawValue: text) else {
      throw ValidationError("give full, short or none.")
    }
    return addresses
  }

  func apply(to configuration: inout ServerConfiguration) {
    if let connectionsPerAddress {
      configuration.network.connectionsPerAddressMax = connectionsPerAddress
    }
    if let listensPerConnection { configuration.wire.listensMax = listensPerConnection }
    configuration.wire.requestsPerSecond = requestsPerSecond
    configuration.wire.bytesPerSecond = bytesPerSecond
    if let maxWrite { configuration.rest.writeBytesMax = maxWrite }
    if let maxUnsent { configuration.wire.unsentBytesMax = maxUnsent }
    configuration.loggedAddresses = logAddresses
    configuration.logsRequests = !noAccessLog
  }
}

import Glibc
import Logging
import RunnelNetwork
import RunnelServer

/// A run of a server from the command line, until a signal ends it.
struct ServerRun {
  /// The approximate number of files that a server has open, besides those of connections.
  private static let otherFilesMax: rlim_t = 100

  private let configuration: ServerConfiguration
  /// The number of files that the system lets this process open, or nil if it is unlimited or
  /// unknown.
  private let fileLimit: Int?

  init(_ configuration: ServerConfiguration) {
    fileLimit = ServerRun.raiseFileLimit()
    var configuration = configuration
    if let fileLimit {
      let room = max(1, fileLimit - Int(ServerRun.otherFilesMax))
      configuration.network.connectionsMax = min(configuration.network.connectionsMax, room)
    }
    self.configuration = configuration
  }

  /// Serves until a signal arrives.
  ///
  /// - Throws: `Failure` or `DatabaseError` that says why the server cannot run.
  func run() throws {
    guard case .file(let file, _) = configuration.databases else { return try serve() }
    // A server that cannot start leaves no empty file.
    try NewDatabase.removingUnused(file) { try serve() }
  }

  private func serve() throws {
    let lines = try LogLines { StandardError.write(String(decoding: $0, as: UTF8.self)) }
    let logger = Logger(label: "runnel.server", factory: { _ in LineLogHandler(lines) })
    do {
      let server = try DatabaseServer(configuration, lines: lines, logger: logger) { announcement in
        // The server also runs if its output cannot be written.
        try? StandardOutput.say(text(announcement))
        logger.notice("\(startLine(announcement))")
      }
      try AsyncWork.wait { try await server.runUntilSignal() }
      logger.notice("The server has ended")
      lines.flush()
    } catch let error as ServerError {
      throw Failure(error.message, status: error.isUsage ? .usage : .failure)
    } catch let error as NetworkError {
      throw Failure(error.message)
    }
  }

  /// Raises the limit of open files to the greatest value that the system allows; returns the
  /// limit, or nil if there is none.
  private static func raiseFileLimit() -> Int? {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return nil }
    limit.rlim_cur = limit.rlim_max
    // If this fails, the limit stays lower.
    _ = setrlimit(resource, &limit)
    guard getrlimit(resource, &limit) == 0 else { return nil }
    return Int(exactly: limit.rlim_cur)
  }

  // MARK: The announcement

  /// What the log says of the start: the version, and of a server of stores how to find it in `runnel store status`.
  private func startLine(_ told: DatabaseServer.Announcement) -> String {
    let places = told.addresses.map(\.description).joined(separator: ", ")
    let names = told.stores.map { "\($0.server) in the store \($0.name)" }
      .joined(separator: ", ")
    let start = "runnel \(MainCommand.version) serves at \(places)"
    return names.isEmpty ? start : "\(start), as \(names)"
  }

  private func text(_ told: DatabaseServer.Announcement) -> String {
    let scheme = told.isSecure ? "https" : "http"
    let guests = configuration.trustedProxies.isEmpty ? "" : ", and to whom a proxy lets in"
    var lines = told.databases.map { database in
      let rules =
        database.ruleCount.map { "rules of \(database.rulesPlace): \($0)" }
        ?? "open to everyone on this machine\(guests)"
      return "Serving \(database.place) as \(database.name), \(rules)"
    }
    if let file = configuration.trialRulesFile {
      lines.append("  on trial: \(file), whose denials are only logged")
    }
    if told.databases.isEmpty { lines.append("Serving no database yet") }
    if !told.leftOut.isEmpty {
      let files = told.leftOut.map(ShellText.quoted).joined(separator: ", ")
      lines.append("Not served: \(files)")
      lines.append("  rename them: names have 1 to 63 of a to z, 0 to 9 and -")
    }
    for address in told.addresses { lines.append("  at \(scheme)://\(address)") }
    let services = configuration.services.collections.map { collection in
      let isPlain = "\(collection.place)" == "/\(collection.service)"
      return isPlain ? collection.service : "\(collection.service) (\(collection.place))"
    }
    if !services.isEmpty { lines.append("  services: \(services.joined(separator: ", "))") }
    for place in told.adminPlaces { lines.append("  administration at \(place)") }
    let files = fileLimit.map { "; the system allows \($0) open files" } ?? ""
    lines.append("  for up to \(configuration.network.connectionsMax) connections\(files)")
    if let accounts = told.accounts {
      lines.append(
        "  accounts in \(accounts.file), for the project \(accounts.project); tokens are issued by "
          + accounts.issuer)
      if let folder = accounts.mailFolder { lines.append("  mails are written to \(folder)") }
    }
    if let plan = configuration.backups { lines.append("  backups are made in \(plan.folder)") }
    if told.isEmulator { lines.append("  as an emulator: credentials are accepted without proof") }
    guard let address = told.addresses.first, let database = told.databases.first else {
      return lines.joined(separator: "\n") + "\n"
    }
    let host = address.isLoopback ? "localhost:\(address.port)" : address.description
    let place = "\(scheme)://\(host)/.json?ns=\(database.name)&shallow=true"
    lines.append("Try:")
    lines.append("  curl '\(place)'")
    if let file = database.file { lines.append("  runnel open -d \(ShellText.quoted(file))") }
    return lines.joined(separator: "\n") + "\n"
  }
}

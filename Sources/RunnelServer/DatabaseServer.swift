public import Logging
import RunnelDatabase
import RunnelIdentity
public import RunnelNetwork
import RunnelSync
public import ServiceLifecycle
import UnixSignals

/// A server of databases for clients of the realtime protocol and of HTTP.
///
/// ```
///   new --start--> serving --stop--> ended
/// ```
///
/// As a service of `ServiceLifecycle` it starts, serves until a shutdown, and stops.
public final class DatabaseServer: Service, Sendable {
  /// The announcement of a server that has started.
  public struct Announcement: Sendable {
    /// A served database.
    public struct Database: Sendable {
      /// Its name.
      public var name: String
      /// Its file, or its namespace and the store.
      public var place: String
      /// The file; nil for a namespace of a store.
      public var file: String?
      /// The place of its rules.
      public var rulesPlace: String
      /// The number of its rules; nil if there is no rules file, so that everything is allowed.
      public var ruleCount: Int?
    }

    /// The addresses on which the server listens.
    public var addresses: [NetworkAddress]
    /// The addresses that the server skipped because the machine does not have them.
    public var skipped: [NetworkAddress]
    /// The places for administrators of the machine: the path of a Unix socket, and addresses.
    public var adminPlaces: [String]
    /// The served databases.
    public var databases: [Database]
    /// The files of the served folder that are not served: their names are no names of databases.
    public var leftOut: [String]
    /// True if it serves with TLS.
    public var isSecure: Bool
    /// True if credentials are accepted without proof.
    public var isEmulator: Bool
    /// The accounts; nil if there are none.
    public var accounts: Accounts?
    /// The stores, with the names that this server has in them until it loses its lease.
    package var stores: [(name: String, server: String)] = []
  }

  /// The accounts of a server that has started.
  public struct Accounts: Sendable {
    /// Their file, or the name of the store in which they are.
    public var file: String
    /// The project whose tokens they get.
    public var project: String
    /// The issuer of the tokens.
    public var issuer: String
    /// The folder for mails; nil if they are sent, or an emulator's.
    public var mailFolder: String?
  }

  private let configuration: ServerConfiguration
  private let world: ServerWorld
  private let databases: ServedDatabases
  private let accounts: AccountService?
  private let network: NetworkServer
  private let backups: BackupSchedule?
  private let admin: AdminServer
  private let readiness = Readiness()
  private let logger: Logger
  private let announce: @Sendable (Announcement) -> Void

  /// Opens the databases; clients cannot connect yet.
  ///
  /// - Parameters:
  ///   - configuration: the databases, the addresses and the access.
  ///   - lines: the log of requests and connections.
  ///   - logger: for messages.
  ///   - announce: called once the server has started.
  /// - Throws: `ServerError`, `NetworkError` or `DatabaseError` with the obstacle and advice.
  public init(
    _ configuration: ServerConfiguration, lines: LogLines, logger: Logger,
    announce: @escaping @Sendable (Announcement) -> Void = { _ in }
  ) throws {
    (self.configuration, self.logger, self.announce) = (configuration, logger, announce)
    var addresses: [NetworkAddress] = []
    for text in configuration.listen {
      addresses += try NetworkAddress.resolve(text, defaultPort: ServerConfiguration.defaultPort)
    }
    world = try ServerWorld(
      metrics: ServerMetrics(PrometheusMetrics()),
      log: ServerLog(
        lines: configuration.logsRequests ? lines : nil,
        addresses: configuration.loggedAddresses),
      limits: ServerWorld.Limits(
        wire: configuration.wire, rest: configuration.rest,
        largeWritesMax: configuration.largeWritesMax,
        unsentBytesMax: configuration.network.unsentBytesMax),
      calendar: configuration.calendar)
    let links = try StoreLink.all(configuration, world.metrics, logger)
    if !links.isEmpty { world.metrics.begin(stores: links.map(\.store.name)) }
    do {
      accounts = try AccountService.open(configuration, links.first?.keeper, world, logger)
    } catch {
      for link in links { link.keeper.close() }
      throw error
    }
    do {
      databases = try ServedDatabases(configuration, links, accounts, world, logger)
    } catch {
      accounts?.close()
      for link in links { link.keeper.close() }
      throw error
    }
    do {
      databases.requireRules(addresses.contains { !$0.isLoopback })
      try DatabaseServer.checkSafety(configuration, addresses, databases)
      backups = try configuration.backups.map { [databases, accounts, world] plan in
        try BackupSchedule(plan, metrics: world.metrics, logger: logger) {
          var all = databases.all.compactMap { open -> (String, DatabaseBackup)? in
            guard case .file(let file, let rules) = open.database.place, open.isMade else {
              return nil
            }
            return (open.database.name, DatabaseBackup(file, rulesFile: rules.path))
          }
          if let accounts, let file = accounts.place.file {
            all.append((accounts.name, DatabaseBackup(file)))
          }
          return all
        }
      }
      let hosts = HostCheck(
        hosts: Set(configuration.hostNames.map { $0.lowercased() }),
        origins: Set(configuration.allowedOrigins.map { $0.lowercased() }))
      let service = DatabaseService(
        databases: databases, accounts: accounts,
        services: ServiceFacade(
          configuration.services, accounts, world, origins: hosts.origins),
        world: world, hosts: hosts,
        isEmulator: configuration.isEmulator)
      network = try NetworkServer(
        addresses, socketFile: configuration.socketFile, tls: configuration.tls,
        limits: configuration.network, proxies: configuration.trustedProxies,
        unsent: world.unsent, service: service)
      let adminService = AdminService(
        world: world, hosts: hosts, logger: logger,
        readiness: { [readiness, databases, accounts] in
          readiness.answer(to: $0, databases, accounts)
        },
        metricsText: { [world, network, databases] in
          databases.noteSilence()
          databases.noteWritable()
          return world.metrics.text(connectionCount: network.connectionCount)
        })
      admin = try AdminServer(configuration, adminService, logger)
    } catch {
      databases.close()
      accounts?.close()
      throw error
    }
  }

  /// Refuses configurations in which other machines could use an unprotected server, or intercept
  /// data.
  private static func checkSafety(
    _ configuration: ServerConfiguration, _ addresses: [NetworkAddress],
    _ databases: ServedDatabases
  ) throws(ServerError) {
    guard let open = addresses.first(where: { !$0.isLoopback }) else { return }
    let start = "Others than this machine could connect to \(open):"
    if configuration.isEmulator {
      throw ServerError(
        "\(start) an emulator accepts every claim without proof. Listen on localhost.",
        isUsage: true)
    }
    let isBehindProxy = configuration.isPlainText && !configuration.trustedProxies.isEmpty
    if configuration.tls == nil, !isBehindProxy {
      throw ServerError(
        "\(start) give --tls-cert and --tls-key, or --plain-text with the --trusted-proxy that "
          + "serves TLS, or listen on localhost.", isUsage: true)
    }
    if let bare = databases.all.first(where: \.database.isOpen) {
      throw ServerError(
        "\(start) \(bare.database.name) has no rules, so that everybody could read and write "
          + "all of it. \(bare.database.place.rulesAdvice), or listen on localhost.",
        isUsage: true)
    }
    if configuration.creationsMax > 0 {
      throw ServerError(
        "\(start) databases that requests make have no rules. Listen on localhost.", isUsage: true)
    }
  }

  // MARK: Serving

  /// Serves until SIGINT or SIGTERM, and stops.
  ///
  /// - Throws: `NetworkError` if the server cannot listen.
  public func runUntilSignal() async throws {
    var settings = ServiceGroupConfiguration(
      services: [self],
      logger: Logger(label: "runnel.services", factory: { _ in SwiftLogNoOpLogHandler() }))
    settings.maximumGracefulShutdownDuration = configuration.stopDuration + .seconds(5)
    let group = ServiceGroup(configuration: settings)
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { [logger] in
        // Later signals change nothing.
        for await signal in signals {
          let name = signal == .sigint ? "SIGINT" : "SIGTERM"
          logger.notice("\(name): the server ends")
          await group.triggerGracefulShutdown()
        }
      }
      try await group.run()
      tasks.cancelAll()
    }
  }

  /// Serves until the service is shut down, and stops.
  ///
  /// - Throws: `NetworkError` if the server cannot listen.
  public func run() async throws {
    do {
      announce(try await start())
    } catch {
      // The leases end too.
      databases.close()
      accounts?.close()
      throw error
    }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.reloadOnSignal() }
      // This ends by a graceful shutdown of the service, or by cancellation.
      try? await gracefulShutdown()
      group.cancelAll()
    }
    await stop()
  }

  /// Fetches published keys if needed, and starts to listen.
  ///
  /// - Returns: the announcement.
  /// - Throws: `NetworkError` if the server cannot listen.
  public func start() async throws -> Announcement {
    let adminPlaces = try await admin.start()
    await databases.start()
    let bound: [NetworkAddress]
    let skipped: [NetworkAddress]
    do {
      (bound, skipped) = try await network.start()
    } catch {
      await admin.stop()
      throw error
    }
    accounts?.start()
    readiness.enter(.serving)
    for address in skipped {
      logger.notice("\(address) is skipped: this machine does not have it.")
    }
    for file in databases.leftOut {
      logger.warning("\(file) is not served: its name is no name of a database.")
    }
    if let tls = configuration.tls { warnOfEnd(of: tls) }
    watchFiles()
    backups?.start()
    return Announcement(
      addresses: bound, skipped: skipped, adminPlaces: adminPlaces,
      databases: databases.all.map { open in
        let database = open.database
        return Announcement.Database(
          name: database.name, place: database.place.name, file: database.place.file,
          rulesPlace: database.place.rulesName,
          ruleCount: database.rules?.rules.count)
      },
      leftOut: databases.leftOut,
      isSecure: configuration.tls != nil, isEmulator: configuration.isEmulator,
      accounts: accounts.map { accounts in
        Accounts(
          file: accounts.place.name, project: accounts.policy.project,
          issuer: accounts.policy.issuer,
          mailFolder: accounts.mailFolder)
      }, stores: databases.storeNames)
  }

  /// Warns if the certificate has expired, so that clients refuse it.
  private func warnOfEnd(of tls: TLSFiles) {
    guard let end = tls.expiry, end <= world.now.calendar else { return }
    logger.warning(
      "\(tls.certificate) expired at \(ServerLog.timeText(end)): clients refuse it until it is replaced."
    )
  }

  private func watchFiles() {
    if let accounts, let file = accounts.place.file {
      let secretsFile = ServerSecrets.file(beside: file)
      databases.watch(secretsFile, of: accounts.name) { () throws(ServerError) in
        let secrets = try ServerSecrets(file: secretsFile)
        accounts.administrators.change { $0.secrets = secrets }
      }
      let accountsFile = ServiceAccounts.file(beside: file)
      databases.watch(accountsFile, of: accounts.name) { () throws(ServerError) in
        let known = try ServiceAccounts(file: accountsFile)
        accounts.administrators.change { $0.accounts = known }
      }
    }
    if let tls = configuration.tls {
      databases.watched.watch([tls.certificate, tls.key]) { [weak self, network, logger] in
        do throws(NetworkError) {
          try network.reloadTLS()
          logger.info("\(tls.certificate) was loaded")
          self?.warnOfEnd(of: tls)
        } catch {
          logger.error("The old certificate stays: \(error)")
        }
      }
    }
    let watched = databases.watched
    _ = world.files.repeating(everyMilliseconds: WatchedFiles.lookMilliseconds) { watched.look() }
    let memory = MemoryCare()
    _ = world.files.repeating(everyMilliseconds: MemoryCare.lookMilliseconds) { memory.look() }
  }

  /// Reloads all files on SIGHUP.
  private func reloadOnSignal() async {
    for await _ in await UnixSignalsSequence(trapping: .sighup) { await reloadFiles() }
  }

  /// Reloads rules, certificates, keys, secrets and service accounts; an invalid file changes
  /// nothing.
  ///
  /// Published keys begin to be fetched again.
  public func reloadFiles() async {
    databases.refreshKeys()
    await withCheckedContinuation { done in
      let watched = databases.watched
      world.files.submit {
        watched.look(all: true)
        done.resume()
      }
    }
  }

  /// Takes no more connections and messages, ends the existing ones, and closes the databases.
  ///
  /// What was taken is done and answered first, and so are disconnect requests, within the time for that.
  public func stop() async {
    readiness.enter(.ending)
    // What waits for a store is answered before the connections are closed.
    databases.endWaits(at: .now + configuration.stopDuration * 3 / 5)
    databases.withdraw()
    await network.stopListening()
    world.switchboard.stopAllWhenDone()
    let end = ContinuousClock.now + configuration.stopDuration
    await waitUntilDone(until: end - configuration.stopDuration / 10)
    // What cannot be done in time is told so while the connections are open.
    accounts?.requests.end()
    await waitUntilDone(until: end)
    world.switchboard.stopAll()
    await network.end()
    backups?.stop()
    await admin.stop()
    databases.close()
    accounts?.close()
  }

  /// Waits until what was taken is done and answered, or a time has come.
  private func waitUntilDone(until end: ContinuousClock.Instant) async {
    while world.switchboard.count + (accounts?.requests.count ?? 0) > 0, ContinuousClock.now < end {
      // The sleep is cut short only if the program ends at once.
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Takes the care of the accounts that is due by now: keys, and what has expired.
  package func takeCareOfAccounts() async {
    await withCheckedContinuation { done in
      world.files.submit { [accounts] in
        accounts?.careNow()
        done.resume()
      }
    }
  }

  /// The longest of the times in which the primary of a store has been silent.
  package var storeSilence: Duration { databases.storeSilence }

  /// The counters since the start, in Prometheus's format.
  public var metricsText: String {
    databases.noteSilence()
    databases.noteWritable()
    return world.metrics.text(connectionCount: network.connectionCount)
  }
}

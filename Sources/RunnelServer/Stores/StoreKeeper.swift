import Logging
import RunnelDatabase
import RunnelPostgres

/// The link between a server and its store, besides those of the databases: the lease, the namespaces
/// and their newest changes, on a thread of its own.
///
/// ```
///   new --start--> held --not renewed for 6 s, or ended by others--> lost --2 s later--> held
/// ```
///
/// Source: several servers, sections 3 and 4.
actor StoreKeeper {
  /// What a server is told; called on the keeper's thread, and returns at once.
  enum News: Sendable {
    /// The newest places in the feeds of all namespaces, by name.
    case heads([(name: String, head: Int64)])
    /// A server has ended without notice, and left disconnect requests.
    case orphans
    /// The lease is lost: all sessions are to be ended, and nothing may be written for them.
    case leaseLost
  }

  private static let lookMilliseconds = 250
  private static let renewalTime = Duration.seconds(2)
  private static let lossTime = Duration.seconds(6)

  /// The lease of this server.
  nonisolated let lease: StoreLease
  private nonisolated let executor: TreeExecutor
  private nonisolated let place: PostgresPlace
  private nonisolated let logger: Logger
  private nonisolated let tell: @Sendable (News) -> Void
  // Keeper's thread only:
  private var connection: PostgresConnection?
  private var subscription: TreeExecutor.Subscription?
  private var isHeld = true
  private var renewed = ContinuousClock.now
  private var isFailing = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Opens the store, and begins a lease.
  ///
  /// - Throws: `PostgresError` that names the problem.
  init(
    _ place: PostgresPlace, address: String, logger: Logger,
    tell: @escaping @Sendable (News) -> Void
  ) throws {
    (self.place, self.logger, self.tell) = (place, logger, tell)
    lease = StoreLease(address: address)
    executor = try TreeExecutor(label: "runnel.store")
    let store = try PostgresStore(place)
    try store.checkVersion()
    try lease.begin(store.connection)
    store.close()
  }

  /// The names of all namespaces.
  ///
  /// - Throws: `PostgresError` if they cannot be read.
  nonisolated func names() throws -> [String] {
    let store = try PostgresStore(place)
    defer { store.close() }
    return try store.namespaces().map(\.name)
  }

  /// Begins to look after the lease, and to tell what is new.
  nonisolated func start() {
    executor.submit {
      self.assumeIsolated { keeper in
        keeper.renewed = .now
        keeper.subscription = keeper.executor.repeating(
          everyMilliseconds: StoreKeeper.lookMilliseconds
        ) { [weak keeper] in keeper?.assumeIsolated { $0.look() } }
      }
    }
  }

  /// Ends the lease; waits until that is done.
  nonisolated func close() {
    executor.submitAndWait {
      self.assumeIsolated { keeper in
        keeper.subscription?.cancel()
        if let connection = try? keeper.opened() {
          // If this fails, the others end the lease later.
          try? keeper.lease.end(connection)
          connection.close()
        }
      }
    }
  }

  private func opened() throws -> PostgresConnection {
    if let connection, connection.isOpen { return connection }
    var patience = PostgresConnection.Patience()
    (patience.connecting, patience.answering) = (.seconds(2), .seconds(2))
    let made = try PostgresConnection(place, patience: patience)
    connection = made
    return made
  }

  private func look() {
    do {
      let connection = try opened()
      let isDue = renewed.duration(to: .now) >= StoreKeeper.renewalTime
      if isDue { try renew(connection) }
      tell(.heads(try StoreLease.heads(connection)))
      if isDue, try StoreLease.hasOrphans(connection) { tell(.orphans) }
      if isFailing { logger.notice("The store can be reached again.") }
      isFailing = false
    } catch {
      if !isFailing { logger.error("The store cannot be reached: \(error)") }
      isFailing = true
    }
    if isHeld, renewed.duration(to: .now) > StoreKeeper.lossTime {
      lose("The lease was not renewed for 6 seconds")
    }
  }

  private func renew(_ connection: PostgresConnection) throws {
    if !isHeld {
      // The sessions have ended meanwhile.
      try lease.begin(connection)
      isHeld = true
    } else if try !lease.renew(connection) {
      lose("Others have ended the lease of this server")
    }
    renewed = .now
    _ = try StoreLease.endOld(connection)
  }

  private func lose(_ reason: String) {
    isHeld = false
    logger.critical("\(reason): all sessions are ended.")
    tell(.leaseLost)
  }
}

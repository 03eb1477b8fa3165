import Logging
import RunnelDatabase
import RunnelNetwork
import RunnelPostgres
import Synchronization

/// The link between a server and its store, besides those of the databases: the lease, the namespaces
/// and their newest changes, on a thread of its own.
///
/// ```
///   new --start--> held --`LeaseClock`, or ended by others--> lost --2 s later--> held
/// ```
///
/// Source: several servers, sections 3 and 4.
actor StoreKeeper {
  /// What a server is told; called on the keeper's thread, and returns at once.
  enum News: Sendable {
    /// The newest places in the feeds of all namespaces.
    case heads([StoreHead])
    /// Another server has told the newest place of a namespace.
    case wake(name: String, head: Int64)
    /// A server has ended without notice, and left disconnect requests.
    case orphans
    /// The lease is lost: all sessions are to be ended, and nothing may be written for them.
    case leaseLost
  }

  private struct Wakes {
    var heads: [String: Int64] = [:]
    /// True while the keeper's thread is going to send them.
    var isUnderWay = false
  }

  /// Why the store cannot be used.
  private enum StoreTrouble: Hashable {
    case unreachable
    /// The primary is read, and confirms nothing that is written.
    case unconfirmed
    /// The primary is read, and refuses to renew the lease, for this reason.
    case refusing(String)
  }

  private static let lookMilliseconds = 250
  /// The interval of looking where nobody is woken up.
  private static let blindLookMilliseconds = 20
  /// What is told within this time goes out together.
  private static let wakeMilliseconds = 2

  /// The name of the store.
  private nonisolated let storeName: String
  /// The lease of this server.
  nonisolated let lease: StoreLease
  private nonisolated let executor: TreeExecutor
  /// The thread of large reads of the store: one that is out of reach holds up those of no other.
  nonisolated let reads: TreeExecutor
  /// Where the store is, and how long it is waited for when the server ends.
  nonisolated let place: PostgresPlace
  nonisolated let logger: Logger
  private nonisolated let metrics: ServerMetrics
  private nonisolated let tell: @Sendable (News) -> Void
  private nonisolated let wakes = Mutex(Wakes())
  /// True while no other server has a lease, so that there is nobody to wake up.
  private nonisolated let isAlone = Atomic<Bool>(false)
  private nonisolated let placement: Mutex<Placement>
  /// When the store last did what it was asked, by the clock of `NetworkClock`, in milliseconds.
  private nonisolated let answered = Atomic<Int64>(NetworkClock.uptimeMilliseconds)
  /// What is wrong with the store, as far as it is known.
  private nonisolated let toldTrouble = Mutex<StoreTrouble?>(nil)
  /// Whether the writes of the store have a second copy.
  nonisolated let copies = StoreCopies()
  // Keeper's thread only:
  private var connection: PostgresConnection?
  private var subscriptions: [TreeExecutor.Subscription] = []
  /// The watch of the connection's socket.
  private var hearing: TreeExecutor.Subscription?
  private var isBlind = false
  private var clock: LeaseClock
  private var trouble: StoreTrouble?
  private var namespaceNames: [Int64: String] = [:]
  private var lastWake = ContinuousClock.now
  private var report = StoreReport(behind: [:])
  private var told: @Sendable () -> [String: Int64] = { [:] }
  private var shared: @Sendable () -> Set<String> = { [] }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Opens the store, and begins a lease.
  ///
  /// - Throws: `PostgresError` that names the problem.
  init(
    _ configuration: StoreConfiguration, logger: Logger, metrics: ServerMetrics,
    tell: @escaping @Sendable (News) -> Void
  ) throws {
    var place = PostgresPlace(configuration.connection)
    place.deadline = PostgresDeadline()
    (storeName, self.place) = (configuration.name, place)
    (self.logger, self.metrics, self.tell) = (logger, metrics, tell)
    let lease = StoreLease(address: configuration.address ?? "")
    self.lease = lease
    placement = Mutex(Placement(own: lease.identifier, among: []))
    executor = try TreeExecutor(label: "runnel.store")
    reads = try TreeExecutor(label: "runnel.reads")
    clock = LeaseClock(now: .now, patience: configuration.sessionPatience ?? configuration.patience)
    let store = try PostgresStore(place)
    defer { store.close() }
    try store.checkVersion()
    // Only the first connection of a process looks at all hosts.
    StoreKeeper.warn(of: store.connection, logger)
    try lease.begin(store.connection)
    // Without notifications the others notice it a little later.
    try? StoreWake.send([.servers], store.connection)
  }

  /// The store for people.
  private nonisolated var name: String { "the store \(storeName)" }

  /// All namespaces that are not moved away, nor still to come, in the order of their names.
  ///
  /// - Throws: `PostgresError` if they cannot be read.
  nonisolated func present(shared: Set<String> = []) throws -> [StoreHead] {
    let store = try PostgresStore(place)
    defer { store.close() }
    return try StoreLease.heads(store.connection, shared: shared)
      .filter { $0.state != .moved && !$0.isArriving }.sorted { $0.name < $1.name }
  }

  /// The time since the store last did what it was asked.
  nonisolated var silence: Duration {
    .milliseconds(NetworkClock.uptimeMilliseconds - answered.load(ordering: .relaxed))
  }

  /// What people are told of a store that has been silent for so long.
  nonisolated func words(for silence: Duration) -> String {
    let seconds = silence.components.seconds
    switch toldTrouble.withLock(\.self) {
    case .unconfirmed:
      return
        "The primary of \(name) has not confirmed a write for \(seconds) seconds, but answers: "
        + "\(StoreKeeper.advice)"
    case .refusing(let reason):
      return
        "The primary of \(name) has refused to renew the lease of this server for \(seconds) seconds: \(reason)"
    case .unreachable, nil:
      return "The primary of \(name) has not answered for \(seconds) seconds."
    }
  }

  /// Why the primary refuses to renew the lease, for people; nil if it does not.
  nonisolated var refusal: String? {
    if case .refusing(let reason) = toldTrouble.withLock(\.self) { reason } else { nil }
  }

  private static let advice =
    "its synchronous standby is away, or the primary is cut off from it."

  /// Begins to look after the lease, and to tell what is new.
  nonisolated func begin() {
    executor.submit {
      self.assumeIsolated { keeper in
        keeper.subscriptions.append(
          keeper.executor.repeating(everyMilliseconds: StoreKeeper.lookMilliseconds) {
            [weak keeper] in keeper?.assumeIsolated { $0.look() }
          })
      }
    }
  }

  /// Notes that the databases are open; `told` gives the newest places that the clients were told, by the
  /// names of the namespaces, and `shared` those that other stores have, too.
  nonisolated func start(
    told: @escaping @Sendable () -> [String: Int64], shared: @escaping @Sendable () -> Set<String>
  ) {
    executor.submit { self.assumeIsolated { ($0.told, $0.shared) = (told, shared) } }
    renewNow()
  }

  /// Looks at once, and renews the lease or begins it anew; returns at once.
  nonisolated func renewNow() {
    executor.submit { self.assumeIsolated { $0.look(mustRenew: true) } }
  }

  /// Takes this server out of the list, so that no client is sent to it any more; waits for that.
  nonisolated func withdraw() {
    if lease.address.isEmpty { return }
    executor.submitAndWait {
      self.assumeIsolated { keeper in
        // If this fails, clients that are sent here in vain come back to the others.
        guard let connection = try? keeper.opened() else { return }
        try? keeper.lease.withdraw(connection)
        try? StoreWake.send([.servers], connection)
        keeper.settle()
      }
    }
  }

  /// Ends the lease; waits until that is done.
  nonisolated func close() {
    executor.submitAndWait {
      self.assumeIsolated { keeper in
        for subscription in keeper.subscriptions { subscription.cancel() }
        if let connection = try? keeper.opened() {
          // If this fails, the others end the lease later.
          try? keeper.lease.end(connection)
          try? StoreWake.send([.servers], connection)
          connection.close()
        }
        keeper.settle()
      }
    }
  }

  // MARK: The connection

  private func opened() throws -> PostgresConnection {
    if let connection, connection.isOpen { return connection }
    settle()
    var patience = PostgresConnection.Patience()
    (patience.connecting, patience.answering) = (.seconds(2), .seconds(2))
    let made = try PostgresConnection(place, patience: patience)
    connection = made
    StoreKeeper.warn(of: made, logger)
    if try StoreWake.listen(made), let socket = made.socket {
      // The connection closes its socket itself, and is watched only as long as it is open.
      hearing = executor.watch(socket, owner: lease) { [weak self] in
        self?.assumeIsolated { $0.hear() }
      }
    } else if !isBlind {
      isBlind = true
      subscriptions.append(
        executor.repeating(everyMilliseconds: StoreKeeper.blindLookMilliseconds) { [weak self] in
          self?.assumeIsolated { $0.lookForHeads() }
        })
    }
    return made
  }

  /// Logs which primaries take writes too, and were replaced by that of a connection.
  private static func warn(of connection: PostgresConnection, _ logger: Logger) {
    for host in connection.replacedPrimaries {
      logger.warning("\(host) takes writes too, and was replaced by \(connection.name): stop it.")
    }
  }

  /// Stops to watch a connection that was closed.
  private func settle() {
    if connection?.isOpen == true { return }
    hearing?.cancel()
    hearing = nil
  }

  private func hear() {
    guard let connection else { return settle() }
    do {
      try takeWakes(connection)
    } catch {
      // The next look connects again, or tells why it cannot.
    }
    settle()
  }

  private func takeWakes(_ connection: PostgresConnection) throws {
    var heads: [Int64: Int64] = [:]
    var hasServers = false
    for text in try connection.takeNotifications() {
      switch StoreWake(text) {
      case .head(let namespace, let head): heads[namespace] = max(head, heads[namespace] ?? 0)
      case .servers: hasServers = true
      case nil: break
      }
    }
    for (namespace, head) in heads {
      if let name = namespaceNames[namespace] { tell(.wake(name: name, head: head)) }
    }
    if hasServers {
      try takeServers(connection)
      // Namespaces may have come, or gone.
      try takeHeads(connection)
    }
  }

  private func takeServers(_ connection: PostgresConnection) throws {
    let live = try StoreLease.live(connection)
    let own = lease.identifier
    isAlone.store(live.allSatisfy { $0.identifier == own }, ordering: .relaxed)
    placement.withLock { $0 = Placement(own: own, among: live) }
    metrics.note(leases: live.count, in: storeName)
  }

  // MARK: Looking

  private func look(mustRenew: Bool = false) {
    let start = ContinuousClock.now
    var (isReachable, isRead) = (false, false)
    do {
      let connection = try opened()
      isReachable = true
      try takeHeads(connection)
      try takeWakes(connection)
      isRead = true
      if mustRenew || clock.isDue(start) {
        try renew(connection)
        note(nil)
      } else if trouble == .unreachable {
        note(nil)
      }
      // Reading alone says nothing while writes are not confirmed.
      if trouble == nil { answered.store(NetworkClock.uptimeMilliseconds, ordering: .relaxed) }
    } catch {
      clock.didFail(start: start, isReachable: isReachable)
      note(isRead ? StoreKeeper.trouble(after: error) : .unreachable, error)
    }
    settle()
    if let reason = clock.loss(.now, of: name) {
      lose(reason + (refusal.map { " (\($0))" } ?? ""))
    }
  }

  /// What a failure to write says of a primary that was read.
  private static func trouble(after error: any Error) -> StoreTrouble {
    guard let error = error as? PostgresError else { return .unreachable }
    if error.kind == .timedOut { return .unconfirmed }
    if error.isOfFullDisk { return .refusing("the disk of the database has no space left.") }
    if error.kind == .refused, !error.isWorthRetrying { return .refusing(error.sentence) }
    return .unreachable
  }

  /// Logs trouble when it begins, changes and ends.
  private func note(_ found: StoreTrouble?, _ error: (any Error)? = nil) {
    if found == trouble { return }
    trouble = found
    toldTrouble.withLock { $0 = found }
    switch found {
    case .refusing(let reason):
      let rest = "without which nothing is read after 6 seconds: \(reason)"
      logger.error(
        "The primary of \(name) is read, but refuses to renew the lease of this server, \(rest)")
    case .unreachable:
      logger.error("T\(name.dropFirst()) cannot be reached: \(error.map { "\($0)" } ?? "")")
    case .unconfirmed:
      logger.error(
        "The primary of \(name) answers, but does not confirm what is written: \(StoreKeeper.advice)"
      )
    case nil: logger.notice("T\(name.dropFirst()) can be used again.")
    }
  }

  private func lookForHeads() {
    guard let connection, connection.isOpen else { return }
    // What fails here fails in the next look too, which tells it.
    try? takeHeads(connection)
  }

  private func takeHeads(_ connection: PostgresConnection) throws {
    let heads = try StoreLease.heads(connection, shared: shared())
    for head in heads { namespaceNames[head.namespace] = head.name }
    let told = told()
    var behind: [String: Int64] = [:]
    for head in heads { behind[head.name] = max(0, head.head - (told[head.name] ?? head.head)) }
    // Another store may have a namespace of the same name, which is served from there.
    for (name, count) in behind where told[name] != nil { metrics.note(lag: count, of: name) }
    report = StoreReport(behind: behind)
    tell(.heads(heads))
  }

  private func renew(_ connection: PostgresConnection) throws {
    if !clock.isHeld {
      // The sessions have ended meanwhile.
      try lease.begin(connection)
      logger.notice(
        "The lease has begun anew: this server is \(lease.identifier.text) in \(name) from now on")
      try StoreWake.send([.servers], connection)
    } else if try !lease.renew(connection, report: report) {
      clock.didLose(.now)
      lose("Others have ended the lease of this server in \(name)")
      return
    }
    clock.didRenew(.now)
    if let news = copies.look(connection, of: name) { logger.warning("\(news)") }
    if clock.mayEndOthers(.now) { _ = try StoreLease.endOld(connection) }
    try takeServers(connection)
    if try StoreLease.hasOrphans(connection) { tell(.orphans) }
  }

  private func lose(_ reason: String) {
    lease.lose()
    logger.critical("\(reason): the sessions of its namespaces are ended.")
    metrics.lostLease(in: storeName)
    tell(.leaseLost)
  }

  // MARK: Waking the others

  /// Tells the other servers that a namespace has a new place in its feed; returns at once.
  nonisolated func wake(_ name: String, head: Int64) {
    if isAlone.load(ordering: .relaxed) { return }
    let isFirst = wakes.withLock { wakes in
      wakes.heads[name] = head
      defer { wakes.isUnderWay = true }
      return !wakes.isUnderWay
    }
    if isFirst { executor.submit { self.assumeIsolated { $0.sendWakes() } } }
  }

  private func sendWakes() {
    if lastWake.duration(to: .now) < .milliseconds(StoreKeeper.wakeMilliseconds) {
      // They stay under way until the pause is over.
      executor.submit(afterMilliseconds: StoreKeeper.wakeMilliseconds) {
        self.assumeIsolated { $0.sendWakes() }
      }
      return
    }
    let heads = wakes.withLock { wakes in
      defer { wakes = Wakes() }
      return wakes.heads
    }
    let numbers = Dictionary(namespaceNames.map { ($0.value, $0.key) }) { first, _ in first }
    let messages = heads.compactMap { name, head in
      numbers[name].map { StoreWake.head(namespace: $0, head: head) }
    }
    guard !messages.isEmpty, let connection, connection.isOpen else { return }
    do {
      try StoreWake.send(messages, connection)
      metrics.sentWakes(messages.count, in: storeName)
      try takeWakes(connection)
    } catch {
      // A hint that is lost costs the others a quarter of a second.
      connection.close()
    }
    lastWake = .now
    settle()
  }

  // MARK: Placement

  /// The address of the server on which the clients of a namespace belong; nil for this one.
  nonisolated func address(of name: String) -> String? {
    // The list of servers is old if the store is silent.
    if silence > LeaseClock.unconfirmedTime { return nil }
    return placement.withLock { $0.address(of: name) }
  }
}

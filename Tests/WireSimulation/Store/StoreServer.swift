import RunnelBase
import RunnelPostgres
import RunnelSync
import RunnelTree
import Synchronization

/// A server of a store in a simulation: its lease, its namespace and the tree of its clients.
///
/// The lease, its clock, the placement, the session and its transactions are those of the program; the
/// database under them is a model.
final class StoreServer {
  static let namespace = "demo"
  private static let lookMilliseconds: Int64 = 250

  /// What is to be done with the tree in one transaction.
  struct Batch {
    var requests: [(connection: Int64, request: ServedRequest)] = []
    /// Whether what other servers left is done.
    var takesOver = false
  }

  /// What a look at the store has shown.
  struct News {
    var hasChanges = false
    var hasOrphans = false
    var lostLease = false
  }

  private let database: ModelDatabase
  private let lease: StoreLease
  private let session: PostgresSession
  private var keeper: PostgresConnection?
  private var clock: LeaseClock
  private let start = ContinuousClock.now
  private var placement: Placement
  private var tree: StoreTree
  private var lookTime: Int64
  private var answeredTime: Int64

  /// Starts a server.
  ///
  /// - Throws: `PostgresError` if the database fails; then it is to be started anew.
  init(
    _ database: ModelDatabase, address: String, names: IdentifierSource,
    access: MemoryServedTree.Access, now: WireTime
  ) throws {
    self.database = database
    let keeper = try database.connect()
    let lease = StoreLease(address: address) { names.next() }
    try lease.begin(keeper)
    let session = try PostgresSession(
      namespace: StoreServer.namespace, lease: lease, patience: .zero
    ) { try database.connect() }
    tree = try session.perform(isWriting: true) { transaction in
      var tree = try StoreTree(access: access, transaction)
      var told: StoreTree.Told = []
      let time = max(now.calendar, transaction.earliestTime)
      try tree.takeOver(now: time, transaction, &told)
      return tree
    }
    (self.lease, self.session, self.keeper) = (lease, session, keeper)
    clock = LeaseClock(now: start + .milliseconds(now.uptime), patience: .seconds(60))
    placement = Placement(own: lease.identifier, among: [])
    (lookTime, answeredTime) = (now.uptime, now.uptime)
  }

  /// The name under which it has a lease.
  var identifier: PostgresIdentifier { lease.identifier }

  /// False from the loss of its lease until it begins anew.
  var holdsLease: Bool { clock.isHeld }

  /// True if the tree does not show the newest change.
  var isBehind: Bool { session.head != database.primary.tables.head }

  /// Where a client belongs; nil to serve it here.
  func address(now: WireTime) -> String? {
    let silence = Duration.milliseconds(now.uptime - answeredTime)
    return silence > LeaseClock.unconfirmedTime ? nil : placement.address(of: StoreServer.namespace)
  }

  /// Closes its connections, as when the program has ended.
  func close() {
    session.close()
    keeper?.close()
  }

  /// Ends its lease; without success others do so later.
  func endLease() {
    if let keeper = try? opened() { try? lease.end(keeper) }
  }

  // MARK: The tree

  /// Does a batch in one transaction.
  ///
  /// - Throws: `PostgresError` if nothing was done, or nobody knows; `SimulationError` for a violated
  ///   invariant.
  func perform(_ batch: Batch, now: WireTime) throws -> StoreTree.Told {
    let isWriting = batch.takesOver || batch.requests.contains { $0.request.isWriting }
    var violation: SimulationError?
    var attempted: StoreTree?
    do {
      let (tree, told) = try session.perform(isWriting: isWriting) { transaction in
        var tree = self.tree
        tree.beginBatch()
        var told: StoreTree.Told = []
        let time = max(now.calendar, transaction.earliestTime)
        try tree.takeForeignChanges(transaction, &told)
        for (connection, request) in batch.requests {
          try tree.perform(request, of: connection, now: time, transaction, &told)
        }
        if batch.takesOver { try tree.takeOver(now: time, transaction, &told) }
        attempted = tree
        do {
          try tree.checkObserver(transaction)
        } catch let error as SimulationError {
          violation = error
          throw error
        }
        return (tree, told)
      }
      self.tree = tree
      return told
    } catch {
      if let attempted { tree.mayHaveKept(attempted) }
      throw violation ?? error
    }
  }

  /// Notes that a connection has ended, if its batch failed.
  func leaveAll(_ connection: Int64) { tree.leaveAll(connection) }

  /// The number of commits whose answers did not come since this was asked last.
  func takeDoubtCount() -> Int {
    defer { session.doubtCount = 0 }
    return session.doubtCount
  }

  /// The number of times that the database was found to have lost writes since this was asked last.
  func takeAlarmCount() -> Int {
    defer { session.alarms = [] }
    return session.alarms.count
  }

  /// Reads the whole tree.
  func root() throws -> Node {
    try session.perform(isWriting: false) { try $0.node(at: .root) }
  }

  // MARK: The lease

  private func opened() throws -> PostgresConnection {
    if let keeper, keeper.isOpen { return keeper }
    let made = try database.connect()
    keeper = made
    return made
  }

  /// Looks after the lease and for changes, when it is time.
  func look(now: WireTime) -> News {
    var news = News()
    if now.uptime < lookTime { return news }
    lookTime = now.uptime + StoreServer.lookMilliseconds
    let instant = start + .milliseconds(now.uptime)
    var isReachable = false
    do {
      let connection = try opened()
      isReachable = true
      if clock.isDue(instant) { try renew(connection, instant, &news) }
      news.hasChanges = try StoreLease.heads(connection).contains { $0.head != session.head }
      answeredTime = now.uptime
    } catch {
      clock.didFail(start: instant, isReachable: isReachable)
    }
    if clock.loss(instant) != nil { news.lostLease = true }
    if news.lostLease { lease.lose() }
    return news
  }

  private func renew(
    _ connection: PostgresConnection, _ now: LeaseClock.Instant, _ news: inout News
  ) throws {
    if !clock.isHeld {
      try lease.begin(connection)
    } else if try !lease.renew(connection, report: StoreReport(behind: [:])) {
      clock.didLose(now)
      news.lostLease = true
      return
    }
    clock.didRenew(now)
    if clock.mayEndOthers(now) { _ = try StoreLease.endOld(connection) }
    placement = Placement(own: lease.identifier, among: try StoreLease.live(connection))
    news.hasOrphans = try StoreLease.hasOrphans(connection)
  }
}

extension ServedRequest {
  /// True if it may write.
  var isWriting: Bool {
    switch operation {
    case .write, .writeIf, .compareAndSet, .keepForDisconnect, .doDisconnects, .leave: true
    case .listen, .unlisten, .get, .review: false
    }
  }
}

/// Makes the names of servers, by a seed.
final class IdentifierSource: Sendable {
  private let random: Mutex<SeededRandom>

  init(seed: UInt64) { random = Mutex(SeededRandom(seed: seed)) }

  func next() -> PostgresIdentifier { random.withLock { PostgresIdentifier(using: &$0) } }
}

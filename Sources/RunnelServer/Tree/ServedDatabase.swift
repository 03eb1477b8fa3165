import Logging
import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTree
import Synchronization

/// The receiver of the messages of served trees.
protocol TreeAudience: Sendable {
  /// Takes messages, in order; called on the tree's thread, and returns at once.
  func take(_ told: TreeTold)
}

/// A served database: its storage, its rules, and the thread of its tree.
///
/// Jobs are done in the order in which they were submitted, all waiting ones in one transaction, so
/// that the disk is waited for only once. Their messages are sent when they are on disk. What fails
/// because the storage is out of reach is done anew, for a while.
actor ServedDatabase {
  /// The most jobs of one transaction.
  private static let batchMax = 256
  /// The interval of looking for writes of other processes if the file's folder cannot be watched.
  private static let blindLookMilliseconds = 250
  /// The interval of looking without a wake-up, in case one was lost.
  private static let safetyLookMilliseconds = 60_000

  /// The name of the database for clients.
  nonisolated let name: String
  /// The place of the database and of its rules.
  nonisolated let place: ServedPlace
  nonisolated let executor: TreeExecutor
  private nonisolated let jobs = Mutex<[TreeJob]>([])
  /// True while there are no rules, for other threads.
  nonisolated let isOpenToAll: Mutex<Bool>
  /// The rules, for exports, which are read on another thread.
  nonisolated let currentRules: Mutex<RulesEngine?>
  /// True once the file is lost, so that the database is unusable.
  private nonisolated let hasLostFile = Atomic<Bool>(false)
  /// True once the database is to be closed, so that nothing is waited for.
  private nonisolated let isEnding = Atomic<Bool>(false)
  /// The number of the newest change that was told; -1 if changes have no numbers.
  private nonisolated let toldHead = Atomic<Int64>(-1)
  /// The limits of callers.
  nonisolated let allowance: TreeAllowance
  nonisolated let logger: Logger
  private nonisolated let metrics: ServerMetrics
  nonisolated let calendar: @Sendable () -> Int64
  // Tree executor only:
  let storage: any ServedStorage
  var tree: ServedTree
  private var audience: (any TreeAudience)?
  private let watch: ChangeWatch?
  private var subscriptions: [TreeExecutor.Subscription] = []
  var isClosed = false

  /// The tree's thread.
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Opens a database; `calendar` tells the time of day, in milliseconds since 1970.
  ///
  /// - Throws: `DatabaseError` or `PostgresError` that names the problem with the place, `ServerError` if
  ///   its rules cannot be loaded.
  init(
    name: String, place: ServedPlace, allowance: TreeAllowance, logger: Logger,
    metrics: ServerMetrics, calendar: @escaping @Sendable () -> Int64
  ) throws {
    (self.name, self.place) = (name, place)
    (self.allowance, self.logger, self.metrics) = (allowance, logger, metrics)
    self.calendar = calendar
    // The mistakes of a file of rules are told before the database is opened.
    var rules = try place.rulesFile?.load().map(allowance.bounded)
    executor = try TreeExecutor(label: "runnel.tree")
    var environment = DatabaseEnvironment.system
    environment.now = calendar
    let storage = try place.open(environment)
    if place.rulesFile == nil {
      let text = try storage.perform(isWriting: false) { try $0.rulesText() }
      rules = try text.map { try ServedDatabase.rules($0, of: place) }.map(allowance.bounded)
    }
    if let rules { try storage.declareIndexes(ServedDatabase.indexes(of: rules)) }
    var tree = ServedTree(rules: rules, allowance)
    // No connection exists yet that could be told.
    _ = try tree.atomically { tree in
      try storage.perform(isWriting: true) { transaction in
        try tree.carryOutAll(now: max(calendar(), transaction.earliestTime), transaction)
      }
    }
    isOpenToAll = Mutex(rules == nil)
    currentRules = Mutex(rules)
    watch = place.file.flatMap { ChangeWatch(database: $0) }
    self.storage = storage
    self.tree = tree
  }

  /// Starts to send messages to connections, and to follow the writes of other processes.
  nonisolated func start(_ audience: any TreeAudience) {
    executor.submit { self.assumeIsolated { $0.follow(audience) } }
  }

  /// True if there are no rules.
  nonisolated var isOpen: Bool { isOpenToAll.withLock { $0 } }

  /// True once the file is lost, so that the database is unusable.
  nonisolated var isLost: Bool { hasLostFile.load(ordering: .relaxed) }

  /// The current rules.
  nonisolated var rules: RulesEngine? { currentRules.withLock { $0 } }

  /// Submits a job, to be done after those submitted before; returns at once.
  nonisolated func submit(_ job: TreeJob) {
    let isFirst = jobs.withLock { jobs in
      jobs.append(job)
      return jobs.count == 1
    }
    if isFirst { executor.submit { self.assumeIsolated { $0.work() } } }
  }

  /// Looks for the changes of others, if the newest change has another number than the last one told.
  nonisolated func note(head: Int64) {
    if toldHead.load(ordering: .relaxed) == head { return }
    submit(TreeJob(connection: 0, wish: .look))
  }

  /// Does the jobs submitted before, and closes the file; waits until that is done.
  nonisolated func close() {
    isEnding.store(true, ordering: .relaxed)
    executor.submitAndWait { self.assumeIsolated { $0.shutDown() } }
  }

  private func shutDown() {
    work()
    isClosed = true
    for subscription in subscriptions { subscription.cancel() }
    do {
      try storage.close()
    } catch {
      logger.error("\(name): \(error)")
    }
  }

  private func follow(_ audience: any TreeAudience) {
    self.audience = audience
    if let watch {
      subscriptions.append(
        executor.watch(watch.descriptor, owner: watch) { [weak self] in
          self?.assumeIsolated { $0.didWake() }
        })
    }
    // Who keeps the store tells what is new there.
    if place.file == nil { return }
    let interval =
      watch == nil ? ServedDatabase.blindLookMilliseconds : ServedDatabase.safetyLookMilliseconds
    subscriptions.append(
      executor.repeating(everyMilliseconds: interval) { [weak self] in
        self?.submit(TreeJob(connection: 0, wish: .look))
      })
  }

  private func didWake() {
    if watch?.drain() == true { submit(TreeJob(connection: 0, wish: .look)) }
  }

  private func work() {
    if isClosed { return }
    let batch = jobs.withLock { jobs in
      let batch = Array(jobs.prefix(ServedDatabase.batchMax))
      jobs.removeFirst(batch.count)
      return batch
    }
    if batch.isEmpty { return }
    let told = perform(batch)
    metrics.note(jobs: batch.count, listens: tree.listenCount, of: name)
    if !told.isEmpty { audience?.take(told) }
    if jobs.withLock({ !$0.isEmpty }) {
      executor.submit { self.assumeIsolated { $0.work() } }
    }
  }

  private func perform(_ batch: [TreeJob]) -> TreeTold {
    var patience = StoragePatience()
    while true {
      do {
        return try attempt(batch)
      } catch {
        let isOutOfReach = storage.isWorthRetrying(error)
        if isOutOfReach, !isEnding.load(ordering: .relaxed), patience.wait() {
          metrics.noteRetry(of: name)
          continue
        }
        // What is wrong with one job is no reason to refuse the others.
        if batch.count > 1, !isOutOfReach { return batch.flatMap { perform([$0]) } }
        return batch.flatMap { refuse($0, error) }
      }
    }
  }

  private func attempt(_ batch: [TreeJob]) throws -> TreeTold {
    if batch.allSatisfy(\.isLook), try !storage.hasNews() { return [] }
    defer { for alarm in storage.takeAlarms() { logger.critical("\(name): \(alarm)") } }
    let told = try tree.atomically { tree in
      try storage.perform(isWriting: batch.contains(where: \.isWriting)) { transaction in
        var told: TreeTold = []
        if transaction.hasForeignSettings {
          told += try takeStoredRules(&tree, transaction)
        }
        told += try tree.foreignChanges(transaction)
        if batch.count > 1 { try transaction.prefetch(batch.compactMap(\.writtenPlace)) }
        for job in batch { told += try perform(job, &tree, transaction) }
        return told
      }
    }
    if let head = storage.head { toldHead.store(head, ordering: .relaxed) }
    publishRules()
    return told
  }

  private func perform(
    _ job: TreeJob, _ tree: inout ServedTree, _ transaction: any ServedTransaction
  ) throws -> TreeTold {
    let now = max(calendar(), transaction.earliestTime)
    switch job.wish {
    case .request(let request):
      return try tree.perform(request, of: job.connection, now: now, transaction)
    case .operation(.readRules, _):
      return [(job.connection, .answered(.answer(.rules(RulesFile.text(of: tree.rules)))))]
    case .operation(.writeRules(let text, let isDryRun), _):
      return try write(text, isDryRun, job.connection, &tree, transaction)
    case .operation(let operation, let caller):
      return try tree.perform(
        operation, for: caller, of: job.connection, now: now, transaction)
    case .putSpooled(let body, let path, let condition, let hashes, let caller):
      let put = SpooledPut(body: body, path: path, condition: condition, hashes: hashes)
      return try tree.perform(put, for: caller, of: job.connection, now: now, transaction)
    case .endStream:
      tree.leaveAll(job.connection)
      return []
    case .takeRules(let text): return try takeRules(text, &tree, transaction)
    case .look: return []
    case .takeOver: return try tree.carryOutAll(now: now, transaction)
    }
  }

  /// The messages to a connection about a job that failed alone.
  private func refuse(_ job: TreeJob, _ failure: any Error) -> TreeTold {
    logger.error("\(name): \(failure)")
    if let loss = storage.loss, !hasLostFile.exchange(true, ordering: .relaxed) {
      logger.critical("\(name): \(loss)")
    }
    let error: TreeError
    if let failure = failure as? DatabaseError,
      [.malformedJSON, .refused].contains(failure.code)
    {
      error = TreeError(.invalidValue, failure.message)
    } else {
      // The cause names files of the server, so it is only logged.
      error = TreeError(
        .unavailable, "The database cannot do this now, and nothing was done: try again later.")
    }
    switch job.wish {
    case .request(let request):
      return [(job.connection, .told(.answer(request.id, .refused(error))))]
    case .operation, .putSpooled: return [(job.connection, .answered(.answer(.refused(error))))]
    case .endStream, .takeRules, .look, .takeOver: return []
    }
  }
}

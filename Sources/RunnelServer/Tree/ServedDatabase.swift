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
/// because the storage is out of reach is done anew, for a while. Listens and reads that would hold up the
/// others are carried out on another thread; see `SlowReads`. None is done in a transaction that writes to a
/// store, which holds the lock of the namespace for all servers.
actor ServedDatabase {
  /// The most jobs of one transaction.
  private static let batchMax = 256
  /// The interval of looking for writes of other processes if the file's folder cannot be watched.
  private static let blindLookMilliseconds = 250
  /// The interval of looking without a wake-up, in case one was lost.
  private static let safetyLookMilliseconds = 60_000
  /// The time after which encoded answers are forgotten.
  private static let shelfMilliseconds = 10_000
  /// The size of the body of a write from which on reads do not wait for it.
  static let longWriteBytesMin = 1_048_576
  /// The interval at which a disk that took no write is tried again, and the bytes that are written.
  static let probe = (milliseconds: 1000, bytes: 65_536)

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
  /// The secrets and service accounts as they were at the start; nil for a file, which has them beside it.
  nonisolated let storedAccess: StoredAccess?
  /// Takes secrets and service accounts that were changed in the store.
  nonisolated let accessReceiver = Mutex<Receiver<StoredAccess>?>(nil)
  /// How many long writes are under way.
  nonisolated let longWriteCount = Atomic<Int>(0)
  /// True while the file is lost, so that the database is unusable.
  nonisolated let hasLostFile = Atomic<Bool>(false)
  /// True once the file is lost for good.
  nonisolated let needsRestart = Atomic<Bool>(false)
  /// True once the database is to be closed, so that nothing is waited for.
  nonisolated let isEnding = Atomic<Bool>(false)
  /// The number of the newest change that was told; -1 if changes have no numbers.
  private nonisolated let toldHead = Atomic<Int64>(-1)
  /// True from a write that the disk did not take until it takes one.
  nonisolated let hasFailedWrite = Atomic<Bool>(false)
  /// The limits of callers.
  nonisolated let allowance: TreeAllowance
  nonisolated let logger: Logger
  nonisolated let metrics: ServerMetrics
  private nonisolated let reads: TreeExecutor
  /// Told of each large read on the thread of large reads, twice, for tests.
  private nonisolated let readNotice: (@Sendable (_ isOpen: Bool) -> Void)?
  nonisolated let calendar: @Sendable () -> Int64
  // Tree executor only:
  let storage: any ServedStorage
  var tree: ServedTree
  private var slow = SlowReads()
  /// Jobs that could not be done, and are done before all others.
  var owed: [TreeJob] = []
  /// Why the disk did not take the jobs that are owed; nil if that is not so.
  var diskFailure: (any Error)?
  /// Jobs that wait because the namespace is being moved.
  var held = HeldJobs()
  /// What the jobs of the last transaction were to be told, by their place in its batch.
  var attempt: [Int: TreeTold] = [:]
  /// The sessions that are about to end, because the storage did not take what they wrote.
  var failed: Set<Int64> = []
  /// The failure of a store, or the loss of a file, that was logged last; nil since a write was done.
  var toldFailure: String?
  private var forgetsPushes = false
  /// True if the next look has to find out whether the file is still at its place.
  private var checksFiles = true
  /// True while the disk is tried, or is about to be.
  var isProbing = false
  private var audience: (any TreeAudience)?
  private let watch: ChangeWatch?
  private var subscriptions: [TreeExecutor.Subscription] = []
  var isClosed = false
  /// True if the namespace was being moved at the start, so that nothing was written.
  private var lacksIndexes = false

  /// The tree's thread.
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Opens a database; `calendar` tells the time of day, in milliseconds since 1970.
  ///
  /// - Throws: `DatabaseError` or `PostgresError` that names the problem with the place, `ServerError` if
  ///   its rules cannot be loaded.
  init(
    name: String, place: ServedPlace, allowance: TreeAllowance,
    unmade: UnmadeFile? = nil, services: [ServedCollection] = [], trial: RulesTrial? = nil,
    logger: Logger,
    metrics: ServerMetrics,
    reads: TreeExecutor, readNotice: (@Sendable (_ isOpen: Bool) -> Void)? = nil,
    calendar: @escaping @Sendable () -> Int64
  ) throws {
    (self.name, self.place) = (name, place)
    (self.allowance, self.logger, self.metrics) = (allowance, logger, metrics)
    self.reads = place.keeper?.reads ?? reads
    (self.readNotice, self.calendar) = (readNotice, calendar)
    // The mistakes of a file of rules are told before the database is opened.
    var rules = try place.rulesFile?.load().map(allowance.bounded)
    executor = try TreeExecutor(label: "runnel.tree")
    var environment = DatabaseEnvironment.system
    environment.now = calendar
    let storage: any ServedStorage =
      try unmade?.open(place, environment) ?? place.open(environment)
    if place.rulesFile != nil {
      storedAccess = nil
    } else {
      let (text, access) = try storage.perform(isWriting: false) {
        (try $0.rulesText(), try StoredAccess($0, of: place.name))
      }
      storedAccess = access
      rules = try text.map { try ServedDatabase.rules($0, of: place) }.map(allowance.bounded)
    }
    var tree = ServedTree(
      rules: rules, allowance, services: services, trial: trial,
      undone: UndoneDisconnects(database: name, logger))
    do {
      if let rules { try storage.declareIndexes(ServedDatabase.indexes(of: rules)) }
      // No connection exists yet that could be told.
      _ = try tree.atomically { tree in
        try storage.perform(isWriting: true) { transaction in
          try tree.carryOutAll(now: max(calendar(), transaction.earliestTime), transaction)
        }
      }
    } catch {
      // It is read while it is moved; what was left is told of again.
      if !storage.isFrozen(error) { throw error }
      lacksIndexes = true
    }
    isOpenToAll = Mutex(rules == nil)
    currentRules = Mutex(rules)
    watch = place.file.flatMap { ChangeWatch(database: $0) }
    self.storage = storage
    self.tree = tree
    metrics.begin(name, isStored: place.file == nil, isOnTrial: trial != nil)
  }

  /// Starts to send messages to connections, and to follow the writes of other processes.
  nonisolated func start(_ audience: any TreeAudience) {
    executor.submit { self.assumeIsolated { $0.follow(audience) } }
  }

  /// Submits a job, to be done after those submitted before; returns at once.
  nonisolated func submit(_ job: TreeJob) {
    let isFirst = jobs.withLock { jobs in
      jobs.append(job)
      return jobs.count == 1
    }
    if isFirst { executor.submit { self.assumeIsolated { $0.work() } } }
  }

  /// The number of the newest change that was told; nil if changes have no numbers.
  nonisolated var newestTold: Int64? {
    let head = toldHead.load(ordering: .relaxed)
    return head < 0 ? nil : head
  }

  /// Looks for the changes of others, if the newest change has another number than the last one told.
  ///
  /// A hint may be late, so that a smaller number says nothing.
  nonisolated func note(head: Int64, isHint: Bool = false) {
    let told = toldHead.load(ordering: .relaxed)
    if isHint ? told >= head : told == head { return }
    submit(TreeJob(connection: 0, wish: .look))
  }

  /// Does the jobs submitted before, and closes the file; waits until that is done.
  nonisolated func close() {
    isEnding.store(true, ordering: .relaxed)
    executor.submitAndWait { self.assumeIsolated { $0.shutDown() } }
  }

  private func shutDown() {
    owed = held.release() + owed
    work()
    // Nobody reads the answers any more, but what was asked to be written is written.
    _ = perform(slow.releaseAll().filter { !$0.isRead })
    isClosed = true
    if slow.current != nil { reads.submitAndWait {} }
    for subscription in subscriptions { subscription.cancel() }
    do {
      try storage.close()
    } catch {
      logger.error("\(name): \(error)")
    }
  }

  private func follow(_ audience: any TreeAudience) {
    self.audience = audience
    if lacksIndexes, let rules = tree.rules { declareIndexes(of: rules) }
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
        self?.assumeIsolated { $0.look(atFiles: true) }
      })
  }

  private func didWake() {
    switch watch?.drainNews() {
    case .nothing, nil: break
    // Each own write comes back so; it looked at the files itself.
    case .commit: look(atFiles: false)
    case .files: look(atFiles: true)
    }
  }

  /// Looks for the changes of others, and for the file.
  private func look(atFiles: Bool) {
    if atFiles { checksFiles = true }
    submit(TreeJob(connection: 0, wish: .look))
  }

  func work() {
    if isClosed { return }
    let next = jobs.withLock { jobs in
      let batch = Array(jobs.prefix(ServedDatabase.batchMax))
      jobs.removeFirst(batch.count)
      return batch
    }
    if isLost { regain() }
    let batch = owed + next
    (owed, diskFailure) = ([], nil)
    if batch.isEmpty { return }
    deliver(perform(batch))
    // Who waits for an answer does not wait for the figures.
    metrics.note(jobs: batch.count, listens: tree.listenCount, of: name)
    readOn()
    if jobs.withLock({ !$0.isEmpty }) {
      executor.submit { self.assumeIsolated { $0.work() } }
    }
  }

  /// Does jobs; without `mayWait`, a large read too.
  func perform(_ batch: [TreeJob], mayWait: Bool = true) -> TreeTold {
    let batch = slow.admit(held.admit(batch.filter(isInOrder)))
    if batch.isEmpty { return [] }
    if place.file == nil, let (first, rest) = SlowReads.parts(of: batch) {
      // Who wrote does not wait for who reads.
      deliver(perform(first, mayWait: mayWait))
      return perform(rest, mayWait: mayWait)
    }
    if let diskFailure, batch.contains(where: \.isWriting) {
      // What is owed is written before all other.
      if batch.count > 1 { return batch.flatMap { perform([$0]) } }
      return giveUp(batch, diskFailure, maySucceed: true)
    }
    var patience = StoragePatience(place.restOfPatience)
    while true {
      do {
        let (told, later) = try storage.making { try carryOut(batch, mayWait: mayWait) }
        slow.add(later)
        return told
      } catch {
        if storage.isFrozen(error) { return waitForMove(batch, error) }
        let isOutOfReach = storage.isWorthRetrying(error)
        if isOutOfReach, !mustEnd, patience.wait() {
          metrics.noteRetry(of: name)
          continue
        }
        if storage.isWritten(error) { return tellWritten(batch, error) }
        let isInDoubt = storage.leavesDoubt(error)
        // What is wrong with one job is no reason to refuse the others.
        if batch.count > 1, !isOutOfReach, !isInDoubt { return batch.flatMap { perform([$0]) } }
        let isOfStore = isOutOfReach || isInDoubt && place.file == nil
        return giveUp(
          batch, error, maySucceed: isOfStore || isWaitingForDisk(error) || storage.mayReturn)
      }
    }
  }

  /// False for what a session asked to be written after a write that was not done: the client sends both again,
  /// in their order.
  private func isInOrder(_ job: TreeJob) -> Bool {
    guard failed.contains(job.connection), case .request(let request) = job.wish else {
      return true
    }
    if case .leave = request.operation { failed.remove(job.connection) }
    return !job.isWriting || job.isOwed
  }

  /// Does jobs in one transaction.
  ///
  /// - Parameters:
  ///   - batch: the jobs.
  ///   - mayWait: whether reads are left for later: those whose connection has no room, and large ones.
  /// - Returns: the messages to connections, and the reads that wait, with the jobs that follow them on the
  ///   same connections, which were not done.
  /// - Throws: the error of one of them; then none was done.
  private func carryOut(
    _ batch: [TreeJob], mayWait: Bool = true
  ) throws -> (told: TreeTold, later: [TreeJob]) {
    if batch.allSatisfy(\.isLook) {
      let hasNews = try storage.hasNews(checksFiles: checksFiles)
      checksFiles = false
      if !hasNews { return ([], []) }
    }
    defer { noteStorage() }
    attempt = [:]
    var hasWritten = false
    let done = try tree.atomically { tree in
      try storage.perform(
        isWriting: batch.contains(where: writesStorage), expecting: batch.compactMap(\.expected)
      ) { transaction in
        var told: TreeTold = []
        if transaction.hasForeignSettings { told += try takeSettings(&tree, transaction) }
        told += try tree.foreignChanges(now: calendar(), transaction)
        if batch.count > 1 { try transaction.prefetch(batch.compactMap(\.writtenPlace)) }
        var later: [TreeJob] = []
        for (index, job) in batch.enumerated() {
          let isLate = later.contains { $0.connection == job.connection }
          var mustWait = isLate || mayWait && job.isWithoutRoom
          if mayWait, !mustWait { mustWait = try tree.isLarge(job, transaction) }
          if mustWait {
            later.append(job)
          } else {
            let news = try perform(job, &tree, transaction)
            attempt[index] = news
            told += news
          }
        }
        hasWritten = transaction.hasWritten
        return (told, later)
      }
    }
    if let head = storage.head {
      if hasWritten {
        place.keeper?.wake(name, head: head)
        metrics.note(writes: batch.count(where: \.isWriting), of: name)
      }
      toldHead.store(head, ordering: .relaxed)
    }
    publishRules()
    noteDone(batch, hasWritten: hasWritten)
    if hasWritten { toldFailure = nil }
    return (slow.hold(done.0, at: storage.head), later: done.1)
  }
}

// MARK: Large reads

extension ServedDatabase {
  func deliver(_ told: TreeTold) {
    let ready = slow.hold(told, at: storage.head)
    if !ready.isEmpty { audience?.take(ready) }
    storage.announce()
    guard slow.isFull, let read = slow.current else { return }
    // Messages must not pile up without bound: the tree waits for the answer.
    reads.submitAndWait {}
    end(read)
  }

  /// Begins the oldest read that waits and need not, unless one is carried out.
  private func readOn() {
    while !isClosed, let connection = slow.next() {
      guard !slow.hasEnded(connection), let job = slow.first(of: connection), job.isRead else {
        deliver(perform(slow.release(connection).filter { !$0.isRead }))
        continue
      }
      begin(job)
    }
    let unread = slow.urgentConnections.map { (connection: $0, news: TreeNews.unread) }
    if !unread.isEmpty { audience?.take(unread) }
  }

  private func begin(_ job: TreeJob) {
    var wish: SlowRead.Wish?
    do {
      defer { noteStorage() }
      let told = try tree.atomically { tree in
        let expected = job.expected.map { [$0] } ?? []
        return try storage.perform(isWriting: false, expecting: expected) { transaction in
          var told: TreeTold = []
          if transaction.hasForeignSettings { told += try takeSettings(&tree, transaction) }
          told += try tree.foreignChanges(now: calendar(), transaction)
          wish = try tree.beginRead(job, now: calendar(), transaction, &told)
          wish?.room = job.room
          job.noteAnswer(in: told)
          return told
        }
      }
      if let head = storage.head { toldHead.store(head, ordering: .relaxed) }
      publishRules()
      deliver(told)
      if let wish {
        do {
          // Nothing was written to a file since the transaction: the listen joined in this state.
          return carryOut(try SlowRead(wish, of: place, after: storage.head))
        } catch {
          logger.error("\(name): \(error)")
          tree.leave(wish)
          deliver(try carryOut([job], mayWait: false).told)
        }
      }
    } catch {
      if place.file == nil { return readHere(job.connection) }
      deliver(refuse(job, error))
    }
    goOn(job.connection)
  }

  private func carryOut(_ read: SlowRead) {
    slow.begin(read, after: storage.head)
    reads.submit { [weak self, allowance, executor, readNotice] in
      read.run(allowance, readNotice)
      executor.submit { [weak self] in self?.assumeIsolated { $0.end(read) } }
    }
  }

  private func end(_ read: SlowRead) {
    guard !isClosed, slow.current === read, let outcome = read.takeOutcome() else { return }
    let wish = read.wish
    if place.file == nil, !catchUp(with: outcome) || wish.rules.version != tree.rulesVersion {
      tree.leave(wish)
      audience?.take(slow.abandon())
      readHere(wish.connection)
      return readOn()
    }
    tree.end(wish, outcome)
    wish.room?.give(outcome.answer, to: wish.id)
    if outcome.push != nil { forgetPushesLater() }
    if case .refused = outcome.answer {
      audience?.take([(wish.connection, wish.news(outcome.answer))] + slow.abandon())
      goOn(wish.connection)
      return readOn()
    }
    let (before, after) = slow.end(at: outcome.head)
    audience?.take(before + [(wish.connection, wish.news(outcome.answer))] + after)
    goOn(wish.connection)
    readOn()
  }

  /// Takes the changes that an answer from a store has already; false if that fails, or there is no answer.
  ///
  /// New rules among them are known before the answer is sent.
  private func catchUp(with outcome: SlowRead.Outcome) -> Bool {
    if outcome.hasFailed { return false }
    guard let head = outcome.head else { return true }
    if head > storage.head ?? 0 {
      deliver(perform([TreeJob(connection: 0, wish: .look)]))
    }
    return head <= storage.head ?? 0
  }

  /// Does the first job of a connection, a large read, on the tree's thread, in a transaction that locks
  /// nothing, and waits for a store that is out of reach; then the jobs that followed.
  private func readHere(_ connection: Int64) {
    let jobs = slow.release(connection)
    deliver(perform(Array(jobs.prefix(1)), mayWait: false))
    deliver(perform(Array(jobs.dropFirst())))
  }

  /// Does the jobs of a connection that followed its large read.
  private func goOn(_ connection: Int64) {
    deliver(perform(Array(slow.release(connection).dropFirst())))
  }

  private func forgetPushesLater() {
    if forgetsPushes { return }
    forgetsPushes = true
    executor.submit(afterMilliseconds: ServedDatabase.shelfMilliseconds) { [weak self] in
      self?.assumeIsolated { database in
        database.forgetsPushes = false
        database.tree.shelf.forgetPushes()
      }
    }
  }
}

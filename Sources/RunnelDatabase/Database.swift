package import RunnelBase
package import RunnelStreams
package import RunnelTree
import Synchronization

/// A request to a database.
///
/// Requests are carried out one by one, in order.
package enum DatabaseRequest: Sendable {
  /// Register a listener; its name is a number from zero up.
  case listen(ListenerID, ListenRequest)
  /// Remove a listener.
  case unlisten(ListenerID)
  /// Extend the window of a paged listener by up to `count` rows.
  case extend(ListenerID, count: Int)
  /// Carry out a write; the answer carries the number.
  case write(Int, Write)
  /// Add a child under a new key; the answer carries the number.
  case push(Int, Path, JSONValue)
  /// Add several children under new keys, in one write; the answer carries the number.
  case pushAll(Int, Path, [JSONValue])
  /// Carry out an operation on a resource; the answer carries the number.
  case perform(Int, ResourceOperation, ResourceRegistry)
  /// Undo an entry of the action log; the answer carries the number.
  case undo(Int, ActionLogEntry, ResourceRegistry)
  /// Carry out a write if conditions hold; the answer carries the number.
  case writeIf(Int, Write, [WriteCondition])
  /// Carry out an operation on a resource if conditions hold; the answer carries the number.
  case performIf(Int, ResourceOperation, ResourceRegistry, [WriteCondition])
  /// Undo a write of the history, where its result still stands; the answer carries the number. What an
  /// operation made needs the registry.
  case undoWrite(Int, entry: Int64, ResourceRegistry? = nil)
  /// Read at most `count` entries of a place's history, the newest first, before a given entry.
  case history(Int, Path, before: Int64?, count: Int)
  /// Give up one pending write of a replica, by its id; the answer carries the number.
  case dropPending(Int, Int64)
  /// Drop a refused write of a replica, by its id; the answer carries the number.
  case dropRefused(Int, Int64)
  /// Carry out a request to write that stands for refused writes, which leave their queue with it.
  indirect case taking(RefusedTaking, DatabaseRequest)
  /// Read the node at a place, once; the answer carries the number.
  case get(Int, Path)
  /// Read the beginning of a node, about so many bytes of text, and count its size up to a limit.
  case excerpt(Int, Path, textMax: Int, countMax: Int)
  /// Read the rows of a query, once; the answer carries the number.
  case search(Int, Query)
  /// Read the kinds and sizes of a query's rows, once; on a replica those that it knows.
  case level(Int, Query)
  /// Tell the orders of a place's children that have an index; the answer carries the number.
  case orders(Int, Path)
  /// Copy the next pages of a file that is gone, for a copy of the whole database in a new file; the answer
  /// carries the number. If the file is at its place, nothing is copied: `DatabaseCopy` does it.
  case copyPages(Int, to: String)
  /// End the copying of pages to a file, and remove them.
  case endCopy(String)
  /// Connect the origin of a replica. `originTime` is the time on the origin's clock, in
  /// milliseconds since 1970, if the origin tells it.
  case connectOrigin(originTime: Int64? = nil)
  /// Disconnect the origin of a replica.
  case disconnectOrigin
  /// Take a message of a replica's origin.
  case receive(OriginMessage)
}

/// An open database on a thread of its own, for a program that must not wait for it.
///
/// It offers two interfaces to the same tree, which may be used at the same time:
/// - A program with a loop of its own submits requests, which return at once; the results are
///   posted to its inbox, in order.
/// - Every other program opens it with `open`, and reads, writes and observes with `Reference`.
///
/// Both receive the writes of other processes on the same file, without asking.
public actor Database {
  /// The delays after which to look again if a wake-up found nothing: a commit may become visible a
  /// moment after the beacon was touched.
  private static let secondLooksMilliseconds = [1, 10]
  /// The interval of looking if the file's folder cannot be watched.
  private static let blindLookMilliseconds = 250
  /// The delay before a full inbox is tried again, and the longest one after it was full each time.
  private static let retryMilliseconds = (first: 5, longest: 80)
  /// The interval of looking without a wake-up, in case one was lost or the writer cannot touch the
  /// beacon: long, so that a program that waits for hours stays asleep.
  private static let safetyLookMilliseconds = 60_000

  /// The file of the database.
  public nonisolated let file: String
  package nonisolated let executor: TreeExecutor
  /// The inbox for messages; nil if the program uses only references, so that messages are dropped.
  private nonisolated let inbox: Inbox<DatabaseMessage>?
  /// The observations by references, and the thread on which they are told.
  nonisolated let dispatcher: EventDispatcher
  /// Makes keys without waiting for the tree.
  nonisolated let autoIDs: Mutex<AutoIDs>
  /// Keeps writes in order when one of them finds the file locked.
  private nonisolated let writeOrder = WriteOrder()
  private nonisolated let reportedEnds = ReportedEnds()
  // Tree executor only:
  let session: DatabaseSession
  private var watch: ChangeWatch?
  private var subscriptions: [TreeExecutor.Subscription] = []
  /// The looks without a wake-up.
  private var regularLooks: TreeExecutor.Subscription?
  private var isClosed = false
  /// The error of closing the file; nil if there was none.
  private(set) var closingError: DatabaseError?
  /// The numbers of the writes on a replica that the origin has not answered, by their ids.
  private var numbersOfWrites: [Int64: Int] = [:]
  /// The receipts of writes by references that the origin has not answered, by their ids.
  var receipts: [Int64: [WriteReceipt]] = [:]
  /// The callers that wait for the answer to a question that was asked once, by its id.
  var gets: [Int64: CheckedContinuation<Node, any Error>] = [:]
  /// The callers that wait for the end of a transaction by a reference, by its id.
  var transactions: [Int64: CheckedContinuation<(isCommitted: Bool, node: Node), any Error>] = [:]
  /// Who carries a replica's talk with its origin, besides the inbox.
  var originSink = OriginSink()
  /// Messages for which the inbox was full, oldest first.
  ///
  /// While there are any, other processes' writes are left in the feed, so that the backlog does
  /// not grow by them; requests from here are answered nevertheless.
  private var backlog: [DatabaseMessage] = []
  /// How many steps are under way, one within the other.
  private var openSteps = 0
  private var retrying = (isDue: false, milliseconds: Database.retryMilliseconds.first)

  /// The tree's thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// Opens a database file and starts to follow the writes of other processes.
  ///
  /// - Parameters:
  ///   - file: the path of the file; it is made if it does not exist.
  ///   - isReadOnly: whether writes are refused.
  ///   - indexes: the orders that the program will ask for. With `isReadOnly` none is made: those that the file
  ///     does not have are missing, and all children are read in their place.
  ///   - inbox: where messages are posted.
  ///   - environment: makes the clock and the random numbers.
  /// - Throws: `DatabaseError` that says what is wrong with the file.
  package init(
    file: String, isReadOnly: Bool = false, indexes: [IndexDefinition] = [],
    inbox: Inbox<DatabaseMessage>, environment: sending DatabaseEnvironment
  ) throws {
    try self.init(
      DatabaseSource(file: file, isReadOnly: isReadOnly, indexes: indexes),
      executor: try TreeExecutor(label: "runnel.tree"), inbox: inbox,
      dispatcher: try EventDispatcher(onTrouble: { _ in }), environment: environment,
      environmentOfKeys: .system)
  }

  /// Opens a database on a thread that is given.
  init(
    _ source: DatabaseSource, executor: TreeExecutor, inbox: Inbox<DatabaseMessage>?,
    dispatcher: EventDispatcher, environment: sending DatabaseEnvironment,
    environmentOfKeys: sending DatabaseEnvironment
  ) throws {
    file = source.file
    self.inbox = inbox
    self.dispatcher = dispatcher
    self.executor = executor
    autoIDs = Mutex(AutoIDs(environment: environmentOfKeys))
    session = try DatabaseSession(
      file: source.file, isReadOnly: source.isReadOnly, environment: environment)
    if !source.isReadOnly { try session.declareIndexes(source.indexes) }
    watch = ChangeWatch(database: source.file)
    executor.submit { self.assumeIsolated { $0.follow() } }
  }

  /// Submits a request; returns at once.
  ///
  /// Any thread may call it. Requests after `close` are refused (`closed`).
  ///
  /// - Precondition: the name of a listener is not below zero; observations have those names.
  package nonisolated func submit(_ request: DatabaseRequest) {
    switch request {
    case .listen(let listener, _), .unlisten(let listener), .extend(let listener, _):
      precondition(!listener.isObservation, "Names below zero are those of observations.")
    case .write, .push, .pushAll, .perform, .undo, .writeIf, .performIf, .undoWrite, .history,
      .dropPending, .dropRefused, .taking, .get, .excerpt, .search, .level, .orders, .copyPages,
      .endCopy, .connectOrigin, .disconnectOrigin, .receive:
      break
    }
    enqueue(request)
  }

  /// Submits a request for a listener with any name; returns at once.
  nonisolated func enqueue(_ request: DatabaseRequest) {
    let number = writeOrder.nextNumber()
    if case .disconnectOrigin = request { reportedEnds.add() }
    executor.submit {
      self.assumeIsolated { database in
        if request.isWrite,
          let error = database.writeOrder.refusal(ofRequest: number, database.file)
        {
          return database.refuse(request, error)
        }
        database.carryOut(request)
      }
    }
  }

  /// Carries out a write; returns at once.
  ///
  /// `completion` is called with the error, or nil, on the thread of the observers, after these
  /// were told.
  nonisolated func submit(
    _ write: Write, completion: @escaping @Sendable (DatabaseError?) -> Void
  ) {
    executor.submit {
      self.assumeIsolated { database in
        let error = database.failure { try database.session.write(write) }
        database.tellLoss()
        database.dispatcher.afterDelivery { completion(error) }
      }
    }
  }

  private func carryOut(_ request: DatabaseRequest) {
    if isClosed { return refuse(request, closedError) }
    beginStep()
    defer { endStep() }
    switch request {
    case .listen(let listener, let request):
      post(for: listener) {
        if listener.isObservation { try session.checkPlace() }
        return try session.listen(listener, request)
      }
      if inbox != nil { for advice in session.takeIndexAdvice() { post(.advice(advice)) } }
    case .unlisten(let listener):
      session.unlisten(listener)
      if session.core.hasUndelivered { look() }
    case .extend(let listener, let count):
      post(for: listener) { try session.extend(listener, by: count) }
    case .write(let number, _), .push(let number, _, _), .pushAll(let number, _, _),
      .perform(let number, _, _),
      .undo(let number, _, _), .get(let number, _), .search(let number, _), .level(let number, _),
      .excerpt(let number, _, _, _),
      .writeIf(let number, _, _), .performIf(let number, _, _, _),
      .undoWrite(let number, _, _), .history(let number, _, _, _), .orders(let number, _),
      .dropPending(let number, _), .dropRefused(let number, _), .copyPages(let number, _):
      session.newestWriteID = nil
      let messages = session.answer(request)
      if let id = session.newestWriteID { numbersOfWrites[id] = number }
      if request.isWrite { writeOrder.note(messages) }
      for message in messages { post(message) }
    case .endCopy(let file):
      session.endCopy(to: file)
      // The file may have come back meanwhile.
      if session.fileLoss != nil { look() }
    case .connectOrigin(let originTime):
      postFromOrigin { try session.connectOrigin(originTime: originTime) }
      let offset = session.connectionInfo.serverTimeOffset ?? 0
      autoIDs.withLock { $0.serverTimeOffset = offset }
    case .disconnectOrigin:
      postFromOrigin { try session.disconnectOrigin() }
      reportedEnds.remove()
    case .receive(let message): postFromOrigin { try session.receive(message) }
    case .taking(let taking, let request): session.taking(taking) { carryOut(request) }
    }
    postOriginOutput()
    tellLoss()
  }

  /// The error of requests after the end.
  private var closedError: DatabaseError {
    DatabaseError(.closed, "\(file) was closed before this was asked.")
  }

  /// Checks that the database is open.
  ///
  /// - Throws: `DatabaseError` (`closed`) if not.
  func checkIsOpen() throws { if isClosed { throw closedError } }

  private func refuse(_ request: DatabaseRequest, _ error: DatabaseError) {
    switch request {
    case .listen(let listener, _), .extend(let listener, _): post(.failed(listener, error))
    case .write(let number, _), .push(let number, _, _), .pushAll(let number, _, _),
      .perform(let number, _, _),
      .undo(let number, _, _), .get(let number, _), .search(let number, _), .level(let number, _),
      .excerpt(let number, _, _, _),
      .writeIf(let number, _, _), .performIf(let number, _, _, _),
      .undoWrite(let number, _, _), .history(let number, _, _, _), .dropPending(let number, _),
      .dropRefused(let number, _), .copyPages(let number, _):
      post(.refused(number, error))
    case .taking(_, let request): refuse(request, error)
    // No caller waits for an answer to these.
    case .orders, .endCopy, .unlisten, .connectOrigin, .disconnectOrigin, .receive: break
    }
  }

  /// Posts the deliveries of `body`; returns its error.
  private func failure(_ body: () throws -> [Delivery]) -> DatabaseError? {
    do {
      try checkIsOpen()
      post(try body())
      return nil
    } catch {
      return DatabaseError(error, file: file)
    }
  }

  private func post(for listener: ListenerID, _ body: () throws -> [Delivery]) {
    do {
      let deliveries = try body()
      post(deliveries, isAnswer: true)
      if deliveries.isEmpty, listener.isObservation { dispatcher.deliverNothing(to: listener) }
    } catch {
      post(.failed(listener, DatabaseError(error, file: file)))
    }
  }

  private func postFromOrigin(_ body: () throws -> [Delivery]) {
    do {
      post(try body())
    } catch {
      post(.stale(DatabaseError(error, file: file)))
    }
  }

  /// Posts a replica's completions, and then its commands for the origin.
  func postOriginOutput() {
    let output = session.takeOriginOutput()
    for completion in output.completions {
      switch completion {
      case .acknowledged(let id):
        // Writes of other processes, and of earlier runs, have no caller here.
        if settle(id, nil) { continue }
        if let number = numbersOfWrites.removeValue(forKey: id) { post(.acknowledged(number)) }
      case .rejected(let id, let error):
        if error.code == .writeCanceled { originSink.dropped?(id) }
        if settle(id, error) { continue }
        post(.rejected(numbersOfWrites.removeValue(forKey: id), write: id, error))
      case .cancelled(let listener, _, let error):
        post(.failed(listener, DatabaseError(cancelled: error)))
      case .got(let id, let node): answer(get: id, .success(node))
      case .getFailed(let id, let error): answer(get: id, .failure(DatabaseError(get: error)))
      case .transaction(let id, let isCommitted, let node):
        end(transaction: id, .success((isCommitted, node)))
      case .transactionFailed(let id, let error):
        end(transaction: id, .failure(DatabaseError(transaction: error)))
      }
    }
    if inbox != nil {
      for news in [session.takePendingNews(), session.takeRefusedNews()] {
        if let news { post(news) }
      }
    }
    if output.commands.isEmpty || reportedEnds.areWaiting { return }
    // The screen shows a write while it is being sent.
    flush()
    originSink.send?(output.commands)
    post(.origin(output.commands))
  }

  /// Passes deliveries to the interface whose listeners they are for.
  func post(_ deliveries: [Delivery], isAnswer: Bool = false) {
    let observed = deliveries.filter(\.listener.isObservation)
    if !observed.isEmpty {
      dispatcher.deliver(observed, pending: session.pendingPlaces, isAnswer: isAnswer)
    }
    let posted =
      observed.isEmpty ? deliveries : deliveries.filter { !$0.listener.isObservation }
    if !posted.isEmpty { queue(.deliveries(posted)) }
  }

  /// Passes a message to the interface that it is for.
  func post(_ message: DatabaseMessage) {
    switch message {
    case .deliveries(let deliveries): return post(deliveries)
    case .failed(let listener, let error) where listener.isObservation:
      return dispatcher.fail(listener, error)
    case .fileGone(let error): endObservations(error)
    case .stale(let error): dispatcher.report(error)
    default: break
    }
    queue(message)
  }

  /// Posts a message, after those for which the inbox was full.
  private func queue(_ message: DatabaseMessage) {
    if inbox == nil { return }
    backlog.append(message)
    if openSteps == 0 { flush() }
  }

  /// Begins a step whose messages are posted together at its end, so that the screen shows all of them at
  /// once: a row that was written, and that it is written.
  func beginStep() { openSteps += 1 }

  /// Ends a step.
  func endStep() {
    openSteps -= 1
    if openSteps == 0 { flush() }
  }

  private func flush() {
    guard let inbox, !backlog.isEmpty else { return }
    let taken = inbox.post(contentsOf: backlog)
    backlog.removeFirst(taken)
    if taken > 0 { retrying.milliseconds = Database.retryMilliseconds.first }
    if !backlog.isEmpty { retryLater() }
  }

  private func retryLater() {
    if retrying.isDue { return }
    retrying.isDue = true
    executor.submit(afterMilliseconds: retrying.milliseconds) { [weak self] in
      self?.assumeIsolated { $0.retry() }
    }
    retrying.milliseconds = min(2 * retrying.milliseconds, Database.retryMilliseconds.longest)
  }

  private func retry() {
    retrying.isDue = false
    flush()
    if backlog.isEmpty { look() }
  }

  func shutDown() {
    if isClosed { return }
    originSink.end?()
    isClosed = true
    for subscription in subscriptions { subscription.cancel() }
    subscriptions = []
    regularLooks?.cancel()
    // Whoever keeps the database keeps nothing of the file.
    watch = nil
    closingError = closeFile()
    if let closingError { post(.stale(closingError)) }
    let error = DatabaseError(.closed, "\(file) was closed.")
    dispatcher.failAll(error)
    settleAll(error)
  }
}

// MARK: Following other processes

extension Database {
  private func follow() {
    if isClosed { return }
    if let watch {
      subscriptions.append(
        executor.watch(watch.descriptor, owner: watch) { [weak self] in
          self?.assumeIsolated { $0.didWake() }
        })
    }
    // This reads writes made between opening the file and watching its folder.
    lookRegularly()
  }

  /// Looks now, and then at intervals.
  ///
  /// Whoever has the thread wake up now and then calls this, so that it wakes up less often.
  package func lookRegularly() {
    if isClosed { return }
    regularLooks?.cancel()
    let interval =
      watch == nil ? Database.blindLookMilliseconds : Database.safetyLookMilliseconds
    regularLooks = executor.repeating(everyMilliseconds: interval) { [weak self] in
      _ = self?.assumeIsolated { $0.look() }
    }
    look()
  }

  private func didWake() {
    guard !isClosed, watch?.drain() == true else { return }
    // A session that ends closes the beacon a moment before its mark is gone.
    if (look() && !session.core.awaitsOthers) || session.fileLoss != nil { return }
    for delay in Database.secondLooksMilliseconds {
      executor.submit(afterMilliseconds: delay) { [weak self] in
        _ = self?.assumeIsolated { $0.look() }
      }
    }
  }

  /// Reads the writes of other processes; returns true if there were any.
  @discardableResult
  func look() -> Bool {
    if isClosed || !backlog.isEmpty { return true }
    // Observers are slower than the writers; until they have caught up, the feed keeps the writes.
    if dispatcher.isFull {
      retryLater()
      return true
    }
    beginStep()
    defer { endStep() }
    if let news = session.takeReturnNews() { post(news) }
    do {
      let deliveries = try session.catchUp()
      post(deliveries)
      postOriginOutput()
      return !deliveries.isEmpty
    } catch {
      if session.fileLoss == nil { post(.stale(DatabaseError(error, file: file))) }
      tellLoss()
      return false
    }
  }
}

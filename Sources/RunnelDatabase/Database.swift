public import RunnelBase
public import RunnelStreams
public import RunnelTree
import Synchronization

/// What a database is asked to do.
///
/// Requests are carried out one by one, in order.
public enum DatabaseRequest: Sendable {
  /// Register a listener; its name is a number from zero up.
  case listen(ListenerID, ListenRequest)
  /// Remove a listener.
  case unlisten(ListenerID)
  /// Extend the window of a paged listener by up to so many rows.
  case extend(ListenerID, count: Int)
  /// Carry out a write; the answer carries the number.
  case write(Int, Write)
  /// Add a child under a new key; the answer carries the number.
  case push(Int, Path, JSONValue)
  /// Carry out an operation on a resource; the answer carries the number.
  case perform(Int, ResourceOperation, ResourceRegistry)
  /// Take an entry of the action log back; the answer carries the number.
  case undo(Int, ActionLogEntry, ResourceRegistry)
  /// Carry out a write if places stand as expected; the answer carries the number.
  case writeIf(Int, Write, [WriteCondition])
  /// Carry out an operation on a resource if places stand as expected; the answer carries the number.
  case performIf(Int, ResourceOperation, ResourceRegistry, [WriteCondition])
  /// Put back what stood before a write of the history, if what it wrote still stands; the answer
  /// carries the number.
  case undoWrite(Int, entry: Int64)
  /// Read the entries of the history that concern a place, the newest first: at most `count` of those
  /// before one; the answer carries the number.
  case history(Int, Path, before: Int64?, count: Int)
  /// On a replica: give up one pending write, by its id; the answer carries the number.
  case dropPending(Int, Int64)
  /// Read what stands at a place, once; the answer carries the number.
  case get(Int, Path)
  /// Read the beginning of what stands at a place: about so many bytes of it, and count its size up to
  /// so many; the answer carries the number.
  case excerpt(Int, Path, textMax: Int, countMax: Int)
  /// Read the rows of a query, once; the answer carries the number.
  case search(Int, Query)
  /// Say which orders of the children of a place have an index; the answer carries the number.
  case orders(Int, Path)
  /// Write the whole database to a new file, also if its own is gone; the answer carries the number.
  case saveCopy(Int, file: String)
  /// On a replica: the origin can be talked to; its clock shows so many milliseconds since 1970, if
  /// it tells.
  case connectOrigin(originTime: Int64? = nil)
  /// On a replica: the origin is gone.
  case disconnectOrigin
  /// On a replica: the origin says something.
  case receive(OriginMessage)
}

/// What a database says.
public enum DatabaseMessage: Sendable {
  /// What listeners are told. One message is one batch: what one write, one request, or one look at
  /// the other processes' writes came to.
  case deliveries([Delivery])
  /// A write is on disk. Its deliveries came before.
  ///
  /// On a tree of its own that is all; on a replica the origin's answer follows, maybe much later. The
  /// entry is that of the history; nil if it noted none.
  case written(Int, key: Key?, entry: Int64?)
  /// An operation on a resource is on disk, or there was nothing to write. Its deliveries came before.
  ///
  /// What follows on a replica is as with `written`.
  case performed(Int, ResourcePlan)
  /// An operation on a resource was refused; nothing changed.
  case resourceRefused(Int, ResourceError)
  /// What stands at a place that was asked for.
  case found(Int, Node)
  /// The beginning of what stands at a place that was asked for.
  case excerpt(Int, NodeExcerpt)
  /// The rows that were asked for, in their order.
  case rows(Int, [TreeRow])
  /// The entries of the history that were asked for.
  case history(Int, HistoryPage)
  /// The orders of a place that are kept in an index, besides that of the keys.
  case orders(Int, [QueryIndex])
  /// On a replica: the origin did a write.
  case acknowledged(Int)
  /// On a replica: the origin refused a write. What was under it shows again; this was delivered
  /// before.
  case rejected(Int, TreeError)
  /// On a replica: all the writes that the origin has not answered, oldest first, also those of other
  /// processes and of earlier runs. Said at first if there are any, and whenever they are others.
  case pendingWrites([PendingWrite])
  /// On a replica: what the origin is to be sent, in order.
  case origin([OriginCommand])
  /// What carries the number was refused or failed; nothing changed.
  case refused(Int, DatabaseError)
  /// A listener could not be registered or extended.
  case failed(ListenerID, DatabaseError)
  /// A listener was registered by reading all children of a place, which an index would spare.
  case advice(IndexAdvice)
  /// The writes of other processes could not be read; the database tries again by itself.
  case stale(DatabaseError)
  /// The whole database is in a new file of so many bytes.
  case copied(Int, file: String, bytes: Int)
  /// The file, or what belongs to it, is gone or another one, for this reason: nothing is written any more,
  /// and what was asked for is refused. Said once.
  case fileGone(DatabaseError)
}

/// An open database on a thread of its own, for a program that must not wait for it.
///
/// It has two fronts on the one tree, and both may be used at once:
/// - A program with a loop of its own submits requests, which return at once; what comes of them is
///   posted to its inbox, in order.
/// - Every other program opens it with `open`, and reads, writes and observes by `Reference`.
///
/// What other processes write on the same file is told on both, without being asked for.
public actor Database {
  /// How long after a wake-up that found nothing to look again: a commit may become visible a
  /// moment after its sign.
  private static let secondLooksMilliseconds = [1, 10]
  /// How often to look without a sign, where the file's folder cannot be watched.
  private static let blindLookMilliseconds = 250
  /// How long to wait before a full inbox is tried again.
  private static let retryMilliseconds = 5
  /// How often to look without a sign, in case one was lost, or somebody wrote who can give none; not
  /// more often, so that a program that waits for hours stays asleep.
  private static let safetyLookMilliseconds = 60_000

  /// The file of the database.
  public nonisolated let file: String
  nonisolated let executor: TreeExecutor
  /// Nil if the program uses references only; messages then go to nobody.
  private nonisolated let inbox: Inbox<DatabaseMessage>?
  /// Who observes by references, and where they are told.
  nonisolated let dispatcher: EventDispatcher
  /// Makes keys without waiting for the tree.
  nonisolated let autoIDs: Mutex<AutoIDs>
  // Tree executor only:
  let session: DatabaseSession
  private let watch: ChangeWatch?
  private var subscriptions: [TreeExecutor.Subscription] = []
  private var isClosed = false
  /// The numbers of the writes on a replica that the origin has not answered, by their ids.
  private var numbersOfWrites: [Int64: Int] = [:]
  /// The receipts of writes by references that the origin has not answered, by their ids.
  var receipts: [Int64: [WriteReceipt]] = [:]
  /// Who waits for the answer to a question that was asked once.
  var gets: [Int64: CheckedContinuation<Node, any Error>] = [:]
  /// Who waits for the end of a transaction by a reference.
  var transactions: [Int64: CheckedContinuation<(isCommitted: Bool, node: Node), any Error>] = [:]
  /// Where a replica's commands go besides the inbox.
  var commandSink: (@Sendable ([OriginCommand]) -> Void)?
  /// Messages that found the inbox full, oldest first.
  ///
  /// While there are any, other processes' writes are left in the feed, so that it does not grow by
  /// them; what was asked for here is answered all the same.
  private var backlog: [DatabaseMessage] = []
  private var isRetryDue = false

  /// The tree's thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// Opens a database file and starts to follow what other processes write there.
  ///
  /// - Parameters:
  ///   - file: the path of the file; it is made if it does not exist.
  ///   - isReadOnly: whether writes are refused.
  ///   - indexes: the orders that the program will ask for.
  ///   - inbox: where messages are posted.
  ///   - environment: makes the clock and the random numbers.
  /// - Throws: `DatabaseError` that says what is wrong with the file.
  public init(
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

  /// Asks for something; returns at once.
  ///
  /// Any thread may call it. What is asked after `close` is refused (`closed`).
  ///
  /// - Precondition: the name of a listener is no number below zero; observations have those.
  public nonisolated func submit(_ request: DatabaseRequest) {
    switch request {
    case .listen(let listener, _), .unlisten(let listener), .extend(let listener, _):
      precondition(!listener.isObservation, "Names below zero are those of observations.")
    case .write, .push, .perform, .undo, .writeIf, .performIf, .undoWrite, .history,
      .dropPending, .get, .excerpt, .search, .orders, .saveCopy, .connectOrigin,
      .disconnectOrigin, .receive:
      break
    }
    enqueue(request)
  }

  /// Asks for something in the name of anyone; returns at once.
  nonisolated func enqueue(_ request: DatabaseRequest) {
    executor.submit { self.assumeIsolated { $0.carryOut(request) } }
  }

  /// Carries out a write; returns at once.
  ///
  /// `completion` is called after those who observe were told, with what went wrong, on the thread where
  /// they are told.
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

  /// Ends everything and closes the file; waits until what was submitted before is done.
  ///
  /// Not to be called from the wake of the inbox, which runs on the tree's thread.
  public nonisolated func close() {
    executor.submitAndWait { self.assumeIsolated { $0.shutDown() } }
  }

  private func carryOut(_ request: DatabaseRequest) {
    if isClosed { return refuse(request) }
    switch request {
    case .listen(let listener, let request):
      post(for: listener) { try session.listen(listener, request) }
      for advice in session.takeIndexAdvice() { post(.advice(advice)) }
    case .unlisten(let listener):
      session.unlisten(listener)
      if session.core.hasUndelivered { look() }
    case .extend(let listener, let count):
      post(for: listener) { try session.extend(listener, by: count) }
    case .write(let number, _), .push(let number, _, _), .perform(let number, _, _),
      .undo(let number, _, _), .get(let number, _), .search(let number, _),
      .excerpt(let number, _, _, _),
      .writeIf(let number, _, _), .performIf(let number, _, _, _),
      .undoWrite(let number, _), .history(let number, _, _, _), .orders(let number, _),
      .dropPending(let number, _), .saveCopy(let number, _):
      session.newestWriteID = nil
      let messages = session.answer(request)
      if let id = session.newestWriteID { numbersOfWrites[id] = number }
      for message in messages { post(message) }
    case .connectOrigin(let originTime):
      postFromOrigin { try session.connectOrigin(originTime: originTime) }
      let offset = session.connectionInfo.serverTimeOffset ?? 0
      autoIDs.withLock { $0.serverTimeOffset = offset }
    case .disconnectOrigin: postFromOrigin { try session.disconnectOrigin() }
    case .receive(let message): postFromOrigin { try session.receive(message) }
    }
    postOriginOutput()
    tellLoss()
  }

  /// Tells once that the file is gone.
  private func tellLoss() {
    if let news = session.takeLossNews() { post(news) }
  }

  /// What is said to whoever asks after the end.
  private var closedError: DatabaseError {
    DatabaseError(.closed, "\(file) was closed before this was asked.")
  }

  /// Makes sure that the database may still be asked.
  ///
  /// - Throws: `DatabaseError` (`closed`) if not.
  func checkIsOpen() throws { if isClosed { throw closedError } }

  private func refuse(_ request: DatabaseRequest) {
    let error = closedError
    switch request {
    case .listen(let listener, _), .extend(let listener, _): post(.failed(listener, error))
    case .write(let number, _), .push(let number, _, _), .perform(let number, _, _),
      .undo(let number, _, _), .get(let number, _), .search(let number, _),
      .excerpt(let number, _, _, _),
      .writeIf(let number, _, _), .performIf(let number, _, _, _),
      .undoWrite(let number, _), .history(let number, _, _, _), .dropPending(let number, _),
      .saveCopy(let number, _):
      post(.refused(number, error))
    // What may be known without an answer is not missed.
    case .orders, .unlisten, .connectOrigin, .disconnectOrigin, .receive: break
    }
  }

  /// Posts what `body` comes to; returns what went wrong.
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
      post(deliveries)
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

  /// Posts what a replica has for those who wait and for its origin, in this order.
  func postOriginOutput() {
    let output = session.takeOriginOutput()
    for completion in output.completions {
      switch completion {
      case .acknowledged(let id):
        // A write of another process, or of an earlier run, is nobody's here.
        if settle(id, nil) { continue }
        if let number = numbersOfWrites.removeValue(forKey: id) { post(.acknowledged(number)) }
      case .rejected(let id, let error):
        if settle(id, error) { continue }
        if let number = numbersOfWrites.removeValue(forKey: id) { post(.rejected(number, error)) }
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
    if inbox != nil, let news = session.takePendingNews() { post(news) }
    if output.commands.isEmpty { return }
    commandSink?(output.commands)
    post(.origin(output.commands))
  }

  /// Hands deliveries to the front whose listener each is for.
  func post(_ deliveries: [Delivery]) {
    let observed = deliveries.filter(\.listener.isObservation)
    if !observed.isEmpty { dispatcher.deliver(observed, pending: session.pendingPlaces) }
    let posted =
      observed.isEmpty ? deliveries : deliveries.filter { !$0.listener.isObservation }
    if !posted.isEmpty { queue(.deliveries(posted)) }
  }

  /// Hands a message to the front that it is for.
  private func post(_ message: DatabaseMessage) {
    switch message {
    case .deliveries(let deliveries): return post(deliveries)
    case .failed(let listener, let error) where listener.isObservation:
      return dispatcher.fail(listener, error)
    case .stale(let error), .fileGone(let error): dispatcher.report(error)
    default: break
    }
    queue(message)
  }

  /// Posts a message, after those that found the inbox full.
  private func queue(_ message: DatabaseMessage) {
    if inbox == nil { return }
    backlog.append(message)
    flush()
  }

  private func flush() {
    guard let inbox else { return }
    let refused = backlog.firstIndex { !inbox.post($0) } ?? backlog.endIndex
    backlog.removeFirst(refused)
    if !backlog.isEmpty { retryLater() }
  }

  private func retryLater() {
    if isRetryDue { return }
    isRetryDue = true
    executor.submit(afterMilliseconds: Database.retryMilliseconds) { [weak self] in
      self?.assumeIsolated { $0.retry() }
    }
  }

  private func retry() {
    isRetryDue = false
    flush()
    if backlog.isEmpty { look() }
  }

  private func shutDown() {
    if isClosed { return }
    isClosed = true
    for subscription in subscriptions { subscription.cancel() }
    subscriptions = []
    do {
      try session.close()
    } catch {
      post(.stale(DatabaseError(error, file: file)))
    }
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
    let interval =
      watch == nil ? Database.blindLookMilliseconds : Database.safetyLookMilliseconds
    subscriptions.append(
      executor.repeating(everyMilliseconds: interval) { [weak self] in
        _ = self?.assumeIsolated { $0.look() }
      })
    // What was written between the opening of the file and the watching of its folder.
    look()
  }

  private func didWake() {
    guard !isClosed, watch?.drain() == true else { return }
    if look() || session.fileLoss != nil { return }
    for delay in Database.secondLooksMilliseconds {
      executor.submit(afterMilliseconds: delay) { [weak self] in
        _ = self?.assumeIsolated { $0.look() }
      }
    }
  }

  /// Reads what others wrote; true if there was something.
  @discardableResult
  func look() -> Bool {
    if isClosed || !backlog.isEmpty { return true }
    // Those who are told are slower than those who write: the feed keeps it for them meanwhile.
    if dispatcher.isFull {
      retryLater()
      return true
    }
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

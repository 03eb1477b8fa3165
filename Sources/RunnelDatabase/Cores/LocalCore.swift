import RunnelStorage
import RunnelTree

/// A tree of its own: writes here are final when they are on disk.
final class LocalCore: SessionCore {
  let context: SessionContext
  private var engine = TreeEngine()
  /// The listeners to `/.info`.
  private var info = InfoEngine(.ownTree)
  /// The state of the file that this core last knew; while it is the same, no other connection has
  /// written.
  private var stateNumber: Int64?
  /// The disconnect writes of this session.
  var disconnects = OnDisconnect()
  /// The size of their rows.
  var disconnectBytes = 0
  /// The sessions on the file that have disconnect writes, including this one.
  var waitingSessions: [Int64] = []

  init(_ context: SessionContext) { self.context = context }

  var connectionInfo: ConnectionInfo { info.info }
  var hasListeners: Bool { engine.hasListeners || info.hasListeners }
  var hasUndelivered: Bool { false }
  var canUndoRemovals: Bool { true }

  func shown(_ transaction: StoreTransaction) -> any TreeReader { transaction }
}

// MARK: Writing

extension LocalCore {
  func write(
    name: WriteID?, cause: WriteCause, if conditions: ConditionSet, _ make: WriteMaker
  ) throws -> (isApplied: Bool, deliveries: [Delivery]) {
    var isApplied = true
    let deliveries = try perform { transaction, now in
      if let entry = cause.undoes { try transaction.checkUnchanged(entry) }
      if let name { isApplied = try transaction.takeName(name) }
      guard isApplied else { return [] }
      let parts = try make(transaction, now).assignments(now: now, reader: transaction)
      try context.carryOut(parts, transaction, now: now, cause: cause)
      return parts.map(\.path)
    }
    return (isApplied, deliveries)
  }

  func perform(
    _ change: DirectChange, _ body: (StoreTransaction, _ now: Int64) throws -> [Path]
  ) throws -> [Delivery] {
    try perform(body)
  }

  func run(_ request: TransactionRequest) throws -> Decision<TransactionOutcome> {
    .made(
      try transaction(at: request.path) { node in
        request.body(node).map { .success($0) } ?? .abort
      })
  }

  /// Changes the storage, then delivers events; all changes by this session go through here.
  func perform(
    _ body: (StoreTransaction, _ now: Int64) throws -> [Path]
  ) throws -> [Delivery] {
    let now = context.environment.now()
    context.newestEntryID = nil
    let (state, written, deliveries) = try engine.atomically { engine in
      try context.store.write { transaction in
        let foreign = try foreignChanges(transaction)
        var deliveries = try engine.apply(touched: foreign.touched, reader: transaction)
        let touched = try body(transaction, now)
        try transaction.flush()
        let isNoted = transaction.notesEntry
        let end = try transaction.appendChange(touched)
        deliveries += try engine.apply(touched: touched, reader: transaction)
        return (transaction.stateNumber, (end: end, isNoted: isNoted), deliveries)
      }
    }
    (stateNumber, context.sequence) = (state, written.end)
    context.newestEntryID = written.isNoted ? written.end : nil
    context.beacon?.signal()
    return deliveries
  }

  /// Returns the changes by others since the last delivery to listeners.
  private func foreignChanges(
    _ transaction: StoreTransaction
  ) throws -> StoreTransaction.ForeignChanges {
    if transaction.stateNumber == stateNumber {
      return StoreTransaction.ForeignChanges(touched: [], sequence: context.sequence)
    }
    waitingSessions = try transaction.sessionsWithDisconnects()
    return try transaction.foreignChanges(after: context.sequence)
  }
}

// MARK: Reading

extension LocalCore {
  func listen(_ listener: ListenerID, _ request: ListenRequest) throws -> [Delivery] {
    if request.query.path.isInfo { return try info.listen(listener, request) }
    return try update { try $0.listen(listener, request, reader: $1) }
  }

  func unlisten(_ listener: ListenerID) {
    info.unlisten(listener)
    engine.unlisten(listener)
  }

  func extend(_ listener: ListenerID, by count: Int) throws -> [Delivery] {
    if info.contains(listener) { return try info.extend(listener, by: count) }
    return try update { try $0.extend(listener, by: count, reader: $1) }
  }

  func catchUp() throws -> [Delivery] {
    let told = try update { _, _ in [] }
    return told + (try finishEndedSessions())
  }

  func get(_ query: Query, beforeAsking: () throws -> Void) throws -> Decision<Node> {
    .made(
      try context.store.read { transaction in
        try SessionTree(stored: transaction, info: connectionInfo).content(of: query)
      })
  }

  private func update(
    _ body: (inout TreeEngine, StoreTransaction) throws -> [Delivery]
  ) throws -> [Delivery] {
    let (state, end, deliveries) = try engine.atomically { engine in
      try context.store.read { transaction in
        let foreign = try foreignChanges(transaction)
        var deliveries = try engine.apply(touched: foreign.touched, reader: transaction)
        deliveries += try body(&engine, transaction)
        return (transaction.stateNumber, foreign.sequence, deliveries)
      }
    }
    (stateNumber, context.sequence) = (state, end)
    return deliveries
  }
}

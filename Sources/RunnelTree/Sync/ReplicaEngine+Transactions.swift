import RunnelBase

// Transactions. Source: tree semantics, section 11.

extension ReplicaEngine {
  /// Starts a transaction; returns the id under which its end is completed.
  ///
  /// `now` is in milliseconds since 1970.
  ///
  /// - Throws: `TreeError` if the result of the body is refused, or the storage failed; then
  ///   nothing was written.
  package mutating func run(
    _ request: TransactionRequest, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> (id: Int64, outcome: ReplicaOutcome) {
    try request.path.checkIsWritable(by: "transaction")
    let id = nextTransactionID
    nextTransactionID += 1
    // The place is kept up to date while the transaction goes on.
    var outcome = try carryOut(plan.want(Query(request.path)), now: now, &storage)
    var transaction = Transaction(id: id, request: request)
    let touched = try compute(&transaction, without: [], now: now, &storage)
    if transaction.write == nil {
      outcome.append(try end(transaction, now: now, &storage))
      outcome.completions.append(
        .transaction(id, isCommitted: false, transaction.input))
    } else {
      transactions.append(transaction)
    }
    try refresh(touched, now: now, &outcome, &storage)
    try refillPages(now: now, &outcome, &storage)
    try sendReady(now: now, &outcome, &storage)
    return (id, outcome)
  }

  /// Gives up a transaction whose caller waits no more; one that has ended is ignored.
  ///
  /// One that was not sent is taken back, and completes with `writeCanceled`. One that was sent is
  /// shown until the origin answers, and is done if the origin did it; it is not computed again.
  /// `now` is in milliseconds since 1970.
  ///
  /// - Throws: `TreeError` (`storage`); then it goes on.
  package mutating func cancel(
    transaction id: Int64, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    guard let index = transactions.firstIndex(where: { $0.id == id }) else { return outcome }
    let transaction = transactions[index]
    if let command = transaction.command {
      transactions[index].status = .sentInVain(command: command)
      return outcome
    }
    var touched = try fail(
      transaction, ReplicaEngine.givenUp, now: now, &outcome, &storage)
    // Later transactions have read its result, even if it was not shown.
    touched += try recompute(
      after: touched + [transaction.request.path], now: now, &outcome, &storage)
    try refresh(touched, now: now, &outcome, &storage)
    try refillPages(now: now, &outcome, &storage)
    try sendReady(now: now, &outcome, &storage)
    return outcome
  }

  /// Calls the body with the node at the place, without the pending writes `ids`.
  ///
  /// The result becomes pending in place of the one before.
  private mutating func compute(
    _ transaction: inout Transaction, without ids: Set<Int64>, now: Int64,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    let path = transaction.request.path
    transaction.input = try node(at: path, without: ids, storage)
    transaction.status = .waiting
    let old = transaction.write
    transaction.write = nil
    var touched: [Path] = []
    if let json = transaction.request.body(transaction.input) {
      let written = try replica.write(
        .set(path, json.keeping(priority: transaction.input.priority)),
        isVisible: transaction.request.appliesLocally, by: .transaction(session: session),
        now: originTime(now), &storage)
      transaction.write = written.write
      touched += written.touched
    }
    // The new result is written before the old one is taken back, so that listeners see one step.
    if let old { touched += try replica.reject(old.id, .takenBack, &storage) }
    return touched
  }

  /// The node at a place with all pending writes, shown or not, except some.
  ///
  /// Results of other sessions' transactions do not count: they are not sent before those sessions have
  /// the connection, so the origin never has what would be computed from them.
  private func node(
    at path: Path, without ids: Set<Int64>, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Node {
    let server = try storage.serverNode(at: path)
    return replica.book.layered(onto: server, at: path) { write in
      if case .transaction(let maker) = write.maker, maker != session { return false }
      return !ids.contains(write.id)
    }
  }

  /// Ends a transaction's need for data of its place.
  private mutating func end(
    _ transaction: Transaction, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    let isListening =
      transactions.first { $0.id == transaction.id }?.isListening ?? transaction.isListening
    transactions.removeAll { $0.id == transaction.id }
    guard isListening else { return ReplicaOutcome() }
    return try carryOut(plan.unwant(Query(transaction.request.path)), now: now, &storage)
  }
}

// MARK: Sending

extension ReplicaEngine {
  /// Sends the transactions that are ready.
  ///
  /// All transactions at and below the highest place that has one are sent as one command.
  mutating func sendTransactions(
    _ outcome: inout ReplicaOutcome, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    guard case .connected(let backlog) = link else { return }
    for transaction in transactions {
      guard let root = rootOfQueue(transaction), backlog.isFree(root) else { continue }
      let queue = transactions.indices.filter { root.contains(transactions[$0].request.path) }
      if queue.contains(where: { transactions[$0].isSent }) { continue }
      outcome.commands.append(try send(queue, as: root, &storage))
    }
  }

  private func rootOfQueue(_ transaction: Transaction) -> Path? {
    transactions.map(\.request.path).filter { $0.contains(transaction.request.path) }
      .min { $0.keys.count < $1.keys.count }
  }

  private mutating func send(
    _ queue: [Int], as root: Path, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> OriginCommand {
    let id = try storage.takeWriteID()
    let own = Set(queue.compactMap { transactions[$0].write?.id })
    let hash = try node(at: root, without: own, storage).contentHash
    for index in queue {
      transactions[index].status = .sent(command: id)
      transactions[index].retryCount += 1
      guard let write = transactions[index].write else { continue }
      replica.book.talk.send(write.id, write.parts.map(\.path))
    }
    if queue.count == 1, case .set(_, let json)? = transactions[queue[0]].write?.write {
      return .compareAndSet(id: id, root, json, hash: hash)
    }
    // Limit: if several results are joined into one, server values are sent as estimated here.
    let result = try node(at: root, without: [], storage)
    return .compareAndSet(id: id, root, result.exportJSON, hash: hash)
  }
}

// MARK: Answers

extension ReplicaEngine {
  mutating func commitTransactions(
    answered id: Int64, now: Int64, _ outcome: inout ReplicaOutcome,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    let committed = transactions.filter { $0.command == id }
    var touched: [Path] = []
    for transaction in committed {
      if let write = transaction.write {
        touched += try replica.acknowledge(write.id, &storage)
      }
      outcome.completions.append(
        .transaction(transaction.id, isCommitted: true, transaction.output))
    }
    for transaction in committed {
      outcome.append(try end(transaction, now: now, &storage))
    }
    try refresh(touched, now: now, &outcome, &storage)
  }

  /// Computes a transaction anew, since the origin had another node at the place.
  mutating func recompute(
    answered id: Int64, now: Int64, _ outcome: inout ReplicaOutcome,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    var touched = try failTransactions(
      where: { if case .sentInVain(id) = $0.status { true } else { false } },
      ReplicaEngine.overwritten, now: now, &outcome, &storage)
    var paths: [Path] = []
    for index in transactions.indices where transactions[index].command == id {
      transactions[index].status = .stale
      paths.append(transactions[index].request.path)
    }
    touched += try recompute(after: paths, now: now, &outcome, &storage)
    try refresh(touched, now: now, &outcome, &storage)
  }

  /// Computes anew the unsent transactions that have read a touched place.
  mutating func recompute(
    after touched: [Path], now: Int64, _ outcome: inout ReplicaOutcome,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    let concerned = transactions.filter { transaction in
      !transaction.isSent && touched.contains(where: transaction.concerns)
    }
    var excluded = Set(concerned.compactMap(\.write?.id))
    var rewritten: [Path] = []
    for transaction in concerned {
      let old = transaction.write?.id
      let input = try node(at: transaction.request.path, without: excluded, storage)
      // A body is not called again with the same input, unless the origin had something else.
      if transaction.isStale || input != transaction.input {
        rewritten += try recompute(
          transaction, without: excluded, now: now, &outcome, &storage)
      }
      if let old { excluded.remove(old) }
    }
    return rewritten
  }

  private mutating func recompute(
    _ old: Transaction, without ids: Set<Int64>, now: Int64,
    _ outcome: inout ReplicaOutcome, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    if old.retryCount >= Transaction.retryCountMax {
      let error = TreeError(
        .retryLimit, "The place changed under the transaction \(old.retryCount) times.",
        path: old.request.path.description)
      return try fail(old, error, now: now, &outcome, &storage)
    }
    var transaction = old
    let touched: [Path]
    do throws(TreeError) {
      touched = try compute(&transaction, without: ids, now: now, &storage)
    } catch  where error.code != .storage {
      return try fail(old, error, now: now, &outcome, &storage)
    }
    if transaction.write == nil {
      outcome.append(try end(transaction, now: now, &storage))
      outcome.completions.append(
        .transaction(transaction.id, isCommitted: false, transaction.input))
    } else if let index = transactions.firstIndex(where: { $0.id == old.id }) {
      transactions[index] = transaction
    }
    return touched
  }

  static let overwritten = TreeError(
    .overwritten, "Another write was made here at this place, above it or below it.")

  /// Ends the transactions that a write made here concerns: at once, or when they are answered.
  mutating func abortTransactions(
    by write: PendingWrite, now: Int64, _ outcome: inout ReplicaOutcome,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    for index in transactions.indices {
      guard case .sent(let command) = transactions[index].status,
        write.concerns(transactions[index].request.path)
      else { continue }
      transactions[index].status = .sentInVain(command: command)
    }
    return try failTransactions(
      where: { !$0.isSent && write.concerns($0.request.path) }, ReplicaEngine.overwritten,
      now: now, &outcome, &storage)
  }

  mutating func failTransactions(
    where isFailed: (Transaction) -> Bool, _ error: TreeError, now: Int64,
    _ outcome: inout ReplicaOutcome, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    var touched: [Path] = []
    for transaction in transactions.filter(isFailed) {
      touched += try fail(transaction, error, now: now, &outcome, &storage)
    }
    return touched
  }

  private mutating func fail(
    _ transaction: Transaction, _ error: TreeError, now: Int64,
    _ outcome: inout ReplicaOutcome, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    var touched: [Path] = []
    if let write = transaction.write {
      touched = try replica.reject(write.id, .takenBack, &storage)
    }
    outcome.append(try end(transaction, now: now, &storage))
    outcome.completions.append(.transactionFailed(transaction.id, error))
    return touched
  }
}

extension JSONValue {
  /// The value with a priority, unless it gives one itself.
  func keeping(priority: Leaf?) -> JSONValue {
    guard let priority else { return self }
    switch self {
    case .null: return self
    case .bool, .number, .string:
      return [".value": self, ".priority": priority.json]
    case .array(let elements):
      let members = elements.enumerated().map { JSONMember(String($0.offset), $0.element) }
      return JSONValue.object(members).keeping(priority: priority)
    case .object(let members):
      if self[ReservedName.priority] != nil { return self }
      return .object(members + [JSONMember(ReservedName.priority, priority.json)])
    }
  }
}

public import RunnelTree

// Requests whose result the origin of a replica decides.

extension Database {
  /// Sends a replica's commands to its origin from now on, in order.
  ///
  /// They are also posted to the inbox, if there is one. The origin's answers are given to `receive`:
  /// everything that a write changed (`push`) before the write is acknowledged.
  ///
  /// Commands that have no answer at the end of a connection are given again on the next one. Drop
  /// those that you have not carried out when you call `disconnectOrigin`, or they are done twice.
  /// None is given between that call and the next connection.
  ///
  /// - Parameter send: called on the tree's thread; it must not wait.
  public func sendCommands(_ send: @escaping @Sendable ([OriginCommand]) -> Void) {
    originSink.send = send
  }

  /// Reports to a replica that its origin is connected; returns at once.
  ///
  /// The requests that wait for the origin are then among the commands (`sendCommands`). Only one
  /// database of a file may be connected at a time; it also sends the requests of the others. The
  /// call does nothing while there is a reason to stay offline (`goOffline`), or on a tree of its
  /// own.
  ///
  /// - Parameter originTime: the origin's time in milliseconds since 1970; nil if it is not known.
  ///   A time below 0 counts as 0, and one from 2^48 up (the year 10889) as the last before it.
  public nonisolated func connectOrigin(originTime: Int64? = nil) {
    enqueue(.connectOrigin(originTime: originTime))
  }

  /// Reports to a replica that its origin is no longer connected; returns at once.
  ///
  /// From now on nothing is given to `sendCommands` before the origin is connected again; a call that is
  /// in progress on the tree's thread may still end.
  public nonisolated func disconnectOrigin() { enqueue(.disconnectOrigin) }

  /// Passes a message of the origin to the replica; returns at once.
  ///
  /// Messages from one thread are handled in their order.
  public nonisolated func receive(_ message: OriginMessage) { enqueue(.receive(message)) }

  /// Registers or cancels writes that are done when this client disconnects.
  ///
  /// - Throws: `DatabaseError` (`refused` if such a write would be refused); then nothing was
  ///   registered.
  func ask(_ request: DisconnectRequest) throws -> WriteReceipt {
    try checkIsOpen()
    let (id, deliveries) = try session.ask(request)
    let receipt = WriteReceipt()
    if let id { receipts[id] = [receipt] } else { receipt.settle() }
    post(deliveries)
    postOriginOutput()
    return receipt
  }

  /// Carries out a write, like `perform`.
  func write(
    _ body: (DatabaseSession) throws -> (isApplied: Bool, deliveries: [Delivery])
  ) async throws -> WriteReceipt {
    try checkIsOpen()
    defer { tellLoss() }
    session.newestWriteID = nil
    let (isApplied, deliveries) = try body(session)
    let receipt = WriteReceipt(isApplied: isApplied)
    if let id = session.newestWriteID {
      receipts[id, default: []].append(receipt)
    } else {
      receipt.settle()
    }
    post(deliveries)
    postOriginOutput()
    await dispatcher.whenDelivered()
    return receipt
  }

  /// Settles the receipts of a write or request; returns false if it was not made by a reference.
  func settle(_ id: Int64, _ error: TreeError?) -> Bool {
    guard let waiting = receipts.removeValue(forKey: id) else { return false }
    let result: Result<Void, DatabaseError> =
      error.map { .failure(DatabaseError(rejection: $0)) } ?? .success(())
    // Handlers are told first which data the answer changed.
    dispatcher.afterwards { for receipt in waiting { receipt.settle(result) } }
    return true
  }

  /// Fails all waiting requests, because the database is closed.
  func settleAll(_ error: DatabaseError) {
    for receipt in receipts.values.joined() { receipt.settle(.failure(error)) }
    for (_, waiter) in gets { waiter.resume(throwing: error) }
    for (_, waiter) in transactions { waiter.resume(throwing: error) }
    (receipts, gets, transactions) = ([:], [:], [:])
  }
}

// MARK: Single reads

extension Database {
  /// Returns the answer to a query: from the origin, if the tree has one.
  ///
  /// `pending` are the places of the writes that wait for the origin.
  func get(
    _ query: Query, from source: GetSource
  ) async throws -> (node: Node, pending: [Path]) {
    try checkIsReadable()
    if source == .cache { return (try session.content(of: query), session.pendingPlaces) }
    let decision = try session.core.get(query) {
      try checkConnection(query, source)
      try Task.checkCancellation()
    }
    switch decision {
    case .made(let node): return (node, session.pendingPlaces)
    case .awaited(let id, let deliveries):
      return (try await answer(toGet: id, deliveries), session.pendingPlaces)
    }
  }

  /// Throws `offline` if only the origin may answer and there is no connection to it.
  private func checkConnection(_ query: Query, _ source: GetSource) throws {
    if source != .origin || session.connectionInfo.isConnected { return }
    let reason =
      "There is no connection to the origin, which alone was to answer for \(query.path)."
    throw DatabaseError(get: TreeError(.offline, reason))
  }

  /// Waits for the origin's answer to a read.
  private func answer(toGet id: Int64, _ deliveries: [Delivery]) async throws -> Node {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        gets[id] = continuation
        post(deliveries)
        postOriginOutput()
        giveUpGetsLater()
      }
    } onCancel: {
      executor.submit { self.assumeIsolated { $0.cancel(get: id) } }
    }
  }

  private func cancel(get id: Int64) {
    guard let waiter = gets.removeValue(forKey: id) else { return }
    session.cancel(get: id)
    waiter.resume(throwing: CancellationError())
  }

  func answer(get id: Int64, _ result: Result<Node, DatabaseError>) {
    guard let waiter = gets.removeValue(forKey: id) else { return }
    dispatcher.afterwards { waiter.resume(with: result) }
  }

  private func giveUpGetsLater() {
    guard let delay = session.millisecondsToDeadline else { return }
    executor.submit(afterMilliseconds: delay) { [weak self] in
      self?.assumeIsolated { $0.giveUpGets() }
    }
  }

  private func giveUpGets() {
    // The waiting callers were resumed when the database was closed.
    if gets.isEmpty { return }
    do {
      post(try session.giveUpGets())
    } catch {
      let error = DatabaseError(error, file: file)
      for (_, waiter) in gets { waiter.resume(throwing: error) }
      gets = [:]
    }
    postOriginOutput()
    giveUpGetsLater()
  }
}

// MARK: Transactions

extension Database {
  /// Runs a transaction; returns when it has ended and observers have been told.
  func run(_ request: TransactionRequest) async throws -> (isCommitted: Bool, node: Node) {
    try checkIsOpen()
    defer { tellLoss() }
    if session.replica != nil { try Task.checkCancellation() }
    switch try session.core.run(request) {
    case .made(let outcome):
      post(outcome.deliveries)
      await dispatcher.whenDelivered()
      return (outcome.isCommitted, outcome.node)
    case .awaited(let id, let deliveries):
      return try await end(ofTransaction: id, deliveries)
    }
  }

  /// Waits for the end of a transaction on a replica.
  private func end(
    ofTransaction id: Int64, _ deliveries: [Delivery]
  ) async throws -> (isCommitted: Bool, node: Node) {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        transactions[id] = continuation
        post(deliveries)
        postOriginOutput()
      }
    } onCancel: {
      executor.submit { self.assumeIsolated { $0.cancel(transaction: id) } }
    }
  }

  private func cancel(transaction id: Int64) {
    if transactions[id] == nil { return }
    var reason: any Error = CancellationError()
    do {
      post(try session.cancel(transaction: id))
    } catch {
      // It could not be taken back, and goes on.
      reason = DatabaseError(error, file: file)
    }
    transactions.removeValue(forKey: id)?.resume(throwing: reason)
    postOriginOutput()
    tellLoss()
  }

  func end(
    transaction id: Int64, _ result: Result<(isCommitted: Bool, node: Node), DatabaseError>
  ) {
    guard let waiter = transactions.removeValue(forKey: id) else { return }
    dispatcher.afterwards { waiter.resume(with: result) }
  }
}

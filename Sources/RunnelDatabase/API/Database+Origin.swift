public import RunnelTree

// Requests whose end the origin of a replica decides.

extension Database {
  /// Has a replica's commands sent to its origin from now on, in the order in which they come.
  ///
  /// They go to the inbox too, if there is one. Answers come in by `submit`.
  ///
  /// - Parameter send: called on the tree's thread; it must not wait.
  public func sendCommands(_ send: @escaping @Sendable ([OriginCommand]) -> Void) {
    commandSink = send
  }

  /// Has something done by the origin when this client goes away, or no longer.
  ///
  /// - Throws: `DatabaseError` (`refused` on a tree of its own, or for what a write would refuse); then
  ///   nothing was asked for.
  func ask(_ request: DisconnectRequest) throws -> WriteReceipt {
    try checkIsOpen()
    let (id, deliveries) = try session.ask(request)
    let receipt = WriteReceipt()
    receipts[id] = [receipt]
    post(deliveries)
    postOriginOutput()
    return receipt
  }

  /// Carries out a write, as the other `perform` does.
  func write(
    _ body: (DatabaseSession) throws -> (isApplied: Bool, deliveries: [Delivery])
  ) async throws -> WriteReceipt {
    try checkIsOpen()
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

  /// Says what became of the write or request `id`, if it came by a reference; false if it did not.
  func settle(_ id: Int64, _ error: TreeError?) -> Bool {
    guard let waiting = receipts.removeValue(forKey: id) else { return false }
    let result: Result<Void, DatabaseError> =
      error.map { .failure(DatabaseError(rejection: $0)) } ?? .success(())
    // What the answer changed is told before.
    dispatcher.afterwards { for receipt in waiting { receipt.settle(result) } }
    return true
  }

  /// Tells all who wait that the database is at its end.
  func settleAll(_ error: DatabaseError) {
    for receipt in receipts.values.joined() { receipt.settle(.failure(error)) }
    for (_, waiter) in gets { waiter.resume(throwing: error) }
    for (_, waiter) in transactions { waiter.resume(throwing: error) }
    (receipts, gets, transactions) = ([:], [:], [:])
  }
}

// MARK: Asking once

extension Database {
  /// What a query shows, as its origin has it; nil on a tree of its own.
  ///
  /// `pending` are the places that writes changed which wait for the origin.
  func getOnReplica(
    _ query: Query, from source: GetSource
  ) async throws -> (node: Node, pending: [Path])? {
    try checkIsOpen()
    guard session.replica != nil else { return nil }
    if source == .origin, !session.connectionInfo.isConnected {
      let reason =
        "There is no connection to the origin, which alone was to answer for \(query.path)."
      throw DatabaseError(get: TreeError(.offline, reason))
    }
    try Task.checkCancellation()
    let (id, deliveries) = try session.get(query)
    let node = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        gets[id] = continuation
        post(deliveries)
        postOriginOutput()
        giveUpGetsLater()
      }
    } onCancel: {
      executor.submit { self.assumeIsolated { $0.cancel(get: id) } }
    }
    return (node, session.pendingPlaces)
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
    // Those that wait were told when it was closed.
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
  /// Runs a transaction on a replica; nil on a tree of its own.
  func runOnReplica(
    _ request: TransactionRequest
  ) async throws -> (isCommitted: Bool, node: Node)? {
    try checkIsOpen()
    guard session.replica != nil else { return nil }
    let (id, deliveries) = try session.startTransaction(request)
    return try await withCheckedThrowingContinuation { continuation in
      transactions[id] = continuation
      post(deliveries)
      postOriginOutput()
    }
  }

  func end(
    transaction id: Int64, _ result: Result<(isCommitted: Bool, node: Node), DatabaseError>
  ) {
    guard let waiter = transactions.removeValue(forKey: id) else { return }
    dispatcher.afterwards { waiter.resume(with: result) }
  }
}

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
    receipts[id] = receipt
    post(deliveries)
    postOriginOutput()
    return receipt
  }

  /// Carries out a write, as the other `perform` does.
  func write(
    _ body: @Sendable (DatabaseSession) throws -> (isApplied: Bool, deliveries: [Delivery])
  ) async throws -> WriteReceipt {
    try checkIsOpen()
    session.newestWriteID = nil
    let (isApplied, deliveries) = try body(session)
    let receipt = WriteReceipt(isApplied: isApplied)
    if let id = session.newestWriteID { receipts[id] = receipt } else { receipt.settle() }
    post(deliveries)
    postOriginOutput()
    await dispatcher.whenDelivered()
    return receipt
  }

  /// Says what became of the write or request `id`, if it came by a reference; false if it did not.
  func settle(_ id: Int64, _ error: TreeError?) -> Bool {
    guard let receipt = receipts.removeValue(forKey: id) else { return false }
    let result: Result<Void, DatabaseError> =
      error.map { .failure(DatabaseError(rejection: $0)) } ?? .success(())
    // What the answer changed is told before.
    dispatcher.afterwards { receipt.settle(result) }
    return true
  }

  /// Tells all who wait that the database is at its end.
  func settleAll(_ error: DatabaseError) {
    for (_, receipt) in receipts { receipt.settle(.failure(error)) }
    receipts = [:]
  }
}

extension DatabaseError {
  /// What the origin refused, in the words that its clients know.
  ///
  /// Source: tree semantics, section 18.
  init(rejection error: TreeError) {
    let status = error.code.rawValue.uppercased()
    self.init(Code(rawValue: status), "\(status): \(error.message)")
  }
}

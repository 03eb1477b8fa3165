import RunnelTree

extension Reference {
  /// Replaces what stands here by what a function makes of it, with nobody writing in between.
  ///
  /// The function runs once, on the tree's thread, within the write: it should be quick, and must not
  /// wait for this database. The priority stays, unless the function gives one.
  ///
  /// - Parameter body: is given what stands here, and returns what is to stand here, or `.abort`.
  /// - Returns: whether it was committed, and what stands here then.
  /// - Throws: what `body` throws; `DataCodingError` for a result that cannot be written; `DatabaseError`
  ///   (`refused` for one that the tree refuses, or a failure of the storage). Nothing was written then.
  @discardableResult
  public func runTransaction(
    _ body: @escaping @Sendable (DataSnapshot) throws -> TransactionResult
  ) async throws -> (committed: Bool, snapshot: DataSnapshot) {
    let outcome = try await database.change { session in
      let outcome = try session.transaction(at: path) { node in
        try body(DataSnapshot(reference: self, node: node))
      }
      return (outcome, outcome.deliveries)
    }
    let snapshot = DataSnapshot(reference: self, node: outcome.node)
    return (outcome.isCommitted, snapshot)
  }
}

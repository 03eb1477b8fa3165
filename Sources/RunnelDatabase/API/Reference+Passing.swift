package import RunnelBase
import RunnelTree

// A status that is true no longer than the connection, such as who is here.

extension Reference {
  /// Replaces this node by a status that is true no longer than the connection to the origin; null removes it.
  ///
  /// The write never waits in a replica: it ends with the connection or with this database, and without a
  /// connection nothing is written. Its receipt then fails with `disconnected`. What the origin took, it removes
  /// only if it was asked to (`onDisconnectRemoveValue`).
  ///
  /// - Returns: the receipt, which tells the answer of a replica's origin.
  /// - Throws: `DatabaseError` (`refused` with what is wrong and where, or a failure of the storage).
  @discardableResult
  package func setPassingValue(_ value: JSONValue) async throws -> WriteReceipt {
    try await database.performPassing(.set(path, value))
  }
}

extension Database {
  /// Carries out a write of a passing status.
  fileprivate func performPassing(_ write: Write) async throws -> WriteReceipt {
    try await self.write { (true, try $0.writePassing(write)) }
  }
}

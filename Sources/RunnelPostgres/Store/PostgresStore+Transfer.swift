package import RunnelBase
import RunnelStorage
package import RunnelTree

// Whole trees into a namespace and out of it, while it is served.
extension PostgresStore {
  /// Runs `body` in one writing transaction on a namespace, under a lease of its own.
  ///
  /// The servers' writes wait meanwhile, and are told of it at once.
  ///
  /// - Throws: `PostgresError` and the errors of `body`; then nothing was written, unless the connection
  ///   broke at the commit and what became of it could not be found out.
  package func write<Result>(
    to namespace: Namespace, _ body: (PostgresTransaction) throws -> Result
  ) throws -> Result {
    try withSession(of: namespace) { session in
      let result = try session.perform(isWriting: true, body)
      if let head = session.head {
        // If this is lost, the servers notice the write when they look, a quarter of a second later.
        try? StoreWake.send([.head(namespace: namespace.number, head: head)], connection)
      }
      return result
    }
  }

  /// Declares those indexes of a namespace that are not declared yet, and fills them.
  ///
  /// - Throws: `PostgresError`; then none was declared.
  package func declareIndexes(_ definitions: [IndexDefinition], of namespace: Namespace) throws {
    try withSession(of: namespace) { try $0.declareIndexes(definitions) }
  }

  private func withSession<Result>(
    of namespace: Namespace, _ body: (PostgresSession) throws -> Result
  ) throws -> Result {
    let lease = StoreLease(address: "")
    try lease.begin(connection)
    // Whatever becomes of the write, others end the lease if this fails.
    defer { try? lease.end(connection) }
    let session = try PostgresSession(namespace: namespace.name, lease: lease, connect: connect)
    defer { session.close() }
    return try body(session)
  }

  /// Writes the subtree at a place of a namespace as JSON in the export format, piece by piece.
  ///
  /// O(n) in the subtree; memory is that of one record. All of it is from one state, for which the
  /// database keeps old versions of rows until the end.
  ///
  /// - Returns: the place in the feed of that state.
  /// - Throws: `PostgresError` or `TreeError` if it cannot be read, and the errors of `write`.
  package func exportJSON(
    _ path: Path, of namespace: Namespace, layout: JSONWriter.Layout,
    write: ([UInt8]) throws -> Void
  ) throws -> Int64 {
    let snapshot = try PostgresSnapshot(try PostgresStore(connect), namespace: namespace.name)
    defer { snapshot.close() }
    // The reader reports any error as one of the storage; that of the output matters here.
    var failure: (any Error)?
    do {
      return try withoutActuallyEscaping(write) { write in
        try snapshot.read { transaction in
          try transaction.exportJSON(path, layout: layout) { bytes in
            do {
              try write(bytes)
            } catch {
              failure = error
              throw error
            }
          }
          return transaction.beginning.news.end.sequence
        }
      }
    } catch {
      throw failure ?? error
    }
  }
}

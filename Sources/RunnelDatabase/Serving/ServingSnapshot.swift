import RunnelTree

/// One state of a database, read over a long time while others write.
///
/// It has a connection of its own, so that it keeps nobody waiting. What is written meanwhile stays in
/// the log beside the file until it is closed.
///
/// Isolation: synchronous, and used by one thread at a time.
package final class ServingSnapshot {
  private let store: SQLiteStore
  private let context: SessionContext

  /// Opens a file, and begins to read the state that it is in.
  ///
  /// - Throws: `DatabaseError` if it cannot be opened.
  package init(file: String, environment: DatabaseEnvironment) throws {
    store = try SQLiteStore(
      file: file, isReadOnly: true, busyTimeout: environment.busyTimeout, keepsReading: true)
    context = SessionContext(store: store, beacon: nil, environment: environment)
    try store.beginReading()
  }

  /// Runs `body` on the state.
  ///
  /// - Throws: `DatabaseError` if it cannot be read, and what `body` throws as one.
  package func read<Result>(_ body: (ServingTransaction) throws -> Result) throws -> Result {
    try store.readOn { stored in
      try body(
        ServingTransaction(
          stored, context, foreign: StoreTransaction.ForeignChanges(touched: [], sequence: 0)))
    }
  }

  /// Ends the reading and closes the file; it is not used afterwards.
  ///
  /// - Throws: `DatabaseError` if it could not be closed properly.
  package func close() throws { try store.close() }
}

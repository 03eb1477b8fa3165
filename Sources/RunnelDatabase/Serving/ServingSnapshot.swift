import RunnelTree

/// A state of a database, read over a long time while others write.
///
/// It has a connection of its own, so it blocks no writer. Writes made meanwhile stay in the log
/// beside the file until it is closed.
///
/// Isolation: synchronous, and used by one thread at a time.
package final class ServingSnapshot {
  private let store: SQLiteStore
  private let context: SessionContext

  /// Opens a file, and begins to read its present state.
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
  /// - Throws: `DatabaseError` if it cannot be read, and the errors of `body`, converted to one.
  package func read<Result>(_ body: (ServingTransaction) throws -> Result) throws -> Result {
    try store.readOn { stored in
      try body(
        ServingTransaction(
          stored, context, foreign: StoreTransaction.ForeignChanges(touched: [], sequence: 0)))
    }
  }

  /// Ends the reading and closes the file; the snapshot must not be used afterwards.
  ///
  /// - Throws: `DatabaseError` if it could not be closed properly.
  package func close() throws { try store.close() }
}

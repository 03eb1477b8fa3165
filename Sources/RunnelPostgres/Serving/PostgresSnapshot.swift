/// A state of a namespace, read over a long time while others write.
///
/// It has a connection of its own. The database keeps old versions of rows until it is closed.
///
/// Isolation: synchronous, and used by one thread at a time.
package final class PostgresSnapshot {
  private let connection: PostgresConnection
  private let transaction: PostgresTransaction
  /// The number of the newest change in the state.
  package let head: Int64

  /// Opens a namespace, and begins to read its present state.
  ///
  /// - Throws: `PostgresError` if it cannot be read.
  package convenience init(_ place: PostgresPlace, namespace name: String) throws {
    try self.init(try PostgresStore(place), namespace: name)
  }

  /// Begins to read the present state of a namespace by the connection of a store, which it takes over.
  init(_ store: PostgresStore, namespace name: String) throws {
    connection = store.connection
    try connection.perform([
      PostgresStatement("SET idle_in_transaction_session_timeout = '60s'"),
      PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
    ])
    guard let namespace = try store.namespace(named: name) else {
      throw PostgresError(.unsuitable, "The namespace \(name) is not there any more.")
    }
    if namespace.state == .moved {
      throw PostgresError(
        .moved, "\(name) was moved to \(try store.newPlace(of: namespace).words).")
    }
    head = namespace.head
    let rows = PostgresRows(
      connection, namespace: namespace.number, indexes: try store.indexes(of: namespace.number),
      nextSplit: namespace.nextSplit)
    transaction = PostgresTransaction(
      rows, PostgresTransaction.Beginning(at: namespace.head, nextSplit: namespace.nextSplit))
  }

  /// Runs `body` on the state.
  package func read<Result>(_ body: (PostgresTransaction) throws -> Result) rethrows -> Result {
    try body(transaction)
  }

  /// Ends the reading.
  package func close() { connection.close() }
}

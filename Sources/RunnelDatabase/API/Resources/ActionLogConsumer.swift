public import RunnelStreams
import RunnelTree

/// Handles the entries of an action log, each at least once, over restarts.
///
/// The position in the log is written to the tree after each batch; if the consumer ends before
/// that, the last entries are handled again. Only one consumer with a name may run at a time.
public struct ActionLogConsumer: Sendable {
  /// The database.
  public let database: Database
  /// The place of the log, and the position in it.
  public let cursor: ActionLogCursor

  /// Makes a consumer.
  public init(_ database: Database, _ cursor: ActionLogCursor) {
    self.database = database
    self.cursor = cursor
  }

  /// Handles the entries of the log, and those that come, until the task is cancelled.
  ///
  /// - Parameter handle: called for each entry in order; if it throws, the run ends, and the next
  ///   run handles the entry again.
  /// - Throws: the errors of `handle`, `DatabaseError`, `CancellationError`.
  public func run(
    _ handle: @Sendable (ActionLogEntry) async throws -> Void
  ) async throws {
    try await drain(handle)
    // The first event covers the entries that have come meanwhile.
    let tail = DatabaseQuery(
      database: database, query: try Query(cursor.log).ordered(by: .key).limited(to: 1, from: .last)
    )
    for try await _ in tail.events(.added) { try await drain(handle) }
    throw CancellationError()
  }

  /// Handles the present entries of the log; returns their number.
  ///
  /// - Throws: as `run`.
  @discardableResult
  public func drain(
    _ handle: @Sendable (ActionLogEntry) async throws -> Void
  ) async throws -> Int {
    var count = 0
    while true {
      try Task.checkCancellation()
      let batch = try await database.answer { [cursor] session in
        try session.read { reader in try cursor.next(from: reader) }
      }
      guard let end = batch.end else { return count }
      var handled: Key?
      do {
        for entry in batch.entries {
          try await handle(entry)
          handled = entry.id
          count += 1
        }
      } catch {
        if let handled { try await database.perform(cursor.acknowledging(handled)) }
        throw error
      }
      try await database.perform(cursor.acknowledging(end))
    }
  }
}

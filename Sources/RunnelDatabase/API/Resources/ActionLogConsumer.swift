public import RunnelStreams
import RunnelTree

/// Handles the entries of an action log, each at least once, over restarts.
///
/// What was handled is noted in the tree after each batch; a consumer that was ended before that
/// handles the last ones again. One consumer of a name runs at a time.
public struct ActionLogConsumer: Sendable {
  /// The database.
  public let database: Database
  /// Where the log is, and how far it was read.
  public let cursor: ActionLogCursor

  /// Makes a consumer.
  public init(_ database: Database, _ cursor: ActionLogCursor) {
    self.database = database
    self.cursor = cursor
  }

  /// Handles what is in the log, and what comes, until the task is cancelled.
  ///
  /// - Parameter handle: called for each entry in order; what it throws ends the run, and the entry is
  ///   handled again by the next.
  /// - Throws: what `handle` throws, `DatabaseError`, `CancellationError`.
  public func run(
    _ handle: @Sendable (ActionLogEntry) async throws -> Void
  ) async throws {
    try await drain(handle)
    // The first event tells what came meanwhile, if anything did.
    let tail = DatabaseQuery(
      database: database, query: try Query(cursor.log).ordered(by: .key).limited(to: 1, from: .last)
    )
    for try await _ in tail.events(.added) { try await drain(handle) }
    throw CancellationError()
  }

  /// Handles what is in the log now; returns how many entries it handled.
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

import Synchronization

extension Database {
  /// Does the same as `close()`, and returns the error if the file was found to be damaged or gone only
  /// then; what was in memory of it was not written.
  package nonisolated func closeAndTell() -> DatabaseError? {
    let outcome = ClosingOutcome()
    executor.submitAndWait {
      self.assumeIsolated { database in
        database.shutDown()
        outcome.error.withLock { $0 = database.closingError }
      }
    }
    return outcome.error.withLock { $0 }
  }

  /// Closes the file; returns the error, if there was one.
  func closeFile() -> DatabaseError? {
    do {
      try session.close()
      return nil
    } catch {
      return DatabaseError(error, file: file)
    }
  }
}

/// The error of closing a file, which another thread waits for.
private final class ClosingOutcome: Sendable {
  let error = Mutex<DatabaseError?>(nil)
}

import Synchronization

extension Database {
  /// Ends everything and closes the file; waits until all earlier requests are done.
  ///
  /// Observers are told so on their thread, after what they were to be told before. So a handler may still be
  /// called shortly after this has returned: cancel an observation first whose handler must not be.
  ///
  /// On the tree's thread, such as in what takes the bytes of an export, in a `progress` or in the body of a
  /// transaction, it does not wait: it returns at once, and the file is closed after the work that calls it.
  public nonisolated func close() {
    if executor.isCurrentThread {
      executor.submit { self.assumeIsolated { $0.shutDown() } }
    } else {
      _ = closeAndTell()
    }
  }

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

  /// Closes the file, and lets the threads end; returns the error, if there was one.
  ///
  /// A later call, which is told that the database is closed, has a thread for as long as it takes.
  func closeFile() -> DatabaseError? {
    defer {
      executor.rest()
      dispatcher.rest()
    }
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

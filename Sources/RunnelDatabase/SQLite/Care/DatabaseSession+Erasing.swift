import GRDB

extension DatabaseSession {
  /// Overwrites what is deleted or replaced by this session from now on with zeros, in the file.
  ///
  /// The log beside the file keeps it until `emptyLog`.
  ///
  /// - Throws: `DatabaseError` if the file cannot be read.
  package func overwriteDeleted() throws {
    try store.withDatabase { db in try db.execute(sql: "PRAGMA secure_delete = ON") }
  }

  /// Copies the log to the file and empties it, so that what was deleted is in neither of them.
  ///
  /// It waits for others that read or write the file, for the session's `busyTimeout` at most.
  ///
  /// Complexity: O(n) in the log.
  ///
  /// - Returns: false if others still used the log; then it is as it was.
  /// - Throws: `DatabaseError` if the file cannot be written; nothing is lost then.
  package func emptyLog() throws -> Bool {
    try store.withDatabase { db in
      let busy = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")?.integerOrNil("busy")
      return busy == 0
    }
  }
}

import GRDB
import Glibc

/// The source of a copy of a whole database, or how far it is.
package enum CopyStage: Hashable, Sendable {
  /// The file is at its place: `DatabaseCopy` reads it, if it is still this one then.
  case isThere(OpenedIdentity)
  /// The file is gone, and so many bytes of its pages are copied; all of them if both numbers are equal.
  case pages(bytes: Int, of: Int)
}

/// A copy of a whole database that is open elsewhere in the program, made on the caller's thread by a
/// connection of its own.
package final class DatabaseCopy {
  private static let busyTimeout = Duration.seconds(5)

  private let store: SQLiteStore

  /// Opens a file to copy it.
  ///
  /// - Throws: `DatabaseError`, also if it is not the file that is open.
  package init(of file: String, opened: OpenedIdentity) throws {
    store = try SQLiteStore(
      file: file, isReadOnly: true, busyTimeout: DatabaseCopy.busyTimeout)
    guard store.files?.identity.isSame(as: opened) == true else {
      // A file that was only read has nothing to lose.
      try? store.close()
      throw DatabaseError(
        .fileGone, "\(file) was deleted or replaced while it was being opened for the copy.")
    }
  }

  /// Writes the database to a new file, in its state at the time of the call; then it is closed.
  ///
  /// - Parameters:
  ///   - path: the path of the new file, which must not exist.
  ///   - progress: called now and then with the bytes written so far, and about how many there will be; false
  ///     stops the work, and leaves no file.
  /// - Returns: the size of the new file in bytes.
  /// - Throws: `DatabaseError`, as `DatabaseSession.saveCopy`.
  package func save(to path: String, progress: @escaping (Int, Int) -> Bool) throws -> Int {
    // A file that was only read has nothing to lose.
    defer { try? store.close() }
    let count = try store.withDatabase { db in
      let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
      return try pages * (Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
    }
    let temporary = SQLiteStore.temporary(of: path)
    return try store.saveCopy(to: path) {
      var status = stat()
      let isBegun = stat(temporary, &status) == 0
      return progress(isBegun ? Int(status.st_size) : 0, count)
    }
  }

  /// Checks the pages of a file that was gone, which were all copied, and gives the copy its name.
  ///
  /// - Parameters:
  ///   - path: the path of the new file, which must not exist.
  ///   - isWanted: called now and then; false stops the work, and leaves no file.
  /// - Returns: the size of the new file in bytes.
  /// - Throws: `DatabaseError` (`corrupt` if pages were lost with the file, or as
  ///   `DatabaseSession.saveCopy`); then no file is left.
  package static func finish(pagesTo path: String, isWanted: @escaping () -> Bool) throws -> Int {
    let temporary = SQLiteStore.temporary(of: path)
    defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(temporary + suffix) } }
    do {
      try check(temporary, isWanted)
      try SQLiteStore.markCopy(temporary)
    } catch let error as GRDB.DatabaseError where error.resultCode == .SQLITE_CORRUPT {
      throw DatabaseError(
        .corrupt,
        "\(path) was not written: parts of the database are lost with its file "
          + "(\(error.message ?? "no reason was given")). Export what is still shown.")
    } catch let error as GRDB.DatabaseError {
      throw SQLiteStore.notCopied(path, error)
    }
    return try SQLiteStore.finish(temporary, path)
  }

  /// Checks that no page is missing in a copy of pages.
  private static func check(_ temporary: String, _ isWanted: @escaping () -> Bool) throws {
    let queue = try DatabaseQueue(path: DatabaseFileName.forSQLite(temporary))
    // What was written by it is checked by whoever writes the mark of the copy.
    defer { try? ClosedConnections.shared.close(queue) }
    try queue.writeWithoutTransaction { db in
      // A small copy is checked before SQLite calls the progress function.
      if !isWanted() { throw DatabaseError(.cancelled, "The work was stopped.") }
      // The copy has no log: it is one file.
      try db.execute(sql: "PRAGMA journal_mode = DELETE")
      try LongStatement.run(on: db, while: isWanted) {
        let found = try String.fetchOne(db, sql: "PRAGMA quick_check(1)")
        if found == "ok" { return }
        throw GRDB.DatabaseError(resultCode: .SQLITE_CORRUPT, message: found)
      }
    }
  }

  /// Removes the pages that were copied for a file and are not wanted any more.
  package static func removePages(to path: String) { unlink(SQLiteStore.temporary(of: path)) }
}

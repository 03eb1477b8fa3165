import GRDB
import GRDBSQLite
import Glibc

/// A copy of the pages of a database, made piece by piece on a connection that is used for other things
/// meanwhile.
///
/// Source: SQLite, "Online Backup API". What another connection writes meanwhile would begin the copy anew;
/// here it ends it, for the copy is one of the state at which it began.
final class PageCopy {
  /// The number of pages that are copied at once: about a megabyte.
  static let pagesAtOnce = 256

  /// The path of the copy.
  let path: String
  private let target: DatabaseQueue
  /// The work under way; nil once it has ended.
  private var backup: OpaquePointer?
  private var doneCount = 0
  /// The size of a page in bytes.
  let pageSize: Int

  /// Begins a copy of the database of a connection; a file that is there is replaced.
  init(of source: GRDB.Database, to path: String) throws {
    self.path = path
    pageSize = try Int.fetchOne(source, sql: "PRAGMA page_size") ?? 0
    unlink(path)
    target = try DatabaseQueue(path: DatabaseFileName.forSQLite(path))
    backup = try target.writeWithoutTransaction { db in
      // The file is brought to the disk when it is complete, and removed if it never is.
      try db.execute(sql: "PRAGMA journal_mode = OFF")
      try db.execute(sql: "PRAGMA synchronous = OFF")
      let backup = sqlite3_backup_init(
        db.sqliteConnection, "main", source.sqliteConnection, "main")
      guard let backup else {
        throw GRDB.DatabaseError(resultCode: db.lastErrorCode, message: db.lastErrorMessage)
      }
      return backup
    }
  }

  deinit { end() }

  /// Copies the next pages, and closes the copy after the last one; call it on the connection.
  ///
  /// - Returns: the number of pages that are copied, and that of all; nil if another connection has written
  ///   meanwhile.
  /// - Throws: GRDB's error.
  func step() throws -> (done: Int, count: Int)? {
    guard let backup else { return (doneCount, doneCount) }
    let code = target.unsafeReentrantWrite { _ in
      sqlite3_backup_step(backup, Int32(PageCopy.pagesAtOnce))
    }
    guard code == SQLITE_OK || code == SQLITE_DONE else {
      throw GRDB.DatabaseError(
        resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errstr(code)))
    }
    let count = Int(sqlite3_backup_pagecount(backup))
    let done = count - Int(sqlite3_backup_remaining(backup))
    guard done == min(doneCount + PageCopy.pagesAtOnce, count) else { return nil }
    doneCount = done
    if code == SQLITE_DONE { end() }
    return (done, count)
  }

  /// Closes the copy; the file stays.
  func end() {
    guard let backup else { return }
    self.backup = nil
    // A failure was the result of a step.
    _ = target.unsafeReentrantWrite { _ in sqlite3_backup_finish(backup) }
    // It has nothing left to write.
    try? ClosedConnections.shared.close(target)
  }
}

extension SQLiteStore {
  /// Copies the next pages of a file that is gone; see `DatabaseSession.copyPages`.
  func copyPages(to path: String) throws -> CopyStage {
    let temporary = SQLiteStore.temporary(of: path)
    do {
      try DatabaseFileName.check(path)
      if pageCopy?.path != temporary {
        endPageCopy()
        if let files, try isAtItsPlace() { return .isThere(files.identity) }
        try SQLiteStore.checkIsFree(path)
        pageCopy = try onConnection { try PageCopy(of: $0, to: temporary) }
      }
      guard let pageCopy, let (done, count) = try onConnection({ _ in try pageCopy.step() }) else {
        throw DatabaseError(
          .refused,
          "\(path) was not written: another program wrote to the database meanwhile. Try again.")
      }
      // The complete copy belongs to whoever gives it its name.
      if done == count { self.pageCopy = nil }
      return .pages(bytes: done * pageCopy.pageSize, of: count * pageCopy.pageSize)
    } catch {
      endCopy(to: path)
      guard let error = error as? GRDB.DatabaseError, error.resultCode != .SQLITE_CORRUPT else {
        throw DatabaseError(error, file: file)
      }
      if let loss, loss.part == .content, error.resultCode == .SQLITE_IOERR {
        throw DatabaseError(
          .corrupt,
          "\(path) was not written: parts of the database are lost with its log. Export what is still shown."
        )
      }
      throw SQLiteStore.notCopied(path, error)
    }
  }

  /// Whether the files that are open have their names.
  private func isAtItsPlace() throws -> Bool {
    do {
      try checkFiles()
      return true
    } catch let error as DatabaseError where error.code == .fileGone {
      return false
    }
  }

  /// Ends the copying of pages to a file, and removes them.
  func endCopy(to path: String) {
    endPageCopy()
    unlink(SQLiteStore.temporary(of: path))
  }

  /// Ends the copy of pages that is not complete, and removes it.
  func endPageCopy() {
    guard let pageCopy else { return }
    pageCopy.end()
    unlink(pageCopy.path)
    self.pageCopy = nil
  }
}

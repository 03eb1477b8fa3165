import CStorage
import GRDBSQLite
import Glibc
import GRDB
import RunnelStorage

// Whether what is written gets into the file that the name leads to. See `OpenedFiles`.

extension SQLiteStore {
  /// Makes sure that the files are those that were opened; also where nothing is written.
  ///
  /// It costs a call of the system for each file. What it found once it finds from then on.
  ///
  /// - Throws: `DatabaseError` (`fileGone`) that says what became of them.
  func checkFiles() throws {
    do {
      if let loss { throw loss }
      try onConnection { db in
        do {
          try checkFiles(db)
        } catch let loss as FileLoss {
          throw settle(loss, db)
        }
      }
    } catch {
      throw DatabaseError(error, file: file)
    }
  }

  /// Throws what became of the files, if they are not those that were opened.
  func checkFiles(_ db: GRDB.Database, isCommitted: Bool = false) throws {
    let found = files?.loss(
      isCommitted: isCommitted, isSound: { SQLiteStore.isSound(db) },
      isLogSound: { SQLiteStore.isLogSound(db) })
    if let found { throw found }
  }

  /// Why something failed: what became of the files, if that is why.
  ///
  /// The connection is in no transaction.
  func cause(of error: any Error, _ db: GRDB.Database) -> any Error {
    if let loss { return error is FileLoss ? loss : error }
    if let found = error as? FileLoss { return settle(found, db) }
    guard error is GRDB.DatabaseError || error is Damage else { return error }
    do {
      try checkFiles(db)
      return error
    } catch {
      return (error as? FileLoss).map { settle($0, db) } ?? error
    }
  }

  /// Takes note of what became of the files, and leaves alone what has their names now.
  private func settle(_ found: FileLoss, _ db: GRDB.Database) -> FileLoss {
    // SQLite would remove the log by its name when the connection is closed, whose ever it is.
    _ = runnel_storage_keep_log(db.runnelConnection, 1)
    var found = found
    if case .logDeleted = found, files?.isLogAlone == true {
      found = .logDeleted(isSaved: SQLiteStore.copyLog(db))
    }
    note(found)
    return found
  }

  /// Copies what is in the log to the file; false if not all of it could be.
  private static func copyLog(_ db: GRDB.Database) -> Bool {
    // A log that cannot be copied is said to be lost.
    guard let row = try? Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(PASSIVE)"),
      let busy = try? row.integerOrNil("busy"), let frames = try? row.integerOrNil("log"),
      let copied = try? row.integerOrNil("checkpointed")
    else { return false }
    return busy == 0 && frames == copied
  }

  /// Has the log be left as it is when the connection is closed, or not any more.
  func keepLog(_ keeps: Bool) throws {
    _ = try onConnection { runnel_storage_keep_log($0.runnelConnection, keeps ? 1 : 0) }
  }

  /// The files that a connection has open, which has read something.
  ///
  /// - Throws: `DatabaseError` if they are others already.
  func openedFiles() throws -> OpenedFiles? {
    try onConnection { db in
      let hasLog = try !isAtRest && String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal"
      guard let path = db.runnelFile else { return nil }
      let files = OpenedFiles(path: path, name: file, hasLog: hasLog)
      if files == nil || runnel_storage_has_moved(db.runnelConnection) != 0 {
        throw DatabaseError(
          .fileGone, "\(file) was deleted or replaced while it was being opened. Open it again.")
      }
      if hasLog { try SQLiteStore.checkLogOfOthers(db, path + "-wal", file: file) }
      return files
    }
  }

  /// True if the file holds as many pages as it says, and is the one that the log was begun on; nil if that
  /// cannot be told, since a part of the log was copied to it and another was not.
  private static func isSound(_ db: GRDB.Database) -> Bool? {
    guard let path = db.runnelFile else { return nil }
    for look in 0..<looks.count {
      if look > 0 { poll(nil, 0, looks.pauseMilliseconds) }
      if isBeingCopied(db) { return nil }
      if isWhole(db, path) { return knowsFile(db, path) }
      // A page that changed again stays in the log only, while the first page is copied.
      if isCopiedInPart(db) { return nil }
      // Somebody may have begun to copy the log, and ended, between the looks at head and size.
    }
    return false
  }

  private static func isWhole(_ db: GRDB.Database, _ path: String) -> Bool {
    var head = [UInt8](repeating: 0, count: DatabaseHead.byteCount)
    let answer = runnel_storage_read_file(db.runnelConnection, &head, Int32(head.count), 0)
    var status = stat()
    // The size is asked for last: the file grows after its head was written.
    guard answer == 0, let head = DatabaseHead(head), stat(path, &status) == 0 else { return false }
    return head.pageCount * head.pageSize <= Int(status.st_size)
  }

  /// True if the log holds as many frames as all its connections know, and is the one that they mean.
  static func isLogSound(_ db: GRDB.Database) -> Bool {
    guard let path = db.runnelFile.map({ $0 + "-wal" }) else { return true }
    // It may begin anew between two looks.
    for look in 0..<looks.count {
      if look > 0 { poll(nil, 0, looks.pauseMilliseconds) }
      var state = runnel_log_state()
      guard runnel_storage_log_state(db.runnelConnection, &state) == 0, state.frames > 0 else {
        return true
      }
      let salts = withUnsafeBytes(of: state.salts, Array.init)
      if let head = LogHead(path), head.salts == salts, head.holds(Int(state.frames)) {
        return true
      }
    }
    // Without a descriptor left, nothing is known of the log.
    return OpenFiles.shortage() != nil
  }
}

/// What the beginning of a database file says.
///
/// Source: SQLite, "Database File Format", section 1.3.
struct DatabaseHead {
  static let byteCount = 100

  let pageSize: Int
  let pageCount: Int

  /// Reads a head; nil if it is that of no database.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= DatabaseHead.byteCount,
      bytes.starts(with: "SQLite format 3\0".utf8)
    else { return nil }
    func number(_ offset: Int, _ count: Int) -> Int {
      bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }
    let size = number(16, 2)
    // What does not fit into two bytes.
    pageSize = size == 1 ? 65_536 : size
    pageCount = number(28, 4)
  }
}

extension SQLiteStore {
  /// Makes sure that the log beside a file is the one that those use who have it open.
  ///
  /// - Throws: `DatabaseError` (`fileGone`) if it is not.
  private static func checkLogOfOthers(_ db: GRDB.Database, _ path: String, file: String) throws {
    // It may begin anew between two looks.
    for look in 0..<looks.count {
      if look > 0 { poll(nil, 0, looks.pauseMilliseconds) }
      var state = runnel_log_state()
      guard runnel_storage_log_state(db.runnelConnection, &state) == 0, state.frames > 0 else {
        return
      }
      if LogHead(path)?.salts == withUnsafeBytes(of: state.salts, { Array($0) }) { return }
    }
    if let shortage = OpenFiles.shortage() {
      throw DatabaseError(
        .cannotOpen, "\(file) cannot be opened: \(OpenFiles.words(shortage))")
    }
    throw notOfOthers(file)
  }

  /// What is said where others have a file open with another log.
  static func notOfOthers(_ file: String) -> DatabaseError {
    DatabaseError(
      .fileGone,
      "\(file)-wal, the log of \(file), was deleted or replaced while another program had it open. "
        + "Nothing was changed: save what is open there, close that program, and open it again.")
  }
}

extension GRDB.Database {
  /// The connection, as the functions of `CStorage` take it.
  var runnelConnection: UnsafeMutableRawPointer? {
    sqliteConnection.map { UnsafeMutableRawPointer($0) }
  }

  /// The file as SQLite opened it: a whole path without links.
  var runnelFile: String? {
    guard let name = sqlite3_db_filename(sqliteConnection, "main") else { return nil }
    let path = String(cString: name)
    return path.isEmpty ? nil : path
  }
}

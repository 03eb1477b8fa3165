import CStorage
import GRDBSQLite
import Glibc
import GRDB
import RunnelStorage

// Checks that writes reach the file that the name leads to. See `OpenedFiles`.

extension SQLiteStore {
  /// Checks that the files are those that were opened; also for calls that write nothing.
  ///
  /// It costs a system call for each file. A loss is remembered.
  ///
  /// - Throws: `DatabaseError` (`fileGone`) that tells the loss.
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

  /// Checks that the file is at its place, before something is read; for one system call.
  ///
  /// - Throws: `DatabaseError` (`fileGone`) that tells the loss.
  func checkPlace() throws {
    if loss != nil || files?.isAtItsPlace == false { try checkFiles() }
  }

  /// What became of a file that had been moved away.
  enum Return {
    /// It is not at its place, or was lost in another way.
    case absent
    /// It is there again as it was, but the files of these names beside it are not yet.
    case partial([String])
    /// It is there again as it was: the loss is over.
    case whole
    /// It is there again, but others may have written it meanwhile.
    case uncertain
  }

  /// Ends the loss of a file that was moved away, if it and its log are at their places again as they
  /// were.
  ///
  /// SQLite keeps the log when it is closed; the log is read at the next opening.
  func endLossIfBack() throws -> Return {
    // What is copied stays as it was when the copy began.
    guard pageCopy == nil, case .moved? = loss, let files, files.isAtItsPlace else {
      return .absent
    }
    return try onConnection { db in
      switch files.presence(SQLiteStore.logPlace(db)) {
      case .whole: break
      case .missing(let names): return .partial(names)
      case .changed: return .uncertain
      }
      do {
        try checkFiles(db)
      } catch is FileLoss {
        return .uncertain
      }
      note(nil)
      return .whole
    }
  }

  /// The loss as it is by now: a file that was moved away may have been moved on.
  var presentLoss: FileLoss? {
    guard case .moved? = loss else { return loss }
    return files?.absence ?? loss
  }

  /// Throws the loss, if the files are not those that were opened.
  func checkFiles(_ db: GRDB.Database, isCommitted: Bool = false) throws {
    let found = files?.loss(
      isCommitted: isCommitted, place: SQLiteStore.logPlace(db),
      present: { db.runnelFile.flatMap { SQLiteStore.content(db, $0) } },
      isSound: { SQLiteStore.isSound(db) },
      isLogSound: { SQLiteStore.isLogSound(db, $0, size: $1) })
    if let found { throw found }
  }

  /// The cause of an error: the loss of the files, if there is one.
  ///
  /// The connection is in no transaction.
  func cause(of error: any Error, _ db: GRDB.Database) -> any Error {
    if let loss {
      // What is not in the log any more cannot be read.
      let isOfLoss = loss.part == .content && error.isOfReading
      return error is FileLoss || isOfLoss ? loss : error
    }
    if let found = error as? FileLoss { return settle(found, db) }
    guard error is GRDB.DatabaseError || error is Damage else { return error }
    do {
      try checkFiles(db)
      return error
    } catch {
      return (error as? FileLoss).map { settle($0, db) } ?? error
    }
  }

  /// Records a loss, and keeps SQLite from touching the files that have the names now.
  func settle(_ found: FileLoss, _ db: GRDB.Database) -> FileLoss {
    // SQLite would remove the log by its name when the connection is closed, whichever file that
    // is.
    _ = runnel_storage_keep_log(db.runnelConnection, 1)
    var found = found
    if case .logDeleted = found, files?.isLogAlone == true {
      found = .logDeleted(isSaved: SQLiteStore.copyLog(db))
    }
    note(found)
    return found
  }

  /// Copies the log to the file; returns false if not all of it could be copied.
  private static func copyLog(_ db: GRDB.Database) -> Bool {
    // A log that cannot be copied is reported as lost.
    guard let row = try? Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(PASSIVE)"),
      let busy = try? row.integerOrNil("busy"), let frames = try? row.integerOrNil("log"),
      let copied = try? row.integerOrNil("checkpointed")
    else { return false }
    return busy == 0 && frames == copied
  }

  /// Sets whether the log is left as it is when the connection is closed.
  func keepLog(_ keeps: Bool) throws {
    _ = try onConnection { runnel_storage_keep_log($0.runnelConnection, keeps ? 1 : 0) }
  }

  /// The files of a connection that has read something.
  ///
  /// - Throws: `DatabaseError` if they have been replaced already.
  func openedFiles() throws -> OpenedFiles? {
    try onConnection { db in
      let hasLog = try !isAtRest && String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal"
      guard let path = db.runnelFile else { return nil }
      let content = hasLog ? SQLiteStore.content(db, path) : nil
      let files = OpenedFiles(path: path, name: file, hasLog: hasLog, content: content)
      if files == nil || runnel_storage_has_moved(db.runnelConnection) != 0 {
        throw DatabaseError(
          .fileGone, "\(file) was deleted or replaced while it was being opened. Open it again.")
      }
      if hasLog { try SQLiteStore.checkLogOfOthers(db, path + "-wal", file: file) }
      return files
    }
  }

  /// The place reached in the log; nil if there is none.
  static func logPlace(_ db: GRDB.Database) -> LogPlace? {
    var state = runnel_log_state()
    guard runnel_storage_log_state(db.runnelConnection, &state) == 0 else { return nil }
    return LogPlace(
      frames: state.frames, copied: state.copied,
      salts: withUnsafeBytes(of: state.salts, Array.init))
  }

  /// The content of the file; nil if another process changes it just now, or nothing is known of it.
  private static func content(_ db: GRDB.Database, _ path: String) -> KnownFile? {
    guard let place = logPlace(db), !isBeingCopied(db), let state = stateOfFile(path),
      state != .unmarked, logPlace(db) == place, !isBeingCopied(db)
    else { return nil }
    return KnownFile(state: state, place: place)
  }

  /// True if the file has the size that it states, and is the one on which the log was begun; nil
  /// if that cannot be told, because a part of the log was copied to it and another was not.
  private static func isSound(_ db: GRDB.Database) -> Bool? {
    guard let path = db.runnelFile else { return nil }
    for look in 0..<looks.count {
      if look > 0 { poll(nil, 0, looks.pauseMilliseconds) }
      if isBeingCopied(db) { return nil }
      if isWhole(db, path) { return knowsFile(db, path) }
      // While the first page is being copied, a page that changed again is only in the log.
      if isCopiedInPart(db) { return nil }
      // Another process may have copied a part of the log between the two reads of head and size.
    }
    return false
  }

  private static func isWhole(_ db: GRDB.Database, _ path: String) -> Bool {
    var head = [UInt8](repeating: 0, count: DatabaseHead.byteCount)
    let answer = runnel_storage_read_file(db.runnelConnection, &head, Int32(head.count), 0)
    var status = stat()
    // The size is read last: the file grows after its head was written.
    guard answer == 0, let head = DatabaseHead(head), stat(path, &status) == 0 else { return false }
    return head.pageCount * head.pageSize <= Int(status.st_size)
  }

  /// True if the log holds the frames that all its connections know, and is the one that they use.
  ///
  /// `log` is the log that was opened, which is at its place; nil if it is to be opened by its name. `size`
  /// is its size a moment ago: if that is enough, it is not asked again.
  private static func isLogSound(_ db: GRDB.Database, _ log: Int32?, size: Int) -> Bool {
    // The log may begin anew, or grow, between two tries.
    for look in 0...looks.count {
      if look > 1 { poll(nil, 0, looks.pauseMilliseconds) }
      var state = runnel_log_state()
      guard runnel_storage_log_state(db.runnelConnection, &state) == 0, state.frames > 0 else {
        return true
      }
      let salts = withUnsafeBytes(of: state.salts, Array.init)
      let opened = log.flatMap { LogHead($0, size: look == 0 ? size : nil) }
      let found = opened ?? db.runnelFile.flatMap { LogHead($0 + "-wal") }
      if let head = found, head.salts == salts, head.holds(Int(state.frames)) {
        return true
      }
    }
    // Without a free descriptor, nothing is known of the log.
    return OpenFiles.shortage() != nil
  }
}

/// The header of a database file.
///
/// Source: SQLite, "Database File Format", section 1.3.
struct DatabaseHead {
  static let byteCount = 100

  let pageSize: Int
  let pageCount: Int

  /// Reads a header; nil if it is not that of a database.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= DatabaseHead.byteCount,
      bytes.starts(with: "SQLite format 3\0".utf8)
    else { return nil }
    func number(_ offset: Int, _ count: Int) -> Int {
      bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }
    let size = number(16, 2)
    // The value 1 stands for a size that does not fit into two bytes.
    pageSize = size == 1 ? 65_536 : size
    pageCount = number(28, 4)
  }
}

extension SQLiteStore {
  /// Checks that the log beside a file is the one that other connections have open.
  ///
  /// - Throws: `DatabaseError` (`fileGone`) if it is not.
  private static func checkLogOfOthers(_ db: GRDB.Database, _ path: String, file: String) throws {
    // The log may begin anew between two tries.
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

  /// The error if other programs have a file open with another log.
  static func notOfOthers(_ file: String) -> DatabaseError {
    DatabaseError(
      .fileGone,
      "\(file)-wal, the log of \(file), was deleted or replaced while another program had it open. "
        + "Nothing was changed: save what is open there, close that program, and open it again.")
  }
}

extension Error {
  /// Whether SQLite failed to read or write a file.
  var isOfReading: Bool {
    (self as? GRDB.DatabaseError)?.resultCode == .SQLITE_IOERR
  }
}

extension GRDB.Database {
  /// The connection in the form that the functions of `CStorage` take.
  var runnelConnection: UnsafeMutableRawPointer? {
    sqliteConnection.map { UnsafeMutableRawPointer($0) }
  }

  /// The path of the file as SQLite opened it: absolute and without links.
  var runnelFile: String? {
    guard let name = sqlite3_db_filename(sqliteConnection, "main") else { return nil }
    let path = String(cString: name)
    return path.isEmpty ? nil : path
  }
}

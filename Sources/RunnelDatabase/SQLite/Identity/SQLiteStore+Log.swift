import CStorage
import GRDB
import GRDBSQLite
import Glibc
import RunnelStorage

// Checks that a log belongs to its file. See `LogMark`.

extension SQLiteStore {
  /// The number of tries to read files that other processes may be writing, and the pause before
  /// each.
  static let looks = (count: 10, pauseMilliseconds: Int32(20))

  /// Checks that the log beside a file was begun on it, before SQLite reads the log.
  ///
  /// Nothing is locked or changed. Without a log it costs one system call.
  ///
  /// - Parameters:
  ///   - file: the path of the file.
  ///   - isPatient: whether there are pauses between the looks; not for a caller that waits for no
  ///     other process.
  /// - Returns: the newest change in the file without the log; nil if there is no log.
  /// - Throws: `DatabaseError` (`foreignLog`) if the log was begun on another file, or on another
  ///   state of it.
  static func checkLog(of file: String, isPatient: Bool = true) throws -> Int64? {
    try checkFile(ofLog: file + "-wal", file)
    // Another process may have copied the log to the file, and begun another one, between two
    // tries.
    for look in 0..<looks.count {
      if look > 0, isPatient { poll(nil, 0, looks.pauseMilliseconds) }
      var status = stat()
      guard stat(file + "-wal", &status) == 0, status.st_size > LogHead.byteCount,
        let state = stateOfFile(file), let scan = LogScan(beside: file, of: state)
      else { return nil }
      if scan.isOfFile { return state.sequence }
      // Another program wrote the log, or an older version of this one.
      if scan.marks.isEmpty { return nil }
    }
    throw foreignLog(file)
  }

  /// Checks that there is a file if there is a log: SQLite would make a file and remove the log,
  /// which may belong to a file that was moved.
  private static func checkFile(ofLog log: String, _ file: String) throws {
    var (status, found) = (stat(), stat())
    guard stat(log, &status) == 0, status.st_size > LogHead.byteCount, LogHead(log) != nil else {
      return
    }
    if stat(file, &found) == 0 ? found.st_size > 0 : errno != ENOENT { return }
    throw DatabaseError(
      .foreignLog,
      "\(file) is empty or not there, but its log is: \(log). Nothing was changed: put the file back that "
        + "the log belongs to, or put the log aside: mv \(log) \(log).old")
  }

  /// Checks that the state read through the log is not older than the file, as with an old log of
  /// the file.
  ///
  /// - Parameter sequence: the result of `checkLog`.
  /// - Throws: `DatabaseError` (`foreignLog`) if it is older.
  func checkAge(since sequence: Int64) throws {
    let newest = try onConnection {
      try Int64.fetchOne($0, sql: "SELECT max(sequence) FROM change")
    }
    if newest ?? 0 < sequence { throw SQLiteStore.foreignLog(file) }
  }

  /// Checks that SQLite reads all writes of the log: it stops at a damaged part without a word, and
  /// the next write or the end of the last program removes what stands behind it.
  ///
  /// The connection has read something. It costs a system call or two unless the log is damaged.
  ///
  /// - Throws: `DatabaseError` (`corrupt`) if acknowledged writes stand behind a damaged part.
  func checkLogIsWhole() throws {
    try onConnection { db in
      guard let path = db.runnelFile, !isAtRest, access(path + "-wal", F_OK) == 0,
        try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal"
      else { return }
      try SQLiteStore.checkLogIsWhole(of: path, file) {
        var state = runnel_log_state()
        _ = runnel_storage_log_state(db.runnelConnection, &state)
        return Int(state.frames)
      }
    }
  }

  /// The greatest size of a file, in bytes, whose log is checked before the file is opened.
  private static let smallFile = 65_536

  /// Does the same before a small file is opened: if all data is in the log, a damaged beginning makes
  /// it look like a new file.
  static func checkLog(ofSmallFile file: String) throws {
    var status = stat()
    guard stat(file, &status) == 0, status.st_size <= smallFile else { return }
    try checkLogIsWhole(of: file, file) { 0 }
  }

  /// Checks that all writes are in the log of which its index knows, before SQLite makes that anew.
  ///
  /// - Throws: `DatabaseError` (`corrupt`) if acknowledged writes are missing.
  static func checkEndOfLog(of file: String) throws {
    // A program may begin the log anew meanwhile.
    var found: LogCheck.Damage?
    for look in 0..<looks.count {
      if look > 0 { poll(nil, 0, looks.pauseMilliseconds) }
      found = LogCheck.lossKnownToIndex(besideFile: file)
      if found == nil { return }
    }
    guard let found else { return }
    throw damagedLog(file, found.words, isAtEnd: found.isAtEnd)
  }

  private static func checkLogIsWhole(
    of path: String, _ file: String, after frames: () -> Int
  ) throws {
    var found: LogCheck.Damage?
    // Another process may be writing frames that its index does not know yet.
    for look in 0..<looks.count {
      if look > 0 { poll(nil, 0, looks.pauseMilliseconds) }
      found = LogCheck.loss(besideFile: path, after: frames())
      if found == nil { return }
    }
    if let found { throw damagedLog(file, found.words) }
  }

  /// Keeps SQLite from copying a log to the file that is damaged or not the file's, which the last
  /// connection would do when it is closed.
  ///
  /// O(n) in the part of the log that is not copied yet.
  ///
  /// - Returns: the error for the user; nil if all is sound, or the loss was reported before.
  func keepDamagedLog() -> DatabaseError? {
    guard loss == nil, files != nil, !isAtRest else { return nil }
    do {
      return try onConnection { db in
        // A store may be closed twice.
        if db.configuration.readonly || db.sqliteConnection == nil { return nil }
        do {
          try checkFiles(db)
          if !SQLiteStore.isIndexWhole(db) { throw FileLoss.indexCut }
        } catch let loss as FileLoss {
          throw settle(loss, db)
        }
        guard let damaged = SQLiteStore.firstDamagedFrame(db) else { return nil }
        _ = runnel_storage_keep_log(db.runnelConnection, 1)
        return SQLiteStore.damagedLog(
          file, "its part \(damaged + 1) was written over",
          outcome:
            "What was acknowledged before stands in the log as far as its parts are whole, and was not "
            + "put into the file")
      }
    } catch {
      return DatabaseError(error, file: file)
    }
  }

  /// The first damaged frame of the log that was not copied to the file; nil if there is none.
  private static func firstDamagedFrame(_ db: GRDB.Database) -> Int? {
    guard let log = db.runnelFile.map({ $0 + "-wal" }) else { return nil }
    // Another process may copy the log and begin it anew between two tries.
    var found: Int?
    for look in 0..<looks.count {
      if look > 0 { poll(nil, 0, looks.pauseMilliseconds) }
      guard let place = logPlace(db), place.copied < place.frames else { return nil }
      found = LogCheck.firstDamaged(of: Int(place.copied)..<Int(place.frames), in: log)
      if found == nil { return nil }
    }
    return found
  }

  /// The error for a damaged log; if all but its end can be read, with the way to go on so.
  private static func damagedLog(
    _ file: String, _ words: String, outcome: String = "Nothing was changed", isAtEnd: Bool = false
  ) -> DatabaseError {
    let wayOn = isAtEnd ? ", or go on with what was written before: rm \(file)-shm" : ""
    return DatabaseError(
      .corrupt,
      "\(file)-wal, the log of \(file), is damaged: \(words). \(outcome): "
        + "restore a backup or a copy\(wayOn)."
    ).with(.salvage(file: file))
  }

  static func foreignLog(_ file: String) -> DatabaseError {
    DatabaseError(
      .foreignLog,
      "\(file)-wal is not the log of \(file) as it is: it was begun on another file, or on this one at "
        + "another time. Nothing was changed. If \(file) is what you want, end the programs that have "
        + "it open and put its log aside: mv \(file)-wal \(file)-wal.old")
  }

  /// Returns a connection that reads a file alone, without its log or any lock; nil if it cannot be opened.
  ///
  /// The caller closes it.
  static func connectionAtRest(_ file: String) -> OpaquePointer? {
    var connection: OpaquePointer?
    let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX
    if sqlite3_open_v2(uriAtRest(file), &connection, flags, nil) == SQLITE_OK { return connection }
    sqlite3_close_v2(connection)
    return nil
  }

  /// The state of the file alone, without its log; nil if it cannot be told.
  static func stateOfFile(_ file: String) -> LogMark.FileState? {
    let connection = connectionAtRest(file)
    defer { sqlite3_close_v2(connection) }
    guard connection != nil else { return nil }
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    // Of a log that was copied in part, the last page of changes may be one of another table.
    let sql = """
      SELECT next, (
        SELECT CASE typeof(paths) WHEN 'text' THEN sequence END
        FROM change ORDER BY sequence DESC LIMIT 1)
      FROM log_start WHERE id = 1
      """
    switch sqlite3_prepare_v2(connection, sql, -1, &statement, nil) {
    case SQLITE_OK: break
    // There is no such table.
    case SQLITE_ERROR: return .unmarked
    default: return nil
    }
    guard sqlite3_step(statement) == SQLITE_ROW else { return nil }
    let start = sqlite3_column_blob(statement, 0)
    let bytes = UnsafeRawBufferPointer(
      start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(statement, 0)))
    guard bytes.count == 8 else { return nil }
    return LogMark.FileState(
      token: Array(bytes), sequence: sqlite3_column_int64(statement, 1))
  }

  /// Marks the log, if this transaction may be the first in it, or is the first of this connection.
  ///
  /// The transaction must be able to write.
  ///
  /// - Returns: whether the log was marked.
  func markLog(_ transaction: StoreTransaction) throws -> Bool {
    // SQLite begins a log anew only if all of it was in the file when the transaction began.
    if SQLiteStore.isLogCopied(transaction.db) {
      let sequence =
        try transaction.statement("SELECT max(sequence) FROM change")
        .first { try $0.integer(0, "sequence") } ?? nil
      try transaction.statement(
        "UPDATE log_start SET previous = next, sequence = ?, next = randomblob(8)"
      ).run(.bytes(LogMark.bytes(of: sequence ?? 0)))
      return true
    }
    if hasMarked { return false }
    try remarkLog(transaction)
    return true
  }

  /// Marks the part of a log that this connection adds; another program may have begun the log
  /// without a mark.
  func remarkLog(_ transaction: StoreTransaction) throws {
    try transaction.statement(
      "UPDATE log_start SET previous = next, sequence = ?, next = randomblob(8)"
    ).run(.bytes(LogMark.bytes(of: LogMark.anySequence)))
  }

  private static func isLogCopied(_ db: GRDB.Database) -> Bool {
    var state = runnel_log_state()
    let answer = runnel_storage_log_state(db.runnelConnection, &state)
    return answer == 0 && state.frames == state.copied
  }

  /// True if only a part of the log was copied, because a connection read an older state.
  static func isCopiedInPart(_ db: GRDB.Database) -> Bool {
    var state = runnel_log_state()
    let answer = runnel_storage_log_state(db.runnelConnection, &state)
    return answer == 0 && state.copied > 0 && state.copied < state.frames
  }

  /// True if the file alone is one on which the state that the connection reads was begun; nil if
  /// that cannot be told.
  static func knowsFile(_ db: GRDB.Database, _ path: String) -> Bool? {
    for look in 0..<looks.count {
      if look > 0 { poll(nil, 0, looks.pauseMilliseconds) }
      // A file of an older version has no marks.
      guard
        let row = try? Row.fetchOne(db, sql: "SELECT previous, sequence, next FROM log_start"),
        let previous = row.blob("previous"), let sequence = row.blob("sequence"),
        let next = row.blob("next"), let state = stateOfFile(path)
      else { return nil }
      let mark = LogMark(previous: previous, sequence: sequence, next: next)
      if mark.belongs(to: state) || LogScan(beside: path, of: state)?.isOfFile == true {
        return true
      }
      if isBeingCopied(db) { return nil }
    }
    return false
  }

  /// True if another process is copying the log to the file, or ended while doing so.
  static func isBeingCopied(_ db: GRDB.Database) -> Bool {
    var state = runnel_log_state()
    let answer = runnel_storage_log_state(db.runnelConnection, &state)
    return answer == 0 && state.begun > state.copied
  }
}

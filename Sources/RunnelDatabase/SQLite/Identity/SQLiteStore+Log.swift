import CStorage
import GRDB
import GRDBSQLite
import Glibc
import RunnelStorage

// Whether a log belongs to its file. See `LogMark`.

extension SQLiteStore {
  /// How often to look again at files that others may be writing, and how long to wait before.
  static let looks = (count: 10, pauseMilliseconds: Int32(20))

  /// Makes sure that the log beside a file was begun on it; before SQLite takes it in.
  ///
  /// Nothing is locked and nothing changed. Without a log it costs a call of the system.
  ///
  /// - Returns: the newest change that the file has without the log; nil if there is no log.
  /// - Throws: `DatabaseError` (`foreignLog`) if it was begun on another file, or another state of it.
  static func checkLog(of file: String) throws -> Int64? {
    try checkFile(ofLog: file + "-wal", file)
    // Others may have copied the log to the file, and begun another one, between two looks.
    for look in 0..<looks.count {
      if look > 0 { poll(nil, 0, looks.pauseMilliseconds) }
      var status = stat()
      guard stat(file + "-wal", &status) == 0, status.st_size > LogHead.byteCount,
        let state = stateOfFile(file), let scan = LogScan(file + "-wal", of: state)
      else { return nil }
      if scan.isOfFile { return state.sequence }
      // Another program wrote it, or one of an older version.
      if scan.marks.isEmpty { return nil }
    }
    throw foreignLog(file)
  }

  /// Makes sure that there is a file where there is a log: SQLite would make one and remove the log, which may
  /// be that of a file that was moved.
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

  /// Makes sure that what is read through the log is not older than the file, as it is where the log was once
  /// the file's.
  ///
  /// - Parameter sequence: what `checkLog` found.
  /// - Throws: `DatabaseError` (`foreignLog`) if it is.
  func checkAge(since sequence: Int64) throws {
    let newest = try onConnection {
      try Int64.fetchOne($0, sql: "SELECT max(sequence) FROM change")
    }
    if newest ?? 0 < sequence { throw SQLiteStore.foreignLog(file) }
  }

  static func foreignLog(_ file: String) -> DatabaseError {
    DatabaseError(
      .foreignLog,
      "\(file)-wal is not the log of \(file) as it is: it was begun on another file, or on this one at "
        + "another time. Nothing was changed. If \(file) is what you want, end the programs that have "
        + "it open and put its log aside: mv \(file)-wal \(file)-wal.old")
  }

  /// What is known of the file alone, whatever is in the log; nil if it cannot be told.
  static func stateOfFile(_ file: String) -> LogMark.FileState? {
    var connection: OpaquePointer?
    let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX
    defer { sqlite3_close_v2(connection) }
    guard sqlite3_open_v2(uriAtRest(file), &connection, flags, nil) == SQLITE_OK else { return nil }
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    let sql = "SELECT next, (SELECT max(sequence) FROM change) FROM log_start WHERE id = 1"
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
  /// It has the right to write.
  ///
  /// - Returns: whether it was marked.
  func markLog(_ transaction: StoreTransaction) throws -> Bool {
    // SQLite begins a log anew only when all of it was in the file as the transaction began.
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

  /// Marks what this connection adds to a log, which others may have begun without a mark.
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

  /// True if somebody read an older state when the log was copied, so that the rest of it was not.
  static func isCopiedInPart(_ db: GRDB.Database) -> Bool {
    var state = runnel_log_state()
    let answer = runnel_storage_log_state(db.runnelConnection, &state)
    return answer == 0 && state.copied > 0 && state.copied < state.frames
  }

  /// True if the file alone is one that what the connection reads was begun on; nil if that cannot be told.
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
      if mark.belongs(to: state) || LogScan(path + "-wal", of: state)?.isOfFile == true {
        return true
      }
      if isBeingCopied(db) { return nil }
    }
    return false
  }

  /// True if somebody is copying the log to the file, or ended while doing so.
  static func isBeingCopied(_ db: GRDB.Database) -> Bool {
    var state = runnel_log_state()
    let answer = runnel_storage_log_state(db.runnelConnection, &state)
    return answer == 0 && state.begun > state.copied
  }
}

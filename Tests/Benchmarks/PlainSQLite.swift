import GRDBSQLite

/// A table of text rows, used by nothing but the sqlite3 C API: what the figures are compared with.
///
/// The file is opened as the program opens its own: write-ahead log, `synchronous = FULL`.
final class PlainSQLite {
  /// What makes sqlite copy a text that does not outlive the call.
  private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  private var connection: OpaquePointer?
  private var insertion: OpaquePointer?

  /// Opens a file, and makes the table if there is none.
  init(file: String) throws {
    try check(sqlite3_open(file, &connection))
    try execute("PRAGMA journal_mode = WAL")
    try execute("PRAGMA synchronous = FULL")
    try execute(
      "CREATE TABLE IF NOT EXISTS record (key TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID")
    insertion = try prepare("INSERT INTO record (key, json) VALUES (?, ?)")
  }

  /// Closes the file, which writes the log back into it.
  func close() throws {
    sqlite3_finalize(insertion)
    try check(sqlite3_close(connection))
  }

  func execute(_ sql: String) throws { try check(sqlite3_exec(connection, sql, nil, nil, nil)) }

  /// Inserts rows in one transaction.
  func insert(_ rows: [(key: String, json: String)]) throws {
    try execute("BEGIN IMMEDIATE")
    for row in rows { try insert(row.key, row.json) }
    try execute("COMMIT")
  }

  /// Inserts one row, in a transaction of its own if none is open.
  func insert(_ key: String, _ json: String) throws {
    sqlite3_bind_text(insertion, 1, key, -1, PlainSQLite.transient)
    sqlite3_bind_text(insertion, 2, json, -1, PlainSQLite.transient)
    try check(sqlite3_step(insertion), expected: SQLITE_DONE)
    sqlite3_reset(insertion)
  }

  /// Opens a file, reads its last rows as texts, and closes it; returns their number.
  static func newest(_ count: Int32, of file: String) throws -> Int {
    let plain = try PlainSQLite(reading: file)
    let page = try plain.prepare("SELECT key, json FROM record ORDER BY key DESC LIMIT ?")
    sqlite3_bind_int(page, 1, count)
    var rows: [(String, String)] = []
    while sqlite3_step(page) == SQLITE_ROW {
      guard let key = sqlite3_column_text(page, 0), let json = sqlite3_column_text(page, 1) else {
        throw BenchmarkError("A row of the baseline is empty.")
      }
      rows.append((String(cString: key), String(cString: json)))
    }
    sqlite3_finalize(page)
    try plain.check(sqlite3_close(plain.connection))
    return rows.count
  }

  private init(reading file: String) throws {
    try check(sqlite3_open_v2(file, &connection, SQLITE_OPEN_READONLY, nil))
  }

  private func prepare(_ sql: String) throws -> OpaquePointer? {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v3(connection, sql, -1, 1, &statement, nil))
    return statement
  }

  private func check(_ result: Int32, expected: Int32 = SQLITE_OK) throws {
    if result == expected { return }
    throw BenchmarkError("sqlite3: \(String(cString: sqlite3_errmsg(connection)))")
  }
}

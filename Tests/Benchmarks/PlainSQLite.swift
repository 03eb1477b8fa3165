import GRDBSQLite

/// A table of text rows, used by nothing but the sqlite3 C API: what the figures are compared with.
///
/// The file is opened as the program opens its own: write-ahead log, `synchronous = FULL`.
final class PlainSQLite {
  /// What makes sqlite copy a text that does not outlive the call.
  private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  private var connection: OpaquePointer?
  private var insertion: OpaquePointer?
  private var page: OpaquePointer?

  init(file: String) throws {
    try check(sqlite3_open(file, &connection))
    try execute("PRAGMA journal_mode = WAL")
    try execute("PRAGMA synchronous = FULL")
    try execute("CREATE TABLE record (key TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID")
    insertion = try prepare("INSERT INTO record (key, json) VALUES (?, ?)")
    page = try prepare("SELECT key, json FROM record WHERE key < ? ORDER BY key DESC LIMIT 50")
  }

  /// Closes the file, which writes the log back into it.
  func close() throws {
    for statement in [insertion, page] { sqlite3_finalize(statement) }
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

  /// Reads the 50 rows before a key; returns the key of the outermost one, nil after the last.
  func readPage(before key: String) throws -> String? {
    sqlite3_bind_text(page, 1, key, -1, PlainSQLite.transient)
    var last: String?
    var bytes = 0
    while sqlite3_step(page) == SQLITE_ROW {
      last = sqlite3_column_text(page, 0).map { String(cString: $0) }
      bytes += sqlite3_column_text(page, 1).map { String(cString: $0).utf8.count } ?? 0
    }
    sqlite3_reset(page)
    return bytes > 0 ? last : nil
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

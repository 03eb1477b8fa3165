import GRDB
import GRDBSQLite
import RunnelStorage
import RunnelTree

/// A statement of SQLite's C API, prepared once for a connection: work that is done a million times
/// avoids wrappers.
final class FastStatement {
  /// The destructor that makes SQLite copy bound values.
  private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  private let handle: OpaquePointer
  /// True while the rows of the statement are being read.
  private(set) var isInUse = false

  /// Compiles a statement.
  ///
  /// - Throws: `GRDB.DatabaseError` if SQLite refuses it.
  init(_ db: GRDB.Database, _ sql: String) throws {
    var handle: OpaquePointer?
    let result = sqlite3_prepare_v3(
      db.sqliteConnection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
    guard result == SQLITE_OK, let handle else {
      throw FastStatement.failure(db.sqliteConnection)
    }
    self.handle = handle
  }

  deinit { sqlite3_finalize(handle) }

  /// A value to bind.
  enum Value: Hashable {
    case integer(Int64)
    case bytes([UInt8])
    /// Text, as its UTF-8.
    case utf8([UInt8])
    case null

    /// Text, all of it: GRDB binds and reads texts only up to their first U+0000.
    static func text(_ text: String) -> Value { .utf8(Array(text.utf8)) }
  }

  /// Runs the statement to its end; the rows are ignored.
  func run(_ values: Value...) throws {
    bind(values)
    defer { sqlite3_reset(handle) }
    while try step() {}
  }

  /// Runs the statement and returns the result of `row` for its first row; nil if there is no row.
  func first<Result>(
    _ values: Value..., row: (FastStatement) throws -> Result
  ) throws -> Result? {
    begin(values)
    defer { end() }
    return try step() ? try row(self) : nil
  }

  /// Runs the statement and calls `body` with each row, until it returns false.
  ///
  /// The statement is in use until then: the cache gives another one for the same text.
  func forEach(_ values: [Value], _ body: (FastStatement) throws -> Bool) throws {
    begin(values)
    defer { end() }
    while try step(), try body(self) {}
  }

  private func begin(_ values: [Value]) {
    bind(values)
    isInUse = true
  }

  private func end() {
    isInUse = false
    sqlite3_reset(handle)
  }

  private func bind(_ values: [Value]) {
    // Binding fails only for a wrong index and for a value larger than any stored one.
    for (offset, value) in values.enumerated() {
      let index = Int32(offset + 1)
      switch value {
      case .integer(let integer): sqlite3_bind_int64(handle, index, integer)
      case .bytes(let bytes):
        bytes.withUnsafeBytes { buffer in
          _ =
            buffer.baseAddress.map {
              sqlite3_bind_blob64(
                handle, index, $0, UInt64(buffer.count), FastStatement.transient)
            } ?? sqlite3_bind_zeroblob(handle, index, 0)
        }
      case .utf8(let text):
        // The text is bound with a terminating byte, so that an empty text has an address and is
        // not null.
        (text + [0]).withUnsafeBytes { buffer in
          _ = sqlite3_bind_text(
            handle, index, buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
            Int32(text.count), FastStatement.transient)
        }
      case .null: sqlite3_bind_null(handle, index)
      }
    }
  }

  private func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw FastStatement.failure(sqlite3_db_handle(handle))
    }
  }

  // MARK: Columns of the row

  /// The bytes of a column, or of its text; nil if it is null.
  func bytes(_ column: Int32) -> [UInt8]? {
    if sqlite3_column_type(handle, column) == SQLITE_NULL { return nil }
    let start = sqlite3_column_blob(handle, column)
    let count = Int(sqlite3_column_bytes(handle, column))
    return Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }

  /// The integer in a column; nil if it is null.
  ///
  /// - Throws: `Damage` if the column holds something else.
  func integer(_ column: Int32, _ name: String) throws -> Int64? {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_NULL: return nil
    case SQLITE_INTEGER: return sqlite3_column_int64(handle, column)
    default: throw Damage("\(name) is no integer")
    }
  }

  /// Runs `body` on the bytes of a column, or of its text, in SQLite's memory; on no bytes if it is
  /// null.
  func withBytes<Result>(
    _ column: Int32, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result {
    try rawBytes(column).withMemoryRebound(to: UInt8.self, body)
  }

  /// The bytes of a column, or of its text, in SQLite's memory; empty if it is null.
  ///
  /// They are valid until the statement goes on.
  func rawBytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(handle, column)
    let count = Int(sqlite3_column_bytes(handle, column))
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
  }

  /// True if a column is null.
  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// The text in a column.
  ///
  /// - Throws: `Damage` if the column holds something else.
  func text(_ column: Int32, _ name: String) throws -> String {
    guard sqlite3_column_type(handle, column) == SQLITE_TEXT else {
      throw Damage("\(name) is no text")
    }
    return withBytes(column) { String(decoding: $0, as: UTF8.self) }
  }

  /// The key whose bytes a column holds.
  ///
  /// - Throws: `Damage` if the bytes are no key.
  func key(_ column: Int32) throws -> RunnelTree.Key {
    guard let key = withBytes(column, OrderedBytes.key(from:)) else {
      throw Damage("a key is none")
    }
    return key
  }

  private static func failure(_ connection: OpaquePointer?) -> GRDB.DatabaseError {
    GRDB.DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
      message: String(cString: sqlite3_errmsg(connection)))
  }
}

/// The statements of one connection, each compiled when it is first used.
///
/// Statements are found by the address of their text in the program: hashing the text takes longer
/// than running some of them.
final class StatementCache {
  private var statements: [UnsafePointer<UInt8>: FastStatement] = [:]
  /// The statements with a composed text: few, because variable parts are bound.
  private var builtStatements: [String: FastStatement] = [:]

  /// A statement with a text, which is not in use.
  func statement(_ sql: StaticString, _ db: GRDB.Database) throws -> FastStatement {
    let known = statements[sql.utf8Start]
    if let known, !known.isInUse { return known }
    let statement = try FastStatement(db, sql.description)
    if known == nil { statements[sql.utf8Start] = statement }
    return statement
  }

  /// A statement with a composed text, which is not in use.
  func builtStatement(_ sql: String, _ db: GRDB.Database) throws -> FastStatement {
    let known = builtStatements[sql]
    if let known, !known.isInUse { return known }
    let statement = try FastStatement(db, sql)
    if known == nil { builtStatements[sql] = statement }
    return statement
  }

  /// Releases all statements, so that the connection can be closed.
  func removeAll() {
    statements = [:]
    builtStatements = [:]
  }
}

import GRDB
import GRDBSQLite

/// A statement of SQLite's C API, prepared once for a connection: what is done a million times is
/// done without wrappers.
final class FastStatement {
  /// Has SQLite copy what is bound.
  private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  private let handle: OpaquePointer

  /// Compiles a statement.
  ///
  /// - Throws: `GRDB.DatabaseError` if SQLite refuses it.
  init(_ db: GRDB.Database, _ sql: StaticString) throws {
    var handle: OpaquePointer?
    let result = sql.withUTF8Buffer { text in
      text.withMemoryRebound(to: CChar.self) { text in
        sqlite3_prepare_v3(
          db.sqliteConnection, text.baseAddress, Int32(text.count),
          UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
      }
    }
    guard result == SQLITE_OK, let handle else {
      throw FastStatement.failure(db.sqliteConnection)
    }
    self.handle = handle
  }

  deinit { sqlite3_finalize(handle) }

  /// A value to bind.
  enum Value {
    case integer(Int64)
    case bytes([UInt8])
    /// Text, as its UTF-8.
    case utf8([UInt8])
    case null
  }

  /// Runs the statement to its end; rows that it gives are left.
  func run(_ values: Value...) throws {
    bind(values)
    defer { sqlite3_reset(handle) }
    while try step() {}
  }

  /// Runs the statement and takes what `row` makes of its first row; nil if it gives none.
  func first<Result>(
    _ values: Value..., row: (FastStatement) throws -> Result
  ) throws -> Result? {
    bind(values)
    defer { sqlite3_reset(handle) }
    return try step() ? try row(self) : nil
  }

  private func bind(_ values: [Value]) {
    // Binding fails for a wrong number only, and for a value larger than any that is stored.
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
        // With the byte that ends it: an empty one has an address too, and is not null.
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
  /// - Throws: `Damage` if it holds something else.
  func integer(_ column: Int32, _ name: String) throws -> Int64? {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_NULL: return nil
    case SQLITE_INTEGER: return sqlite3_column_int64(handle, column)
    default: throw Damage("\(name) is no integer")
    }
  }

  private static func failure(_ connection: OpaquePointer?) -> GRDB.DatabaseError {
    GRDB.DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
      message: String(cString: sqlite3_errmsg(connection)))
  }
}

/// The statements of one connection, each compiled when it is first used.
///
/// They are found by where their text is in the program: to hash the text takes longer than some of
/// them run.
final class StatementCache {
  private var statements: [UnsafePointer<UInt8>: FastStatement] = [:]

  /// The statement of a text, which is not in use.
  func statement(_ sql: StaticString, _ db: GRDB.Database) throws -> FastStatement {
    if let known = statements[sql.utf8Start] { return known }
    let statement = try FastStatement(db, sql)
    statements[sql.utf8Start] = statement
    return statement
  }

  /// Lets go of all, so that the connection can be closed.
  func removeAll() { statements = [:] }
}

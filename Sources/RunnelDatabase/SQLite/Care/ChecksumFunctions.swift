import Foundation
import GRDB
import RunnelStorage

/// The checksums of rows as SQL functions, for statements that write many rows.
enum ChecksumFunctions {
  private static let row = DatabaseFunction("row_checksum", argumentCount: 4, pure: true) {
    values in
    guard let parent = integer(values[0]) else { return nil }
    let id = RowID(parent: parent, key: bytes(values[1]) ?? [])
    if let split = integer(values[3]) { return id.checksum(split: split) }
    return id.checksum(record: bytes(values[2]) ?? [])
  }

  private static let head = DatabaseFunction("head_checksum", argumentCount: 3, pure: true) {
    values in
    guard let id = integer(values[0]), let children = integer(values[1]) else { return nil }
    return Checksum.head(id, children: children, priority: bytes(values[2]))
  }

  /// True if every row has its checksum.
  static func isComplete(_ db: GRDB.Database) throws -> Bool {
    let sql = """
      SELECT NOT EXISTS (SELECT 1 FROM node WHERE checksum IS NULL)
        AND NOT EXISTS (SELECT 1 FROM split WHERE checksum IS NULL)
      """
    return try Bool.fetchOne(db, sql: sql) ?? false
  }

  /// Adds the missing checksums of rows.
  ///
  /// O(n) in the rows.
  static func fill(_ db: GRDB.Database) throws {
    try with(db) {
      try db.execute(
        sql: """
          UPDATE node SET checksum = row_checksum(parent, key, json, split) WHERE checksum IS NULL;
          UPDATE split SET checksum = head_checksum(id, children, priority) WHERE checksum IS NULL;
          """)
    }
  }

  /// Counts the children of split nodes anew, and updates their checksums.
  static func recount(_ db: GRDB.Database) throws {
    try with(db) {
      try db.execute(
        sql: """
          UPDATE split SET children = (SELECT count(*) FROM node WHERE parent = split.id)
          WHERE children IS NOT (SELECT count(*) FROM node WHERE parent = split.id);
          UPDATE split SET checksum = head_checksum(id, children, priority)
          WHERE checksum IS NOT head_checksum(id, children, priority);
          """)
    }
  }

  /// Runs `body`, whose statements may call the functions.
  private static func with(_ db: GRDB.Database, _ body: () throws -> Void) throws {
    db.add(function: row)
    db.add(function: head)
    defer {
      db.remove(function: row)
      db.remove(function: head)
    }
    try body()
  }

  private static func integer(_ value: DatabaseValue) -> Int64? {
    if case .int64(let integer) = value.storage { integer } else { nil }
  }

  private static func bytes(_ value: DatabaseValue) -> [UInt8]? {
    switch value.storage {
    case .blob(let bytes): Array(bytes)
    case .string(let text): Array(text.utf8)
    case .null, .int64, .double: nil
    }
  }
}

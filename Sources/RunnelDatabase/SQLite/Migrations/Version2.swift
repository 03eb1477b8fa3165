import GRDB

extension Migration {
  /// Adds `meta`: named single values that belong to the whole file.
  static let addMeta = Migration(version: 2, isReadableWithout: true) { db in
    try db.execute(sql: "CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value) WITHOUT ROWID")
  }
}

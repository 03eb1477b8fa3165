import GRDB

extension Migration {
  /// Adds `meta`: named single values that belong to the whole file.
  ///
  /// The feed's counter goes: its newest change is never deleted, so numbers are never used again
  /// without it, and each write writes a page less.
  static let addMeta = Migration(version: 2, isReadableWithout: true) { db in
    try db.execute(
      sql: """
        CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value) WITHOUT ROWID;
        ALTER TABLE change RENAME TO change_1;
        CREATE TABLE change (sequence INTEGER PRIMARY KEY, paths TEXT NOT NULL);
        INSERT INTO change (sequence, paths) SELECT sequence, paths FROM change_1;
        DROP TABLE change_1;
        """)
  }
}

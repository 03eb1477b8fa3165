import GRDB

extension Migration {
  /// Adds the log of writes, from which they can be undone.
  static let addHistory = Migration(version: 4, isReadableWithout: true) { db in
    try db.execute(
      sql: """
        CREATE TABLE history (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          at INTEGER NOT NULL,
          author TEXT NOT NULL,
          undoes INTEGER,
          parts TEXT NOT NULL
        )
        """)
  }
}

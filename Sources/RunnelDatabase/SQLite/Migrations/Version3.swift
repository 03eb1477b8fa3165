import GRDB

extension Migration {
  /// Adds what a replica of another tree keeps beside its data: pending writes and tracked queries.
  static let addReplica = Migration(version: 3, isReadableWithout: true) { db in
    try db.execute(
      sql: """
        CREATE TABLE pending_write (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          json TEXT NOT NULL
        );
        CREATE TABLE tracked_query (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          path TEXT NOT NULL,
          query TEXT NOT NULL,
          is_active INTEGER NOT NULL,
          is_complete INTEGER NOT NULL,
          last_use INTEGER NOT NULL
        );
        CREATE TABLE tracked_key (
          query INTEGER NOT NULL,
          key TEXT NOT NULL,
          PRIMARY KEY (query, key)
        ) WITHOUT ROWID;
        """)
  }
}

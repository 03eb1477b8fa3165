import GRDB

extension Migration {
  /// Adds the values of the whole file, the history, named writes, and the data of a replica.
  ///
  /// The history is in the feed's rows: a table of its own would write an extra page for each
  /// write.
  ///
  /// The feed's counter is removed: the newest change is never deleted, so numbers are not reused
  /// without the counter, and each write writes a page less.
  static let version2 = Migration(version: 2, isReadableWithout: true) { db in
    try db.execute(
      sql: """
        CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value) WITHOUT ROWID;
        ALTER TABLE change RENAME TO change_1;
        CREATE TABLE change (
          sequence INTEGER PRIMARY KEY,
          at INTEGER,
          author TEXT,
          undoes INTEGER,
          paths TEXT NOT NULL,
          parts TEXT
        );
        INSERT INTO change (sequence, paths) SELECT sequence, paths FROM change_1;
        DROP TABLE change_1;
        CREATE TABLE write_client (
          client TEXT NOT NULL PRIMARY KEY,
          applied INTEGER NOT NULL,
          forgotten INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE applied_write (
          client TEXT NOT NULL,
          number INTEGER NOT NULL,
          PRIMARY KEY (client, number)
        ) WITHOUT ROWID;
        CREATE TABLE pending_write (id INTEGER PRIMARY KEY, json TEXT NOT NULL);
        CREATE TABLE tracked_query (
          id INTEGER PRIMARY KEY,
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

import GRDB

extension Migration {
  /// Adds what remembers which named writes were carried out: see `AppliedWrites`.
  static let addAppliedWrites = Migration(version: 5, isReadableWithout: true) { db in
    try db.execute(
      sql: """
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
        """)
  }
}

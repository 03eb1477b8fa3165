import GRDB

extension Migration {
  /// Adds the id of the database, a checksum for each stored row, and the mark that ties a log to
  /// the file.
  ///
  /// The rows of an older file have no checksum until they are next written, or the file is
  /// compacted: computing all of them would read and write the whole file while a caller waits for
  /// it to open.
  static let version3 = Migration(version: 3, isReadableWithout: true) { db in
    try db.execute(
      sql: """
        ALTER TABLE node ADD COLUMN checksum INTEGER;
        ALTER TABLE split ADD COLUMN checksum INTEGER;
        INSERT INTO meta (name, value) VALUES ('database.id', lower(hex(randomblob(16))));
        \(LogMark.table)
        """)
  }
}

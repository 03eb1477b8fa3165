import GRDB

// Settings of a connection, for tests.

extension SQLiteStore {
  /// The value of `PRAGMA synchronous`; 2 is FULL.
  func synchronousMode() throws -> Int? {
    try onConnection { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
  }

  /// Limits the size of the file to a number of pages, like a full disk.
  func limitPages(to count: Int) throws {
    try onConnection { try $0.execute(sql: "PRAGMA max_page_count = \(count)") }
  }
}

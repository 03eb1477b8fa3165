import PostgresCluster
import RunnelStorage
import Testing

@testable import RunnelPostgres

/// What a batch reads of a table that PostgreSQL has not analyzed yet.
@Suite(needsPostgreSQL) struct StoreBatchTests {
  private static let entryCount = 300_000
  /// So many that they are not deleted one by one.
  private static let deletedCount = 256

  @Test func aBatchOfDeletionsDoesNotReadAllEntries() throws {
    let cluster = try PostgresCluster.shared()
    let place = try cluster.makeDatabase()
    let store = try PostgresStore(PostgresPlace(place))
    try store.makeTables()
    try cluster.run(
      sql: """
        ALTER TABLE index_entry SET (autovacuum_enabled = off);
        INSERT INTO index_entry SELECT 1, 7, 1, ('v' || g)::bytea, ('k' || g)::bytea
          FROM generate_series(1, \(StoreBatchTests.entryCount)) g
        """, in: place)
    let before = try reads(store)
    let connection = try PostgresConnection(PostgresPlace(place))
    let rows = PostgresRows(connection, namespace: 1, indexes: [], nextSplit: 8)
    for number in 1...StoreBatchTests.deletedCount {
      let entry = RowEntry(value: Array("v\(number)".utf8), key: Array("k\(number)".utf8))
      try rows.deleteEntry(entry, of: 7, in: .index(1))
    }
    try rows.send()
    #expect(
      try rows.entryCount(of: 7, in: .index(1))
        == StoreBatchTests.entryCount - StoreBatchTests.deletedCount)
    connection.close()
    // Counting reads all that are left.
    let count = try reads(store) - before - StoreBatchTests.entryCount
    #expect(count < StoreBatchTests.entryCount / 10, "\(count) entries")
    store.close()
  }

  /// The entries that were read so far, once nobody but the store's connection is there.
  private func reads(_ store: PostgresStore) throws -> Int {
    let others = PostgresStatement(
      """
      SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
      AND pid <> pg_backend_pid() AND backend_type = 'client backend'
      """)
    let end = ContinuousClock.now + .seconds(20)
    while try store.connection.perform([others])[0].integer(0, 0) != 0 {
      try #require(ContinuousClock.now < end)
    }
    let sum = PostgresStatement(
      """
      SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables
      WHERE relname = 'index_entry'
      """)
    return Int(try store.connection.perform([sum])[0].integer(0, 0) ?? 0)
  }
}

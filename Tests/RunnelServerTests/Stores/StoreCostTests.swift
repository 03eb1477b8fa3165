import PostgresCluster
import RunnelBase
import RunnelPostgres
@testable import RunnelServer
import RunnelTree
import TestSupport
import Testing

/// What a server reads of the store for its listeners.
///
/// Source: several servers, section 11, test 9.
@Suite(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
struct StoreCostTests {
  private static let rowCount = 20_000
  private static let writeCount = 40
  /// The most rows that are read for one write, of which the listener on the other server shows 20.
  private static let readsMax: Int64 = 1000

  @Test func aWriteReadsWhatIsWatchedAndNotWhatIsStored() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      try fill(place)
      let before = try reads(place)
      let rules = "{\"rules\":{\".read\":true,\".write\":true,\"list\":{\".indexOn\":\"n\"}}}"
      try await withServer(rules: rules) { one in
        try await withServer(rules: rules) { two in
          let socket = try two.socket()
          let queries = ["{\"l\":10,\"vf\":\"r\"}", "{\"i\":\"n\",\"l\":10,\"vf\":\"r\"}"]
          for (index, query) in queries.enumerated() {
            try socket.ask(
              index, "q", "{\"p\":\"/list\",\"q\":\(query),\"t\":\(index + 1),\"h\":\"\"}")
          }
          let client = try one.client()
          for number in 0..<StoreCostTests.writeCount {
            let body = "{\"n\":\(StoreCostTests.rowCount + number)}"
            #expect(try client.request("PUT", "/list/z\(1000 + number).json", body).status == 200)
          }
          try take(socket, until: "z\(1000 + StoreCostTests.writeCount - 1)")
        }
      }
      let count = try reads(place) - before
      // The index of the rules is filled once, from all rows.
      let once = Int64(4 * StoreCostTests.rowCount)
      let most = once + Int64(StoreCostTests.writeCount) * StoreCostTests.readsMax
      #expect(count < most, "\(count) rows")
    }
  }

  private func fill(_ place: String) throws {
    let store = try PostgresStore(PostgresPlace(place))
    defer { store.close() }
    let namespace = try #require(try store.namespace(named: "test"))
    let members = (0..<StoreCostTests.rowCount).map { "\"k\(100_000 + $0)\":{\"n\":\($0)}" }
    let document = Array("{\"list\":{\(members.joined(separator: ","))}}".utf8)
    try document.withUnsafeBufferPointer { bytes in
      try store.write(to: namespace) { try $0.importJSON(bytes, at: .root, now: 1) }
    }
  }

  /// The rows that were read in the store so far, once nobody but this test is connected.
  private func reads(_ place: String) throws -> Int64 {
    let connection = try PostgresConnection(PostgresPlace(place))
    defer { connection.close() }
    let end = ContinuousClock.now + .seconds(20)
    let others = PostgresStatement(
      """
      SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
      AND pid <> pg_backend_pid() AND backend_type = 'client backend'
      """)
    while try connection.perform([others])[0].integer(0, 0) != 0 {
      try #require(ContinuousClock.now < end)
    }
    let sum = PostgresStatement(
      """
      SELECT (SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)
        FROM pg_stat_user_tables WHERE relname IN ('node', 'index_entry', 'split'))::bigint
      """)
    return try connection.perform([sum])[0].integer(0, 0) ?? 0
  }

  /// Reads what a listener is told until a name is told.
  private func take(_ socket: Socket, until name: String) throws {
    for _ in 0..<10_000 where try socket.nextText().contains(name) { return }
    Issue.record("\(name) was not told.")
  }
}

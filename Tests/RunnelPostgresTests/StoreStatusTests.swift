import PostgresCluster
import Testing

@testable import RunnelPostgres

/// What is told of the leases of servers.
@Suite struct StoreStatusTests {
  private func server(age: Int64, behind: [String: Int64]? = [:]) -> PostgresStore.Server {
    PostgresStore.Server(
      identifier: PostgresIdentifier.random(), address: "", age: age,
      report: behind.map { StoreReport(behind: $0) })
  }

  @Test func whatAServerReportedIsToldWhileItsLeaseHolds() {
    #expect(server(age: 1290).words(isConfirmed: true) == "lease renewed 1.2 s ago, up to date")
    #expect(server(age: 10_000).words(isConfirmed: true) == "lease renewed 10.0 s ago, up to date")
    #expect(
      server(age: 0, behind: ["chat": 1, "blog": 2]).words(isConfirmed: true)
        == "lease renewed 0.0 s ago, behind by 2 changes of blog, 1 change of chat")
    #expect(
      server(age: 0, behind: nil).words(isConfirmed: false)
        == "lease renewed 0.0 s ago, not confirmed")
  }

  /// Once, a server that was killed long ago was up to date.
  @Test func aLeaseThatEndedIsToldWithoutTheReport() {
    #expect(server(age: 82_400).words(isConfirmed: true) == "lease ended 72.4 s ago")
    #expect(server(age: 10_100).words(isConfirmed: false) == "lease ended 0.1 s ago, not confirmed")
  }

  @Test func aPrimaryThatWaitsForNoStandbyHasOneCopy() {
    for (expected, hasOneCopy) in [("", true), (" ", true), ("*", false), ("ANY 1 (b, c)", false)] {
      let standbys = PostgresStore.Standbys(
        expected: expected, role: "r", isHidden: false, all: [])
      #expect(standbys.hasOneCopy == hasOneCopy)
      #expect(standbys.isShort != hasOneCopy)
    }
  }

  @Test func aStandbyIsToldAsOne() {
    let raw =
      #"connection to server at "127.0.0.1", port 5433 failed: session is read-only"#
    let error = ConnectionRefusal(raw).error(isStart: false)
    #expect(error.message.contains("it is a standby: name the host of the primary"), "\(error)")
  }

  @Test(needsPostgreSQL) func aLeaseThatEndedLongAgoIsNotListed() throws {
    let place = try PostgresCluster.shared().makeDatabase()
    let store = try PostgresStore(PostgresPlace(place))
    defer { store.close() }
    try store.makeTables()
    for address in ["a:1", "b:1", "c:1"] {
      try StoreLease(address: address).begin(store.connection)
    }
    try PostgresCluster.shared().run(
      sql: """
        UPDATE server SET seen_at = now() - interval '80 s' WHERE address = 'b:1';
        UPDATE server SET seen_at = now() - interval '11 min' WHERE address = 'c:1'
        """, in: place)
    let servers = try store.servers()
    #expect(servers.map(\.address) == ["a:1", "b:1"])
    #expect(servers.map(\.isLive) == [true, false])
  }
}

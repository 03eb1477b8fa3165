import PostgresCluster
import RunnelBase
import RunnelTree
import Synchronization
import Testing

@testable import RunnelPostgres

/// What a session is told of the writes of others.
@Suite(needsPostgreSQL) struct StoreFeedTests {
  private let place: String
  private let store: PostgresStore
  private let writer: PostgresSession
  private let follower: PostgresSession

  init() throws {
    place = try PostgresCluster.shared().makeDatabase()
    store = try PostgresStore(PostgresPlace(place))
    try store.makeTables()
    try store.makeNamespace(named: "chat")
    let session = { [place, store] in
      let lease = StoreLease(address: "")
      try lease.begin(store.connection)
      return try PostgresSession(PostgresPlace(place), namespace: "chat", lease: lease)
    }
    (writer, follower) = (try session(), try session())
  }

  private func write(_ count: Int, at place: String = "/a") throws {
    for number in 0..<count {
      try writer.perform(isWriting: true) { transaction in
        let node = Node(.number(JSONNumber(Int64(number))))
        try transaction.carryOut([Assignment(path: Path(place), target: .node(node))], now: 1)
      }
    }
  }

  private func news() throws -> [String] {
    try follower.perform(isWriting: false) { $0.foreignPaths.map(\.description) }
  }

  private func run(_ sql: String) throws { try PostgresCluster.shared().run(sql: sql, in: place) }

  @Test func theWritesOfOthersAreToldOnce() throws {
    #expect(try news() == [])
    try write(2)
    try write(1, at: "/b")
    #expect(try news() == ["/a", "/a", "/b"])
    #expect(try news() == [])
    #expect(follower.alarms == [])
  }

  /// Once, listeners were not told what others wrote before the indexes of new rules were made.
  @Test func whatOthersWroteIsToldAfterIndexesWereDeclared() throws {
    #expect(try news() == [])
    try write(1)
    let order = try QueryIndex(SortKey.list("n"))
    let definition = try #require(IndexDefinition(pattern: "/list", serving: order))
    for _ in 0..<2 { try follower.declareIndexes([definition]) }
    try write(1, at: "/b")
    #expect(try news() == ["/a", "/b"])
    #expect(try store.indexes(of: 1).count == 1)
    #expect(try news() == [] && follower.alarms == [])
  }

  @Test func whoIsBehindWhatWasPrunedReadsEverythingAnew() throws {
    #expect(try news() == [])
    try write(5)
    try run("DELETE FROM feed WHERE seq <= 3; UPDATE namespace SET floor = 3")
    #expect(try news() == ["/"])
    #expect(follower.alarms == [])
    try write(1)
    #expect(try news() == ["/a"])
  }

  @Test func aLossIsToldAndEverythingReadAnew() throws {
    try write(5)
    #expect(try news() == [])
    // As after a failover to a standby that had less.
    try run("DELETE FROM feed WHERE seq > 3; UPDATE namespace SET head = 3")
    #expect(try news() == ["/"])
    #expect(follower.alarms.count == 1)
    #expect(follower.alarms[0].contains("known up to 5, and ends at 3"))
  }

  /// Once, nobody could say what to write again.
  @Test func theLostPlacesAreNamedByWhoReadAndWhoWroteThem() throws {
    #expect(try news() == [])
    try write(1, at: "/old")
    for place in ["/a", "/b", "/a"] { try write(1, at: place) }
    #expect(try news().count == 4)
    try run("DELETE FROM feed WHERE seq > 1; UPDATE namespace SET head = 1")
    #expect(try news() == ["/"])
    #expect(follower.alarms.first?.hasSuffix("They were at /a, /b.") == true)
    #expect(try writer.perform(isWriting: false) { $0.foreignPaths } == [.root])
    #expect(writer.alarms.first?.hasSuffix("They were at /a, /b.") == true)
    // They are told once, and those of the next loss after that.
    try write(1, at: "/c")
    #expect(try news() == ["/c"])
    try run("DELETE FROM feed WHERE seq > 1; UPDATE namespace SET head = 1")
    #expect(try news() == ["/"])
    #expect(follower.alarms.last?.hasSuffix("They were at /c.") == true)
  }

  @Test func aStateThatWasWrittenAfterTheLossIsCompared() throws {
    #expect(try news() == [])
    try write(3)
    try write(1, at: "/b")
    #expect(try news().count == 4)
    try run("UPDATE feed SET batch = batch + 100 WHERE seq >= 4; UPDATE namespace SET head = 4")
    #expect(try news() == ["/"])
    #expect(follower.alarms.first?.hasSuffix("They were at /b.") == true, "\(follower.alarms)")
  }

  @Test func whatASessionDidNotSeeIsNotNamed() throws {
    try write(5)
    #expect(try news() == [])
    try run("DELETE FROM feed WHERE seq > 3; UPDATE namespace SET head = 3")
    #expect(try news() == ["/"])
    #expect(follower.alarms.first?.contains("is not known any more") == true)
  }

  @Test func aMissingPlaceIsDamage() throws {
    #expect(try news() == [])
    try write(5)
    try run("DELETE FROM feed WHERE seq = 2")
    let missed = #expect(throws: PostgresError.self) { try news() }
    #expect(missed?.isWorthRetrying == true, "another connection looks first")
    #expect(follower.alarms == [])
    #expect(try news() == ["/"])
    #expect(follower.alarms.count == 1)
    #expect(follower.alarms[0].contains("place 2 is missing"))
  }

  @Test func aPlaceThatAnotherConnectionFindsIsNoDamage() throws {
    #expect(try news() == [])
    try write(3)
    try run("CREATE TABLE gap AS SELECT * FROM feed WHERE seq = 2; DELETE FROM feed WHERE seq = 2")
    #expect(throws: PostgresError.self) { try news() }
    try run("INSERT INTO feed SELECT * FROM gap; DROP TABLE gap")
    #expect(try news() == ["/a", "/a", "/a"])
    #expect(follower.alarms == [])
  }

  /// Once, a server that others had left 1,002 to 2,000 changes behind logged that the feed was damaged.
  @Test(arguments: [1000, 1001, 1002, 1003, 1500, 2001, 2003, 5000])
  func whoIsFarBehindReadsEverythingAnewWithoutAnAlarm(count: Int) throws {
    #expect(try news() == [])
    try run(
      """
      UPDATE namespace SET head = \(count);
      INSERT INTO feed SELECT 1, s, 1, gen_random_uuid(), 1, '["/a"]', NULL
      FROM generate_series(1, \(count)) s
      """)
    let told = try news()
    #expect(told == ["/"] || told.count == count && Set(told) == ["/a"])
    #expect(follower.alarms == [] && follower.head == Int64(count))
    try write(1, at: "/b")
    #expect(try news() == ["/b"])
  }

  @Test func aLongFeedIsPruned() throws {
    try write(1)
    // The next write crosses a multiple of 1,000, and all but the last 10,000 are old.
    try run(
      """
      UPDATE namespace SET head = 20999, last_at = 1000000;
      UPDATE feed SET seq = 1;
      INSERT INTO feed SELECT 1, s, 1, gen_random_uuid(), 1, '["/a"]', NULL
      FROM generate_series(2, 20999) s
      """)
    try write(1)
    let namespace = try #require(try store.namespace(named: "chat"))
    #expect(namespace.head == 21_000)
    #expect(namespace.floor == 11_000)
    let rows = try store.connection.perform([
      PostgresStatement("SELECT min(seq), count(*) FROM feed")
    ])[0]
    #expect(try rows.integer(0, 0) == 11_001)
    #expect(try rows.integer(0, 1) == 10_000)
  }

  @Test func aServerWhoseLeaseOthersEndedWritesNothing() throws {
    try write(1)
    try run("DELETE FROM server")
    #expect(throws: PostgresError.self) { try write(1) }
    #expect(try store.namespace(named: "chat")?.head == 1)
  }

  /// The others may notice it later, or never.
  @Test func aServerThatGaveUpItsLeaseWritesNothingUntilTheNext() throws {
    let lease = StoreLease(address: "")
    try lease.begin(store.connection)
    let session = try PostgresSession(PostgresPlace(place), namespace: "chat", lease: lease)
    defer { session.close() }
    lease.lose()
    let write = {
      try session.perform(isWriting: true) { $0.keepDisconnect("text", of: 1) }
    }
    #expect(throws: PostgresError.self) { try write() }
    #expect(try session.perform(isWriting: false) { try $0.node(at: .root) }.isEmpty)
    try lease.begin(store.connection)
    try write()
    #expect(try !StoreLease.hasOrphans(store.connection))
  }

  /// Once, each attempt left a server that nobody knew.
  @Test func aLeaseThatCouldNotBeginIsTriedUnderTheSameName() throws {
    let count = Mutex(0)
    let lease = StoreLease(address: "a:1") {
      count.withLock { $0 += 1 }
      return PostgresIdentifier.random()
    }
    try lease.begin(store.connection)
    let before = lease.identifier
    try run("ALTER TABLE server RENAME TO servers")
    for _ in 0..<3 { #expect(throws: PostgresError.self) { try lease.begin(store.connection) } }
    try run("ALTER TABLE servers RENAME TO server")
    try lease.begin(store.connection)
    // One name for the time before the first, one for the first, and one for the second.
    #expect(count.withLock { $0 } == 3)
    #expect(lease.identifier != before)
    #expect(try store.servers().filter { $0.address == "a:1" }.count == 1)
  }
}

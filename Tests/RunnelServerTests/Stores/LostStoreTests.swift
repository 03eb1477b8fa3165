import PostgresCluster
import RunnelPostgres
import Synchronization
import TestSupport
import Testing

@testable import RunnelServer

/// One of two stores is lost, and a namespace is opened by force in the other one.
@Suite(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
struct LostStoreTests {
  private static let patience = Duration.seconds(20)

  /// The lines of a log.
  private final class Kept: Sendable {
    let lines = Mutex<[String]>([])
  }

  /// The stores `test` and `second`; the namespace `test` is in the first.
  private struct Stores {
    let places: [String]

    func opened(_ index: Int) throws -> PostgresStore {
      try PostgresStore(PostgresPlace(places[index]))
    }

    func move() throws {
      let (source, target) = (try opened(0), try opened(1))
      defer {
        source.close()
        target.close()
      }
      let found = try #require(try source.namespace(named: "test"))
      try StoreMove.run(
        found, from: source, to: target, address: "", name: "second", origin: "test")
    }

    /// Opens the namespace in one store, as if the other were lost.
    func force(in index: Int) throws {
      let store = try opened(index)
      defer { store.close() }
      let found = try #require(try store.namespace(named: "test"))
      let isLost = { () throws -> PostgresStore in
        throw PostgresError(.disconnected, "It is gone.")
      }
      if index == 0 {
        _ = try StoreMove.giveUp(found, of: store, isForced: true) { _ in try isLost() }
      } else {
        _ = try StoreMove.giveUpArrival(
          of: found, in: store, named: "second", isForced: true, opened: isLost)
      }
    }

    /// Lets nobody connect to a store any more, and ends its connections.
    func setReachable(_ isReachable: Bool, _ index: Int) throws {
      let words = places[index].split(separator: " ")
      let name = try #require(words.first { $0.hasPrefix("dbname=") }?.dropFirst(7))
      let other =
        words.filter { !$0.hasPrefix("dbname=") }.joined(separator: " ") + " dbname=postgres"
      let cluster = try PostgresCluster.shared()
      try cluster.run(sql: "ALTER DATABASE \(name) ALLOW_CONNECTIONS \(isReachable)", in: other)
      if isReachable { return }
      try cluster.run(
        sql: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'",
        in: other)
    }
  }

  private func withStores(_ body: (Stores) async throws -> Void) async throws {
    try await TestServer.onStore {
      let second = try PostgresCluster.shared().makeDatabase()
      let store = try PostgresStore(PostgresPlace(second))
      try store.makeTables()
      store.close()
      try await body(Stores(places: [try #require(TestServer.store), second]))
    }
  }

  /// Runs `body` with a server of both stores, in this order or the other one.
  private func withBoth(
    _ stores: Stores, isReversed: Bool = false, _ body: (TestServer) async throws -> Void
  ) async throws {
    try await withServer(
      rules: nil,
      { configuration in
        configuration.isEmulator = true
        configuration.adminAddress = "127.0.0.1:0"
        var all = zip(["test", "second"], stores.places).map { name, place in
          var store = StoreConfiguration(name: name, connection: place)
          (store.patience, store.readyPatience) = (.seconds(3), .milliseconds(300))
          return store
        }
        if isReversed { all.reverse() }
        configuration.databases = .store(all[0])
        configuration.otherStores = [all[1]]
      }, body)
  }

  private func administrator(of server: TestServer) throws -> RawClient {
    let place = try #require(server.adminPlaces.first)
    return try RawClient(port: try #require(Int(place.split(separator: ":").last ?? "")))
  }

  /// Asks until the answer is this one.
  private func wait(
    for status: Int, _ body: String? = nil, location: SourceLocation = #_sourceLocation,
    _ ask: () throws -> RawClient.Answer
  ) throws {
    let end = ContinuousClock.now + LostStoreTests.patience
    var answer = try ask()
    while answer.status != status || body.map({ !answer.body.contains($0) }) ?? false {
      if ContinuousClock.now >= end {
        Issue.record("\(answer.status) \(answer.body)", sourceLocation: location)
        return
      }
      answer = try ask()
    }
  }

  /// Once, servers of both stores went on asking the lost one.
  @Test func whatWasMovedToALostStoreIsServedWhereItWasOpenedByForce() async throws {
    try await withStores { stores in
      try await withBoth(stores) { server in
        #expect(try server.request("PUT", "/n.json?ns=test", "1").status == 200)
        try stores.move()
        try wait(for: 200) { try server.request("PUT", "/n.json?ns=test", "2") }
        try stores.setReachable(false, 1)
        try stores.force(in: 0)
        try wait(for: 200, "1") { try server.request("GET", "/n.json?ns=test") }
        #expect(try server.request("PUT", "/n.json?ns=test", "3").status == 200)
        // The copy that comes back is not served.
        try stores.setReachable(true, 1)
        let admin = try administrator(of: server)
        try wait(for: 200) { try admin.request("GET", "/readyz?store=second") }
        #expect(try server.request("GET", "/n.json?ns=test").body == "3")
      }
      for isReversed in [false, true] {
        try await withBoth(stores, isReversed: isReversed) { server in
          let answer = try server.request("GET", "/n.json?ns=test")
          #expect(answer.body == "3")
        }
      }
    }
  }

  @Test func whatComesFromALostStoreIsServedWhereItWasOpenedByForce() async throws {
    try await withStores { stores in
      let cluster = try PostgresCluster.shared()
      try await withBoth(stores) { server in
        #expect(try server.request("PUT", "/n.json?ns=test", "1").status == 200)
        try cluster.run(
          sql: "ALTER TABLE namespace ADD CONSTRAINT stays CHECK (state < 2)",
          in: stores.places[0])
        #expect(throws: PostgresError.self) { try stores.move() }
        try stores.setReachable(false, 0)
        try stores.force(in: 1)
        try wait(for: 200) { try server.request("PUT", "/n.json?ns=test", "2") }
        try stores.setReachable(true, 0)
        let admin = try administrator(of: server)
        try wait(for: 200) { try admin.request("GET", "/readyz?store=test") }
        #expect(try server.request("GET", "/n.json?ns=test").body == "2")
      }
      for isReversed in [false, true] {
        try await withBoth(stores, isReversed: isReversed) { server in
          let answer = try server.request("GET", "/n.json?ns=test")
          #expect(answer.body == "2")
        }
      }
    }
  }

  /// Once, all namespaces were taken from the balancer.
  @Test func aServerIsReadyForTheStoresThatItReaches() async throws {
    try await withStores { stores in
      try await withBoth(stores) { server in
        let admin = try administrator(of: server)
        #expect(try admin.request("GET", "/readyz").body == "ready\n")
        try stores.setReachable(false, 1)
        let lost = "The primary of the store second has not answered"
        try wait(for: 503, lost) { try admin.request("GET", "/readyz?store=second") }
        try wait(for: 200, lost) { try admin.request("GET", "/readyz") }
        for scope in ["store=test", "ns=test"] {
          #expect(try admin.request("GET", "/readyz?\(scope)").body == "ready\n")
        }
        #expect(try admin.request("GET", "/readyz?store=third").status == 404)
        try stores.setReachable(false, 0)
        try wait(for: 503, lost) { try admin.request("GET", "/readyz") }
        try wait(for: 503) { try admin.request("GET", "/readyz?ns=test") }
        for index in 0..<2 { try stores.setReachable(true, index) }
        try wait(for: 200) { try admin.request("GET", "/readyz?store=second") }
      }
    }
  }

  /// Once, the metrics of one store were now those of this one, now those of the other.
  @Test func theMetricsTellTheStoresApart() async throws {
    try await withStores { stores in
      let other = StoreLease(address: "")
      let connection = try PostgresConnection(PostgresPlace(stores.places[1]))
      defer { connection.close() }
      try other.begin(connection)
      try await withBoth(stores) { server in
        let end = ContinuousClock.now + LostStoreTests.patience
        let labels = ["{store=\"test\"} 1\n", "{store=\"second\"} 2\n"]
        while !labels.allSatisfy({ server.server.metricsText.contains("runnel_store_leases" + $0) })
        {
          try #require(ContinuousClock.now < end)
          // The lease lasts as long as it is looked at.
          _ = try other.renew(connection, report: nil)
        }
        for name in ["leases", "leases_lost_total", "silence_seconds", "wakes_total"] {
          for store in ["test", "second"] {
            let line = "runnel_store_\(name){store=\"\(store)\"} "
            #expect(server.server.metricsText.contains(line), "\(line)")
          }
        }
      }
    }
  }

  @Test func onlyOneOfTwoCopiesPrevails() {
    var (first, second) = (StoreClaim(), StoreClaim())
    let prevails = {
      (
        first.prevails(over: second, in: "b", from: "a"),
        second.prevails(over: first, in: "a", from: "b")
      )
    }
    #expect(prevails() == (false, false))
    // It was moved, and opened again by force where it was.
    (first.undone, second.came) = (["1"], ["1"])
    #expect(prevails() == (true, false))
    // The other one is a backup that says the same: nobody decides.
    (first.came, second.undone) = (["2"], ["2"])
    #expect(prevails() == (false, false))
    // It was opened by force where it was to be.
    (first, second) = (StoreClaim(), StoreClaim())
    (second.opened, second.origin, second.came) = ("3", "a", ["3"])
    #expect(prevails() == (false, true))
    // It was opened by force again where it had come from.
    first.undone = ["3"]
    #expect(prevails() == (true, false))
  }

  /// Once, each move was told as one that was opened by force, with an advice that removed the address of the
  /// new servers.
  @Test func whatOnlyCameWasNotOpenedByForce() {
    var (first, second) = (StoreClaim(), StoreClaim())
    (first.leaving, second.came, second.origin) = ("1", ["1"], "a")
    #expect(second.prevails(over: first, in: "a", from: "b"))
    #expect(!second.isForced(over: first, in: "a"))
    second.opened = "1"
    #expect(second.isForced(over: first, in: "a"))
    // It was moved back since.
    first.came = ["1"]
    #expect(!second.isForced(over: first, in: "a"))
    (first.undone, second.came) = (["2"], ["2"])
    #expect(first.isForced(over: second, in: "b"))
  }

  @Test func aServerSaysOfWhatOnlyCameThatTheMoveCanBeCompleted() async throws {
    try await withStores { stores in
      let kept = Kept()
      let log = try LogLines { line in
        kept.lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
      }
      let says = { (words: String) in kept.lines.withLock { $0.contains { $0.contains(words) } } }
      try await TestServer.$log.withValue(log) {
        try await withBoth(stores) { server in
          #expect(try server.request("PUT", "/n.json?ns=test", "1").status == 200)
          try stores.move()
          try wait(for: 200) { try server.request("PUT", "/n.json?ns=test", "2") }
          // The first store is as it was before the end of the move.
          try PostgresCluster.shared().run(
            sql: """
              UPDATE meta SET name = 'moving' WHERE name = 'moved.number';
              UPDATE namespace SET state = 1 WHERE name = 'test';
              """, in: stores.places[0])
          let end = ContinuousClock.now + LostStoreTests.patience
          let words = "`runnel store move test --store test --to second` completes it"
          while !says(words), ContinuousClock.now < end { await Task.yield() }
          #expect(says(words))
          #expect(!says("by force"))
          #expect(try server.request("GET", "/n.json?ns=test").body == "2")
          try stores.move()
          #expect(try server.request("GET", "/n.json?ns=test").body == "2")
        }
      }
    }
  }
}

import PostgresCluster
import RunnelBase
import RunnelPostgres
import Synchronization
import TestSupport
import Testing

@testable import RunnelServer

/// What servers of a store tell each other, and what they do without its primary.
@Suite(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
struct StoreOutageTests {
  private static let patience = Duration.seconds(20)

  /// Does something until it is so.
  private func wait(
    for what: String, _ isSo: () throws -> Bool,
    location: SourceLocation = #_sourceLocation
  ) throws {
    let end = ContinuousClock.now + StoreOutageTests.patience
    while try !isSo() {
      if ContinuousClock.now < end { continue }
      Issue.record("This never came: \(what)", sourceLocation: location)
      return
    }
  }

  private func change(
    _ configuration: inout ServerConfiguration, _ change: (inout StoreConfiguration) -> Void
  ) {
    configuration.isEmulator = true
    configuration.adminAddress = "127.0.0.1:0"
    guard case .store(var store) = configuration.databases else { return }
    change(&store)
    configuration.databases = .store(store)
  }

  private func administrator(of server: TestServer) throws -> RawClient {
    let place = try #require(server.adminPlaces.first)
    return try RawClient(port: try #require(Int(place.split(separator: ":").last ?? "")))
  }

  /// The value of a counter.
  private func metric(_ name: String, of server: TestServer) -> Double {
    for line in server.server.metricsText.split(separator: "\n") where line.hasPrefix(name) {
      let rest = line.dropFirst(name.count)
      if rest.first == " " || rest.first == "{" {
        return Double(line.split(separator: " ").last ?? "") ?? -1
      }
    }
    return 0
  }

  /// Lets nobody connect to the database any more, and ends its connections: as if the primary were
  /// gone.
  private func setReachable(_ isReachable: Bool, _ place: String) throws {
    let words = place.split(separator: " ")
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

  @Test func aWriteWakesTheOtherServers() async throws {
    try await TestServer.onStore {
      try await withServer { one in
        try await withServer { two in
          // The first hears of the second by a notification too.
          try wait(for: "a wake") {
            let answer = try one.request("PUT", "/x.json", "1")
            #expect(answer.status == 200)
            return metric("runnel_store_wakes_total", of: one) > 0
          }
          try wait(for: "both leases") { metric("runnel_store_leases", of: two) == 2 }
          #expect(metric("runnel_store_writes_total", of: one) >= 1)
        }
      }
    }
  }

  @Test func aServerThatIsAloneWakesNobody() async throws {
    try await TestServer.onStore {
      try await withServer { server in
        try wait(for: "the list of servers") { metric("runnel_store_leases", of: server) == 1 }
        for _ in 0..<20 { #expect(try server.request("PUT", "/x.json", "1").status == 200) }
        #expect(metric("runnel_store_wakes_total", of: server) == 0)
      }
    }
  }

  @Test func sessionsAndWritesOutliveAShortOutage() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      try await withServer(
        rules: nil, { change(&$0) { $0.readyPatience = .milliseconds(300) } }
      ) { server in
        let admin = try administrator(of: server)
        let socket = try server.socket()
        #expect(try socket.status(1, "q", "{\"p\":\"/n\",\"h\":\"\"}") == "ok")
        #expect(try admin.request("GET", "/readyz").status == 200)
        let writer = try server.client()
        try setReachable(false, place)
        try writer.sendRequest("PUT", "/n.json", "7")
        try wait(for: "not ready") { try admin.request("GET", "/readyz").status == 503 }
        #expect(try admin.request("GET", "/healthz").status == 200)
        try setReachable(true, place)
        #expect(try writer.readAnswer(to: "PUT").status == 200)
        // The session has not ended, and is told.
        #expect(try socket.next() == json("{\"a\":\"d\",\"b\":{\"p\":\"n\",\"d\":7}}"))
        try wait(for: "ready") { try admin.request("GET", "/readyz").status == 200 }
        #expect(metric("runnel_storage_retries_total", of: server) > 0)
        #expect(metric("runnel_store_leases_lost_total", of: server) == 0)
      }
    }
  }

  /// Once, it was not tried again for 10 seconds, and the server said that it was ready.
  @Test func whatCouldNotBeServedWithoutALeaseIsServedWithTheNextOne() async throws {
    try await TestServer.onStore {
      let store = try PostgresStore(PostgresPlace(try #require(TestServer.store)))
      defer { store.close() }
      try await withServer(rules: nil, { change(&$0) { _ in } }) { server in
        let admin = try administrator(of: server)
        #expect(try admin.request("GET", "/readyz").status == 200)
        // So it is after a restore.
        _ = try store.connection.perform([PostgresStatement("DELETE FROM server")])
        try store.makeNamespace(named: "other")
        let text = "other of the store test is not served yet: The lease of this server has ended"
        try wait(for: "the reason") {
          let answer = try admin.request("GET", "/readyz")
          return answer.status == 503 && answer.body.contains(text)
        }
        let early = try server.request("GET", "/n.json?ns=other").status
        #expect([200, 503].contains(early))
        try wait(for: "ready") { try admin.request("GET", "/readyz").status == 200 }
        for name in ["other", "test"] {
          #expect(try server.request("GET", "/n.json?ns=\(name)").status == 200)
        }
      }
    }
  }

  @Test func whatWaitsToBeOpenedIsTriedWhenItsStoreCanBeUsed() {
    var state = ServedDatabases.State()
    let (first, second) = (
      state.begin(opening: "a", isUsable: false), state.begin(opening: "a", isUsable: true)
    )
    #expect(first && !second)
    let hour = ContinuousClock.now - .seconds(3600)
    state.heldUp["a"] = HeldUpNamespace("main", "It is gone.", since: hour)
    // A long attempt is followed by a long pause.
    let early = state.begin(opening: "a", isUsable: true)
    #expect(!early)
    state.forgetHeldUp(of: "other", except: [])
    #expect(state.opening == ["a"])
    state.forgetHeldUp(of: "main", except: ["a"])
    #expect(state.opening == ["a"])
    state.forgetHeldUp(of: "main", except: [])
    #expect(state.opening.isEmpty && state.heldUp.isEmpty)
  }

  @Test func onlyWhatPassesHoldsUpANamespace() {
    #expect(HeldUpNamespace.isOfStore(PostgresError(.leaseEnded, "")))
    #expect(HeldUpNamespace.isOfStore(PostgresError(.disconnected, "")))
    #expect(!HeldUpNamespace.isOfStore(PostgresError(.unsuitable, "")))
    #expect(!HeldUpNamespace.isOfStore(ServerError("it has no rules")))
  }

  /// Once, a workspace on a namespace seemed live for a minute.
  @Test func sessionsMayEndBeforeRequestsDo() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      try await withServer(
        rules: nil, { change(&$0) { $0.sessionPatience = .seconds(3) } }
      ) { server in
        let socket = try server.socket()
        let question = "{\"p\":\"/n\",\"h\":\"\"}"
        #expect(try socket.status(1, "q", question) == "ok")
        try setReachable(false, place)
        #expect(throws: (any Error).self) { for _ in 0..<10 { _ = try socket.next() } }
        try setReachable(true, place)
        try wait(for: "a session") {
          (try? server.socket()) != nil
        }
      }
    }
  }

  @Test func sessionsEndWhenTheirPatienceDoes() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      try await withServer(rules: nil, { change(&$0) { $0.patience = .seconds(3) } }) { server in
        let socket = try server.socket()
        let body = "{\"p\":\"/gone\",\"d\":{\".sv\":{\"increment\":1}}}"
        #expect(try socket.status(1, "o", body) == "ok")
        let writer = try server.client()
        try setReachable(false, place)
        try writer.sendRequest("PUT", "/n.json", "7")
        // Nothing was done, and the client is told so.
        #expect(try writer.readAnswer(to: "PUT").status == 503)
        #expect(throws: (any Error).self) { for _ in 0..<10 { _ = try socket.next() } }
        // Once, whoever came late waited for as long again.
        let retries = metric("runnel_storage_retries_total", of: server)
        #expect(try server.request("PUT", "/n.json", "7").status == 503)
        #expect(metric("runnel_storage_retries_total", of: server) == retries)
        // Nothing that lasts begins meanwhile: it would seem live, and be told nothing.
        for (target, headers) in [
          ("/.ws?v=5&ns=test", RawClient.upgrade), ("/n.json", ["Accept": "text/event-stream"]),
        ] {
          #expect(try server.request("GET", target, headers: headers).status == 503, "\(target)")
        }
        let admin = try administrator(of: server)
        #expect(try admin.request("GET", "/readyz").status == 503)
        try setReachable(true, place)
        let client = try server.client()
        try wait(for: "writes") { try client.request("PUT", "/n.json", "8").status == 200 }
        // What the session asked for its end was done, and once.
        try wait(for: "the disconnect request") {
          try client.request("GET", "/gone.json").body == "1"
        }
        #expect(metric("runnel_store_leases_lost_total", of: server) == 1)
        #expect(try server.socket().session.isEmpty == false)
      }
    }
  }

  @Test func writesWaitForTheStandbyAndAreDoneOnce() async throws {
    let pair = try PostgresPair()
    let store = try PostgresStore(PostgresPlace(pair.place))
    try store.makeTables()
    try store.makeNamespace(named: "test")
    store.close()
    try pair.setSynchronous(true)
    try pair.run(sql: "CREATE ROLE few LOGIN")
    for (user, isHidden) in [("few", true), ("runnel", false)] {
      let words = pair.place.split(separator: " ")
      let place = words.map { $0.hasPrefix("user=") ? "user=\(user)" : "\($0)" }
      let store = try PostgresStore(PostgresPlace(place.joined(separator: " ")))
      defer { store.close() }
      #expect(try store.standbys()?.isHidden == isHidden)
    }
    try await TestServer.$store.withValue(pair.place) {
      try await withServer(
        rules: nil, { change(&$0) { $0.readyPatience = .milliseconds(300) } }
      ) { server in
        let admin = try administrator(of: server)
        let client = try server.client()
        let one = "{\".sv\":{\"increment\":1}}"
        #expect(try client.request("PUT", "/n.json", one).status == 200)
        try pair.holdStandby()
        try client.sendRequest("PUT", "/n.json", one)
        // The lease cannot be renewed either.
        try wait(for: "not ready") { try admin.request("GET", "/readyz").status == 503 }
        // What is only on the primary is lost with it, so the write was not acknowledged.
        try pair.killPrimary()
        try pair.dropHeldLog()
        try pair.promote()
        #expect(try client.readAnswer(to: "PUT").status == 200)
        #expect(try server.request("GET", "/n.json").body == "2")
        // Nobody has told the new primary which standby it has to wait for.
        try wait(for: "the remark") {
          let answer = try admin.request("GET", "/readyz")
          return answer.status == 200 && answer.body.contains("have one copy")
        }
      }
    }
  }

  @Test func aStoreThatNeverHadAStandbyHasNoRemark() {
    let copies = StoreCopies()
    #expect(copies.note(expected: "", of: "the store main") == nil)
    #expect(copies.remark(of: "the store main") == nil)
    #expect(copies.note(expected: "ANY 1 (a, b)", of: "the store main") == nil)
    #expect(copies.remark(of: "the store main") == nil)
    let lost = copies.note(expected: " ", of: "the store main")
    #expect(lost?.contains("The writes of the store main have one copy") == true)
    #expect(copies.note(expected: "", of: "the store main") == nil, "it is told once")
    #expect(copies.remark(of: "the store main") == lost)
    #expect(copies.note(expected: "c", of: "the store main")?.contains("again (c)") == true)
    #expect(copies.remark(of: "the store main") == nil)
  }

  /// Once, it was told that the store could not be reached.
  @Test func aDiskThatRefusesTheLeaseIsNamed() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      let cluster = try PostgresCluster.shared()
      try cluster.run(
        sql: """
          CREATE TABLE full_disk (number int);
          CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF EXISTS (SELECT 1 FROM full_disk) THEN
              RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100';
            END IF;
            RETURN NEW;
          END $$;
          CREATE TRIGGER server_is_full BEFORE INSERT OR UPDATE ON server
            FOR EACH ROW EXECUTE FUNCTION refuse();
          """, in: place)
      let log = KeptLog()
      try await log.during {
        try await withServer(
          rules: nil, { change(&$0) { $0.readyPatience = .milliseconds(300) } }
        ) { server in
          let admin = try administrator(of: server)
          try wait(for: "ready") { try admin.request("GET", "/readyz").status == 200 }
          try cluster.run(sql: "INSERT INTO full_disk VALUES (1)", in: place)
          try wait(for: "the cause") {
            let answer = try admin.request("GET", "/readyz")
            return answer.status == 503
              && answer.body.contains("refused to renew the lease")
              && answer.body.contains("no space left")
          }
          try cluster.run(sql: "DELETE FROM full_disk", in: place)
          try wait(for: "ready") { try admin.request("GET", "/readyz").status == 200 }
        }
      }
      let told = log.messages.filter { $0.contains("refuses to renew the lease of this server") }
      #expect(told.count == 1, "\(log.messages)")
    }
  }

  /// Once, the servers waited for a frozen primary as long as it was frozen, and said nothing of it.
  @Test func aPrimaryThatHangsIsToldAndTheNewOneIsTaken() async throws {
    let pair = try PostgresPair()
    defer { pair.thawPrimary() }
    let store = try PostgresStore(PostgresPlace(pair.place))
    try store.makeTables()
    try store.makeNamespace(named: "test")
    store.close()
    try await TestServer.$store.withValue(pair.place) {
      try await withServer(
        rules: nil,
        {
          change(&$0) { ($0.patience, $0.readyPatience) = (.seconds(4), .milliseconds(300)) }
        }
      ) { server in
        let admin = try administrator(of: server)
        #expect(try server.request("PUT", "/n.json", "1").status == 200)
        let socket = try server.socket()
        try pair.freezePrimary()
        let reader = try server.client()
        try reader.sendRequest("GET", "/n.json")
        try wait(for: "not ready") { try admin.request("GET", "/readyz").status == 503 }
        try wait(for: "silence") { metric("runnel_store_silence_seconds", of: server) > 0 }
        #expect(try reader.readAnswer(to: "GET").status == 503)
        #expect(throws: (any Error).self) { for _ in 0..<10 { _ = try socket.next() } }
        try pair.promote()
        let client = try server.client()
        try wait(for: "the new primary") {
          try client.request("PUT", "/n.json", "2").status == 200
        }
        #expect(metric("runnel_store_leases_lost_total", of: server) == 1)
      }
    }
  }

  /// Once, requests under way were closed without an answer, and the server ended a minute later.
  @Test func aServerThatEndsGivesUpASilentPrimary() async throws {
    let pair = try PostgresPair()
    defer { pair.thawPrimary() }
    let store = try PostgresStore(PostgresPlace(pair.place))
    try store.makeTables()
    for name in ["test", "other"] { try store.makeNamespace(named: name) }
    store.close()
    try await TestServer.$store.withValue(pair.place) {
      let server = try await TestServer {
        $0.isEmulator = true
        $0.stopDuration = .seconds(8)
      }
      #expect(try server.request("PUT", "/n.json?ns=test", "1").status == 200)
      try pair.freezePrimary()
      let clients = try (0..<3).map { _ in try server.client() }
      try clients[0].sendRequest("PUT", "/n.json?ns=test", "2")
      try clients[1].sendRequest("GET", "/n.json?ns=test")
      try clients[2].sendRequest("PUT", "/n.json?ns=other", "2")
      try wait(for: "the silence") { metric("runnel_store_silence_seconds", of: server) > 0 }
      let start = ContinuousClock.now
      let running = server.server
      async let end: Void = running.stop()
      for client in clients { #expect(try client.readAnswer(to: "PUT").status == 503) }
      await end
      #expect(start.duration(to: .now) < .seconds(40))
    }
  }

  /// Once, people were told that the primary did not answer, and then in between that it did again.
  @Test func aPrimaryThatConfirmsNothingIsToldFromOneThatIsSilent() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      try await withServer(
        rules: nil, { change(&$0) { $0.readyPatience = .milliseconds(300) } }
      ) { server in
        let admin = try administrator(of: server)
        let other = try PostgresConnection(PostgresPlace(place))
        defer { other.close() }
        // The lease is not confirmed, as if the standby were away, and reads are answered.
        _ = try other.perform([
          PostgresStatement("BEGIN"), PostgresStatement("LOCK TABLE server IN EXCLUSIVE MODE"),
        ])
        try wait(for: "the cause") {
          let answer = try admin.request("GET", "/readyz")
          return answer.status == 503 && answer.body.contains("its synchronous standby is away")
        }
        _ = try other.perform([PostgresStatement("ROLLBACK")])
        try wait(for: "ready") { try admin.request("GET", "/readyz").status == 200 }
        #expect(try server.request("PUT", "/n.json", "1").status == 200)
      }
    }
  }

  /// Once, it answered from a primary that may have been replaced, as long as that could be read.
  @Test func aServerWithoutLeaseAnswersNoReads() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      try await withServer(rules: nil, { change(&$0) { _ in } }) { server in
        let client = try server.client()
        #expect(try client.request("PUT", "/n.json", "1").status == 200)
        let socket = try server.socket()
        let other = try PostgresConnection(PostgresPlace(place))
        defer { other.close() }
        _ = try other.perform([
          PostgresStatement("BEGIN"), PostgresStatement("LOCK TABLE server IN EXCLUSIVE MODE"),
        ])
        try wait(for: "the end of the lease") {
          metric("runnel_store_leases_lost_total", of: server) == 1
        }
        let reason = try socket.client.readCloseReason().text
        #expect(reason.contains("does not confirm that this server may serve"))
        for (method, target) in [
          ("GET", "/n.json"), ("HEAD", "/n.json"), ("GET", "/.json?shallow=true"),
          ("GET", "/.settings/rules.json"), ("PUT", "/n.json"),
        ] {
          let body = method == "PUT" ? "2" : nil
          #expect(try server.request(method, target, body).status == 503, "\(method) \(target)")
        }
        _ = try other.perform([PostgresStatement("ROLLBACK")])
        try wait(for: "a read") { try server.request("GET", "/n.json").status == 200 }
        #expect(try server.request("GET", "/n.json").body == "1")
      }
    }
  }

  /// Once, a server whose start took too long ended.
  @Test func aServerWhoseLeaseEndsDuringItsStartBeginsAnother() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      // The first lease is ended by others before anything is opened.
      try PostgresCluster.shared().run(
        sql: """
          CREATE SEQUENCE starts;
          CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('starts') = 1 THEN DELETE FROM server WHERE id = NEW.id; END IF;
            RETURN NULL;
          END $$;
          CREATE TRIGGER early AFTER INSERT ON server FOR EACH ROW EXECUTE FUNCTION forget();
          """, in: place)
      try await withServer { server in
        let answer = try server.request("PUT", "/n.json", "1")
        #expect(answer.status == 200)
        #expect(metric("runnel_store_leases_lost_total", of: server) == 1)
      }
    }
  }

  /// Once, it ended with the words of PostgreSQL about a lock.
  @Test func aServerWaitsAtItsStartForALock() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      // Two attempts to take over what a server has left are refused.
      try PostgresCluster.shared().run(
        sql: """
          CREATE SEQUENCE attempts;
          CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('attempts') <= 2 THEN
              RAISE EXCEPTION 'locked' USING ERRCODE = '55P03';
            END IF;
            RETURN NULL;
          END $$;
          INSERT INTO disconnect_write VALUES
            (1, '00000000-0000-4000-8000-000000000001', 1, 0, '/', '');
          CREATE TRIGGER late AFTER DELETE ON disconnect_write
            FOR EACH ROW EXECUTE FUNCTION refuse();
          """, in: place)
      try await withServer { server in
        let answer = try server.request("PUT", "/n.json", "1")
        #expect(answer.status == 200)
      }
    }
  }

  /// Once, the server said that it was ready.
  @Test func aServerIsNotReadyWhileTheDiskOfTheDatabaseIsFull() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      let cluster = try PostgresCluster.shared()
      try cluster.run(
        sql: """
          CREATE TABLE full_disk (number int);
          CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF EXISTS (SELECT 1 FROM full_disk) THEN
              RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100';
            END IF;
            RETURN NEW;
          END $$;
          CREATE TRIGGER feed_is_full BEFORE INSERT ON feed FOR EACH ROW EXECUTE FUNCTION refuse();
          CREATE TRIGGER meta_is_full BEFORE INSERT ON meta FOR EACH ROW WHEN (NEW.ns <> 0)
            EXECUTE FUNCTION refuse();
          """, in: place)
      try await withServer(rules: nil, { change(&$0) { _ in } }) { server in
        let admin = try administrator(of: server)
        let tells = { (value: Int) in
          server.server.metricsText.contains("runnel_writable{database=\"test\"} \(value)")
        }
        #expect(try server.request("PUT", "/n.json", "1").status == 200)
        #expect(try admin.request("GET", "/readyz").status == 200)
        try cluster.run(sql: "INSERT INTO full_disk VALUES (1)", in: place)
        #expect(try server.request("PUT", "/n.json", "2").status == 503)
        let answer = try admin.request("GET", "/readyz")
        #expect(answer.status == 503)
        #expect(answer.body == "test cannot be written: see the log.\n")
        #expect(tells(0))
        #expect(try server.request("GET", "/n.json").body == "1")
        // The server tries by itself.
        try cluster.run(sql: "DELETE FROM full_disk", in: place)
        try wait(for: "ready") { try admin.request("GET", "/readyz").status == 200 }
        #expect(tells(1))
        #expect(try server.request("PUT", "/n.json", "3").status == 200)
      }
    }
  }

  private final class Kept: Sendable {
    let lines = Mutex<[String]>([])
  }

  /// Once, each write said it in the log.
  @Test func aLostLeaseIsLoggedOnceForAllItsWrites() async throws {
    let kept = Kept()
    let log = try LogLines { bytes in
      kept.lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
    }
    try await TestServer.$log.withValue(log) {
      try await TestServer.onStore {
        let place = try #require(TestServer.store)
        try await withServer { server in
          #expect(try server.request("PUT", "/n.json", "1").status == 200)
          try PostgresCluster.shared().run(sql: "DELETE FROM server", in: place)
          let client = try server.client()
          for _ in 0..<10 { #expect(try client.request("PUT", "/n.json", "2").status == 503) }
          try wait(for: "another lease") {
            try client.request("PUT", "/n.json", "3").status == 200
          }
        }
      }
    }
    log.flush()
    let text = "The lease of this server has ended"
    let lines = kept.lines.withLock { $0.joined() }.split(separator: "\n")
    #expect(lines.count { $0.contains(text) } == 1)
    // `runnel store status` shows it under that name.
    #expect(lines.contains { $0.contains("The lease has begun anew: this server is ") })
  }

  @Test func clientsAreSentToTheServerOfTheirNamespace() async throws {
    try await TestServer.onStore {
      let addresses = ["one.example:1", "two.example:2"]
      try await withServer(rules: nil, { change(&$0) { $0.address = addresses[0] } }) { one in
        // Alone, it serves all.
        #expect(try one.socket().session.isEmpty == false)
        try await withServer(rules: nil, { change(&$0) { $0.address = addresses[1] } }) { two in
          try wait(for: "one server for all") {
            let hosts = try [one, two].map { server in
              let client = try server.client()
              try client.openSocket("/.ws?v=5&ns=test")
              let first = try JSONValue(parsing: client.readMessage())
              return first["d"]?["t"]?.string == "r" ? first["d"]?["d"]?.string : nil
            }
            return hosts == [nil, addresses[0]] || hosts == [addresses[1], nil]
          }
          let count = [one, two].map { metric("runnel_redirects_total", of: $0) }.reduce(0, +)
          #expect(count > 0)
        }
        // The other has ended, and told so.
        try wait(for: "its own clients") {
          let client = try one.client()
          try client.openSocket("/.ws?v=5&ns=test")
          return try JSONValue(parsing: client.readMessage())["d"]?["t"]?.string == "h"
        }
      }
    }
  }
}

import PostgresCluster
import RunnelBase
import RunnelDatabase
import RunnelPostgres
@testable import RunnelServer
@testable import RunnelSync
import RunnelTree
import Synchronization
import TestSupport
import Testing

/// A served namespace of a store behaves as a served file.
@Suite(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
struct StoreServerTests {
  /// It was 503 once, so that clients sent it again for ever.
  @Test func aWriteThatComesTooLateIsRefusedForGood() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      try await withServer { server in
        let write = { (number: Int) in
          let headers = ["X-Runnel-Write": "me \(number)"]
          return try server.request("PUT", "/n.json", "\(number)", headers: headers)
        }
        #expect(try write(7).status == 200)
        // As after a thousand numbers beyond the gap.
        try PostgresCluster.shared().run(sql: "UPDATE write_client SET forgotten = 5", in: place)
        let late = try write(3)
        #expect(late.status == 400)
        #expect(late.body.contains("comes too late to tell"))
        #expect(try write(7).status == 200)
        #expect(try server.request("GET", "/n.json").body == "7")
      }
    }
  }

  @Test func whoNamesNoneOfSeveralNamespacesIsToldHow() async throws {
    try await TestServer.onStore {
      let store = try PostgresStore(PostgresPlace(try #require(TestServer.store)))
      defer { store.close() }
      try store.makeNamespace(named: "other")
      try await withServer { server in
        let none = try server.request("GET", "/n.json", headers: ["Host": "localhost"])
        #expect(none.status == 404 && none.body.contains("?ns=NAME"), "\(none.body)")
        let wrong = try server.request("GET", "/n.json?ns=third")
        #expect(wrong.status == 404 && wrong.body.contains("of this name"), "\(wrong.body)")
        #expect(try server.request("GET", "/n.json?ns=other").status == 200)
      }
    }
  }

  @Test func aNamespaceThatComesWithoutRulesIsToldOf() async throws {
    let told = Mutex("")
    let log = try LogLines { bytes in
      told.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
    }
    try await TestServer.onStore {
      let store = try PostgresStore(PostgresPlace(try #require(TestServer.store)))
      defer { store.close() }
      try await TestServer.$log.withValue(log) {
        try await withServer { server in
          let rules = "{\"rules\":{\".read\":true}}"
          try store.makeNamespace(named: "ruled", rules: rules)
          try store.makeNamespace(named: "bare")
          let end = ContinuousClock.now + .seconds(20)
          for name in ["ruled", "bare"] {
            while try server.request("GET", "/n.json?ns=\(name)").status != 200 {
              try #require(ContinuousClock.now < end)
            }
          }
          #expect(try server.request("PUT", "/n.json?ns=ruled", "1").status == 401)
        }
      }
    }
    log.flush()
    let text = told.withLock { $0 }
    #expect(text.contains("ruled is served now\""), "\(text)")
    #expect(text.contains("bare is served now, without rules"), "\(text)")
    #expect(text.contains("`runnel store rules put bare FILE`"), "\(text)")
  }

  /// Once, its clients were told that the server ends.
  @Test func clientsOfADroppedNamespaceAreToldThat() async throws {
    try await TestServer.onStore {
      let store = try PostgresStore(PostgresPlace(try #require(TestServer.store)))
      defer { store.close() }
      try await withServer { server in
        let socket = try server.socket()
        try store.dropNamespace(try #require(try store.namespace(named: "test")))
        let reason = try socket.client.readCloseReason()
        #expect(reason.code == 1001 && reason.text == "The database is not there any more.")
      }
    }
  }

  /// What holds of a served file, by name.
  private static let conformance: [(name: String, test: @Sendable () async throws -> Void)] = [
    ("writes", { try await RequestTests().writesAreAnsweredAsSpecified() }),
    ("conditions", { try await RequestTests().tagsMakeConditions() }),
    ("rules", { try await RequestTests().rulesBindAllButAdministrators() }),
    ("rules replaced", { try await RequestTests().rulesAreReadAndReplaced() }),
    ("large texts", { try await RequestTests().largeTextsAreReceivedAndSentInPieces() }),
    ("large puts", { try await RequestTests().anAdministratorsLargePutIsStoredInAFileFirst() }),
    ("order", { try await RequestTests().aConnectionServesRequestsInTheirOrder() }),
    ("events", { try await EventStreamTests().changesAreSentAsEvents() }),
    ("windows", { try await EventStreamTests().aWindowGetsEnteringAndLeavingChildren() }),
    ("revoked streams", { try await EventStreamTests().aStreamEndsWhenTheRulesDenyIt() }),
    ("transcript", { try await SocketTests().theTranscriptOfTheClientIsAnsweredAsRecorded() }),
    ("names of writes", { try await SocketTests().aWriteThatIsSentAgainIsDoneOnce() }),
    ("parameters", { try await RequestTableTests().parametersOfReadsShapeTheAnswer() }),
    (
      "errors of queries",
      { try await RequestTableTests().wrongQueriesAreRefusedWithTheirReason() }
    ),
    ("errors of writes", { try await RequestTableTests().answersAndErrorsOfWrites() }),
    ("large listens", { try await SlowReadTests().writesDuringALargeListenAreToldInOrder() }),
    ("large streams", { try await SlowReadTests().writesDuringALargeStreamAreToldInOrder() }),
    ("many listens", { try await SlowReadTests().manyWhoListenAtOnceAreToldTheSame() }),
    ("large gets", { try await SlowReadTests().largeReadIsAnsweredWithWhatIsThere() }),
    ("leaving", { try await SlowReadTests().whoLeavesDuringALargeListenHasItsLastWritesDone() }),
    ("rules by requests", { try await RequestTableTests().rulesAreReadTriedAndReplaced() }),
  ]

  @Test(arguments: StoreServerTests.conformance.map(\.name))
  func aNamespaceIsServedAsAFile(name: String) async throws {
    let found = StoreServerTests.conformance.first { $0.name == name }
    let test = try #require(found?.test)
    try await TestServer.onStore { try await test() }
  }

  @Test(arguments: Seeds.first(6))
  func aTreeInANamespaceTellsWhatTheModelTells(seed: UInt64) async throws {
    try await TestServer.onStore {
      let place = PostgresPlace(try #require(TestServer.store))
      let connection = try PostgresConnection(place)
      let lease = StoreLease(address: "")
      try lease.begin(connection)
      let session = try PostgresSession(place, namespace: "test", lease: lease)
      try ServedTreeTests.compare(StoreStorage(session), seed: seed)
    }
  }

  // MARK: Several servers

  /// Runs `body` with two servers of a new store.
  private func withTwoServers(
    _ body: (_ one: TestServer, _ two: TestServer) async throws -> Void
  ) async throws {
    try await TestServer.onStore {
      try await withServer { one in
        try await withServer { two in try await body(one, two) }
      }
    }
  }

  @Test func oneServerTellsWhatAnotherWrote() async throws {
    try await withTwoServers { one, two in
      let socket = try two.socket()
      #expect(try socket.status(1, "q", "{\"p\":\"/x\",\"h\":\"\"}") == "ok")
      #expect(try one.request("PUT", "/x.json", "5").status == 200)
      #expect(try socket.next() == json("{\"a\":\"d\",\"b\":{\"p\":\"x\",\"d\":5}}"))
      // What was acknowledged by one is seen by each later read of the other.
      for number in 0..<20 {
        #expect(try one.request("PUT", "/y.json", "\(number)").status == 200)
        #expect(try two.request("GET", "/y.json").body == "\(number)")
      }
    }
  }

  @Test func incrementsOfTwoServersAreAllThere() async throws {
    try await withTwoServers { one, two in
      let clients = try [one.client(), two.client(), one.client(), two.client()]
      for _ in 0..<25 {
        for client in clients {
          try client.sendRequest("PUT", "/n.json", "{\".sv\":{\"increment\":1}}")
        }
        for client in clients { #expect(try client.readAnswer(to: "PUT").status == 200) }
      }
      #expect(try two.request("GET", "/n.json").body == "100")
      #expect(try one.request("GET", "/n.json").body == "100")
    }
  }

  @Test func aWriteThatIsSentAgainToAnotherServerIsDoneOnce() async throws {
    try await withTwoServers { one, two in
      let body = "{\"p\":\"/n\",\"d\":{\".sv\":{\"increment\":1}},\"w\":[\"client\",1]}"
      let (first, second) = (try one.socket(), try two.socket())
      #expect(try first.status(1, "p", body) == "ok")
      #expect(try second.status(1, "p", body) == "ok")
      #expect(try two.request("GET", "/n.json").body == "1")
    }
  }

  @Test func rulesHoldOnAllServers() async throws {
    try await withTwoServers { one, two in
      let socket = try two.socket()
      #expect(try socket.status(1, "q", "{\"p\":\"/x\",\"h\":\"\"}") == "ok")
      let owner = ["Authorization": "Bearer owner"]
      let put = try one.request(
        "PUT", "/.settings/rules.json", "{\"rules\":{\".write\":true}}", headers: owner)
      #expect(put.status == 200)
      // The listen is revoked where the other server looks.
      #expect(try socket.next()["a"] == "c")
      #expect(try two.request("GET", "/x.json").status == 401)
      #expect(
        try two.request("GET", "/.settings/rules.json", headers: owner).body.contains(".write"))
    }
  }

  @Test func disconnectWritesOfAServerThatIsGoneAreDoneOnce() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      try await withServer { one in
        let socket = try one.socket()
        let body = "{\"p\":\"/p\",\"d\":{\".sv\":{\"increment\":1}}}"
        #expect(try socket.status(1, "o", body) == "ok")
        // As if the server had been silent for longer than a lease lasts.
        try PostgresCluster.shared().run(sql: "DELETE FROM server", in: place)
        try await withServer { two in
          let client = try two.client()
          #expect(try client.request("GET", "/p.json").body == "1")
          // The first server ends its sessions, and does nothing for them.
          #expect(throws: (any Error).self) { for _ in 0..<10 { _ = try socket.next() } }
          #expect(try client.request("GET", "/p.json").body == "1")
        }
      }
    }
  }

  @Test func connectionsThatAreCutLoseNothing() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      try await withServer { server in
        let client = try server.client()
        for number in 1...30 {
          if number.isMultiple(of: 3) {
            try PostgresCluster.shared().run(
              sql: """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                """, in: place)
          }
          let answer = try client.request("PUT", "/n.json", "{\".sv\":{\"increment\":1}}")
          #expect(answer.status == 200)
          #expect(try client.request("GET", "/n.json").body == "\(number)")
        }
      }
      let store = try PostgresStore(PostgresPlace(place))
      defer { store.close() }
      let namespace = try #require(try store.namespace(named: "test"))
      #expect(namespace.head == 30)
      #expect(try StoreCheck.run(on: namespace, of: store).faults == [])
    }
  }

  /// The database refuses the first two attempts of each write: one at the commit, one before it.
  @Test func transactionsThatAreToBeDoneAnewAreDoneOnce() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      try PostgresCluster.shared().run(
        sql: """
          CREATE SEQUENCE attempts;
          CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('attempts') % 5 IN (2, 3) THEN
              RAISE EXCEPTION 'anew' USING ERRCODE = '40001';
            END IF;
            RETURN NULL;
          END $$;
          CREATE TRIGGER early AFTER INSERT ON feed FOR EACH ROW EXECUTE FUNCTION refuse();
          CREATE CONSTRAINT TRIGGER late AFTER INSERT ON feed DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION refuse();
          """, in: place)
      try await withServer { one in
        try await withServer { two in
          let clients = [try one.client(), try two.client()]
          for number in 1...20 {
            let answer = try clients[number % 2].request(
              "PUT", "/n.json", "{\".sv\":{\"increment\":1}}")
            #expect(answer.status == 200)
          }
          #expect(try clients[0].request("GET", "/n.json").body == "20")
        }
      }
      let store = try PostgresStore(PostgresPlace(place))
      defer { store.close() }
      let namespace = try #require(try store.namespace(named: "test"))
      #expect(namespace.head == 20)
      #expect(try StoreCheck.run(on: namespace, of: store).faults == [])
    }
  }

  /// Whoever takes over fails twice after it has removed the requests, and before the commit.
  @Test func aTakeOverThatFailsIsDoneAnewAndOnce() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      try await withServer { one in
        let body = "{\"p\":\"/p\",\"d\":{\".sv\":{\"increment\":1}}}"
        let socket = try one.socket()
        #expect(try socket.status(1, "o", body) == "ok")
        try await withServer { two in
          let client = try two.client()
          #expect(try client.request("GET", "/p.json").body == "null")
          try PostgresCluster.shared().run(
            sql: """
              CREATE SEQUENCE attempts;
              CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF nextval('attempts') <= 2 THEN
                  RAISE EXCEPTION 'anew' USING ERRCODE = '40001';
                END IF;
                RETURN NULL;
              END $$;
              CREATE TRIGGER early AFTER INSERT ON feed FOR EACH ROW EXECUTE FUNCTION refuse();
              DELETE FROM server WHERE id = (SELECT server FROM disconnect_write)
              """, in: place)
          try wait(for: "1", client)
          // The socket is open until here, so nobody else had a reason to do it.
          #expect(throws: (any Error).self) { for _ in 0..<10 { _ = try socket.next() } }
        }
      }
      let store = try PostgresStore(PostgresPlace(place))
      defer { store.close() }
      #expect(try store.namespace(named: "test")?.head == 1)
    }
  }

  /// Asks for a value until it is there.
  private func wait(for text: String, _ client: RawClient) throws {
    let end = ContinuousClock.now + .seconds(20)
    while try client.request("GET", "/p.json").body != text {
      try #require(ContinuousClock.now < end)
    }
  }

  @Test func theStoreIsSoundAfterManyWrites() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      let rules = "{\"rules\":{\".read\":true,\".write\":true,\"list\":{\".indexOn\":\"a\"}}}"
      try await withServer(rules: rules) { server in
        let client = try server.client()
        for number in 0..<60 {
          let text = String(repeating: "x", count: number * 40)
          let body = "{\"a\":\"\(text)\",\"b\":\(number)}"
          #expect(try client.request("PUT", "/list/k\(number % 40).json", body).status == 200)
        }
        #expect(try client.request("DELETE", "/list/k7.json").status == 200)
        let answer = try client.request(
          "GET", "/list.json?orderBy=%22a%22&limitToLast=2&print=silent")
        #expect(answer.status == 204)
      }
      let store = try PostgresStore(PostgresPlace(place))
      defer { store.close() }
      let namespace = try #require(try store.namespace(named: "test"))
      let report = try StoreCheck.run(on: namespace, of: store)
      #expect(report.faults == [])
      #expect(report.entryCount == 39)
      #expect(try store.servers().isEmpty)
    }
  }
}

import PostgresCluster
import RunnelBase
import RunnelPostgres
import TestSupport
import Testing

@testable import RunnelServer

/// A namespace is moved to another store while servers of both serve.
@Suite(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
struct StoreMoveTests {
  private static let patience = Duration.seconds(20)

  /// Asks until the answer has the status.
  private func wait(
    for status: Int, of server: TestServer, _ method: String, _ target: String,
    _ body: String? = nil
  ) throws -> RawClient.Answer {
    let end = ContinuousClock.now + StoreMoveTests.patience
    while true {
      let answer = try server.request(method, target, body)
      if answer.status == status || ContinuousClock.now >= end { return answer }
    }
  }

  private func emptyStore() throws -> String {
    let place = try PostgresCluster.shared().makeDatabase()
    let store = try PostgresStore(PostgresPlace(place))
    defer { store.close() }
    try store.makeTables()
    return place
  }

  private func fill(_ server: TestServer) throws {
    let client = try server.client()
    for number in 0..<60 {
      let body = "{\"a\":\"\(String(repeating: "x", count: number * 40))\",\"b\":\(number)}"
      #expect(try client.request("PUT", "/list/k\(number % 40).json?ns=test", body).status == 200)
    }
  }

  private func move(from first: String, to second: String, address: String) throws {
    let source = try PostgresStore(PostgresPlace(first))
    let target = try PostgresStore(PostgresPlace(second))
    defer {
      source.close()
      target.close()
    }
    let namespace = try #require(try source.namespace(named: "test"))
    try StoreMove.run(namespace, from: source, to: target, address: address)
  }

  /// Both were done once, and there were two namespaces.
  @Test func ofTwoMovesAtOnceTheSecondIsRefused() async throws {
    try await TestServer.onStore {
      let first = try #require(TestServer.store)
      let (second, third) = (try emptyStore(), try emptyStore())
      try await withServer { server in try fill(server) }
      let source = try PostgresStore(PostgresPlace(first))
      let target = try PostgresStore(PostgresPlace(second))
      defer {
        source.close()
        target.close()
      }
      let namespace = try #require(try source.namespace(named: "test"))
      var refusals = 0
      let outcome = try StoreMove.run(
        namespace, from: source, to: target, address: "", name: "second"
      ) { _ in
        let error = #expect(throws: PostgresError.self) {
          try self.move(from: first, to: third, address: "")
        }
        if error?.message.contains("is being moved by another command") == true { refusals += 1 }
      }
      #expect(outcome == .moved && refusals > 0)
      // Whoever looked before the first was done finds it moved.
      #expect(throws: PostgresError.self) { try move(from: first, to: third, address: "") }
    }
  }

  @Test func clientsFollowANamespaceThatIsMoved() async throws {
    let rules = "{\"rules\":{\".read\":true,\".write\":true,\"list\":{\".indexOn\":\"b\"}}}"
    try await TestServer.onStore {
      let first = try #require(TestServer.store)
      let second = try emptyStore()
      try await withServer(rules: rules) { one in
        try await TestServer.$store.withValue(second) {
          try await withServer { two in
            try fill(one)
            let socket = try one.socket()
            let named = "{\"p\":\"/n\",\"d\":{\".sv\":{\"increment\":1}},\"w\":[\"client\",1]}"
            #expect(try socket.status(1, "p", named) == "ok")
            let goodbye = "{\"p\":\"/gone\",\"d\":{\".sv\":{\"increment\":1}}}"
            #expect(try socket.status(2, "o", goodbye) == "ok")
            let before = try one.request("GET", "/.json?ns=test&format=export").body
            #expect(try two.request("GET", "/n.json?ns=test").status == 404)
            try move(from: first, to: second, address: "two.example:1")
            // The other servers serve it, and the first does not any more.
            #expect(try wait(for: 200, of: two, "GET", "/n.json?ns=test").body == "1")
            #expect(throws: (any Error).self) { for _ in 0..<10 { _ = try socket.next() } }
            for method in ["GET", "PUT"] {
              let answer = try one.request(method, "/n.json?ns=test", method == "GET" ? nil : "9")
              #expect(answer.status == 307)
              #expect(answer.headers["location"] == "http://two.example:1/n.json?ns=test")
            }
            let next = try one.client()
            try next.openSocket("/.ws?v=5&ns=test")
            #expect(try next.readMessage().contains("two.example:1"))
            // The name of the write, and what was asked for the end of the session, came along.
            let other = try two.socket()
            #expect(try other.status(1, "p", named) == "ok")
            try await yieldUntil(stepsMax: 100_000) {
              try two.request("GET", "/gone.json?ns=test").body == "1"
            }
            #expect(try two.request("DELETE", "/gone.json?ns=test").status == 200)
            #expect(try two.request("GET", "/.json?ns=test&format=export").body == before)
            let query = "orderBy=%22b%22&limitToLast=1&print=silent"
            #expect(try two.request("GET", "/list.json?ns=test&\(query)").status == 204)
          }
        }
      }
      let store = try PostgresStore(PostgresPlace(second))
      defer { store.close() }
      let namespace = try #require(try store.namespace(named: "test"))
      #expect(try StoreCheck.run(on: namespace, of: store).faults == [])
    }
  }

  @Test func aServerOfBothStoresGoesOnServingWhatIsMoved() async throws {
    try await TestServer.onStore {
      let first = try #require(TestServer.store)
      let second = try emptyStore()
      try await withServer { configuration in
        configuration.isEmulator = true
        configuration.otherStores = [StoreConfiguration(name: "second", connection: second)]
      } _: { server in
        try fill(server)
        let before = try server.request("GET", "/.json?ns=test&format=export").body
        let socket = try server.socket()
        try move(from: first, to: second, address: "")
        // The sessions end, and the next ones are served from the other store.
        #expect(throws: (any Error).self) { for _ in 0..<10 { _ = try socket.next() } }
        #expect(try wait(for: 200, of: server, "PUT", "/n.json?ns=test", "2").status == 200)
        let next = try server.socket()
        #expect(try next.status(1, "p", "{\"p\":\"/n\",\"d\":null}") == "ok")
        #expect(try server.request("GET", "/.json?ns=test&format=export").body == before)
      }
      let store = try PostgresStore(PostgresPlace(second))
      defer { store.close() }
      let namespace = try #require(try store.namespace(named: "test"))
      #expect(namespace.head == 62)
      #expect(try StoreCheck.run(on: namespace, of: store).faults == [])
      #expect(try store.servers().isEmpty)
    }
  }

  @Test func aMoveThatFailsLeavesEverythingAsItWas() async throws {
    try await TestServer.onStore {
      let first = try #require(TestServer.store)
      let second = try emptyStore()
      try await withServer { server in
        #expect(try server.request("PUT", "/n.json", "1").status == 200)
        let cluster = try PostgresCluster.shared()
        try cluster.run(sql: "ALTER TABLE node ADD CHECK (parent < 0)", in: second)
        #expect(throws: PostgresError.self) {
          try move(from: first, to: second, address: "")
        }
        #expect(try server.request("PUT", "/n.json", "2").status == 200)
        try cluster.run(sql: "ALTER TABLE node DROP CONSTRAINT node_parent_check", in: second)
        try move(from: first, to: second, address: "")
        #expect(throws: PostgresError.self) { try move(from: first, to: second, address: "") }
      }
    }
  }

  /// Once, requests over HTTP were told to try again later, for ever.
  @Test func requestsOverHTTPAreSentOn() async throws {
    try await TestServer.onStore {
      let first = try #require(TestServer.store)
      let second = try emptyStore()
      let accept = ["Accept": "text/event-stream"]
      let location = "http://two.example:1/n.json?print=pretty&ns=test"
      try await withServer { server in
        #expect(try server.request("PUT", "/n.json", "1").status == 200)
        let stream = try server.client()
        try stream.sendRequest("GET", "/n.json", headers: accept)
        #expect(try stream.readHead().status == 200)
        try move(from: first, to: second, address: "two.example:1")
        // It ends, so that its client connects again.
        #expect(throws: (any Error).self) { for _ in 0..<10 { _ = try stream.readEvent() } }
        let next = try server.request("GET", "/n.json?print=pretty", headers: accept)
        #expect(next.status == 307)
        #expect(next.headers["location"] == location)
        #expect(next.headers["access-control-allow-origin"] == "*")
        #expect(next.body.contains("was moved to another store: its servers are at two.example:1."))
        // What a page may do is asked of the server, which sends it on when it does it.
        #expect(try server.request("OPTIONS", "/n.json").status == 204)
      }
      // A server that is started later knows it too.
      try await withServer { server in
        let answer = try wait(for: 307, of: server, "POST", "/n.json?ns=test&print=pretty", "2")
        #expect(answer.headers["location"] == "http://two.example:1/n.json?ns=test&print=pretty")
        let client = try server.client()
        try client.openSocket("/.ws?v=5&ns=test")
        #expect(try client.readMessage().contains("two.example:1"))
      }
    }
  }

  /// A wrong address could not be corrected once.
  @Test func aMoveThatIsDoneAgainCorrectsItsAddress() async throws {
    try await TestServer.onStore {
      let first = try #require(TestServer.store)
      let (source, target) = (
        try PostgresStore(PostgresPlace(first)), try PostgresStore(PostgresPlace(try emptyStore()))
      )
      defer {
        source.close()
        target.close()
      }
      let move = { (address: String, name: String) in
        let namespace = try #require(try source.namespace(named: "test"))
        return try StoreMove.run(namespace, from: source, to: target, address: address, name: name)
      }
      try await withServer { server in
        #expect(try server.request("PUT", "/n.json", "1").status == 200)
        #expect(try move("wrong.example:1", "second") == .moved)
        let sent = try wait(for: 307, of: server, "GET", "/n.json?ns=test")
        #expect(sent.headers["location"] == "http://wrong.example:1/n.json?ns=test")
        #expect(try move("", "second") == .movedBefore)
        #expect(try move("wrong.example:1", "second") == .movedBefore)
        #expect(throws: PostgresError.self) { _ = try move("right.example:1", "third") }
        #expect(try move("right.example:1", "second") == .readdressed)
        let end = ContinuousClock.now + StoreMoveTests.patience
        var location: String?
        while location != "http://right.example:1/n.json?ns=test", ContinuousClock.now < end {
          location = try server.request("GET", "/n.json?ns=test").headers["location"]
        }
        #expect(location == "http://right.example:1/n.json?ns=test")
      }
      #expect(try target.namespace(named: "test")?.state == .open)
    }
  }

  @Test func clientsAreToldOfAMoveWithoutAnAddress() async throws {
    try await TestServer.onStore {
      let first = try #require(TestServer.store)
      let second = try emptyStore()
      try await withServer { server in
        let socket = try server.socket()
        try move(from: first, to: second, address: "")
        #expect(throws: (any Error).self) { for _ in 0..<10 { _ = try socket.next() } }
        let answer = try server.request("GET", "/n.json")
        #expect(answer.status == 503)
        #expect(answer.body.contains("test was moved to another store"))
        // There is no session that is of no use.
        let next = try server.client()
        try next.openSocket("/.ws?v=5&ns=test")
        #expect(try next.readClose() == 1001)
      }
    }
  }

  @Test func aNamespaceIsMovedBackAndItsServersGoOn() async throws {
    try await TestServer.onStore {
      let first = try #require(TestServer.store)
      let second = try emptyStore()
      try await withServer { one in
        try await TestServer.$store.withValue(second) {
          try await withServer { two in
            try fill(one)
            try move(from: first, to: second, address: "two.example:1")
            #expect(try wait(for: 200, of: two, "PUT", "/n.json?ns=test", "5").status == 200)
            #expect(try wait(for: 307, of: one, "GET", "/n.json").status == 307)
            try move(from: second, to: first, address: "one.example:1")
            #expect(try wait(for: 200, of: one, "GET", "/n.json").body == "5")
            #expect(try one.request("PUT", "/n.json", "6").status == 200)
            let socket = try one.socket()
            #expect(try socket.status(1, "p", "{\"p\":\"/m\",\"d\":7}") == "ok")
            let sent = try wait(for: 307, of: two, "GET", "/n.json?ns=test")
            #expect(sent.headers["location"] == "http://one.example:1/n.json?ns=test")
            // What is left in the other store is removed.
            let store = try PostgresStore(PostgresPlace(second))
            defer { store.close() }
            try store.dropNamespace(try #require(try store.namespace(named: "test")))
            #expect(try wait(for: 404, of: two, "GET", "/n.json?ns=test").status == 404)
          }
        }
      }
      let store = try PostgresStore(PostgresPlace(first))
      defer { store.close() }
      let namespace = try #require(try store.namespace(named: "test"))
      #expect(namespace.number == 1)
      #expect(namespace.head == 63)
      #expect(try StoreCheck.run(on: namespace, of: store).faults == [])
    }
  }

  /// Servers know namespaces by their numbers.
  @Test func aNamespaceThatIsDroppedAndMadeAnewIsAnotherOne() async throws {
    try await TestServer.onStore {
      let store = try PostgresStore(PostgresPlace(try #require(TestServer.store)))
      defer { store.close() }
      let drop = { try store.dropNamespace(try #require(try store.namespace(named: "test"))) }
      try await withServer { server in
        let target = "/n.json?ns=test"
        #expect(try server.request("PUT", target, "1").status == 200)
        try drop()
        #expect(try wait(for: 404, of: server, "GET", target).status == 404)
        try store.makeNamespace(named: "test")
        #expect(try wait(for: 200, of: server, "GET", target).body == "null")
        #expect(try server.request("PUT", target, "2").status == 200)
        // The server does not see that it was away.
        try drop()
        try store.makeNamespace(named: "test")
        #expect(try store.namespace(named: "test")?.number == 3)
        let end = ContinuousClock.now + StoreMoveTests.patience
        var body = ""
        while body != "null", ContinuousClock.now < end {
          body = try server.request("GET", target).body
        }
        #expect(body == "null")
      }
    }
  }

  private func setState(_ state: Int, in place: String) throws {
    try PostgresCluster.shared().run(sql: "UPDATE namespace SET state = \(state)", in: place)
  }

  /// Once, each session that wrote during a move was closed.
  @Test func writesWaitWhileTheirNamespaceIsMoved() async throws {
    try await TestServer.onStore {
      let first = try #require(TestServer.store)
      try await withServer { server in
        let (writer, reader) = (try server.socket(), try server.socket())
        #expect(try reader.status(1, "q", "{\"p\":\"/n\",\"h\":\"\"}") == "ok")
        let client = try server.client()
        try setState(1, in: first)
        try writer.ask(1, "p", "{\"p\":\"/n\",\"d\":1}")
        try writer.ask(2, "p", "{\"p\":\"/n\",\"d\":2}")
        try client.sendRequest("PUT", "/m.json", "3")
        // Who reads does not wait.
        for number in 2..<20 {
          #expect(try reader.status(number, "q", "{\"p\":\"/other\",\"h\":\"\"}") == "ok")
        }
        #expect(!writer.client.hasUnread && !client.hasUnread)
        try setState(0, in: first)
        for number in 1...2 {
          #expect(try writer.next() == json("{\"r\":\(number),\"b\":{\"s\":\"ok\",\"d\":\"\"}}"))
          let told = try json("{\"a\":\"d\",\"b\":{\"p\":\"n\",\"d\":\(number)}}")
          #expect(try reader.next() == told)
        }
        #expect(try client.readAnswer(to: "PUT").status == 200)
      }
    }
  }

  /// Once, no server could start then, so nothing of the store was served.
  @Test func aServerStartsWhileANamespaceIsMoved() async throws {
    let rules = "{\"rules\":{\".read\":true,\".write\":true,\"list\":{\".indexOn\":\"b\"}}}"
    try await TestServer.onStore {
      let first = try #require(TestServer.store)
      let store = try PostgresStore(PostgresPlace(first))
      defer { store.close() }
      try store.makeNamespace(named: "other")
      let namespace = try #require(try store.namespace(named: "test"))
      try store.writeRules(rules, of: namespace, now: 0)
      try PostgresCluster.shared().run(
        sql: "UPDATE namespace SET state = 1 WHERE name = 'test'", in: first)
      try await withServer { server in
        #expect(try server.request("PUT", "/n.json?ns=other", "1").status == 200)
        #expect(try server.request("GET", "/n.json?ns=test").body == "null")
        let writer = try server.client()
        try writer.sendRequest("PUT", "/n.json?ns=test", "2")
        #expect(try server.request("GET", "/n.json?ns=test").body == "null")
        #expect(!writer.hasUnread)
        try setState(0, in: first)
        #expect(try writer.readAnswer(to: "PUT").status == 200)
        // What could not be written at the start is.
        let end = ContinuousClock.now + StoreMoveTests.patience
        while try store.indexes(of: namespace.number).isEmpty {
          try #require(ContinuousClock.now < end)
        }
      }
    }
  }

  /// A client without names of writes takes every answer for the last word.
  @Test func aWriteThatWaitedForAMoveIsNotAnsweredButSentElsewhere() async throws {
    try await TestServer.onStore {
      let first = try #require(TestServer.store)
      let second = try emptyStore()
      try await withServer { server in
        let socket = try server.socket()
        try setState(1, in: first)
        try socket.ask(1, "p", "{\"p\":\"/n\",\"d\":1}")
        try move(from: first, to: second, address: "two.example:1")
        #expect(throws: (any Error).self) { _ = try socket.next() }
        // The server notices within a quarter of a second where the namespace is.
        let end = ContinuousClock.now + StoreMoveTests.patience
        var message = ""
        while !message.contains("two.example:1"), ContinuousClock.now < end {
          let next = try server.client()
          try next.openSocket("/.ws?v=5&ns=test")
          message = try next.readMessage()
        }
        #expect(message.contains("two.example:1"))
      }
    }
  }

  @Test func aMoveThatWasBrokenOffGoesOn() async throws {
    try await TestServer.onStore {
      let first = try #require(TestServer.store)
      let second = try emptyStore()
      try await withServer { server in
        #expect(try server.request("PUT", "/n.json", "1").status == 200)
        try move(from: first, to: second, address: "")
        // As if the end of the move had not come to the first store.
        try PostgresCluster.shared().run(
          sql: """
            UPDATE namespace SET state = 1;
            INSERT INTO meta SELECT 1, 'moving', '\(try movedNumber(second))'
            """, in: first)
        #expect(try wait(for: 200, of: server, "GET", "/n.json").body == "1")
        let (client, other) = (try server.client(), try server.client())
        try client.sendRequest("PUT", "/n.json", "2", headers: ["X-Runnel-Write": "me 7"])
        try other.sendRequest("PUT", "/n.json", "2")
        try move(from: first, to: second, address: "")
        let answer = try client.readAnswer(to: "PUT")
        #expect(answer.status == 503)
        // What became of an earlier attempt under this name is not known.
        #expect(
          answer.body.contains(
            "this attempt did nothing. Whether an earlier one under the name me 7"))
        #expect(try other.readAnswer(to: "PUT").body.contains("nothing was done"))
        #expect(try wait(for: 503, of: server, "GET", "/n.json").status == 503)
      }
    }
  }

  /// Once, its servers had never heard of it when the first clients were sent to them.
  @Test func aNamespaceIsReadInItsNewStoreBeforeItIsWrittenThere() async throws {
    try await TestServer.onStore {
      let first = try #require(TestServer.store)
      try await withServer { server in
        let answer = try server.request("PUT", "/n.json", "1")
        #expect(answer.status == 200)
      }
      try setState(1, in: first)
      try await withServer { server in
        #expect(try server.request("GET", "/n.json").body == "1")
        let client = try server.client()
        try client.sendRequest("PUT", "/n.json", "2")
        #expect(try server.request("GET", "/n.json").body == "1")
        try setState(0, in: first)
        #expect(try client.readAnswer(to: "PUT").status == 200)
      }
    }
  }

  @Test func aMoveThatWasBrokenOffAtItsEndIsCompleted() async throws {
    try await TestServer.onStore {
      let first = try #require(TestServer.store)
      let second = try emptyStore()
      let third = try emptyStore()
      try move(from: first, to: second, address: "")
      let store = try PostgresStore(PostgresPlace(second))
      defer { store.close() }
      #expect(try store.namespace(named: "test")?.state == .open)
      // As if it had not been opened there any more.
      let sql = "UPDATE namespace SET state = 1; INSERT INTO meta SELECT 1, 'moving.here', ''"
      try PostgresCluster.shared().run(sql: sql, in: second)
      let error = #expect(throws: PostgresError.self) {
        try move(from: second, to: third, address: "")
      }
      #expect(error?.message.contains("to this store is not complete") == true)
      try move(from: first, to: second, address: "")
      #expect(try store.namespace(named: "test")?.state == .open)
      try move(from: second, to: third, address: "")
    }
  }

  private func movedNumber(_ place: String) throws -> String {
    let connection = try PostgresConnection(PostgresPlace(place))
    defer { connection.close() }
    let result = try connection.perform([
      PostgresStatement("SELECT value FROM meta WHERE ns = 1 AND name = 'moving'")
    ])[0]
    return try #require(result.text(0, 0))
  }
}

import RunnelBase
@testable import RunnelServer
import RunnelSync
import Synchronization
import TestSupport
import Testing

/// Services over Socket.IO, as the packets of clients.
///
/// Source: services protocol, sections 4 to 7 and 13.
@Suite struct ServiceSocketTests {
  private func withServices(
    rules: String? = ServiceTesting.rules,
    _ change: @escaping (inout ServerConfiguration) -> Void = { _ in },
    _ body: (TestServer) async throws -> Void
  ) async throws {
    try await withServer(rules: rules) {
      ServiceTesting.configure(&$0)
      change(&$0)
    } _: {
      try await body($0)
    }
  }

  @Test(arguments: [3, 4])
  func theEventOfACallComesBeforeItsAnswer(version: Int) async throws {
    try await withServices { server in
      let client = try SocketIOClient(server, version: version)
      #expect(client.opening.hasPrefix("0{\"sid\":\""))
      let made = try client.call(["create", "messages", ["id": "a", "text": "é😀"], [:]])
      #expect(
        made == [
          #"42["messages created",{"id":"a","text":"é😀"}]"#,
          #"42["plain created",{"id":"a","text":"é😀"}]"#,
          #"[null,{"id":"a","text":"é😀"}]"#,
        ])
      let patched = try client.call(["patch", "messages", "a", ["n": 1]])
      #expect(patched.first == #"42["messages patched",{"id":"a","n":1,"text":"é😀"}]"#)
      let replaced = try client.call(["update", "messages", "a", ["n": 2]])
      #expect(replaced.first == #"42["messages updated",{"id":"a","n":2}]"#)
      let removed = try client.call(["remove", "messages", "a", .null])
      #expect(removed.first == #"42["messages removed",{"id":"a","n":2}]"#)
      #expect(removed.last == #"[null,{"id":"a","n":2}]"#)
    }
  }

  @Test func aCallForSeveralRecordsTellsAnEventForEach() async throws {
    try await withServices { server in
      let client = try SocketIOClient(server)
      _ = try client.call(["create", "messages", [["id": "a", "n": 1], ["id": "b", "n": 2]]])
      let told = try client.call([
        "patch", "messages", .null, ["f": 1], ["n": ["$in": [1, 2]]],
      ])
      #expect(told.filter { $0.hasPrefix("42[\"messages patched\"") }.count == 2)
      #expect(try JSONValue(parsing: told.last ?? "")[1]?.array?.count == 2)
      // Over a socket values keep their kinds.
      #expect(try client.ask(["find", "messages", ["n": "1"]])["total"] == 0)
      #expect(try client.ask(["find", "/messages/", ["n": 1]])["total"] == 1)
      #expect(try client.ask(["messages::find", ["n": 1]])["total"] == 1)
    }
  }

  @Test(arguments: [
    (#"["nope","messages",{}]"#, 405, "Method 'nope' not allowed on service 'messages'"),
    (#"["find",["messages",{}]]"#, 404, "Invalid service path"),
    (#"["find"]"#, 404, "Invalid service path"),
    (#"["find","nosuch",{}]"#, 404, "Service 'nosuch' not found"),
    (#"["find","messages",{},{}]"#, 400, "Too many arguments for 'find' method"),
    (#"["find","messages","x"]"#, 400, "A query is an object."),
    (#"["get","messages",99,{}]"#, 404, "No record found for id '99'"),
    (#"["get","messages",null,{}]"#, 400, "id for 'get' can not be undefined"),
    (#"["get","messages",[1],{}]"#, 400, "An id is a text or a number."),
    (#"["find","hidden",{}]"#, 401, "Not authenticated"),
    (
      #"["find","authentication",{}]"#, 405,
      "Method 'find' not allowed on service 'authentication'"
    ),
    (
      #"["remove","authentication",null,{}]"#, 401,
      "Invalid authentication information (no `strategy` set)"
    ),
  ])
  func wrongCallsAreAnswered(call: String, code: Int, message: String) async throws {
    try await withServices { server in
      let client = try SocketIOClient(server)
      let error = try client.ask(JSONValue(parsing: call))
      #expect(error["code"]?.int == code)
      #expect(error["message"] == .string(message))
      #expect(error["stack"] == nil)
    }
  }

  @Test(arguments: [
    #"42["disconnect"]"#, #"42{"a":1}"#, "42[]", "49", "4x", "2", "9", "",
    #"451-["f",{"_placeholder":true,"num":0}]"#,
  ])
  func whatIsNotUnderstoodEndsTheConnection(text: String) async throws {
    try await withServices { server in
      let client = try SocketIOClient(server)
      try client.send(text)
      #expect(try client.client.readClose() == 1000)
    }
  }

  @Test func anEventBeforeConnectingEndsTheConnection() async throws {
    try await withServices { server in
      let client = try SocketIOClient(server, connects: false)
      try client.send(#"420["find","messages",{}]"#)
      #expect(try client.client.readClose() == 1000)
    }
  }

  @Test func otherNamespacesAreRefused() async throws {
    try await withServices { server in
      let client = try SocketIOClient(server)
      try client.send("40/admin,")
      #expect(try client.next() == #"44/admin,{"message":"Invalid namespace"}"#)
      let old = try SocketIOClient(server, version: 3)
      try old.send("40/admin,")
      #expect(try old.next() == #"44/admin,"Invalid namespace""#)
      #expect(try old.ask(["find", "messages"])["total"] == 0)
    }
  }

  // MARK: Signing in

  @Test func whoSignsInMayDoMoreUntilSigningOut() async throws {
    try await withServices { server in
      let client = try SocketIOClient(server)
      let note: JSONValue = ["create", "chat/notes", ["id": "n", "owner": "ana"]]
      #expect(try client.ask(note)["code"] == 401)
      try client.logIn("ana")
      #expect(try client.ask(note)["id"] == "n")
      #expect(try client.ask(["get", "chat/notes", "n"])["owner"] == "ana")
      #expect(try client.ask(["remove", "authentication", .null])["user"]?["id"] == "ana")
      #expect(try client.ask(["get", "chat/notes", "n"])["code"] == 401)
      // The events of old clients.
      let token = JSONValue.string(ServiceTesting.token("ana"))
      #expect(
        try client.ask(["authenticate", ["strategy": "jwt", "accessToken": token]])["accessToken"]
          == token)
      #expect(try client.ask(["get", "chat/notes", "n"])["owner"] == "ana")
      #expect(try client.ask(["logout"])["accessToken"] == token)
      #expect(try client.ask(["get", "chat/notes", "n"])["code"] == 401)
    }
  }

  @Test func aTokenInTheHandshakeSignsInOrRefuses() async throws {
    try await withServices { server in
      let client = try SocketIOClient(server, headers: ServiceTesting.bearer("ana"))
      #expect(
        try client.ask(["create", "chat/notes", ["id": "n", "owner": "ana"]])["id"] == "n")
      let wrong = try SocketIOClient(
        server, headers: ["Authorization": "Bearer garbage"], connects: false)
      try wrong.send("40")
      #expect(
        try wrong.next()
          == #"44{"message":"jwt malformed","data":{"name":"JsonWebTokenError"}}"#)
    }
  }

  // MARK: Events

  @Test func eventsReachThoseWhoMayRead() async throws {
    try await withServices { server in
      let (ana, bo, nobody) = (
        try SocketIOClient(server), try SocketIOClient(server), try SocketIOClient(server)
      )
      try ana.logIn("ana")
      try bo.logIn("bo")
      let headers = ServiceTesting.bearer("bo")
      let note = #"{"id":"n","owner":"bo","text":"x"}"#
      #expect(try server.request("POST", "/chat/notes", note, headers: headers).status == 201)
      #expect(
        try bo.next() == #"42["chat/notes created",{"id":"n","owner":"bo","text":"x"}]"#)
      // A write by another door is told, too.
      let owner = ["Authorization": "Bearer owner"]
      _ = try server.request("PATCH", "/notes/n.json", #"{"text":"y"}"#, headers: owner)
      #expect(
        try bo.next() == #"42["chat/notes patched",{"id":"n","owner":"bo","text":"y"}]"#)
      _ = try server.request("DELETE", "/notes.json", headers: owner)
      #expect(
        try bo.next() == #"42["chat/notes removed",{"id":"n","owner":"bo","text":"y"}]"#)
      for other in [ana, nobody] {
        // The answer comes first: no event was before it.
        #expect(try other.call(["find", "messages"]).count == 1)
      }
    }
  }

  @Test func whoMayNotReadARecordAnyMoreIsToldThatItIsGone() async throws {
    try await withServices { server in
      let (ana, bo) = (try SocketIOClient(server), try SocketIOClient(server))
      try ana.logIn("ana")
      try bo.logIn("bo")
      let note = #"{"id":"n","owner":"bo","text":"x"}"#
      let headers = ServiceTesting.bearer("bo")
      #expect(try server.request("POST", "/chat/notes", note, headers: headers).status == 201)
      #expect(
        try bo.next() == #"42["chat/notes created",{"id":"n","owner":"bo","text":"x"}]"#)
      let owner = ["Authorization": "Bearer owner"]
      _ = try server.request("PATCH", "/notes/n.json", #"{"owner":"ana"}"#, headers: owner)
      #expect(try bo.next() == #"42["chat/notes removed",{"id":"n"}]"#)
      #expect(
        try ana.next() == #"42["chat/notes patched",{"id":"n","owner":"ana","text":"x"}]"#)
    }
  }

  @Test func afterTooManyChangesClientsConnectAnew() async throws {
    try await withServices { server in
      let client = try SocketIOClient(server)
      let members = (0..<1001).map { JSONMember("k\($0)", ["n": 1]) }
      let answer = try server.request(
        "PUT", "/messages.json", JSONValue.object(members).jsonText())
      #expect(answer.status == 200)
      #expect(try client.client.readClose() == 1000)
    }
  }

  /// Who does not know that it was done does it again.
  @Test func whoChangesTooManyRecordsGetsTheAnswerFirst() async throws {
    let records = (0..<1001).map { JSONValue.object([JSONMember("id", .string("k\($0)"))]) }
    let calls: [JSONValue] = [
      ["create", "messages", .array(records)], ["patch", "messages", .null, ["n": 1]],
      ["remove", "messages", .null],
    ]
    try await withServices { server in
      for call in calls {
        let (client, other) = (try SocketIOClient(server), try SocketIOClient(server))
        let told = try client.call(call)
        #expect(told.count == 1)
        #expect(try JSONValue(parsing: told.last ?? "")[1]?.array?.count == 1001)
        for ended in [client, other] {
          let closing = try ended.client.readCloseReason()
          #expect(closing.code == 1000)
          #expect(closing.text.hasPrefix("Too many records were changed"))
        }
      }
      #expect(try SocketIOClient(server).ask(["find", "messages"])["total"] == 0)
    }
  }

  @Test func whatCannotBeTakenIsNamedToTheClientAndInTheLog() async throws {
    let texts = Mutex<[String]>([])
    let log = try LogLines { line in
      texts.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
    }
    try await TestServer.$lines.withValue(log) {
      try await withServices {
        ($0.jsonDepthMax, $0.logsRequests) = (10, true)
      } _: { server in
        let large = try SocketIOClient(server)
        try large.send("42" + String(repeating: "x", count: 1_000_000))
        let (code, text) = try large.client.readCloseReason()
        #expect(code == 1009)
        #expect(text == "A packet has 1000001 bytes, and at most 1000000 are taken.")
        let deep = try SocketIOClient(server)
        try deep.send("42" + String(repeating: "[", count: 20))
        #expect(
          try deep.client.readCloseReason().text == "A packet is nested deeper than 10 levels.")
      }
    }
    log.flush()
    let ended = texts.withLock { $0 }.filter { $0.contains(#""event":"disconnected""#) }
    #expect(ended.contains { $0.contains("A packet has 1000001 bytes") })
    #expect(ended.contains { $0.contains("A packet is nested deeper than 10 levels.") })
  }

  @Test func writesOfOtherProcessesAreTold() async throws {
    try await withServices { server in
      let client = try SocketIOClient(server)
      try OtherProcess.write(["messages/a": ["n": 1]], to: server.file)
      #expect(try client.next() == #"42["messages updated",{"id":"a","n":1}]"#)
      #expect(try client.next() == #"42["plain updated",{"id":"a","n":1}]"#)
      try OtherProcess.write(["messages/a": nil], to: server.file)
      #expect(try client.next() == #"42["messages removed",{"id":"a"}]"#)
    }
  }

  // MARK: Times

  @Test func whenATokenEndsTheClientConnectsAnew() async throws {
    let clock = MovableClock()
    try await withServices {
      $0.isEmulator = false
      $0.calendar = { clock.now }
      $0.services.times.pingInterval = 20
    } _: { server in
      var secrets = try ServerSecrets(file: "/nowhere")
      let added = secrets.add("t", now: 0)
      let secret = try #require(added).text
      try secrets.write(to: ServerSecrets.file(beside: server.file))
      await server.server.reloadFiles()
      let second = clock.now / 1000
      let token = MatrixIdentity.signed(
        by: secret,
        [
          "iat": .number(JSONNumber(second)), "exp": .number(JSONNumber(second + 60)),
          "d": ["uid": "ana"],
        ])
      let login: JSONValue = [
        "create", "authentication", ["strategy": "jwt", "accessToken": .string(token)],
      ]
      let client = try SocketIOClient(server)
      #expect(try client.ask(login)["user"]?["id"] == "ana")
      let note: JSONValue = ["create", "chat/notes", ["id": "n", "owner": "ana"]]
      #expect(try client.ask(note)["id"] == "n")
      clock.advance(61_000)
      #expect(try client.next() == "41")
      try client.send("40")
      #expect(try client.next().hasPrefix("40{\"sid\":"))
      #expect(try client.ask(["get", "chat/notes", "n"])["code"] == 401)
      #expect(try client.ask(login)["message"] == "jwt expired")
    }
  }

  @Test func aClientThatNeverConnectsIsDropped() async throws {
    try await withServices {
      $0.services.times.connectTimeout = 50
    } _: { server in
      let client = try SocketIOClient(server, connects: false)
      #expect(try client.client.readClose() == 1000)
    }
  }

  @Test func aClientWithoutASignOfLifeIsDropped() async throws {
    try await withServices {
      ($0.services.times.pingInterval, $0.services.times.pingTimeout) = (30, 30)
    } _: { server in
      for version in [3, 4] {
        let client = try SocketIOClient(server, version: version)
        #expect(try client.client.readClose() == 1000)
      }
    }
  }

  @Test func aServerThatEndsSaysSo() async throws {
    let server = try await TestServer(rules: ServiceTesting.rules, ServiceTesting.configure)
    let client = try SocketIOClient(server)
    await server.stop()
    #expect(try client.client.readClose() == 1001)
  }

  @Test func callsBeyondTheLimitWaitAndNoneIsLost() async throws {
    try await withServices {
      $0.wire.requestsMax = 2
    } _: { server in
      let client = try SocketIOClient(server)
      let frames = (0..<200).flatMap {
        RawClient.frame(1, Array(#"42\#($0)["get","messages","x"]"#.utf8))
      }
      try client.client.send(frames)
      for number in 0..<200 {
        #expect(try client.next().hasPrefix(#"43\#(number)[{"name":"NotFound""#))
      }
    }
  }
}

import Glibc
import RunnelBase
import RunnelDatabase
import RunnelServer
import TestSupport
import Testing

// Exchanges of the specification over real sockets. Source: wire protocol, sections A4 to A7.

@Suite struct SocketTests {
  @Test func theTranscriptOfTheClientIsAnsweredAsRecorded() async throws {
    try await withServer { server in
      _ = try server.request(
        "PUT", "/.json", "{\"list\":{\"a\":1,\"b\":2,\"c\":3},\"counter\":42}")
      let socket = try server.socket("/.ws?v=5&p=1:app&ns=test")
      #expect(socket.handshake["d"]?["d"]?["v"] == "5")
      #expect(socket.handshake["d"]?["d"]?["h"] == "localhost")
      try socket.ask(1, "s", "{\"c\":{\"sdk.node.11-0-0\":1}}")
      #expect(try socket.next() == json("{\"r\":1,\"b\":{\"s\":\"ok\",\"d\":\"\"}}"))
      try socket.ask(2, "gauth", "{\"cred\":\"owner\"}")
      #expect(try socket.next()["b"]?["s"] == "ok")
      try socket.ask(
        3, "q", "{\"p\":\"/list\",\"q\":{\"l\":2,\"vf\":\"r\",\"i\":\".key\"},\"t\":1,\"h\":\"\"}")
      #expect(
        try socket.next()
          == json("{\"a\":\"d\",\"b\":{\"p\":\"list\",\"d\":{\"b\":2,\"c\":3},\"t\":1}}"))
      #expect(try socket.next() == json("{\"r\":3,\"b\":{\"s\":\"ok\",\"d\":{}}}"))
      _ = try server.request("PUT", "/list/d.json", "4")
      #expect(
        try socket.next()
          == json("{\"a\":\"m\",\"b\":{\"p\":\"list\",\"d\":{\"d\":4,\"b\":null},\"t\":1}}"))
      try transaction(on: socket)
      try farewell(on: socket, server)
    }
  }

  /// A client need not wait for the answer to the upgrade.
  @Test func framesBehindTheUpgradeAreHandled() async throws {
    try await withServer { server in
      let client = try server.client()
      let headers = RawClient.upgrade.map { "\($0): \($1)\r\n" }.joined()
      let head = "GET /.ws?v=5&ns=test HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n"
      let put = #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/ä","d":"ä"}}}"#
      try client.send(Array(head.utf8) + RawClient.frame(1, Array(put.utf8)))
      #expect(try client.readHead().status == 101)
      _ = try client.readMessage()
      #expect(try client.readMessage().contains("\"ok\""))
    }
  }

  /// A transaction whose first attempt was for an empty place.
  private func transaction(on socket: Socket) throws {
    try socket.ask(4, "q", "{\"p\":\"/counter\",\"h\":\"\"}")
    #expect(try socket.next() == json("{\"a\":\"d\",\"b\":{\"p\":\"counter\",\"d\":42}}"))
    #expect(try socket.next()["b"]?["s"] == "ok")
    try socket.ask(5, "p", "{\"p\":\"/counter\",\"d\":1,\"h\":\"\"}")
    #expect(try socket.next() == json("{\"a\":\"d\",\"b\":{\"p\":\"counter\",\"d\":42}}"))
    #expect(try socket.next()["b"]?["s"] == "datastale")
    try socket.ask(
      6, "p", "{\"p\":\"/counter\",\"d\":43,\"h\":\"bQ5XV5L9riGZgerGMb/8Z87RxeI=\"}")
    #expect(try socket.next() == json("{\"a\":\"d\",\"b\":{\"p\":\"counter\",\"d\":43}}"))
    #expect(try socket.next() == json("{\"r\":6,\"b\":{\"s\":\"ok\",\"d\":\"\"}}"))
    #expect(try socket.status(7, "n", "{\"p\":\"/counter\"}") == "ok")
    #expect(
      try socket.status(
        9, "g",
        "{\"p\":\"/d\",\"q\":{\"sp\":3,\"sn\":\"[MAX_NAME]\",\"sin\":false,\"i\":\"height\"}}")
        == "ok")
  }

  /// It was told as too long.
  @Test func framesOutOfOrderAreToldAsThat() async throws {
    try await withServer { server in
      let continuation = try server.socket()
      try continuation.client.send(RawClient.frame(0, Array("x".utf8)))
      #expect(try continuation.client.readClose() == 1002)
      let twice = try server.socket()
      var begun = RawClient.frame(1, Array("x".utf8))
      begun[0] &= 0x7F
      try twice.client.send(begun + RawClient.frame(1, Array("y".utf8)))
      #expect(try twice.client.readClose() == 1002)
    }
  }

  /// Disconnect writes, a message in pieces, and a connection that takes over.
  private func farewell(on socket: Socket, _ server: TestServer) throws {
    #expect(
      try socket.status(
        11, "o", "{\"p\":\"/p\",\"d\":{\"at\":{\".sv\":\"timestamp\"},\"state\":\"off\"}}")
        == "ok")
    let long = String(repeating: "x", count: 40_000)
    let text =
      "{\"t\":\"d\",\"d\":{\"r\":12,\"a\":\"p\",\"b\":{\"p\":\"/big\",\"d\":\"\(long)\"}}}"
    var pieces: [Substring] = []
    var rest = text[...]
    while !rest.isEmpty {
      pieces.append(rest.prefix(16_384))
      rest = rest.dropFirst(16_384)
    }
    try socket.send(String(pieces.count))
    for piece in pieces { try socket.send(String(piece)) }
    #expect(try socket.next() == json("{\"r\":12,\"b\":{\"s\":\"ok\",\"d\":\"\"}}"))
    let next = try server.socket("/.ws?v=5&ls=\(socket.session)&p=1:app&ns=test")
    #expect(try socket.client.readClose() == 1000)
    try next.ask(14, "q", "{\"p\":\"/p/state\",\"h\":\"\"}")
    var message = try next.next()
    // The push of the disconnect write may come after the answer to the listen.
    if message["r"] != nil { message = try next.next() }
    #expect(message == (try json("{\"a\":\"d\",\"b\":{\"p\":\"p/state\",\"d\":\"off\"}}")))
  }

  @Test func pingsOfAllKindsAreAnswered() async throws {
    try await withServer { server in
      let socket = try server.socket()
      try socket.send("0")
      try socket.send("{\"t\":\"c\",\"d\":{\"t\":\"p\",\"d\":{}}}")
      #expect(try socket.next() == json("{\"t\":\"o\",\"d\":{}}"))
      try socket.client.send([0x89, 0x82, 1, 2, 3, 4, 9 ^ 1, 8 ^ 2])
      let (opcode, payload) = try socket.client.readFrame()
      #expect(opcode == 10)
      #expect(payload == [9, 8])
    }
  }

  @Test func anAdministratorsCredentialMayActForAnotherUser() async throws {
    let rules = "{\"rules\":{\"$user\":{\".read\":\"auth.uid === $user\"}}}"
    try await withServer(rules: rules) { server in
      let socket = try server.socket()
      #expect(try socket.status(1, "q", "{\"p\":\"/ana\",\"h\":\"\"}") == "permission_denied")
      #expect(try socket.status(2, "auth", "{\"cred\":\"garbage\"}") == "invalid_token")
      #expect(
        try socket.status(3, "gauth", "{\"cred\":\"owner\",\"authvar\":{\"uid\":\"ana\"}}")
          == "ok")
      #expect(try socket.status(4, "q", "{\"p\":\"/ana\",\"h\":\"\"}") == "ok")
      #expect(try socket.status(5, "g", "{\"p\":\"/bo\",\"q\":{}}") == "permission_denied")
      try socket.ask(6, "unauth", "{}")
      var messages = [try socket.nextText(), try socket.nextText()]
      messages.sort()
      #expect(messages[0] == "{\"a\":\"c\",\"b\":{\"p\":\"/ana\"}}")
      #expect(messages[1].contains("\"r\":6"))
    }
  }

  @Test func writesOfOtherProcessesAreSentToListeners() async throws {
    try await withServer { server in
      let socket = try server.socket()
      #expect(try socket.status(1, "q", "{\"p\":\"/x\",\"h\":\"\"}") == "ok")
      try OtherProcess.write(["x": 5], to: server.file)
      #expect(try socket.next() == json("{\"a\":\"d\",\"b\":{\"p\":\"x\",\"d\":5}}"))
      try OtherProcess.write(["x": nil], to: server.file)
      #expect(try socket.next() == json("{\"a\":\"d\",\"b\":{\"p\":\"x\",\"d\":null}}"))
    }
  }

  /// Once, they noticed it when they looked by themselves: the beacon, which they watch, was not touched.
  @Test func otherProcessesAreWokenByAWrite() async throws {
    try await withServer { server in
      let beacon = server.file + "-notify"
      let long = [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)]
      #expect(utimes(beacon, long) == 0)
      let answer = try server.request("PUT", "/x.json", "5")
      #expect(answer.status == 200)
      for _ in 0..<2_000 where Self.seconds(of: beacon) == 1 { _ = poll(nil, 0, 10) }
      #expect(Self.seconds(of: beacon) > 1)
    }
  }

  /// When a file was touched, in seconds since 1970; 0 if there is none.
  private static func seconds(of file: String) -> Int {
    var status = stat()
    return stat(file, &status) == 0 ? status.st_mtim.tv_sec : 0
  }

  @Test func manyListenersAreToldManyWritesInOrder() async throws {
    try await withServer { server in
      let sockets = try (0..<12).map { _ in try server.socket() }
      for socket in sockets {
        #expect(try socket.status(1, "q", "{\"p\":\"/m\",\"h\":\"\"}") == "ok")
      }
      let numbers = (2..<42).map { JSONValue.number(JSONNumber(Int64($0))) }
      for number in 2..<42 {
        try sockets[3].ask(number, "p", "{\"p\":\"/m\",\"d\":\(number)}")
      }
      // Who writes is told of each write before its answer.
      for number in numbers {
        #expect(try sockets[3].next()["b"]?["d"] == number)
        #expect(try sockets[3].next()["r"] == number)
      }
      for (index, socket) in sockets.enumerated() where index != 3 {
        #expect(try numbers.map { _ in try socket.next()["b"]?["d"] } == numbers)
      }
      // Others are told in one go of writes by who does not listen, and streams are told too.
      let stream = try server.client()
      try stream.sendRequest("GET", "/m.json", headers: ["Accept": "text/event-stream"])
      #expect(try stream.readHead().status == 200)
      #expect(try stream.readEvent().data == "{\"path\":\"/\",\"data\":41}")
      let writer = try server.socket()
      for number in 2..<42 { try writer.ask(number, "p", "{\"p\":\"/m\",\"d\":\(-number)}") }
      for socket in sockets {
        for number in 2..<42 { #expect(try socket.next()["b"]?["d"]?.jsonText() == "\(-number)") }
      }
      for number in 2..<42 {
        #expect(try stream.readEvent().data == "{\"path\":\"/\",\"data\":\(-number)}")
      }
    }
  }

  @Test func aWriteThatIsSentAgainIsDoneOnce() async throws {
    try await withServer { server in
      let socket = try server.socket()
      #expect(socket.handshake["d"]?["d"]?["x"] == ["w", "hs"])
      let body = "{\"p\":\"/n\",\"d\":{\".sv\":{\"increment\":1}},\"w\":[\"client\",1]}"
      #expect(try socket.status(1, "p", body) == "ok")
      #expect(try socket.status(2, "p", body) == "ok")
      #expect(try server.request("GET", "/n.json").body == "1")
    }
  }

  @Test func noSocketOpensForAnUnknownNameOrVersion() async throws {
    try await withServer { server in
      for target in ["/.ws?v=5&ns=other", "/.ws?v=4&ns=test", "/.ws", "/.lp?v=5"] {
        let client = try server.client()
        let answer = try client.request("GET", target, headers: RawClient.upgrade)
        #expect(answer.status == 404)
        #expect(answer.headers["connection"] == "close")
        #expect(client.isClosed())
      }
    }
  }

  /// Source: RFC 6455, section 4.2.1.
  @Test func noSocketOpensForARequestThatMayNotAskForOne() async throws {
    try await withServer { server in
      let target = "/.ws?v=5&ns=test"
      let post = try server.request("POST", target, headers: RawClient.upgrade)
      #expect(post.status == 404)
      for key in ["a", "", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZT=="] {
        let headers = RawClient.upgrade.merging(["Sec-WebSocket-Key": key]) { $1 }
        #expect(try server.request("GET", target, headers: headers).status == 404, "\(key)")
      }
      let body = try server.request("GET", target, "12345", headers: RawClient.upgrade)
      #expect(body.status == 404)
    }
  }

  @Test func aConnectionThatHasServedRequestsBecomesASocket() async throws {
    try await withServer { server in
      let client = try server.client()
      for number in 0..<3 {
        #expect(try client.request("PUT", "/n.json", "\(number)").status == 200)
        #expect(try client.request("GET", "/n.json").body == "\(number)")
      }
      let socket = try Socket(client, "/.ws?v=5&ns=test")
      #expect(try socket.status(1, "p", "{\"p\":\"/n\",\"d\":7}") == "ok")
      #expect(try server.request("GET", "/n.json").body == "7")
      // Frames behind the request, in the same bytes, are not lost.
      let other = try server.client()
      #expect(try other.request("GET", "/n.json").body == "7")
      let message = "{\"t\":\"d\",\"d\":{\"r\":1,\"a\":\"p\",\"b\":{\"p\":\"/n\",\"d\":8}}}"
      let frame = RawClient.frame(1, Array(message.utf8))
      try other.send(SocketTests.upgradeBytes + frame)
      #expect(try other.readHead().status == 101)
      _ = try other.readMessage()
      #expect(try other.readMessage().contains("\"ok\""))
    }
  }

  @Test func anUpgradeBehindAnUnansweredRequestIsAnOrdinaryRequest() async throws {
    try await withServer { server in
      for _ in 0..<20 {
        let client = try server.client()
        let first = Array("GET /x.json HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        try client.send(
          first + first + SocketTests.upgradeBytes + RawClient.frame(1, Array("{}".utf8)))
        // Whether the last one waited for the others or not: all are answered, and nothing fails.
        #expect(try client.readAnswer().body == "null")
        #expect(try client.readAnswer().body == "null")
        let status = try client.readHead().status
        #expect(status == 101 || (400..<500).contains(status), "\(status)")
      }
      #expect(try server.request("GET", "/x.json").status == 200)
    }
  }

  /// A request for a socket, as bytes.
  private static let upgradeBytes: [UInt8] = {
    var head = "GET /.ws?v=5&ns=test HTTP/1.1\r\nHost: localhost\r\n"
    for (name, value) in RawClient.upgrade.sorted(by: { $0.key < $1.key }) {
      head += "\(name): \(value)\r\n"
    }
    return Array((head + "\r\n").utf8)
  }()

  @Test func aRequestThatIsNotUpgradedGetsAnOrdinaryAnswer() async throws {
    try await withServer { server in
      let upgrade = [
        "Upgrade": "h2c", "Connection": "Upgrade, HTTP2-Settings", "HTTP2-Settings": "A",
      ]
      let answer = try server.request("GET", "/x.json", headers: upgrade)
      #expect(answer.body == "null")
    }
  }
}

import Foundation
import RunnelBase
import RunnelServer
import RunnelTree
import TestSupport
import Testing

/// A listen to much data holds up nobody else, and is told all in order.
@Suite struct SlowReadTests {
  private static let recordCount = 2000
  private static let text = String(repeating: "x", count: 200)

  /// A document that is too large for the tree's thread.
  private static var document: String {
    let members = (0..<recordCount).map { "\"k\($0)\":{\"t\":\"\(text)\",\"n\":\($0)}" }
    return "{\(members.joined(separator: ","))}"
  }

  /// Runs `body` with a server that has the document at `/big`.
  private func withBig(_ body: (TestServer) async throws -> Void) async throws {
    try await withServer { server in
      #expect(try server.request("PUT", "/big.json", Self.document).status == 200)
      try await body(server)
    }
  }

  private func document() throws -> Node { try Node(json: json(Self.document)) }

  private func hash(_ server: TestServer) throws -> String {
    let answer = try server.request("GET", "/big.json", headers: ["X-Firebase-ETag": "true"])
    return try #require(answer.headers["etag"])
  }

  private func listen(
    _ socket: Socket, _ number: Int, _ path: String = "/big", hash: String = ""
  ) throws {
    try socket.ask(number, "q", "{\"p\":\"\(path)\",\"h\":\"\(hash)\"}")
  }

  @Test func smallRequestsDoNotWaitForALargeListen() async throws {
    try await withServer { server in
      // Hundreds of milliseconds of reading.
      let large = (0..<6).map { "\"d\($0)\":\(Self.document)" }.joined(separator: ",")
      #expect(try server.request("PUT", "/large.json", "{\(large)}").status == 200)
      let (listener, other) = (try server.socket(), try server.socket())
      try listen(listener, 1, "/large")
      #expect(try other.status(1, "p", "{\"p\":\"/x\",\"d\":1}") == "ok")
      #expect(try other.status(2, "g", "{\"p\":\"/x\"}") == "ok")
      #expect(!listener.client.hasUnread)
      #expect(try listener.next()["a"] == "d")
      #expect(try listener.next()["b"]?["s"] == "ok")
    }
  }

  @Test func writesDuringALargeListenAreToldInOrder() async throws {
    try await withBig { server in
      let (listener, writer) = (try server.socket(), try server.socket())
      // So many listen that they are told together.
      let others = try (0..<9).map { _ in try server.socket() }
      for socket in others + [listener] {
        #expect(try socket.status(1, "q", "{\"p\":\"/small\",\"h\":\"\"}") == "ok")
      }
      try listen(listener, 2)
      try listener.ask(3, "p", "{\"p\":\"/big/own\",\"d\":1}")
      for number in 0..<50 {
        let body = "{\"p\":\"/big/k\(number)/n\",\"d\":\(-number)}"
        #expect(try writer.status(number + 1, "p", body) == "ok")
        _ = try writer.status(1000 + number, "p", "{\"p\":\"/small\",\"d\":\(number)}")
      }
      #expect(try writer.status(2000, "p", "{\"p\":\"/big/end\",\"d\":true}") == "ok")
      var shown = Node.empty
      var (answers, small): ([JSONValue?], [JSONValue?]) = ([], [])
      let (big, own, end) = (try Path("/big"), try Path("/big/own"), try Path("/big/end"))
      // What a connection asks for after a large listen may be done after all that others wrote meanwhile.
      while shown[end].isEmpty || answers.count < 2 {
        let message = try listener.next()
        if message["r"] != nil {
          answers.append(message["r"])
          if message["r"] == 2 { #expect(!shown[big].isEmpty) }
          if message["r"] == 3 { #expect(!shown[own].isEmpty) }
          continue
        }
        let path = try Path("/" + #require(message["b"]?["p"]?.string))
        let value = try #require(message["b"]?["d"])
        if path.description == "/small" { small.append(value) }
        shown = shown.replacing(path, with: try Node(json: value))
      }
      #expect(answers == [2, 3])
      #expect(small == (0..<50).map { JSONValue.number(JSONNumber(Int64($0))) })
      for socket in others {
        #expect(try (0..<50).map { _ in try socket.next()["b"]?["d"] } == small)
      }
      let stored = try Node(json: json(server.request("GET", "/big.json?format=export").body))
      #expect(shown[big] == stored)
    }
  }

  @Test func writesDuringALargeStreamAreToldInOrder() async throws {
    try await withBig { server in
      let (client, writer) = (try server.client(), try server.socket())
      try client.sendRequest("GET", "/big.json", headers: ["Accept": "text/event-stream"])
      for number in 0..<50 {
        let body = "{\"p\":\"/big/k\(number)/n\",\"d\":\(-number)}"
        #expect(try writer.status(number + 1, "p", body) == "ok")
      }
      // The stream begins before this write, or with it.
      #expect(try writer.status(2000, "p", "{\"p\":\"/big/end\",\"d\":true}") == "ok")
      #expect(try client.readHead().status == 200)
      var shown = Node.empty
      let end = try Path("/end")
      repeat {
        let (name, data) = try client.readEvent()
        #expect(name == "put")
        let event = try json(data)
        let path = try Path(#require(event["path"]?.string))
        shown = shown.replacing(path, with: try Node(json: #require(event["data"])))
      } while shown[end].isEmpty
      let stored = try Node(json: json(server.request("GET", "/big.json").body))
      #expect(shown == stored)
    }
  }

  @Test(arguments: ["/none.json?orderBy=%22x%22", "/big.json?orderBy=%22n%22"])
  func aStreamThatMayNotBeReadIsRefusedHoweverLargeItIs(target: String) async throws {
    let rules = "{\"rules\":{\"big\":{\".read\":true}}}"
    let owner = ["Authorization": "Bearer owner"]
    try await withServer(rules: rules) { server in
      let put = try server.request("PUT", "/big.json", Self.document, headers: owner)
      #expect(put.status == 200)
      let headers = ["Accept": "text/event-stream"]
      #expect(try server.request("GET", target, headers: headers).status >= 400)
      #expect(try server.request("GET", "/.json", headers: headers).status == 401)
    }
  }

  @Test func aLargeWindowIsAnsweredWithWhatIsThere() async throws {
    try await withBig { server in
      let socket = try server.socket()
      try socket.ask(1, "g", "{\"p\":\"/big\",\"q\":{\"sp\":\"k1\",\"i\":\".key\"}}")
      let told = try Node(json: #require(socket.next()["b"]?["d"]))
      #expect(Array(told.children).count == Self.recordCount - 1)
      let answer = try server.request("GET", "/big.json?orderBy=%22$key%22&startAt=%22k1%22")
      #expect(told == (try Node(json: json(answer.body))))
    }
  }

  @Test func manyWhoListenAtOnceAreToldTheSame() async throws {
    try await withBig { server in
      let sockets = try (0..<10).map { _ in try server.socket() }
      for socket in sockets { try listen(socket, 1) }
      var texts: Set<String> = []
      for socket in sockets {
        texts.insert(try #require(socket.next()["b"]?["d"]).jsonText())
        #expect(try socket.next()["b"]?["s"] == "ok")
      }
      #expect(texts.count == 1)
      let (told, expected) = try (Node(json: json(#require(texts.first))), document())
      #expect(told == expected)
      // Everybody is told what is written then.
      _ = try server.request("PUT", "/big/k7/n.json", "-1")
      for socket in sockets { #expect(try socket.next()["b"]?["p"] == "big/k7/n") }
    }
  }

  @Test(arguments: ["/big/k1/n", "/big/new", "/big", "/"])
  func oldHashIsNoLongerThatOfWhatWasWritten(place: String) async throws {
    try await withBig { server in
      let old = try hash(server)
      for number in 1...2 {
        let socket = try server.socket()
        try listen(socket, number, hash: old)
        #expect(try socket.next()["r"] == .number(JSONNumber(Int64(number))))
      }
      let value = place == "/" ? "{\"big\":\(Self.document),\"x\":1}" : "{\"big\":5,\"k1\":6}"
      let target = place == "/" ? "/.json" : place + ".json"
      #expect(try server.request("PUT", target, value).status == 200)
      let isSame = place == "/"
      let socket = try server.socket()
      try listen(socket, 1, hash: old)
      let message = try socket.next()
      #expect((message["a"] == nil) == isSame)
      let new = try hash(server)
      #expect((new == old) == isSame)
    }
  }

  @Test func largeReadIsAnsweredWithWhatIsThere() async throws {
    try await withBig { server in
      let socket = try server.socket()
      try socket.ask(1, "g", "{\"p\":\"/big\"}")
      try socket.ask(2, "p", "{\"p\":\"/big\",\"d\":1}")
      let answer = try socket.next()
      #expect(answer["r"] == 1)
      #expect(answer["b"]?["s"] == "ok")
      let (told, expected) = try (Node(json: #require(answer["b"]?["d"])), document())
      #expect(told == expected)
      #expect(try socket.next()["r"] == 2)
    }
  }

  @Test func whoLeavesDuringALargeListenHasItsLastWritesDone() async throws {
    try await withBig { server in
      let socket = try server.socket()
      #expect(try socket.status(1, "o", "{\"p\":\"/gone\",\"d\":true}") == "ok")
      for number in 2..<6 { try listen(socket, number, "/big") }
      socket.client.hangUp()
      for _ in 0..<100_000 {
        if try server.request("GET", "/gone.json").body == "true" { break }
      }
      #expect(try server.request("GET", "/gone.json").body == "true")
      #expect(try server.request("GET", "/big/k1/n.json").body == "1")
    }
  }
}

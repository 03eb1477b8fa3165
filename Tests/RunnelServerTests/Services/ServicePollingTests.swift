import RunnelBase
import RunnelServer
import RunnelSync
import TestSupport
import Testing

/// Services over Socket.IO by polling, as bytes.
///
/// Source: services protocol, sections 4.4, 4.6 and 4.7.
@Suite struct ServicePollingTests {
  private static let separator = "\u{1E}"

  private func withServices(
    _ change: @escaping (inout ServerConfiguration) -> Void = { _ in },
    _ body: (TestServer) async throws -> Void
  ) async throws {
    try await withServer(rules: ServiceTesting.rules) {
      ServiceTesting.configure(&$0)
      change(&$0)
    } _: {
      try await body($0)
    }
  }

  @Test func aSessionPollsForEventsAndAnswers() async throws {
    try await withServices { server in
      let client = try PollingClient(server)
      #expect(client.opening.hasPrefix("0{\"sid\":"))
      let posted = try client.post("40")
      #expect(posted.body == "ok")
      #expect(posted.headers["content-type"] == "text/html")
      #expect(try client.poll().hasPrefix("40{\"sid\":"))
      // A poll is held until there is something to say.
      try client.ask()
      try client.post(#"420["create","messages",{"id":"a"},{}]"#)
      var text = try client.answer().body
      while !text.contains("430[") { text += ServicePollingTests.separator + (try client.poll()) }
      #expect(
        text.split(separator: ServicePollingTests.separator) == [
          #"42["messages created",{"id":"a"}]"#, #"42["plain created",{"id":"a"}]"#,
          #"430[null,{"id":"a"}]"#,
        ])
      try client.post("1")
      #expect(try client.post("40").body == #"{"code":1,"message":"Session ID unknown"}"#)
    }
  }

  @Test func whoChangesTooManyRecordsGetsTheAnswerBeforeTheEnd() async throws {
    try await withServices { server in
      let client = try PollingClient(server)
      try client.post("40")
      _ = try client.poll()
      let records = (0..<1001).map { #"{"id":"k\#($0)"}"# }.joined(separator: ",")
      try client.post(#"420["create","messages",[\#(records)],{}]"#)
      let packets = try client.poll().split(separator: ServicePollingTests.separator)
      let answer = try JSONValue(parsing: String(packets.first?.dropFirst(3) ?? ""))
      #expect(answer[1]?.array?.count == 1001)
      // The end comes with the answer, or after it.
      let end = packets.count == 1 ? try client.poll() : String(packets[1])
      #expect(end == "1")
      #expect(try client.post("3").status == 400)
    }
  }

  @Test func oldClientsGetLengths() async throws {
    try await withServices { server in
      let client = try PollingClient(server, version: 3)
      #expect(client.opening.prefix { $0.isNumber }.count > 0)
      #expect(try client.poll() == "2:40")
      let call = #"420["get","messages","é😀"]"#
      try client.post("\(call.utf16.count):\(call)")
      #expect(try client.poll().hasSuffix(#""code":404,"className":"not-found"}]"#))
      try client.post("1:2")
      #expect(try client.poll() == "1:3")
    }
  }

  @Test func aSessionMovesToASocket() async throws {
    try await withServices { server in
      let client = try PollingClient(server)
      try client.post("40")
      _ = try client.poll()
      try client.ask()
      let socket = try server.client()
      try socket.openSocket(
        client.target.replacing("transport=polling", with: "transport=websocket"))
      try socket.sendText("2probe")
      #expect(try String(decoding: socket.readFrame().payload, as: UTF8.self) == "3probe")
      #expect(try client.answer().body == "6")
      try client.post(#"420["get","messages","x"]"#)
      try socket.sendText("5")
      #expect(try String(decoding: socket.readFrame().payload, as: UTF8.self).hasPrefix("430[{"))
      try socket.sendText(#"421["get","messages","x"]"#)
      #expect(try String(decoding: socket.readFrame().payload, as: UTF8.self).hasPrefix("431[{"))
      try client.ask()
      #expect(try client.answer().body == #"{"code":3,"message":"Bad request"}"#)
    }
  }

  @Test(arguments: [
    ("GET", "?EIO=4&transport=flash", 0, "Transport unknown"),
    ("GET", "?EIO=4", 0, "Transport unknown"),
    ("GET", "?EIO=4&transport=polling&sid=x", 1, "Session ID unknown"),
    ("POST", "?EIO=4&transport=polling", 2, "Bad handshake method"),
    ("GET", "?EIO=4&transport=websocket", 3, "Bad request"),
    ("GET", "?EIO=2&transport=polling", 5, "Unsupported protocol version"),
  ])
  func wrongRequestsAreRefused(
    method: String, query: String, code: Int, text: String
  ) async throws {
    try await withServices { server in
      let answer = try server.request(method, "/socket.io/" + query)
      #expect(answer.status == 400)
      #expect(answer.body == #"{"code":\#(code),"message":"\#(text)"}"#)
    }
  }

  @Test func withoutASlashItIsNoSession() async throws {
    try await withServices { server in
      let answer = try server.request("GET", "/socket.io?EIO=4&transport=polling")
      #expect(answer.status == 404)
    }
  }

  @Test func aSecondPollEndsTheSession() async throws {
    try await withServices { server in
      let client = try PollingClient(server)
      try client.post("40")
      _ = try client.poll()
      try client.ask()
      // The first one is there before the second, or the other way round.
      let second = try server.request("GET", client.target)
      let first = try client.answer()
      #expect(Set([first.body, second.body]) == ["1", ""])
      #expect(Set([first.status, second.status]) == [200, 400])
      #expect(try client.post("40").status == 400)
    }
  }

  @Test func aDamagedBodyEndsTheSession() async throws {
    try await withServices { server in
      let client = try PollingClient(server)
      try client.post("40")
      _ = try client.poll()
      try client.ask()
      #expect(try client.post("24:421[]").body == "ok")
      let poll = try client.answer()
      // The poll was there before the damaged body, or came after it.
      #expect(poll.body == "6\(ServicePollingTests.separator)1" || poll.status == 400)
      #expect(try client.post("40").status == 400)
    }
  }

  @Test func aLargeBodyIsRefused() async throws {
    try await withServices { server in
      let client = try PollingClient(server)
      #expect(try client.post(String(repeating: "4", count: 1_000_001)).status == 413)
    }
  }

  @Test func aPollThatIsCutEndsTheSession() async throws {
    try await withServices { server in
      let client = try PollingClient(server)
      try client.post("40")
      _ = try client.poll()
      try client.ask()
      client.hangUp()
      // The server hears of it in a moment.
      var status = 200
      for _ in 0..<10_000 where status == 200 { status = try client.post("43[]").status }
      #expect(status == 400)
    }
  }

  @Test func sessionsThatNobodyPollsEnd() async throws {
    try await withServices {
      ($0.services.times.pingInterval, $0.services.times.pingTimeout) = (20, 20)
    } _: { server in
      for version in [3, 4] {
        let idle = try PollingClient(server, version: version)
        var isOver = false
        for _ in 0..<100_000 where !isOver {
          isOver = server.server.metricsText.contains(
            "runnel_sessions_ended_total \(version - 2)\n")
        }
        #expect(try idle.post(version == 3 ? "1:2" : "3").status == 400)
      }
    }
  }

  @Test func aClientThatDoesNotPollIsNotRememberedForever() async throws {
    try await withServices {
      $0.wire.unsentBytesMax = 1000
    } _: { server in
      let client = try PollingClient(server)
      try client.post("40")
      _ = try client.poll()
      for number in 0..<100 {
        _ = try server.request("POST", "/messages", #"{"text":"\#(number) and more"}"#)
      }
      #expect(try client.post("43[]").status == 400)
      #expect(
        server.server.metricsText.contains("runnel_limit_reached_total{limit=\"max-unsent\"} 1"))
    }
  }

  /// As over a web socket, a large message does not count.
  @Test func aMessageThatIsLargerThanTheLimitIsFetched() async throws {
    try await withServices {
      $0.wire.unsentBytesMax = 1000
    } _: { server in
      let client = try PollingClient(server)
      try client.post("40")
      _ = try client.poll()
      let text = String(repeating: "x", count: 5000)
      let record = #"{"id":"a","text":"\#(text)"}"#
      // The poll that waits takes the first event; the record is shown by two services.
      try client.ask()
      #expect(try server.request("POST", "/plain", record).status == 201)
      var told = try client.answer().body
      while !told.contains("plain created") { told += try client.poll() }
      #expect(told.contains(text))
      #expect(try client.post(#"420["get","messages","a"]"#).body == "ok")
      #expect(try client.poll().contains(text))
      let metrics = server.server.metricsText
      #expect(metrics.contains("runnel_limit_reached_total{limit=\"max-unsent\"} 0"))
    }
  }

  @Test func onlyConfiguredOriginsMayRead() async throws {
    try await withServices {
      $0.allowedOrigins = ["https://app.example"]
    } _: { server in
      let app = ["Origin": "https://app.example"]
      for target in ["/messages", "/socket.io/?EIO=4&transport=polling"] {
        let answer = try server.request("GET", target, headers: app)
        #expect(answer.headers["access-control-allow-origin"] == "https://app.example")
        let other = try server.request("GET", target, headers: ["Origin": "https://b.example"])
        #expect(other.headers["access-control-allow-origin"] == nil)
      }
      let asked = try server.request("OPTIONS", "/messages", headers: app)
      #expect(asked.status == 204)
      #expect(asked.headers["access-control-allow-methods"]?.contains("PATCH") == true)
    }
  }
}

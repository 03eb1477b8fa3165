import RunnelNetwork
import RunnelServer
import RunnelSync
import TestSupport
import Testing

/// A client that takes nothing of what waits for it loses its connection, whatever kind it has.
@Suite struct StallTimeTests {
  /// More than a socket takes whose client does not read.
  private static let text = "\"" + String(repeating: "x", count: 9_000_000) + "\""

  private static func expectEnd(
    _ begin: (TestServer, RawClient) throws -> Void, sign: (RawClient) throws -> Void = { _ in }
  ) async throws {
    try await withServer({ $0.network.stallMilliseconds = 50 }) { server in
      for name in ["a", "b"] {
        let target = "/x/\(name).json?print=silent"
        #expect(try server.request("PUT", target, text).status == 204)
      }
      let lazy = try RawClient(port: server.port, receiveBytes: 4096)
      try begin(server, lazy)
      let client = try server.client()
      for _ in 0..<10_000 where server.server.metricsText.contains("{limit=\"stall-time\"} 0\n") {
        // It may be closed already.
        try? sign(lazy)
        #expect(try client.request("GET", "/n.json").status == 200)
      }
      #expect(!server.server.metricsText.contains("{limit=\"stall-time\"} 0\n"))
      #expect(lazy.isClosed())
    }
  }

  /// Signs of life do not help it.
  @Test func aSocketEnds() async throws {
    try await StallTimeTests.expectEnd { _, lazy in
      try Socket(lazy, "/.ws?v=5&ns=test").ask(1, "q", "{\"p\":\"/x\",\"h\":\"\"}")
    } sign: {
      try $0.sendText("0")
    }
  }

  @Test func anEventStreamEnds() async throws {
    try await StallTimeTests.expectEnd { _, lazy in
      try lazy.sendRequest("GET", "/x.json", headers: ["Accept": "text/event-stream"])
    }
  }

  /// A part of a message is a sign of life.
  @Test func whoSendsALargeMessageIsNotSilent() async throws {
    try await withServer({
      $0.wire.silenceMilliseconds = 100
      $0.wire.signMilliseconds = 900
    }) { server in
      let socket = try server.socket()
      let put = "{\"t\":\"d\",\"d\":{\"r\":1,\"a\":\"p\",\"b\":{\"p\":\"/x\",\"d\":1}}}"
      let padding = String(repeating: " ", count: 3000)
      var frame = RawClient.frame(1, Array((padding + put).utf8))[...]
      let end = ContinuousClock.now + .seconds(3)
      while ContinuousClock.now < end, frame.count > 200 {
        try socket.client.send(frame.prefix(1))
        frame = frame.dropFirst()
        _ = try server.request("GET", "/n.json")
      }
      try socket.client.send(frame)
      #expect(try socket.next() == json("{\"r\":1,\"b\":{\"s\":\"ok\",\"d\":\"\"}}"))
    }
  }

  /// The connection's idle time begins when the client has taken the answer.
  @Test func whoTakesTheAnswerSlowlyGetsAllOfIt() async throws {
    let idle = Duration.milliseconds(800)
    try await withServer({ $0.network.idleMilliseconds = 800 }) { server in
      let put = try server.request("PUT", "/x.json?print=silent", StallTimeTests.text)
      #expect(put.status == 204)
      for connection in ["keep-alive", "close"] {
        let slow = try RawClient(port: server.port, receiveBytes: 262_144)
        try slow.sendRequest("GET", "/x.json", headers: ["Connection": connection])
        // The server does other work while the answer waits.
        let end = ContinuousClock.now + idle * 2
        while ContinuousClock.now < end { _ = try? server.request("GET", "/n.json") }
        let answer = try slow.readAnswer()
        #expect(answer.status == 200)
        #expect(answer.body.utf8.count == StallTimeTests.text.utf8.count)
      }
    }
  }
}

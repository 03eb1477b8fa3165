import Foundation
import RunnelBase
import RunnelNetwork
@testable import RunnelServer
import RunnelSync
import TestSupport
import Testing

/// Each limit of the table is enforced and counted.
@Suite struct LimitTableTests {
  /// How a limit is reached.
  private struct Scenario: Sendable {
    /// The value of the limit, as in an option.
    var value: String
    /// Further changes to the server's configuration.
    var change: @Sendable (inout ServerConfiguration) -> Void = { _ in }
    /// Reaches the limit.
    var reach: @Sendable (TestServer) throws -> Void
  }

  private static let owner = ["Authorization": "Bearer owner"]
  private static let put = #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1}}}"#

  private static func text(_ count: Int) -> String {
    "\"" + String(repeating: "x", count: count) + "\""
  }

  /// Sends `puts` requests at once.
  private static func puts(_ count: Int, to server: TestServer) throws -> Socket {
    let socket = try server.socket()
    let frames = (0..<count).flatMap { _ in RawClient.frame(1, Array(put.utf8)) }
    try socket.client.send(frames)
    return socket
  }

  private static let scenarios: [String: Scenario] = connections.merging(requests) { $1 }
    .merging(sockets) { $1 }.merging(trees) { $1 }.merging(services) { $1 }

  private static let connections: [String: Scenario] = [
    "max-connections": Scenario(value: "2") { server throws in
      let clients = try (0..<2).map { _ in try server.client() }
      for client in clients { #expect(try client.request("GET", "/x.json").status == 200) }
      #expect(try server.client().isClosed())
      withExtendedLifetime(clients) {}
    },
    "connections-per-address": Scenario(value: "1") { server throws in
      let client = try server.client()
      #expect(try client.request("GET", "/x.json").status == 200)
      #expect(try server.client().isClosed())
      withExtendedLifetime(client) {}
    },
    "requests-per-second": Scenario(value: "20") { server throws in
      let client = try server.client()
      for _ in 0..<25 { #expect(try client.request("GET", "/x.json").status == 200) }
    },
    "bytes-per-second": Scenario(value: "100K") { server throws in
      #expect(try server.request("PUT", "/x.json", text(120_000)).status == 200)
    },
    "max-unsent": Scenario(value: "100K") { server throws in
      let lazy = try RawClient(port: server.port, receiveBytes: 4096)
      let socket = try Socket(lazy, "/.ws?v=5&ns=test")
      #expect(try socket.status(1, "q", "{\"p\":\"/x\",\"h\":\"\"}") == "ok")
      let client = try server.client()
      for number in 0..<200 where server.server.metricsText.contains("{limit=\"max-unsent\"} 0") {
        _ = try client.request("PUT", "/x.json?print=silent", text(400_000 + number))
      }
      #expect(throws: RawClient.Failure.self) { while true { _ = try lazy.readMessage() } }
    },
    "max-unsent-total": Scenario(value: "1M") { server throws in
      let lazy = try RawClient(port: server.port, receiveBytes: 4096)
      let socket = try Socket(lazy, "/.ws?v=5&ns=test")
      #expect(try socket.status(1, "q", "{\"p\":\"/x\",\"h\":\"\"}") == "ok")
      let client = try server.client()
      for number in 0..<200
      where server.server.metricsText.contains("{limit=\"max-unsent-total\"} 0") {
        _ = try client.request("PUT", "/x.json?print=silent", text(400_000 + number))
      }
      #expect(throws: RawClient.Failure.self) { while true { _ = try lazy.readMessage() } }
    },
    "handshake-time": Scenario(
      value: "50ms",
      change: { configuration in
        // Without the files the server does not start, and the test fails.
        configuration.tls = try? certificateFiles()
      },
      reach: { server throws in
        let client = try server.client()
        #expect(client.isClosed())
      }),
    "head-time": Scenario(value: "50ms") { server throws in
      let client = try server.client()
      try client.send("GET /x.json HT".utf8)
      #expect(client.isClosed())
    },
    "idle-time": Scenario(value: "50ms") { server throws in
      let client = try server.client()
      #expect(try client.request("GET", "/x.json").status == 200)
      #expect(client.isClosed())
    },
    "stall-time": Scenario(value: "50ms") { server throws in
      for name in ["a", "b"] {
        #expect(try server.request("PUT", "/x/\(name).json", text(9_000_000)).status == 200)
      }
      let lazy = try RawClient(port: server.port, receiveBytes: 4096)
      try lazy.sendRequest("GET", "/x.json")
      for _ in 0..<10_000 where server.server.metricsText.contains("{limit=\"stall-time\"} 0") {
        #expect(try server.request("GET", "/n.json").status == 200)
      }
      #expect(lazy.isClosed())
    },
  ]

  private static let requests: [String: Scenario] = [
    "max-head": Scenario(value: "1K") { server throws in
      let client = try server.client()
      try client.sendRequest("GET", "/x.json", headers: ["X-Long": text(2000)])
      let answer = try client.readAnswer()
      #expect(answer.status == 431)
      #expect(answer.body.contains("at most 1024 bytes (--max-head)"))
      #expect(answer.headers["x-runnel-limit"] == "max-head")
      #expect(client.isClosed())
    },
    "body-time": Scenario(value: "50ms") { server throws in
      let client = try server.client()
      try client.send("PUT /x.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n".utf8)
      #expect(client.isClosed())
    },
    "min-body-rate": Scenario(value: "1M", change: { $0.network.bodyMilliseconds = 50 }) {
      server throws in
      let client = try server.client()
      let head = "PUT /x.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
      try client.send((head + "1").utf8)
      #expect(client.isClosed())
    },
    "max-write": Scenario(value: "100") { server throws in
      let answer = try server.request("PUT", "/x.json", text(200))
      #expect(answer.status == 400)
      #expect(answer.body.contains("exceeds the maximum size"))
      #expect(answer.headers["x-runnel-limit"] == "max-write")
      let socket = try server.socket()
      #expect(try socket.status(1, "p", "{\"p\":\"/x\",\"d\":\(text(200))}") == "too_big")
    },
    "max-large-writes": Scenario(value: "1", change: { $0.rest.spoolBytesMin = 1000 }) {
      server throws in
      let head = "PUT /x.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3002\r\n\r\n"
      var (begun, status): ([RawClient], Int) = ([], 0)
      // Whichever comes first counts, and those that are only begun do not end.
      for _ in 0..<100 where status != 503 {
        let client = try server.client()
        try client.send((head + text(3000).prefix(2000)).utf8)
        begun.append(client)
        status = try server.request("PUT", "/y.json", text(2000)).status
      }
      #expect(status == 503)
      #expect(try server.request("PUT", "/y.json", text(500)).status == 200)
      #expect(try server.request("PUT", "/y.json", text(2000), headers: owner).status == 200)
      withExtendedLifetime(begun) {}
    },
    "max-import": Scenario(value: "1K", change: { $0.rest.spoolBytesMin = 100 }) { server throws in
      let small = try server.request("PUT", "/x.json", text(500), headers: owner)
      #expect(small.status == 200)
      let large = try server.request("PUT", "/x.json", text(2000), headers: owner)
      #expect(large.status == 400)
    },
    "max-read": Scenario(value: "1K") { server throws in
      #expect(try server.request("PUT", "/x.json", text(2000)).status == 200)
      let answer = try server.request("GET", "/x.json")
      #expect(answer.status == 400)
      #expect(answer.body.contains("more than 1024 bytes") && answer.body.contains("(--max-read)"))
      #expect(try server.request("GET", "/x.json", headers: owner).status == 200)
      let socket = try server.socket()
      #expect(try socket.status(1, "g", "{\"p\":\"/\"}") == "ok")
    },
    "read-time": Scenario(value: "1ms") { server throws in
      for name in ["a", "b", "c"] {
        #expect(try server.request("PUT", "/x/\(name).json", text(9_000_000)).status == 200)
      }
      let answer = try server.request("GET", "/x.json", headers: ["X-Firebase-ETag": "true"])
      #expect(answer.status == 400)
    },
  ]

  private static let sockets: [String: Scenario] = [
    "max-frame": Scenario(value: "1K") { server throws in
      let socket = try server.socket()
      try socket.send(text(2000))
      let (code, reason) = try socket.client.readCloseReason()
      #expect(code == 1009)
      #expect(reason == "A frame has more than 1024 bytes (--max-frame).")
      // The pieces of a message together.
      let pieces = try server.socket()
      var begun = RawClient.frame(1, Array(text(900).utf8))
      begun[0] &= 0x7F
      try pieces.client.send(begun + RawClient.frame(0, Array(text(900).utf8)))
      #expect(try pieces.client.readCloseReason().text.contains("(--max-frame)"))
    },
    "max-message": Scenario(value: "1K") { server throws in
      let socket = try server.socket()
      try socket.send("2")
      try socket.send(text(900))
      try socket.send(text(900))
      let (code, reason) = try socket.client.readCloseReason()
      #expect(code == 1009)
      #expect(reason == "A message has more than 1024 bytes (--max-message).")
    },
    "message-time": Scenario(value: "50ms") { server throws in
      let socket = try server.socket()
      try socket.send("3")
      #expect(try socket.client.readClose() == 1008)
    },
    "silence-time": Scenario(value: "50ms", change: { $0.wire.signMilliseconds = 50 }) {
      server throws in
      #expect(try server.socket().client.readClose() == 1001)
    },
    "listens-per-connection": Scenario(value: "1") { server throws in
      let socket = try server.socket()
      #expect(try socket.status(1, "q", "{\"p\":\"/a\",\"h\":\"\"}") == "ok")
      #expect(try socket.status(2, "q", "{\"p\":\"/b\",\"h\":\"\"}") == "failed")
    },
    "max-requests": Scenario(value: "1") { server throws in
      let socket = try puts(20, to: server)
      for _ in 0..<20 { #expect(try socket.next()["b"]?["s"] == "ok") }
    },
    "max-waiting": Scenario(value: "100", change: { $0.wire.requestsMax = 1 }) { server throws in
      #expect(try puts(200, to: server).client.readClose() == 1008)
    },
    "max-disconnect": Scenario(value: "10") { server throws in
      let socket = try server.socket()
      #expect(try socket.status(1, "o", "{\"p\":\"/a\",\"d\":\(text(20))}") == "too_big")
    },
  ]

  private static let trees: [String: Scenario] = [
    "max-json-depth": Scenario(value: "8") { server throws in
      func nested(_ count: Int) -> String {
        String(repeating: "[", count: count) + "1" + String(repeating: "]", count: count)
      }
      #expect(try server.request("PUT", "/a.json", nested(8)).status == 200)
      let answer = try server.request("PUT", "/a.json", nested(9))
      #expect(answer.status == 400 && answer.body.contains("(--max-json-depth)"))
      // Brackets in a text are not levels.
      #expect(try server.request("PUT", "/a.json", "\"\\\"\(nested(9))\"").status == 200)
      let socket = try server.socket()
      #expect(try socket.status(1, "p", "{\"p\":\"/a\",\"d\":\(nested(5))}") == "ok")
      try socket.ask(2, "p", "{\"p\":\"/a\",\"d\":\(nested(6))}")
      #expect(try socket.client.readClose() == 1002)
    },
    "max-depth": Scenario(value: "3") { server throws in
      #expect(try server.request("PUT", "/a/b.json", "{\"c\":1}").status == 200)
      #expect(try server.request("PUT", "/a.json", "{\"b\":{\"c\":{\"d\":1}}}").status == 400)
      #expect(try server.request("PATCH", "/a.json", "{\"b/c\":{\"d\":1}}").status == 400)
      #expect(try server.request("PUT", "/a/b/c.json", "{\".value\":1}").status == 200)
    },
    "max-rules-steps": Scenario(value: "20") { server throws in
      #expect(try server.request("GET", "/easy.json").status == 200)
      #expect(try server.request("GET", "/hard.json").status == 401)
    },
  ]

  private static let services: [String: Scenario] = [
    "max-service-sessions": Scenario(value: "1", change: ServiceTesting.configure) {
      server throws in
      _ = try PollingClient(server)
      let answer = try server.request("GET", "/socket.io/?EIO=4&transport=polling")
      #expect(answer.status == 503)
    },
    "service-sessions-per-address": Scenario(value: "1", change: ServiceTesting.configure) {
      server throws in
      let client = try SocketIOClient(server)
      #expect(throws: RawClient.Failure.self) { try SocketIOClient(server) }
      #expect(try client.ask(["find", "messages"])["total"] == 0)
    },
    "max-service-read": Scenario(value: "1K", change: ServiceTesting.configure) { server throws in
      let record = "{\"text\":\(text(2000))}"
      #expect(try server.request("POST", "/messages", record).status == 201)
      let answer = try server.request("GET", "/messages")
      #expect(answer.status == 400)
      #expect(answer.body.contains("more than 1024 bytes"))
    },
  ]

  private static let rules = """
    {"rules":{"easy":{".read":true},"hard":{".read":"\(hardRule)"}}}
    """
  private static let hardRule = Array(repeating: "root.child('x').exists()", count: 50)
    .joined(separator: " || ")

  @Test func eachLimitOfTheTableHasAScenario() {
    #expect(
      Set(ServerLimit.all.map(\.name)) == Set(LimitTableTests.scenarios.keys),
      "a limit without a test")
    #expect(Set(ServerLimit.all.map(\.name)).count == ServerLimit.all.count)
  }

  @Test(arguments: ServerLimit.all.map(\.name))
  func whoReachesALimitIsStoppedAndCounted(name: String) async throws {
    let limit = try #require(ServerLimit.all.first { $0.name == name })
    let scenario = try #require(LimitTableTests.scenarios[name])
    let value = try limit.value(scenario.value)
    let rules = name == "max-rules-steps" ? LimitTableTests.rules : nil
    try await withServer(rules: rules) {
      $0.isEmulator = true
      scenario.change(&$0)
      limit.set(value, in: &$0)
    } _: { server in
      let line = "runnel_limit_reached_total{limit=\"\(name)\"}"
      #expect(server.server.metricsText.contains(line + " 0\n"))
      try scenario.reach(server)
      // A count from another thread may be a moment late; an administrator has no limit.
      var isCounted = false
      for _ in 0..<100_000 where !isCounted {
        isCounted = !server.server.metricsText.contains(line + " 0\n")
      }
      #expect(isCounted, "\(server.server.metricsText)")
    }
  }

  @Test(
    arguments: [
      ("max-write", "1000", 1000), ("max-write", "64K", 65_536), ("max-write", "1g", 1 << 30),
      ("head-time", "500ms", 500), ("head-time", "2m", 120_000), ("max-depth", "32", 32),
    ] as [(String, String, Int64)])
  func valuesAreReadAsPeopleWriteThem(name: String, text: String, value: Int64) throws {
    let limit = try #require(ServerLimit.all.first { $0.name == name })
    #expect(try limit.value(text) == value)
    #expect(try limit.value(limit.text(of: value)) == value)
  }

  @Test(arguments: [
    ("max-write", ""), ("max-write", "0"), ("max-write", "-1"), ("max-write", "1 K"),
    ("max-write", "99999999999999999999"), ("max-write", "9999999999999G"), ("head-time", "5"),
    ("head-time", "5K"), ("max-depth", "33"), ("max-depth", "5K"), ("listens-per-connection", "x"),
  ])
  func whatIsNoValueIsRefusedWithWhatIsExpected(name: String, text: String) throws {
    let limit = try #require(ServerLimit.all.first { $0.name == name })
    let error = #expect(throws: ServerError.self) { try limit.value(text) }
    #expect(error?.message.hasPrefix("give a ") == true)
  }

  /// Also by what is deeper than any tree, or any text, may be.
  @Test(arguments: [("max-depth", "{\"a\":", "}", 33), ("max-json-depth", "[", "]", 513)])
  func aDepthIsCountedAtItsStandardLimit(
    row: (limit: String, start: String, end: String, count: Int)
  ) async throws {
    try await withServer { server in
      let value =
        String(repeating: row.start, count: row.count) + "1"
        + String(repeating: row.end, count: row.count)
      let answer = try server.request("PUT", "/a.json", value)
      #expect(answer.status == 400)
      let line = "runnel_limit_reached_total{limit=\"\(row.limit)\"} 1\n"
      #expect(server.server.metricsText.contains(line))
    }
  }

  /// Once, only written values were counted.
  @Test func aPlaceDeeperThanAnyTreeIsCounted() async throws {
    try await withServer { server in
      let deep = String(repeating: "/a", count: 33)
      for method in ["GET", "PUT", "DELETE"] {
        let answer = try server.request(method, deep + ".json", method == "PUT" ? "1" : nil)
        #expect(answer.status == 400)
        #expect(answer.body.contains("33 levels: 32 are allowed"))
      }
      #expect(server.server.metricsText.contains("{limit=\"max-depth\"} 3\n"))
      let socket = try server.socket()
      #expect(try socket.status(1, "p", "{\"p\":\"\(deep)\",\"d\":1}") != "ok")
      #expect(try socket.status(2, "q", "{\"p\":\"\(deep)\",\"h\":\"\"}") != "ok")
      #expect(server.server.metricsText.contains("{limit=\"max-depth\"} 5\n"))
      #expect(try server.request("PUT", deep.dropFirst(2) + ".json", "1").status == 200)
    }
  }

  /// What the parser of HTTP refuses is told, and the connection ends.
  @Test func whatIsNoRequestIsToldSo() async throws {
    try await withServer { server in
      let client = try server.client()
      try client.send("NO REQUEST\r\n\r\n".utf8)
      let answer = try client.readAnswer()
      #expect(answer.status == 400)
      #expect(answer.body.contains("no request of HTTP/1.1"))
      #expect(client.isClosed())
      // Who still sends reads the answer all the same.
      let long = try server.client()
      try long.sendRequest("GET", "/x.json", headers: ["X-Long": LimitTableTests.text(90_000)])
      #expect(try long.readAnswer().status == 431)
      #expect(long.isClosed())
    }
  }

  /// The page on serving has the present table.
  @Test func thePageOnServingHasTheTable() throws {
    let page = try String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Resources/docs/serve.md").standardizedFileURL,
      encoding: .utf8)
    for limit in ServerLimit.all {
      let row =
        "| `--\(limit.name)` | \(limit.text(of: limit.standard)) | \(limit.help.dropLast()) |"
      #expect(page.contains(row), "\(row)")
    }
  }
}

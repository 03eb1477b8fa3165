import RunnelNetwork
import RunnelServer
import TestSupport
import Testing

/// What waits for all clients together is bounded, whatever they are.
@Suite struct UnsentTotalTests {
  private static let text = String(repeating: "x", count: 400_000)

  private static func isReached(_ server: TestServer) -> Bool {
    !server.server.metricsText.contains("{limit=\"max-unsent-total\"} 0\n")
  }

  /// Writes until the limit is reached.
  private static func fill(_ server: TestServer, _ write: (RawClient, Int) throws -> Void) throws {
    let client = try server.client()
    for number in 0..<400 where !isReached(server) { try write(client, number) }
    #expect(isReached(server))
  }

  private static func put(_ client: RawClient, _ path: String, _ text: String) throws {
    #expect(try client.request("PUT", "\(path).json?print=silent", "\"\(text)\"").status == 204)
  }

  @Test func theOneThatHoldsMostIsClosed() async throws {
    try await withServer({ $0.network.unsentBytesMax = 4_000_000 }) { server in
      let most = try RawClient(port: server.port, receiveBytes: 4096)
      let less = try RawClient(port: server.port, receiveBytes: 4096)
      for (client, place) in [(most, "/most"), (less, "/less")] {
        let socket = try Socket(client, "/.ws?v=5&ns=test")
        #expect(try socket.status(1, "q", "{\"p\":\"\(place)\",\"h\":\"\"}") == "ok")
      }
      try UnsentTotalTests.fill(server) { client, number in
        try UnsentTotalTests.put(client, "/most", "\(number)\(UnsentTotalTests.text)")
        try UnsentTotalTests.put(
          client, "/less", "\(number)\(UnsentTotalTests.text.prefix(100_000))")
      }
      #expect(server.server.metricsText.contains("{limit=\"max-unsent\"} 0\n"), "each has less")
      #expect(throws: RawClient.Failure.self) { while true { _ = try most.readMessage() } }
      try UnsentTotalTests.put(server.client(), "/less", "the end")
      while try !less.readMessage().contains("the end") {}
    }
  }

  /// None of many holds much, and together they hold too much.
  @Test func manyThatNeverReadAreBoundedTogether() async throws {
    try await withServer({ $0.network.unsentBytesMax = 4_000_000 }) { server in
      let lazy = try (0..<10).map { _ in
        let client = try RawClient(port: server.port, receiveBytes: 4096)
        let socket = try Socket(client, "/.ws?v=5&ns=test")
        #expect(try socket.status(1, "q", "{\"p\":\"/x\",\"h\":\"\"}") == "ok")
        return client
      }
      try UnsentTotalTests.fill(server) { client, number in
        try UnsentTotalTests.put(client, "/x", "\(number)\(UnsentTotalTests.text)")
      }
      #expect(try server.request("GET", "/x.json?shallow=true").status == 200)
      withExtendedLifetime(lazy) {}
    }
  }

  @Test func anEventStreamThatNobodyReadsIsClosed() async throws {
    try await withServer({ $0.network.unsentBytesMax = 1_000_000 }) { server in
      let lazy = try RawClient(port: server.port, receiveBytes: 4096)
      try lazy.sendRequest("GET", "/x.json", headers: ["Accept": "text/event-stream"])
      #expect(try lazy.readHead().status == 200)
      try UnsentTotalTests.fill(server) { client, number in
        try UnsentTotalTests.put(client, "/x", "\(number)\(UnsentTotalTests.text)")
      }
      #expect(lazy.isClosed())
    }
  }

  @Test func sessionsThatNobodyPollsCount() async throws {
    try await withServer(rules: ServiceTesting.rules) {
      ServiceTesting.configure(&$0)
      $0.network.unsentBytesMax = 100_000
    } _: { server in
      let client = try PollingClient(server)
      try client.post("40")
      _ = try client.poll()
      let text = UnsentTotalTests.text.prefix(2000)
      try UnsentTotalTests.fill(server) { other, number in
        _ = try other.request("POST", "/messages", "{\"text\":\"\(number)\(text)\"}")
      }
      var status = 200
      for _ in 0..<10_000 where status == 200 { status = try client.post("43[]").status }
      #expect(status == 400)
    }
  }
}

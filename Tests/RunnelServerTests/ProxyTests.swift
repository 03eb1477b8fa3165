import RunnelBase
@testable import RunnelNetwork
import RunnelServer
import TestSupport
import Testing

/// Clients behind a trusted proxy are distinguished.
@Suite struct ProxyTests {
  @Test(arguments: [
    ("10.0.0.0/8", "10.200.3.4", true), ("10.0.0.0/8", "11.0.0.1", false),
    ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false),
    ("192.168.4.0/22", "192.168.7.255", true), ("192.168.4.0/22", "192.168.8.0", false),
    ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false),
    ("fd00::/8", "fdab::1", true), ("fd00::/8", "fe00::1", false), ("::1", "::1", true),
    ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("10.0.0.0/8", "no address", false),
  ])
  func aRangeHasTheAddressesThatBeginAlike(range: String, address: String, isIn: Bool) throws {
    #expect(try AddressRange(range).contains(address) == isIn)
  }

  @Test(arguments: ["", "10", "10.0.0.0/33", "10.0.0.0/-1", "::/129", "a/8", "10.0.0.0/8/8"])
  func whatIsNoRangeIsRefused(text: String) {
    #expect(throws: NetworkError.self) { try AddressRange(text) }
  }

  @Test func anIPv6NetworkCountsAsOneClient() {
    #expect(AddressRange.household(of: "2001:db8:1:2:3::4") == "2001:db8:1:2::/64")
    #expect(AddressRange.household(of: "2001:db8:1:2::") == "2001:db8:1:2::/64")
    #expect(AddressRange.household(of: "10.1.2.3") == "10.1.2.3")
    #expect(AddressRange.household(of: "::ffff:10.1.2.3") == "10.1.2.3")
    #expect(AddressRange.household(of: "") == "")
  }

  /// The addresses of all connections in the administrators' list.
  private func addresses(_ server: TestServer) throws -> [String] {
    let answer = try server.administrator().request("GET", "/connections")
    return try answer.body.split(separator: "\n").map { line in
      try JSONValue(parsing: String(line))["address"]?.string ?? ""
    }
  }

  @Test(arguments: [
    ("8.8.4.4", "8.8.4.4"), ("1.1.1.1, 8.8.4.4", "8.8.4.4"),
    ("8.8.4.4, 10.0.0.7", "8.8.4.4"), ("8.8.4.4:1234", "8.8.4.4"),
    ("[2001:db8::1]:5", "2001:db8::1"),
    ("2001:db8::1", "2001:db8::1"), ("garbage", "127.0.0.1"), ("8.8.4.4, garbage", "127.0.0.1"),
  ])
  func aTrustedProxyTellsWhoItsClientsAre(header: String, address: String) async throws {
    try await withServer {
      $0.trustedProxies = [try? AddressRange("127.0.0.1"), try? AddressRange("10.0.0.0/8")]
        .compactMap(\.self)
    } _: { server in
      let client = try server.client()
      try client.openSocket("/.ws?v=5&ns=test", headers: ["X-Forwarded-For": header])
      _ = try client.readMessage()
      #expect(try addresses(server) == [address])
    }
  }

  @Test func forwardedAddressesOfUntrustedClientsAreIgnored() async throws {
    try await withServer({ $0.trustedProxies = [] }) { server in
      let client = try server.client()
      try client.openSocket("/.ws?v=5&ns=test", headers: ["X-Forwarded-For": "8.8.4.4"])
      _ = try client.readMessage()
      #expect(try addresses(server) == ["127.0.0.1"])
    }
  }

  @Test func clientsBehindAProxyAreCountedSeparately() async throws {
    try await withServer {
      $0.trustedProxies = [try? AddressRange("127.0.0.1")].compactMap(\.self)
      $0.network.connectionsPerAddressMax = 1
    } _: { server in
      func socket(_ address: String) throws -> RawClient {
        let client = try server.client()
        try client.openSocket("/.ws?v=5&ns=test", headers: ["X-Forwarded-For": address])
        return client
      }
      let first = try socket("8.8.4.4")
      _ = try first.readMessage()
      #expect(try socket("8.8.4.4").readClose() == 1013)
      let other = try socket("8.8.8.8")
      _ = try other.readMessage()
      let client = try server.client()
      let refused = try client.request(
        "GET", "/x.json", headers: ["X-Forwarded-For": "8.8.4.4"])
      #expect(refused.status == 429)
      let served = try client.request("GET", "/x.json", headers: ["X-Forwarded-For": "9.9.9.9"])
      #expect(served.status == 200)
      #expect(
        try client.request("GET", "/x.json", headers: ["X-Forwarded-For": "9.9.9.9"]).status == 200)
      withExtendedLifetime([first, other]) {}
    }
  }

  @Test func otherMachinesAreServedWithoutTLSBehindAProxyOnly() async throws {
    func start(_ change: @Sendable (inout ServerConfiguration) -> Void) async throws {
      try await withServer(rules: "{\"rules\":{}}") {
        $0.listen = ["*:0"]
        change(&$0)
      } _: { _ in
      }
    }
    let proxy = try AddressRange("10.0.0.0/8")
    await #expect(throws: ServerError.self) { try await start { _ in } }
    await #expect(throws: ServerError.self) { try await start { $0.isPlainText = true } }
    await #expect(throws: ServerError.self) { try await start { $0.trustedProxies = [proxy] } }
    try await start {
      $0.isPlainText = true
      $0.trustedProxies = [proxy]
    }
  }
}

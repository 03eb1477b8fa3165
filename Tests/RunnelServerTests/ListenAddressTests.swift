@testable import RunnelNetwork
import Testing

/// The texts that name where a server listens.
@Suite struct ListenAddressTests {
  @Test(arguments: [
    ("9158", "127.0.0.1:9158"), (":9158", "127.0.0.1:9158"), ("localhost", "127.0.0.1:9000"),
    ("127.0.0.2", "127.0.0.2:9000"), ("[::1]:80", "[::1]:80"), ("*:1", "0.0.0.0:1"),
  ])
  func aTextNamesAnAddress(text: String, first: String) throws {
    let addresses = try NetworkAddress.resolve(text, defaultPort: 9000)
    #expect(addresses.first?.description == first)
  }

  /// Mailed links, and the issuer of tokens.
  @Test(arguments: [
    ("9158", "localhost:9158"), (":9158", "localhost:9158"), ("localhost", "localhost:9000"),
    ("box:1", "box:1"), ("*:1", "localhost:1"), ("*", "localhost:9000"), ("[::1]:80", "[::1]:80"),
    ("::1", "[::1]:9000"),
  ])
  func clientsReachTheServerThere(text: String, place: String) throws {
    #expect(try NetworkAddress.place(text, defaultPort: 9000) == place)
  }

  /// The system takes a number for an IPv4 address.
  @Test(arguments: ["65536", "99999999", "localhost:x"])
  func aNumberThatIsNoPortIsRefused(text: String) {
    #expect(throws: NetworkError.self) {
      try NetworkAddress.resolve(text, defaultPort: 9000)
    }
  }
}

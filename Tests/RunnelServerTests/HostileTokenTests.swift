import RunnelBase
@testable import RunnelServer
import TestSupport
import Testing

@Suite struct HostileTokenTests {
  private static let tokens = [
    "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsifQ.eyJzdWIiOiJhIiwiaWF0IjoxfQ.AQID",
    "eyJhbGciOiJub25lIn0.eyJkIjp7InVpZCI6ImEifX0.",
    "grant_type=a%3Ab+c&assertion=x.y.z&&=&%41=%c3%bc",
    "AQ.AR.A", "", "..", "e30.e30.",
  ]

  /// Source: RFC 7515, section 4.1.11.
  @Test func aTokenThatAsksForMoreThanIsKnownIsNone() {
    let heads = [#"{"alg":"HS256"}"#, #"{"alg":"HS256","crit":["x"],"x":1}"#]
    let tokens = heads.map { JSONWebToken(Base64URL.text(Array($0.utf8)) + ".e30.AQ") }
    #expect(tokens[0] != nil)
    #expect(tokens[1] == nil)
  }

  @Test(arguments: Seeds.first(5))
  func whateverComesAsATokenIsReadOrRefused(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    for text in HostileTokenTests.tokens {
      for _ in 0..<100 {
        var bytes = Array(text.utf8)
        #expect(HostileToken.violation(inToken: bytes) == nil, "seed \(seed)")
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
          let place = Int.random(in: 0..<bytes.count, using: &random)
          bytes[place] = UInt8.random(in: 0...255, using: &random)
        }
        #expect(HostileToken.violation(inToken: bytes) == nil, "seed \(seed): \(bytes)")
      }
    }
  }
}

import CryptoExtras
import Logging
import RunnelBase
import RunnelNetwork
@testable import RunnelServer
import Synchronization
import TestSupport
import Testing

@Suite struct PublishedKeysTests {
  private static let keys = """
    {"keys":[{"kty":"EC","crv":"P-256","kid":"k","use":"sig",\
    "x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",\
    "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}
    """
  private static let quiet = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

  /// The received key sets.
  private final class Taken: Sendable {
    let counts = Mutex<[Int]>([])
  }

  @Test func keysAreKeptForTheirMaxAgeAndWhileTheyCannotBeFetched() async throws {
    try await withWeb { web, port in
      let address = try #require(WebAddress("http://localhost:\(port)/keys"))
      let taken = Taken()
      let keys = PublishedKeys(address, logger: PublishedKeysTests.quiet) { fresh in
        taken.counts.withLock { $0.append(fresh.count) }
      }
      web.add(.init(headers: ["Cache-Control": "max-age=500"], body: PublishedKeysTests.keys))
      var (pause, failures) = await keys.get(failureCount: 0)
      #expect((pause, failures) == (500, 0))
      web.add(.init(status: 503), .init(body: "{}"), .init(body: "<html>"))
      (pause, failures) = await keys.get(failureCount: failures)
      #expect((pause, failures) == (5, 1))
      (pause, failures) = await keys.get(failureCount: failures)
      #expect((pause, failures) == (10, 2))
      (pause, failures) = await keys.get(failureCount: failures)
      #expect((pause, failures) == (20, 3))
      #expect(taken.counts.withLock { $0 } == [1])
      web.add(.init(body: PublishedKeysTests.keys))
      (pause, failures) = await keys.get(failureCount: failures)
      #expect((pause, failures) == (3600, 0))
      #expect(taken.counts.withLock { $0 } == [1, 1])
    }
  }

  @Test func theLogSaysWhetherThereAreKeys() async throws {
    let log = KeptLog()
    try await withWeb { web, port in
      let address = "http://127.0.0.1:\(port)/keys"
      try await log.during {
        // The first answer is 500.
        try await withServer(rules: "{\"rules\":{}}") {
          $0.project = "demo"
          $0.keys = address
        } _: { server in
          web.add(.init(body: PublishedKeysTests.keys))
          await server.server.reloadFiles()
          while !log.messages.contains(where: { $0.hasPrefix("1 keys of") }) { await Task.yield() }
          await server.server.reloadFiles()
          while !log.messages.contains(where: { $0.hasPrefix("The old keys stay") }) {
            await Task.yield()
          }
          #expect(web.asked.count == 3)
        }
      }
    }
    let first = log.messages.first { $0.contains("new attempt in 5 s") }
    #expect(
      first?.hasPrefix("There are no keys yet, so the tokens that they sign are refused") == true)
  }

  @Test func pausesHaveBounds() {
    #expect(PublishedKeys.pause(after: WebText([], maxAgeSeconds: 0)) == 60)
    #expect(PublishedKeys.pause(after: WebText([], maxAgeSeconds: .max)) == 86_400)
    #expect(PublishedKeys.pause(afterFailures: 1_000_000) == 600)
  }

  @Test func theKeyOfACertificateVerifiesTokensThatNameIt() throws {
    let set: JSONValue = ["google": .string(TestCertificate.certificate + "\n")]
    let keys = try SigningKeys(parsing: set.jsonBytes(), from: "x")
    let key = try _RSA.Signing.PrivateKey(pemRepresentation: TestCertificate.key)
    func token(_ head: String) throws -> JSONWebToken? {
      let text = TestTokens.encoded(head.utf8) + "." + TestTokens.encoded("{}".utf8)
      let signature = try key.signature(for: Array(text.utf8), padding: .insecurePKCS1v1_5)
      return JSONWebToken(text + "." + TestTokens.encoded(signature.rawRepresentation))
    }
    let named = try #require(try token("{\"alg\":\"RS256\",\"kid\":\"google\"}"))
    #expect(keys.haveSigned(named))
    let other = try #require(try token("{\"alg\":\"RS256\",\"kid\":\"other\"}"))
    #expect(!keys.haveSigned(other))
    let unnamed = try #require(try token("{\"alg\":\"RS256\"}"))
    #expect(!keys.haveSigned(unnamed))
  }

  @Test func aServerFetchesPublishedKeysBeforeItListens() async throws {
    let key = try _RSA.Signing.PrivateKey(pemRepresentation: TestCertificate.key)
    let set: JSONValue = ["k": .string(TestCertificate.certificate)]
    try await withWeb([.init(body: set.jsonText())]) { web, port in
      try await withServer(rules: "{\"rules\":{\".read\":\"auth.uid === 'ana'\"}}") {
        $0.project = "demo"
        $0.keys = "http://127.0.0.1:\(port)/keys"
      } _: { server in
        let now = Int64(ServerWorld.calendar / 1000)
        func status(_ changes: [String: JSONValue?]) throws -> Int {
          var claims = TestTokens.claims(now: now)
          for (name, value) in changes { claims[name] = value }
          let token = try TestTokens.signed(by: key, claims)
          return try server.request("GET", "/x.json?auth=\(token)").status
        }
        let accepted = try status([:])
        #expect(accepted == 200)
        let later = JSONValue.number(JSONNumber(now + 1000))
        let wrong: [[String: JSONValue?]] = [
          ["exp": .number(JSONNumber(now - 1))], ["exp": .some(nil)], ["aud": "other"],
          ["iss": "https://a.example/demo"], ["sub": ""], ["auth_time": later],
          ["sub": .string(String(repeating: "a", count: 129))],
          // Only the owner of a secret chooses the whole variable.
          ["sub": "bo", "d": ["uid": "ana"]],
        ]
        for changes in wrong {
          let refused = try status(changes)
          #expect(refused == 401, "\(changes)")
        }
        #expect(web.asked == ["/keys"])
      }
    }
  }
}

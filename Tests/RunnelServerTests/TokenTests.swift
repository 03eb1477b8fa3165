import Crypto
import CryptoExtras
import Foundation
import RunnelBase
@testable import RunnelServer
import RunnelSync
import Testing

// Credentials. Source: wire protocol, section A4.5; authentication, section 3.

@Suite struct TokenTests {
  private static let now: Int64 = 1_700_000_000_000
  private static let key = P256.Signing.PrivateKey()

  private static func encoded(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  private static func token(
    _ algorithm: String, _ claims: JSONValue, _ sign: ([UInt8]) throws -> [UInt8]
  ) rethrows -> String {
    let head: JSONValue = ["alg": .string(algorithm), "typ": "JWT", "kid": "k"]
    let text = encoded(head.jsonBytes()) + "." + encoded(claims.jsonBytes())
    return text + "." + encoded(try sign(Array(text.utf8)))
  }

  private static func claims(
    expiry: Int64 = 1_700_000_100, _ more: [JSONMember] = []
  ) -> JSONValue {
    .object(
      [
        JSONMember("sub", "ana"), JSONMember("iat", 1_699_999_900),
        JSONMember("exp", .number(JSONNumber(expiry))), JSONMember("aud", "demo"),
        JSONMember("iss", "https://securetoken.google.com/demo"),
        JSONMember("firebase", ["sign_in_provider": "password"]),
      ] + more)
  }

  private static func keySet() throws -> SigningKeys {
    let point = Array(key.publicKey.x963Representation.dropFirst())
    let set: JSONValue = [
      "keys": [
        [
          "kty": "EC", "crv": "P-256", "kid": "k", "x": .string(encoded(point[..<32])),
          "y": .string(encoded(point[32...])),
        ]
      ]
    ]
    return try SigningKeys(parsing: set.jsonBytes(), from: "keys.json")
  }

  private static func verifier(
    _ secrets: ServerSecrets? = nil, _ accounts: ServiceAccounts? = nil, isEmulator: Bool = false
  ) throws -> TokenVerifier {
    TokenVerifier(
      TokenVerifier.Knowledge(
        secrets: try secrets ?? ServerSecrets(file: "/nowhere"),
        accounts: try accounts ?? ServiceAccounts(file: "/nowhere"), keys: try keySet(),
        project: "demo"),
      isEmulator: isEmulator)
  }

  private static func outcome(_ verifier: TokenVerifier, _ text: String) -> String {
    do throws(CredentialRefusal) {
      let verified = try verifier.verify(Credential(text), now: now)
      return verified.caller.isAdministrator
        ? "administrator" : verified.caller.auth["uid"]?.jsonText() ?? "nobody"
    } catch {
      return error.status.rawValue
    }
  }

  @Test func aSecretIsAnAdministratorsAndSignsTokens() throws {
    var secrets = try ServerSecrets(file: "/nowhere")
    let added = secrets.add("ci", now: 0)
    let secret = try #require(added).text
    let verifier = try TokenTests.verifier(secrets)
    func signed(_ claims: JSONValue) -> String {
      TokenTests.token("HS256", claims) {
        Array(
          HMAC<SHA256>.authenticationCode(
            for: $0, using: SymmetricKey(data: Array(secret.utf8))))
      }
    }
    #expect(TokenTests.outcome(verifier, secret) == "administrator")
    #expect(TokenTests.outcome(verifier, String(secret.dropLast()) + "!") == "invalid_token")
    #expect(
      TokenTests.outcome(verifier, signed(["iat": 1_699_999_999, "d": ["uid": "bo"]])) == "\"bo\"")
    #expect(
      TokenTests.outcome(verifier, signed(["iat": 1_699_999_999, "admin": true])) == "administrator"
    )
    #expect(TokenTests.outcome(verifier, signed(["d": ["uid": "bo"]])) == "invalid_token")
    #expect(
      TokenTests.outcome(verifier, signed(["iat": 1_600_000_000, "d": ["uid": "bo"]]))
        == "expired_token")
    for time: JSONValue in ["1", true, nil, [:], "9999999999"] {
      let claims: JSONValue = ["iat": 1_699_999_999, "exp": time, "d": ["uid": "bo"]]
      #expect(TokenTests.outcome(verifier, signed(claims)) == "invalid_token", "\(time)")
    }
    let isRemoved = secrets.remove("ci")
    #expect(isRemoved)
    verifier.change { $0.secrets = secrets }
    #expect(TokenTests.outcome(verifier, secret) == "invalid_token")
  }

  @Test func aTokenOfAKnownKeyIsForItsProjectAndTime() throws {
    let verifier = try TokenTests.verifier()
    func signed(
      _ claims: JSONValue, by key: P256.Signing.PrivateKey = TokenTests.key
    ) throws -> String {
      try TokenTests.token("ES256", claims) { Array(try key.signature(for: $0).rawRepresentation) }
    }
    #expect(TokenTests.outcome(verifier, try signed(TokenTests.claims())) == "\"ana\"")
    #expect(
      TokenTests.outcome(verifier, try signed(TokenTests.claims(expiry: 1_700_000_000)))
        == "expired_token")
    let other = P256.Signing.PrivateKey()
    #expect(
      TokenTests.outcome(verifier, try signed(TokenTests.claims(), by: other)) == "invalid_token")
    let elsewhere: JSONValue = [
      "sub": "ana", "iat": 1_699_999_900, "exp": 1_700_000_100, "aud": "other",
      "iss": "https://securetoken.google.com/other",
    ]
    #expect(TokenTests.outcome(verifier, try signed(elsewhere)) == "invalid_token")
    let unsigned = TokenTests.token("none", TokenTests.claims()) { _ in [] }
    #expect(TokenTests.outcome(verifier, unsigned) == "invalid_token")
    #expect(TokenTests.outcome(verifier, "owner") == "invalid_token")
  }

  @Test func aTokenOfAnRSAKeyIsAccepted() throws {
    let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    let primitives = try key.publicKey.getKeyPrimitives()
    let set: JSONValue = [
      "keys": [
        [
          "kty": "RSA", "kid": "k", "n": .string(TokenTests.encoded(primitives.modulus)),
          "e": .string(TokenTests.encoded(primitives.publicExponent)),
        ]
      ]
    ]
    let verifier = try TokenTests.verifier()
    let keys = try SigningKeys(parsing: set.jsonBytes(), from: "keys.json")
    verifier.change { $0.keys = keys }
    let token = try TokenTests.token("RS256", TokenTests.claims()) { bytes in
      Array(
        try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5)
          .rawRepresentation)
    }
    #expect(TokenTests.outcome(verifier, token) == "\"ana\"")
    #expect(TokenTests.outcome(verifier, token.dropLast(4) + "AAAA") == "invalid_token")
  }

  @Test func anEmulatorAcceptsClaimsWithoutProof() throws {
    let verifier = try TokenTests.verifier(isEmulator: true)
    #expect(TokenTests.outcome(verifier, "owner") == "administrator")
    // Source: wire protocol, section A4.5, the example.
    let example =
      "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJzdWIiOiJhbGljZSIsInVzZXJfaWQiOiJhbGljZSIsImlzcyI6"
      + "Imh0dHBzOi8vc2VjdXJldG9rZW4uZ29vZ2xlLmNvbS9kZW1vIiwiYXVkIjoiZGVtbyIsImlhdCI6MCwiZXhwIjoz"
      + "NjAwLCJhdXRoX3RpbWUiOjAsImZpcmViYXNlIjp7InNpZ25faW5fcHJvdmlkZXIiOiJjdXN0b20iLCJpZGVudGl0"
      + "aWVzIjp7fX19."
    #expect(TokenTests.outcome(verifier, example) == "\"alice\"")
    #expect(TokenTests.outcome(verifier, "garbage") == "invalid_token")
  }

  @Test func aTextThatIsNotBase64IsNotAToken() {
    #expect(Base64URL.bytes("AQID".utf8) == [1, 2, 3])
    #expect(Base64URL.bytes("AQ".utf8) == [1])
    #expect(Base64URL.bytes("AR".utf8) == nil)
    #expect(Base64URL.bytes("A".utf8) == nil)
    #expect(Base64URL.bytes("AQ==".utf8) == nil)
  }
}

import Crypto
import CryptoExtras
import Foundation
import RunnelBase

/// Tokens in the form of other programs.
enum TestTokens {
  /// Returns bytes in the encoding of tokens.
  static func encoded(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  /// The account service's claims about `ana`, for the project `demo`.
  static func claims(now: Int64) -> [String: JSONValue] {
    [
      "sub": "ana", "aud": "demo", "iss": "https://securetoken.google.com/demo",
      "iat": .number(JSONNumber(now - 10)), "exp": .number(JSONNumber(now + 3600)),
      "auth_time": .number(JSONNumber(now - 10)),
    ]
  }

  /// Returns a token that an RSA key signs.
  static func signed(
    by key: _RSA.Signing.PrivateKey, _ claims: [String: JSONValue], keyID: String = "k"
  ) throws -> String {
    let head: JSONValue = ["alg": "RS256", "typ": "JWT", "kid": .string(keyID)]
    let body = JSONValue.object(claims.sorted { $0.key < $1.key }.map { JSONMember($0, $1) })
    let text = encoded(head.jsonBytes()) + "." + encoded(body.jsonBytes())
    let signature = try key.signature(for: Array(text.utf8), padding: .insecurePKCS1v1_5)
    return text + "." + encoded(signature.rawRepresentation)
  }
}

import Crypto
import CryptoExtras
import RunnelBase

/// The public keys of who signs tokens: a JSON Web Key Set.
///
/// Source: RFC 7517, RFC 7518.
struct SigningKeys: Sendable {
  private enum Key: Sendable {
    case rsa(_RSA.Signing.PublicKey)
    case p256(P256.Signing.PublicKey)
  }

  private let keys: [(name: String?, key: Key)]

  /// Reads a key set; keys of other kinds are left out.
  ///
  /// - Throws: `ServerError` if there is no key that can be used.
  init(parsing bytes: [UInt8], file: String) throws(ServerError) {
    // What is no JSON has no keys either.
    guard case .array(let elements)? = (try? JSONValue(parsing: bytes))?["keys"] else {
      throw ServerError(
        "\(file) is no JSON Web Key Set: it needs a member \"keys\".", isUsage: true)
    }
    keys = elements.compactMap(SigningKeys.key)
    if keys.isEmpty {
      throw ServerError("\(file) has no key for RS256 or ES256.", isUsage: true)
    }
  }

  private static func key(_ json: JSONValue) -> (name: String?, key: Key)? {
    func text(_ name: String) -> String? {
      if case .string(let text)? = json[name] { text } else { nil }
    }
    func bytes(_ name: String) -> [UInt8]? { text(name).flatMap { Base64URL.bytes($0.utf8) } }
    if let use = text("use"), use != "sig" { return nil }
    switch (text("kty"), text("crv")) {
    case ("RSA", _):
      // A key that is too weak, or none, is left out.
      guard let n = bytes("n"), let e = bytes("e"),
        let key = try? _RSA.Signing.PublicKey(n: n, e: e)
      else { return nil }
      return (text("kid"), .rsa(key))
    case ("EC", "P-256"):
      // A point that is not on the curve is left out.
      guard let x = bytes("x"), let y = bytes("y"),
        let key = try? P256.Signing.PublicKey(x963Representation: [4] + x + y)
      else { return nil }
      return (text("kid"), .p256(key))
    default: return nil
    }
  }

  /// True if one of the keys signed a token.
  func haveSigned(_ token: JSONWebToken) -> Bool {
    keys.contains { name, key in
      if let wanted = token.keyID, let name, name != wanted { return false }
      switch (key, token.algorithm) {
      case (.rsa(let key), "RS256"):
        return key.isValidSignature(
          _RSA.Signing.RSASignature(rawRepresentation: token.signature),
          for: SHA256.hash(data: token.signedBytes), padding: .insecurePKCS1v1_5)
      case (.p256(let key), "ES256"):
        // What has another length is no signature.
        guard
          let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature)
        else { return false }
        return key.isValidSignature(signature, for: token.signedBytes)
      default: return false
      }
    }
  }
}

import Crypto
import CryptoExtras
import RunnelBase
import RunnelNetwork

/// The public keys that verify tokens: a JSON Web Key Set.
///
/// Source: RFC 7517, RFC 7518.
struct SigningKeys: Sendable {
  private enum Key: Sendable {
    case rsa(_RSA.Signing.PublicKey)
    case p256(P256.Signing.PublicKey)
  }

  /// The most keys of a set.
  private static let countMax = 100
  private static let certificateStart = "-----BEGIN CERTIFICATE-----"

  private let keys: [(name: String?, key: Key)]

  /// The number of keys.
  var count: Int { keys.count }

  /// Reads a key set, or certificates by key name; keys of other kinds are left out.
  ///
  /// - Parameters:
  ///   - bytes: the text.
  ///   - source: the source of the text, for the error.
  /// - Throws: `ServerError` if there is no usable key.
  init(parsing bytes: [UInt8], from source: String) throws(ServerError) {
    // Text that is no JSON has no keys either.
    let json = try? JSONValue(parsing: bytes)
    switch (json, json?["keys"]) {
    case (_, .array(let elements)?):
      keys = elements.prefix(SigningKeys.countMax).compactMap(SigningKeys.key)
    case (.object(let members)?, nil) where !members.isEmpty:
      keys = members.prefix(SigningKeys.countMax).compactMap(SigningKeys.certified)
    default:
      throw ServerError(
        "\(source) is not a JSON Web Key Set: it needs a member \"keys\".", isUsage: true)
    }
    if keys.isEmpty {
      throw ServerError("\(source) has no key for RS256 or ES256.", isUsage: true)
    }
  }

  /// The key of a certificate, as Google publishes them.
  private static func certified(_ member: JSONMember) -> (name: String?, key: Key)? {
    guard case .string(let text) = member.value, text.hasPrefix(certificateStart),
      let bytes = CertificateKey.publicKey(ofPEM: text)
    else { return nil }
    // Weak keys, and keys of other kinds, are left out.
    if let key = try? _RSA.Signing.PublicKey(derRepresentation: bytes) {
      return (member.name, .rsa(key))
    }
    return (try? P256.Signing.PublicKey(derRepresentation: bytes)).map { (member.name, .p256($0)) }
  }

  private static func key(_ json: JSONValue) -> (name: String?, key: Key)? {
    func text(_ name: String) -> String? {
      if case .string(let text)? = json[name] { text } else { nil }
    }
    func bytes(_ name: String) -> [UInt8]? { text(name).flatMap { Base64URL.bytes($0.utf8) } }
    if let use = text("use"), use != "sig" { return nil }
    switch (text("kty"), text("crv")) {
    case ("RSA", _):
      // Weak and invalid keys are left out.
      guard let n = bytes("n"), let e = bytes("e"),
        let key = try? _RSA.Signing.PublicKey(n: n, e: e)
      else { return nil }
      return (text("kid"), .rsa(key))
    case ("EC", "P-256"):
      // Points that are not on the curve are left out.
      guard let x = bytes("x"), let y = bytes("y"),
        let key = try? P256.Signing.PublicKey(x963Representation: [4] + x + y)
      else { return nil }
      return (text("kid"), .p256(key))
    default: return nil
    }
  }

  /// True if one of the keys signed a token; a named key counts only if the token names it.
  func haveSigned(_ token: JSONWebToken) -> Bool {
    keys.contains { name, key in
      if let name, name != token.keyID { return false }
      switch (key, token.algorithm) {
      case (.rsa(let key), "RS256"):
        return key.isValidSignature(
          _RSA.Signing.RSASignature(rawRepresentation: token.signature),
          for: SHA256.hash(data: token.signedBytes), padding: .insecurePKCS1v1_5)
      case (.p256(let key), "ES256"):
        // Bytes of another length are no signature.
        guard
          let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature)
        else { return false }
        return key.isValidSignature(signature, for: token.signedBytes)
      default: return false
      }
    }
  }
}

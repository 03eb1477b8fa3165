import RunnelBase

/// The parts of a JSON Web Token; nothing in it is verified.
///
/// Source: RFC 7519, RFC 7515.
struct JSONWebToken {
  /// The most bytes of a token that is parsed.
  private static let bytesMax = 65_536

  /// The algorithm of the signature, as its header names it.
  let algorithm: String
  /// The name of the key; nil if the header has none.
  let keyID: String?
  let claims: JSONValue
  let signature: [UInt8]
  /// The bytes that were signed.
  let signedBytes: [UInt8]

  /// Parses a token; nil if the text is none.
  init?(_ text: String) {
    guard text.utf8.count <= JSONWebToken.bytesMax else { return nil }
    let pieces = Array(text.utf8).split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard pieces.count == 3, let head = JSONWebToken.json(pieces[0]),
      let claims = JSONWebToken.json(pieces[1]), let signature = Base64URL.bytes(pieces[2]),
      case .string(let algorithm)? = head["alg"],
      // What must be understood is not known here. Source: RFC 7515, section 4.1.11.
      head["crit"] == nil
    else { return nil }
    self.algorithm = algorithm
    if case .string(let name)? = head["kid"] { keyID = name } else { keyID = nil }
    self.claims = claims
    self.signature = signature
    signedBytes = Array(pieces[0]) + [UInt8(ascii: ".")] + Array(pieces[1])
  }

  private static func json(_ piece: ArraySlice<UInt8>) -> JSONValue? {
    // A part that is no JSON makes the text no token.
    guard let bytes = Base64URL.bytes(piece), let json = try? JSONValue(parsing: bytes),
      case .object = json
    else { return nil }
    return json
  }

  /// A time in the claims, in seconds since 1970.
  func seconds(_ name: String) -> Double? {
    if case .number(let number)? = claims[name] { number.double } else { nil }
  }

  /// A text in the claims.
  func text(_ name: String) -> String? {
    if case .string(let text)? = claims[name] { text } else { nil }
  }

  /// The variable `auth` of the rules for the token's owner; nil if the token names no user.
  ///
  /// Source: wire protocol, section A4.5; authentication, section 3.
  var auth: JSONValue? {
    if case .object(let members)? = claims["d"] { return .object(members) }
    guard let user = text("sub") ?? text("user_id"), !user.isEmpty else { return nil }
    return userAuth(user)
  }

  /// The variable `auth` of the rules for a user.
  func userAuth(_ user: String) -> JSONValue {
    var provider = text("provider_id") ?? "custom"
    if case .string(let name)? = claims["firebase"]?["sign_in_provider"] { provider = name }
    return ["uid": .string(user), "provider": .string(provider), "token": claims]
  }
}

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
      case .string(let algorithm)? = head["alg"]
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

/// The encoding of bytes as text in tokens and keys.
///
/// Source: RFC 4648, section 5.
enum Base64URL {
  /// The bytes of a text without padding; nil if the text is invalid.
  static func bytes(_ text: some Collection<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (value, bits) = (UInt32(0), 0)
    for character in text {
      guard let digit = digit(character) else { return nil }
      value = value << 6 | UInt32(digit)
      bits += 6
      if bits < 8 { continue }
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(bits)))
      value &= (1 << UInt32(bits)) - 1
    }
    return bits < 6 && value == 0 ? bytes : nil
  }

  /// The text of bytes, without padding.
  static func text(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    var (value, bits) = (UInt32(0), 0)
    for byte in bytes {
      value = value << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(alphabet[Int(value >> UInt32(bits))])
        value &= (1 << UInt32(bits)) - 1
      }
    }
    if bits > 0 { text.append(alphabet[Int(value << UInt32(6 - bits))]) }
    return String(decoding: text, as: UTF8.self)
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static func digit(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}

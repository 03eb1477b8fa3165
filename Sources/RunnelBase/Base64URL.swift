/// The encoding of bytes as text in tokens and keys.
///
/// Source: RFC 4648, section 5.
package enum Base64URL {
  /// The bytes of a text without padding; nil if it is none.
  package static func bytes(_ text: some Collection<UInt8>) -> [UInt8]? {
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
  package static func text(_ bytes: some Sequence<UInt8>) -> String {
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

import Crypto
import RunnelBase

/// The SHA-1 of a text that comes piece by piece, given as base64.
///
/// Only the bytes that were not hashed yet are kept, and how long the text is.
struct TextDigest {
  private static let chunkBytes = 1 << 14

  /// How many UTF-16 code units were added.
  private(set) var utf16Count = 0
  private var hash = Insecure.SHA1()
  private var pending: [UInt8] = []

  /// The hash of a whole text.
  static func base64(of text: String) -> String {
    var digest = TextDigest()
    digest.append(text)
    return digest.base64()
  }

  /// Adds a text as it is, in UTF-8.
  mutating func append(_ text: String) {
    utf16Count += text.utf16.count
    pending.append(contentsOf: text.utf8)
    if pending.count >= TextDigest.chunkBytes { flush() }
  }

  /// Adds a text in double quotes, in which `"` and `\` stand after a `\`.
  mutating func appendQuoted(_ text: String) {
    let quote = UInt8(ascii: "\"")
    let backslash = UInt8(ascii: "\\")
    utf16Count += text.utf16.count + 2
    pending.append(quote)
    for byte in text.utf8 {
      if byte == quote || byte == backslash {
        pending.append(backslash)
        utf16Count += 1
      }
      pending.append(byte)
    }
    pending.append(quote)
    if pending.count >= TextDigest.chunkBytes { flush() }
  }

  /// Adds the big-endian IEEE-754 double of a number as 16 lower-case hexadecimal digits.
  ///
  /// Integers beyond 2^53 are rounded to a double.
  mutating func append(_ number: JSONNumber) {
    let bits = number.double.bitPattern
    let digits = Array("0123456789abcdef".utf8)
    for shift in stride(from: 60, through: 0, by: -4) {
      pending.append(digits[Int(bits >> UInt64(shift) & 0xF)])
    }
    utf16Count += 16
  }

  /// The hash of what was added.
  consuming func base64() -> String {
    flush()
    return Base64.text(of: Array(hash.finalize()))
  }

  private mutating func flush() {
    pending.withUnsafeBytes { hash.update(bufferPointer: $0) }
    pending.removeAll(keepingCapacity: true)
  }
}

/// The standard alphabet of base64, with padding.
///
/// Source: RFC 4648, section 4.
enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The text that stands for bytes.
  static func text(of bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits: UInt32 = 0
      for byte in group { bits = bits << 8 | UInt32(byte) }
      bits <<= UInt32(8 * (3 - group.count))
      for place in 0..<4 {
        let isPadding = place > group.count
        text.append(
          isPadding
            ? UInt8(ascii: "=") : alphabet[Int(bits >> UInt32(18 - 6 * place)) & 0x3F])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

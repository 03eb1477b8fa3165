import Crypto
import RunnelBase

/// The SHA-1 of a text that comes piece by piece, as base64.
///
/// It keeps only the bytes that are not hashed yet, and the length of the text.
struct TextDigest {
  private static let chunkBytes = 1 << 14

  /// The number of UTF-16 code units that were added.
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

  /// Adds a text in double quotes, with a `\` before each `"` and `\`.
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

  /// The hash of the whole text.
  consuming func base64() -> String {
    flush()
    return Base64.text(of: Array(hash.finalize()))
  }

  private mutating func flush() {
    pending.withUnsafeBytes { hash.update(bufferPointer: $0) }
    pending.removeAll(keepingCapacity: true)
  }
}

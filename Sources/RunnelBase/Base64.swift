/// The standard alphabet of base64, with padding.
///
/// Source: RFC 4648, section 4.
package enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The text that stands for bytes.
  package static func text(of bytes: [UInt8]) -> String {
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

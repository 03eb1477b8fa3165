/// The bytes that JSON gives a meaning, by name, and tests of eight bytes at a time.
enum JSONByte {
  static let backspace: UInt8 = 0x08
  static let tab: UInt8 = 0x09
  static let lineFeed: UInt8 = 0x0A
  static let formFeed: UInt8 = 0x0C
  static let carriageReturn: UInt8 = 0x0D
  static let space: UInt8 = 0x20
  static let quote = UInt8(ascii: "\"")
  static let backslash = UInt8(ascii: "\\")
  static let slash = UInt8(ascii: "/")
  static let comma = UInt8(ascii: ",")
  static let colon = UInt8(ascii: ":")
  static let minus = UInt8(ascii: "-")
  static let plus = UInt8(ascii: "+")
  static let point = UInt8(ascii: ".")
  static let zero = UInt8(ascii: "0")
  static let objectStart = UInt8(ascii: "{")
  static let objectEnd = UInt8(ascii: "}")
  static let arrayStart = UInt8(ascii: "[")
  static let arrayEnd = UInt8(ascii: "]")

  /// The top bit of each byte of a word.
  static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// True if a byte is `0` to `9`.
  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool { byte &- zero <= 9 }

  /// True if some byte of a word is a quote, a backslash or a control character.
  ///
  /// The subtraction of a lower byte may borrow from a higher one and mark it wrongly, but only if
  /// the lower byte is itself marked; so the answer for the whole word is exact.
  @inline(__always)
  static func needsAttention(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ (ones &* UInt64(quote))
    let backslashes = word ^ (ones &* UInt64(backslash))
    let controls = (word &- ones &* 0x20) & ~word
    let marks = controls | ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
    return marks & highBits != 0
  }

  /// The value of a hexadecimal digit, or nil if the byte is none.
  static func hexadecimalValue(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A")) + 10
    default: nil
    }
  }
}

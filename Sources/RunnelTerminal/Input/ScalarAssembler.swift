/// Assembles scalars from the bytes among raw inputs.
///
/// A scalar whose bytes come in several reads is kept until it is complete. Bytes that are not
/// UTF-8 become U+FFFD, and the bytes after them are read normally.
struct ScalarAssembler {
  private static let replacement = RawInput.scalar("\u{FFFD}")

  /// The bits of the scalar so far.
  private var value: UInt32 = 0
  /// The bytes still missing; 0 when no scalar has begun.
  private var missing = 0
  /// The least value that may be encoded in as many bytes as the scalar has.
  private var least: UInt32 = 0
  /// The input that interrupted a scalar.
  private var ahead: RawInput?

  /// The next input that is not a byte; nil when nothing is pending, or only a part of a scalar.
  mutating func next(_ read: () -> RawInput?) -> RawInput? {
    while let raw = take() ?? read() {
      guard case .byte(let byte) = raw else {
        return missing == 0 ? raw : cut(short: raw)
      }
      if missing > 0 {
        guard byte & 0xC0 == 0x80 else { return cut(short: raw) }
        if let whole = add(byte) { return whole }
      } else if byte < 0x80 {
        return .scalar(Unicode.Scalar(byte))
      } else if !begin(byte) {
        return Self.replacement
      }
    }
    return nil
  }

  private mutating func take() -> RawInput? {
    defer { ahead = nil }
    return ahead
  }

  private mutating func cut(short raw: RawInput) -> RawInput {
    missing = 0
    ahead = raw
    return Self.replacement
  }

  /// Takes the first byte of several; returns false if it is not one.
  private mutating func begin(_ byte: UInt8) -> Bool {
    switch byte {
    case 0xC2...0xDF: (missing, least, value) = (1, 0x80, UInt32(byte & 0x1F))
    case 0xE0...0xEF: (missing, least, value) = (2, 0x800, UInt32(byte & 0x0F))
    case 0xF0...0xF4: (missing, least, value) = (3, 0x10000, UInt32(byte & 0x07))
    default: return false
    }
    return true
  }

  /// Takes a further byte; returns the scalar if it was the last.
  private mutating func add(_ byte: UInt8) -> RawInput? {
    value = value << 6 | UInt32(byte & 0x3F)
    missing -= 1
    guard missing == 0 else { return nil }
    guard value >= least, let scalar = Unicode.Scalar(value) else { return Self.replacement }
    return .scalar(scalar)
  }
}

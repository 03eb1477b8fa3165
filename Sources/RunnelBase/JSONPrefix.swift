/// Tells whether bytes that arrive piece by piece can still be the beginning of a JSON document.
///
/// It finds beginnings that no document has, without keeping the bytes: a control character, a
/// value that begins with an invalid character, content after the end of the document, a string or
/// number that is too long. Accepted bytes may still be wrong; the scanner finds that.
///
/// O(1) memory, O(n) in the bytes.
package struct JSONPrefix {
  /// The most bytes in a string or a number: more than any value of the tree needs, with escapes.
  package static let tokenBytesMax = 64 << 20

  private enum State {
    /// Between tokens; with the count of open objects and arrays.
    case between
    case string
    /// After a backslash in a string.
    case escape
    /// In a number, or in `true`, `false` or `null`.
    case word
  }

  private var state = State.between
  private var depth = 0
  private var tokenBytes = 0
  /// True when a value of the outermost level has begun.
  private var hasBegun = false

  private let tokenBytesMax: Int

  /// Makes a check of a document of which nothing has arrived.
  package init(tokenBytesMax: Int = JSONPrefix.tokenBytesMax) {
    self.tokenBytesMax = tokenBytesMax
  }

  /// Takes the next bytes; returns false if no document continues like this.
  package mutating func accepts(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.withUnsafeBufferPointer { bytes in
      for byte in bytes where !accepts(byte) { return false }
      return true
    }
  }

  private mutating func accepts(_ byte: UInt8) -> Bool {
    switch state {
    case .between: acceptsBetween(byte)
    case .string: acceptsInString(byte)
    case .escape: acceptsEscape(byte)
    case .word: acceptsInWord(byte)
    }
  }

  private mutating func acceptsInString(_ byte: UInt8) -> Bool {
    tokenBytes += 1
    switch byte {
    case JSONByte.quote: state = .between
    case JSONByte.backslash: state = .escape
    default: return byte >= JSONByte.space && tokenBytes <= tokenBytesMax
    }
    return true
  }

  private mutating func acceptsEscape(_ byte: UInt8) -> Bool {
    state = .string
    return "\"\\/bfnrtu".utf8.contains(byte)
  }

  private mutating func acceptsInWord(_ byte: UInt8) -> Bool {
    tokenBytes += 1
    if JSONPrefix.isInWord(byte) { return tokenBytes <= tokenBytesMax }
    state = .between
    return acceptsBetween(byte)
  }

  private mutating func acceptsBetween(_ byte: UInt8) -> Bool {
    switch byte {
    case JSONByte.space, JSONByte.tab, JSONByte.lineFeed, JSONByte.carriageReturn: return true
    case JSONByte.objectEnd, JSONByte.arrayEnd:
      depth -= 1
      return depth >= 0
    case JSONByte.comma, JSONByte.colon: return depth > 0
    default: return begins(byte)
    }
  }

  /// Takes the first byte of a value.
  private mutating func begins(_ byte: UInt8) -> Bool {
    // Outside of objects and arrays there is a single value.
    if depth == 0, hasBegun { return false }
    hasBegun = true
    tokenBytes = 1
    switch byte {
    case JSONByte.objectStart, JSONByte.arrayStart: depth += 1
    case JSONByte.quote: state = .string
    case JSONByte.minus: state = .word
    default:
      guard JSONByte.isDigit(byte) || "tfn".utf8.contains(byte) else { return false }
      state = .word
    }
    return depth <= JSONScanner.depthMax
  }

  private static func isInWord(_ byte: UInt8) -> Bool {
    JSONByte.isDigit(byte) || byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
      || byte == JSONByte.plus || byte == JSONByte.minus || byte == JSONByte.point
  }
}

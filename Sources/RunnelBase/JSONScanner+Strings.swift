/// The extent of a string in the document; checked, but not yet made into a `String`.
struct StringExtent {
  /// The offset of the first byte after the opening quote.
  var start: Int
  /// The offset of the closing quote.
  var end: Int
  /// True if there are escapes to be undone.
  var hasEscapes: Bool
}

extension JSONScanner {
  /// Reads a string.
  ///
  /// Throws `JSONError` for a control character, ill-formed UTF-8, an unknown escape, a lone
  /// surrogate, or a missing quote at the end.
  package mutating func readString() throws(JSONError) -> String {
    skipWhitespace()
    guard current == JSONByte.quote else { throw unexpected("expected a string") }
    return text(of: try scanString())
  }

  /// Reads from the opening quote to the closing one, and checks everything between.
  mutating func scanString() throws(JSONError) -> StringExtent {
    offset += 1
    var extent = StringExtent(start: offset, end: offset, hasEscapes: false)
    while true {
      skipPlainWords()
      guard offset < bytes.count else {
        throw unexpected("expected '\"' at the end of a string")
      }
      switch bytes[offset] {
      case JSONByte.quote:
        extent.end = offset
        offset += 1
        return extent
      case JSONByte.backslash:
        extent.hasEscapes = true
        try skipEscape()
      case 0..<0x20:
        throw error(
          .controlCharacter, "a string has no raw control characters; write it as an escape")
      case 0x80...:
        try skipMultibyteScalar()
      default:
        offset += 1
      }
    }
  }

  /// The text of a string that `scanString` accepted.
  func text(of extent: StringExtent) -> String {
    let raw = UnsafeRawBufferPointer(rebasing: bytes[extent.start..<extent.end])
    guard extent.hasEscapes else { return String(decoding: raw, as: UTF8.self) }
    var text: [UInt8] = []
    text.reserveCapacity(raw.count)
    var index = 0
    while index < raw.count {
      guard raw[index] == JSONByte.backslash else {
        text.append(raw[index])
        index += 1
        continue
      }
      index += Self.appendEscape(raw, at: index, to: &text)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Skips words of eight ASCII bytes that neither end the string nor need a check.
  @inline(__always)
  private mutating func skipPlainWords() {
    while offset <= bytes.count - 8 {
      let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      guard word & JSONByte.highBits == 0, !JSONByte.needsAttention(word) else { return }
      offset += 8
    }
  }

  /// Checks and skips a scalar of two to four bytes.
  ///
  /// The table is that of the Unicode standard (well-formed UTF-8 byte sequences): only the range of
  /// the second byte depends on the first.
  private mutating func skipMultibyteScalar() throws(JSONError) {
    let second: ClosedRange<UInt8>
    let count: Int
    switch bytes[offset] {
    case 0xC2...0xDF: (count, second) = (2, 0x80...0xBF)
    case 0xE0: (count, second) = (3, 0xA0...0xBF)
    case 0xED: (count, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (count, second) = (3, 0x80...0xBF)
    case 0xF0: (count, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (count, second) = (4, 0x80...0xBF)
    case 0xF4: (count, second) = (4, 0x80...0x8F)
    default: throw invalidUTF8()
    }
    guard second ~= byte(at: offset + 1) else { throw invalidUTF8() }
    if count > 2 {
      for place in offset + 2..<offset + count where byte(at: place) & 0xC0 != 0x80 {
        throw invalidUTF8()
      }
    }
    offset += count
  }

  @inline(never)
  private func invalidUTF8() -> JSONError {
    error(.invalidUTF8, "the text is not well-formed UTF-8 here; convert it to UTF-8")
  }
}

// MARK: - Escapes

extension JSONScanner {
  /// Checks and skips an escape, or both escapes of a surrogate pair.
  private mutating func skipEscape() throws(JSONError) {
    let start = offset
    switch byte(at: offset + 1) {
    case JSONByte.quote, JSONByte.backslash, JSONByte.slash, UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      offset += 2
    case UInt8(ascii: "u"):
      let unit = try scanUnit()
      if 0xDC00...0xDFFF ~= unit { throw loneSurrogate(at: start) }
      guard 0xD800...0xDBFF ~= unit else { return }
      guard current == JSONByte.backslash, byte(at: offset + 1) == UInt8(ascii: "u") else {
        throw loneSurrogate(at: start)
      }
      guard 0xDC00...0xDFFF ~= (try scanUnit()) else { throw loneSurrogate(at: start) }
    default:
      offset = min(offset + 1, bytes.count)
      if offset == bytes.count { throw unexpected("expected an escape after '\\'") }
      throw error(.invalidEscape, "no such escape; write \\\\ for a backslash", at: start)
    }
  }

  /// Reads the six bytes of a `\u` escape.
  private mutating func scanUnit() throws(JSONError) -> UInt32 {
    let start = offset
    var unit: UInt32 = 0
    for place in start + 2..<start + 6 {
      guard let digit = JSONByte.hexadecimalValue(byte(at: place)) else {
        offset = min(place, bytes.count)
        if offset == bytes.count {
          throw unexpected("expected four hexadecimal digits after '\\u'")
        }
        throw error(.invalidEscape, "expected four hexadecimal digits after '\\u'", at: start)
      }
      unit = unit << 4 | digit
    }
    offset += 6
    return unit
  }

  @inline(never)
  private func loneSurrogate(at place: Int) -> JSONError {
    error(.loneSurrogate, "half of a surrogate pair is no character; write both", at: place)
  }

  /// Undoes a checked escape, and returns its length in bytes.
  private static func appendEscape(
    _ raw: UnsafeRawBufferPointer, at index: Int, to text: inout [UInt8]
  ) -> Int {
    switch raw[index + 1] {
    case UInt8(ascii: "b"): text.append(JSONByte.backspace)
    case UInt8(ascii: "f"): text.append(JSONByte.formFeed)
    case UInt8(ascii: "n"): text.append(JSONByte.lineFeed)
    case UInt8(ascii: "r"): text.append(JSONByte.carriageReturn)
    case UInt8(ascii: "t"): text.append(JSONByte.tab)
    case UInt8(ascii: "u"):
      let high = unit(raw, at: index)
      guard high & 0xFC00 == 0xD800 else {
        append(high, to: &text)
        return 6
      }
      append(0x10000 + (high & 0x3FF) << 10 + unit(raw, at: index + 6) & 0x3FF, to: &text)
      return 12
    case let byte: text.append(byte)
    }
    return 2
  }

  private static func unit(_ raw: UnsafeRawBufferPointer, at index: Int) -> UInt32 {
    raw[index + 2..<index + 6].reduce(0) { unit, byte in
      unit << 4 | (JSONByte.hexadecimalValue(byte) ?? 0)
    }
  }

  private static func append(_ value: UInt32, to text: inout [UInt8]) {
    guard let scalar = Unicode.Scalar(value) else {
      preconditionFailure("Surrogates were refused when the string was scanned.")
    }
    text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
  }
}

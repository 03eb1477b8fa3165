/// A pull parser for one JSON document in memory: the caller asks for the next token.
///
/// It accepts RFC 8259, in UTF-8, with these decisions:
/// - a lone surrogate (`"\uD800"`) is an error, because no UTF-8 text can contain it;
/// - a byte order mark at the start is an error;
/// - a number beyond the range of a double is an error, one too small to be distinguished from 0 is
///   0;
/// - objects and arrays may be nested `depthMax` deep;
/// - any value may be the document, and nothing but whitespace may follow it.
///
/// To walk a container, enter it, ask for its members or elements until there are no more, and
/// read or skip the value of each before asking for the next:
///
///     var scanner = JSONScanner(bytes)
///     try scanner.enterObject()
///     while let name = try scanner.nextMember() {
///       print(name, try scanner.readValue(maxBytes: 65_536) == nil ? "large" : "small")
///     }
///     try scanner.finish()
///
/// A value that a bounded `readValue` refused is still unread: it can be entered or skipped.
///
/// A scanner never reads outside its buffer: each byte is read after its offset was compared with
/// the count, and past the end every read gives NUL, which no rule of the grammar accepts. After a
/// thrown error its position is unspecified. Copying one is cheap, and saves the position.
package struct JSONScanner {
  /// The deepest nesting of objects and arrays that is accepted.
  package static let depthMax = 512

  /// The kind of the value that comes next.
  package enum Kind: Hashable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool
    /// A number.
    case number
    /// A string.
    case string
    /// An array.
    case array
    /// An object.
    case object
  }

  /// The number of bytes read.
  package internal(set) var offset = 0
  /// The number of objects and arrays that were entered and not left.
  package private(set) var depth = 0

  let bytes: UnsafeRawBufferPointer
  /// True between entering a container and asking for its first member or element.
  private var isAtFirst = false
  /// The latest offset at which the value being read may end; see `readValue(maxBytes:)`.
  var budgetEnd = Int.max

  /// Makes a scanner of a document that must stay in place and unchanged while it is scanned.
  package init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = UnsafeRawBufferPointer(bytes)
  }

  /// The kind of the next value, which stays unread.
  ///
  /// Throws `JSONError` if the next text does not start a value.
  package mutating func peekKind() throws(JSONError) -> Kind {
    skipWhitespace()
    switch current {
    case JSONByte.objectStart: return .object
    case JSONByte.arrayStart: return .array
    case JSONByte.quote: return .string
    case JSONByte.minus, UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
    case UInt8(ascii: "n"): return .null
    default: throw noValue()
    }
  }

  /// Reads `{`; ask for the members with `nextMember`.
  package mutating func enterObject() throws(JSONError) {
    try enter(JSONByte.objectStart, expecting: "an object")
  }

  /// Reads the name of the next member up to its value; nil if the object ended, whose end is then
  /// read.
  package mutating func nextMember() throws(JSONError) -> String? {
    guard let name = try scanNextName() else { return nil }
    return text(of: name)
  }

  /// Reads `[`; ask for the elements with `nextElement`.
  package mutating func enterArray() throws(JSONError) {
    try enter(JSONByte.arrayStart, expecting: "an array")
  }

  /// Reads up to the next element; false if the array ended, whose end is then read.
  package mutating func nextElement() throws(JSONError) -> Bool {
    try advance(to: JSONByte.arrayEnd, after: "an element")
  }

  /// Reads `true` or `false`.
  package mutating func readBool() throws(JSONError) -> Bool {
    skipWhitespace()
    if current == UInt8(ascii: "f") {
      try readWord("false")
      return false
    }
    try readWord("true")
    return true
  }

  /// Reads `null`.
  package mutating func readNull() throws(JSONError) {
    skipWhitespace()
    try readWord("null")
  }

  /// Checks that only whitespace follows; call it after the document's value.
  package mutating func finish() throws(JSONError) {
    precondition(depth == 0, "A document is finished outside of its objects and arrays.")
    skipWhitespace()
    guard offset == bytes.count else {
      throw error(.trailingContent, "nothing may follow the document's one value; remove this")
    }
  }
}

// MARK: - The steps the reading methods share

extension JSONScanner {
  /// The next byte, or NUL at the end.
  @inline(__always)
  var current: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

  /// The byte at a place not before the start, or NUL past the end.
  @inline(__always)
  func byte(at place: Int) -> UInt8 { place < bytes.count ? bytes[place] : 0 }

  @inline(__always)
  mutating func skipWhitespace() {
    while offset < bytes.count {
      switch bytes[offset] {
      case JSONByte.space, JSONByte.lineFeed, JSONByte.carriageReturn, JSONByte.tab: offset += 1
      default: return
      }
    }
  }

  /// Reads a member's name and colon; nil if the object ended, whose end is then read.
  mutating func scanNextName() throws(JSONError) -> StringExtent? {
    guard try advance(to: JSONByte.objectEnd, after: "a member") else { return nil }
    guard current == JSONByte.quote else {
      throw unexpected("expected a member's name in double quotes")
    }
    let name = try scanString()
    skipWhitespace()
    guard current == JSONByte.colon else { throw unexpected("expected ':' after a member's name") }
    offset += 1
    return name
  }

  private mutating func enter(_ start: UInt8, expecting what: String) throws(JSONError) {
    skipWhitespace()
    guard current == start else { throw unexpected("expected \(what)") }
    guard depth < Self.depthMax else {
      throw error(.tooDeep, "objects and arrays may be nested \(Self.depthMax) deep; this is more")
    }
    offset += 1
    depth += 1
    isAtFirst = true
  }

  private mutating func advance(to end: UInt8, after what: String) throws(JSONError) -> Bool {
    precondition(depth > 0, "The members of a container are asked for after it is entered.")
    skipWhitespace()
    if current == end {
      offset += 1
      depth -= 1
      isAtFirst = false
      return false
    }
    if isAtFirst {
      isAtFirst = false
      return true
    }
    let closing = Unicode.Scalar(end)
    guard current == JSONByte.comma else {
      throw unexpected("expected ',' or '\(closing)' after \(what)")
    }
    let comma = offset
    offset += 1
    skipWhitespace()
    guard current != end else {
      throw error(
        .unexpectedCharacter, "no ',' may stand before '\(closing)'; remove it", at: comma)
    }
    return true
  }

  private mutating func readWord(_ word: StaticString) throws(JSONError) {
    let start = offset
    for index in 0..<word.utf8CodeUnitCount where byte(at: start + index) != word.utf8Start[index] {
      offset = min(start + index, bytes.count)
      throw unexpected("expected '\(word)'")
    }
    offset += word.utf8CodeUnitCount
  }
}

// MARK: - Errors

extension JSONScanner {
  /// The error for a byte that the grammar does not allow here, or for the end of the text.
  @inline(never)
  func unexpected(_ message: String) -> JSONError {
    offset == bytes.count
      ? error(.unexpectedEnd, "\(message), but the text ends here")
      : error(.unexpectedCharacter, message)
  }

  /// The error for a byte that starts no value, with advice for common mistakes.
  @inline(never)
  func noValue() -> JSONError {
    if offset == 0, byte(at: 0) == 0xEF, byte(at: 1) == 0xBB, byte(at: 2) == 0xBF {
      return error(.byteOrderMark, "the text starts with a byte order mark; save it without one")
    }
    switch current {
    case JSONByte.plus:
      return error(.invalidNumber, "a number has no leading '+'; remove it")
    case JSONByte.point:
      return error(.invalidNumber, "a number has a digit before its '.'; write 0 there")
    case UInt8(ascii: "N"), UInt8(ascii: "I"):
      return unexpected("expected a value; NaN and Infinity are none in JSON")
    case UInt8(ascii: "'"):
      return unexpected("expected a value; strings stand in double quotes")
    default:
      return unexpected("expected a value")
    }
  }

  /// The error with a code and a message at a place, which is the current one unless given.
  ///
  /// Counts lines from the start: O(n) in the bytes before the place.
  @inline(never)
  func error(_ code: JSONError.Code, _ message: String, at place: Int? = nil) -> JSONError {
    let place = place ?? offset
    var line = 1
    var column = 1
    for byte in bytes.prefix(place) {
      if byte == JSONByte.lineFeed {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    return JSONError(code: code, message: message, offset: place, line: line, column: column)
  }
}

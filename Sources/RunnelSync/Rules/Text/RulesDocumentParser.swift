import RunnelBase
import RunnelTree

/// Parses JSON that may have comments, commas after the last member, and line breaks in strings.
///
/// A missing comma is reported and skipped. Any other mistake of the grammar stops the parser,
/// because the meaning of the rest is unknown.
///
/// Source: rules language, section 1.
struct RulesDocumentParser {
  /// Stops the parser; the mistake was reported.
  struct Stopped: Error {}

  /// The greatest depth of objects and lists: the tree's levels, the two objects around them, and a
  /// list.
  private static let depthMax = TreeLimits.depthMax + 4

  private let bytes: [UInt8]
  private var offset = 0
  private var depth = 0
  private(set) var mistakes: MistakeList

  init(_ source: RulesSource, _ mistakes: MistakeList) {
    bytes = source.bytes
    self.mistakes = mistakes
  }

  /// Parses the file's single value; nil if there is none, which was reported.
  mutating func document() -> RulesDocument? {
    do throws(Stopped) {
      try checkText()
      let value = try value()
      try skipSpace()
      if offset < bytes.count {
        throw stop("Nothing may follow the object of the file: remove this.")
      }
      return value
    } catch {
      return nil
    }
  }

  private mutating func checkText() throws(Stopped) {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      throw stop("The file starts with a byte order mark: save it without one.")
    }
    var parser = Unicode.UTF8.ForwardParser()
    var input = bytes.makeIterator()
    var place = 0
    while true {
      switch parser.parseScalar(from: &input) {
      case .valid(let scalar): place += scalar.count
      case .error:
        throw stop("The file is not UTF-8 from here on: save it in UTF-8.", at: place)
      case .emptyInput: return
      }
    }
  }

  // MARK: Values

  private var current: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func value() throws(Stopped) -> RulesDocument {
    try skipSpace()
    let start = offset
    let content: RulesDocument.Content
    switch current {
    case UInt8(ascii: "{"): content = .object(try members())
    case UInt8(ascii: "["): content = .array(try elements())
    case UInt8(ascii: "\""): content = .string(try string())
    case let byte? where byte == UInt8(ascii: "-") || RuleLetter.isDigit(byte):
      content = .number(try number())
    case nil: throw stop("The file ends where a value is expected.")
    default: content = try word()
    }
    return RulesDocument(content: content, offset: start)
  }

  private mutating func word() throws(Stopped) -> RulesDocument.Content {
    let words: [(String, RulesDocument.Content)] = [
      ("true", .bool(true)), ("false", .bool(false)), ("null", .null),
    ]
    for (word, content) in words where bytes[offset...].starts(with: Array(word.utf8)) {
      offset += word.utf8.count
      return content
    }
    if current == UInt8(ascii: "'") {
      throw stop("A string of the file stands in double quotes: write \" in place of '.")
    }
    throw stop("A value is expected here: true, false, a string in double quotes or an object.")
  }

  private mutating func number() throws(Stopped) -> JSONNumber {
    let start = offset
    while let byte = current, "+-.eE0123456789".utf8.contains(byte) { offset += 1 }
    guard let value = try? JSONValue(parsing: bytes[start..<offset]),
      case .number(let number) = value
    else { throw stop("This is not a number.", at: start) }
    return number
  }

  private mutating func enter() throws(Stopped) {
    depth += 1
    if depth > RulesDocumentParser.depthMax {
      throw stop(
        "Rules are at most \(TreeLimits.depthMax) levels deep, as the tree is: this is deeper.")
    }
    offset += 1
  }

  private mutating func leave() {
    depth -= 1
    offset += 1
  }

  private mutating func members() throws(Stopped) -> [RulesDocument.Member] {
    let start = offset
    var members: [RulesDocument.Member] = []
    try enter()
    while true {
      try skipSpace()
      if current == UInt8(ascii: "}") { break }
      guard current == UInt8(ascii: "\"") else {
        throw current == nil
          ? stop("This object is not closed: a } is missing.", at: start)
          : stop("A name in double quotes is expected here.")
      }
      let nameOffset = offset
      let name = try string()
      try skipSpace()
      guard current == UInt8(ascii: ":") else {
        throw stop("A : is expected after the name \"\(name.string)\".")
      }
      offset += 1
      members.append(
        RulesDocument.Member(name: name, offset: nameOffset, value: try value()))
      try separator(UInt8(ascii: "}"), "this object", from: start)
    }
    leave()
    return members
  }

  private mutating func elements() throws(Stopped) -> [RulesDocument] {
    let start = offset
    var elements: [RulesDocument] = []
    try enter()
    while true {
      try skipSpace()
      if current == UInt8(ascii: "]") { break }
      if current == nil { throw stop("This list is not closed: a ] is missing.", at: start) }
      elements.append(try value())
      try separator(UInt8(ascii: "]"), "this list", from: start)
    }
    leave()
    return elements
  }

  /// Reads a comma unless the container ends here; a missing comma is reported and skipped.
  private mutating func separator(
    _ end: UInt8, _ what: String, from start: Int
  ) throws(Stopped) {
    let place = offset
    try skipSpace()
    switch current {
    case UInt8(ascii: ","): offset += 1
    case end: return
    case nil:
      throw stop("The file ends before \(what) is closed.", at: start)
    case UInt8(ascii: "\""), UInt8(ascii: "{"):
      mistakes.add("A comma is missing here, before what follows.", at: place)
    default:
      throw stop("A comma or \(Unicode.Scalar(end)) is expected here.")
    }
  }

  // MARK: Space and comments

  private mutating func skipSpace() throws(Stopped) {
    while let byte = current {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
        offset += 1
      case UInt8(ascii: "/"): try skipComment()
      default: return
      }
    }
  }

  private mutating func skipComment() throws(Stopped) {
    let start = offset
    switch offset + 1 < bytes.count ? bytes[offset + 1] : 0 {
    case UInt8(ascii: "/"):
      while let byte = current, byte != UInt8(ascii: "\n") { offset += 1 }
    case UInt8(ascii: "*"):
      offset += 2
      while offset + 1 < bytes.count {
        if bytes[offset] == UInt8(ascii: "*"), bytes[offset + 1] == UInt8(ascii: "/") {
          offset += 2
          return
        }
        offset += 1
      }
      throw stop("This comment is not closed: */ is missing.", at: start)
    default: throw stop("A comment begins with // or /*.")
    }
  }

  // MARK: Errors

  private mutating func stop(_ message: String, at place: Int? = nil) -> Stopped {
    mistakes.add(message, at: place ?? offset)
    return Stopped()
  }
}

// MARK: Strings

extension RulesDocumentParser {
  /// Reads a string from its opening to its closing quote.
  private mutating func string() throws(Stopped) -> RuleText {
    let quote = offset
    offset += 1
    let start = offset
    var text: [UInt8] = []
    var offsets: [Int32]?
    while let byte = current, byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\") {
        // The bytes have been consecutive up to here.
        if offsets == nil { offsets = (0..<text.count).map { Int32(start + $0) } }
        let place = Int32(offset)
        let scalar = try escaped()
        let encoded = UTF8.encode(scalar).map(Array.init) ?? []
        text += encoded
        offsets?.append(contentsOf: encoded.map { _ in place })
      } else {
        if byte < 0x20, ![0x09, 0x0A, 0x0D].contains(byte) {
          throw stop("A string has no control characters: write this one as an escape.")
        }
        text.append(byte)
        offsets?.append(Int32(offset))
        offset += 1
      }
    }
    if current == nil { throw stop("This string is not closed: a \" is missing.", at: quote) }
    offsets?.append(Int32(offset))
    offset += 1
    return RuleText(bytes: text, start: start, offsets: offsets)
  }

  /// Reads an escape.
  private mutating func escaped() throws(Stopped) -> Unicode.Scalar {
    let start = offset
    offset += 2
    switch start + 1 < bytes.count ? bytes[start + 1] : 0 {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape(from: start)
    default:
      throw stop("A string of the file has no such escape: a backslash is written \\\\.", at: start)
    }
  }

  private mutating func unicodeEscape(from start: Int) throws(Stopped) -> Unicode.Scalar {
    let high = try hexadecimal(from: start)
    if let scalar = Unicode.Scalar(high) { return scalar }
    if high < 0xDC00, bytes[offset...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) {
      offset += 2
      let low = try hexadecimal(from: start)
      if (0xDC00...0xDFFF).contains(low),
        let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
      {
        return scalar
      }
    }
    throw stop(
      "This escape is half of a pair: both halves are written, one after the other.", at: start)
  }

  private mutating func hexadecimal(from start: Int) throws(Stopped) -> UInt32 {
    guard offset + 4 <= bytes.count,
      bytes[offset..<offset + 4].allSatisfy({ RuleLetter.isHexadecimal($0) }),
      let value = UInt32(String(decoding: bytes[offset..<offset + 4], as: UTF8.self), radix: 16)
    else { throw stop("Four hexadecimal digits are expected after \\u.", at: start) }
    offset += 4
    return value
  }
}

/// Character tests shared by both grammars.
enum RuleLetter {
  static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }

  /// True if the byte may begin a name.
  static func beginsName(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// True if the byte may stand in a name.
  static func isOfName(_ byte: UInt8) -> Bool { beginsName(byte) || isDigit(byte) }
}

import RunnelBase

/// A token of an expression.
struct RuleToken {
  /// The kind of a token.
  enum Kind: Hashable {
    case number(JSONNumber)
    case string(String)
    /// A name, including `true`, `false` and `null`.
    case name(String)
    /// The name of a capture, with its `$`.
    case capture(String)
    case sign(RuleSign)
    /// Text that begins no token of the language; the text is for the message.
    case unknown(String)
    case end
  }

  let kind: Kind
  /// The range of the token, in bytes of the expression.
  let range: Range<Int>
}

/// A sign of the language.
enum RuleSign: String, CaseIterable {
  case identical = "==="
  case unidentical = "!=="
  case equal = "=="
  case unequal = "!="
  case notGreater = "<="
  case notLess = ">="
  case and = "&&"
  case or = "||"
  case less = "<"
  case greater = ">"
  case plus = "+"
  case minus = "-"
  case times = "*"
  case over = "/"
  case remainder = "%"
  case not = "!"
  case question = "?"
  case colon = ":"
  case point = "."
  case comma = ","
  case open = "("
  case close = ")"
  case openBracket = "["
  case closeBracket = "]"

  /// The signs as bytes, longest first.
  static let spellings: [(sign: RuleSign, bytes: [UInt8])] = allCases.map {
    ($0, Array($0.rawValue.utf8))
  }
}

/// A mistake in an expression, at a byte of it.
struct RuleSyntaxError: Error {
  let message: String
  let place: Int
}

/// Reads an expression token by token.
///
/// Source: rules language, section 2.
struct RuleLexer {
  let bytes: [UInt8]
  private(set) var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private func byte(_ index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }

  /// Reads the next token; a `/` is read as a sign.
  mutating func next() throws(RuleSyntaxError) -> RuleToken {
    try skipSpace()
    let start = offset
    guard start < bytes.count else { return RuleToken(kind: .end, range: start..<start) }
    let first = bytes[start]
    let kind: RuleToken.Kind
    if RuleLetter.isDigit(first)
      || (first == UInt8(ascii: ".") && RuleLetter.isDigit(byte(start + 1)))
    {
      kind = .number(try number())
    } else if RuleLetter.beginsName(first) {
      kind = .name(word())
    } else if first == UInt8(ascii: "$") {
      kind = try capture()
    } else if first == UInt8(ascii: "'") || first == UInt8(ascii: "\"") {
      kind = .string(try string(quote: first))
    } else {
      kind = sign()
    }
    return RuleToken(kind: kind, range: start..<offset)
  }

  private mutating func sign() -> RuleToken.Kind {
    let rest = bytes[offset...]
    if let found = RuleSign.spellings.first(where: { rest.starts(with: $0.bytes) }) {
      offset += found.bytes.count
      return .sign(found.sign)
    }
    let scalar = String(decoding: rest.prefix(4), as: UTF8.self).unicodeScalars.first ?? " "
    offset += max(UTF8.width(scalar), 1)
    return .unknown(String(scalar))
  }

  private mutating func skipSpace() throws(RuleSyntaxError) {
    while offset < bytes.count {
      switch (bytes[offset], byte(offset + 1)) {
      case (UInt8(ascii: " "), _), (0x09...0x0D, _): offset += 1
      case (0xC2, 0xA0): offset += 2
      case (UInt8(ascii: "/"), UInt8(ascii: "/")):
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "\n") { offset += 1 }
      case (UInt8(ascii: "/"), UInt8(ascii: "*")):
        let start = offset
        offset += 2
        while !(byte(offset) == UInt8(ascii: "*") && byte(offset + 1) == UInt8(ascii: "/")) {
          if offset >= bytes.count {
            throw RuleSyntaxError(
              message: "This comment is not closed: */ is missing.", place: start)
          }
          offset += 1
        }
        offset += 2
      default: return
      }
    }
  }

  /// Reads letters, digits and underscores.
  private mutating func word() -> String {
    let start = offset
    while RuleLetter.isOfName(byte(offset)) { offset += 1 }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  /// Reads the name of a wildcard: everything up to a space or a sign.
  private mutating func capture() throws(RuleSyntaxError) -> RuleToken.Kind {
    let start = offset
    offset += 1
    let name = word()
    if name.isEmpty {
      throw RuleSyntaxError(
        message: "A name is expected after $: that of a wildcard above, such as $uid.",
        place: start)
    }
    return .capture("$" + name)
  }

  // MARK: Numbers

  private mutating func number() throws(RuleSyntaxError) -> JSONNumber {
    let start = offset
    digits()
    let isWhole = byte(offset) != UInt8(ascii: ".")
    if !isWhole {
      offset += 1
      digits()
    }
    var hasExponent = false
    if byte(offset) | 0x20 == UInt8(ascii: "e") {
      hasExponent = true
      offset += 1
      if byte(offset) == UInt8(ascii: "-") || byte(offset) == UInt8(ascii: "+") { offset += 1 }
      if !RuleLetter.isDigit(byte(offset)) {
        throw RuleSyntaxError(message: "A digit is expected in the exponent.", place: offset)
      }
      digits()
    }
    if RuleLetter.isOfName(byte(offset)) {
      throw RuleSyntaxError(
        message: "A number ends before a letter: numbers are written as 12, 1.5 or 1e3.",
        place: start)
    }
    let text = String(decoding: bytes[start..<offset], as: UTF8.self)
    if isWhole, !hasExponent, text.utf8.count > 1, text.hasPrefix("0") {
      throw RuleSyntaxError(message: "A number has no leading zeros: remove them.", place: start)
    }
    if isWhole, !hasExponent, let integer = Int64(text) { return JSONNumber(integer) }
    // The number may begin or end with a point, where `Double` requires digits.
    guard let double = Double(RuleLexer.padded(text)), let number = JSONNumber(double) else {
      throw RuleSyntaxError(message: "The number is too large: write a smaller one.", place: start)
    }
    return number
  }

  private static func padded(_ text: String) -> String {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return text }
    let fraction = parts[1].first.map { $0.isNumber } ?? false
    return (parts[0].isEmpty ? "0" : parts[0]) + (fraction ? "." : ".0") + parts[1]
  }

  private mutating func digits() {
    while RuleLetter.isDigit(byte(offset)) { offset += 1 }
  }

  // MARK: Strings

  private mutating func string(quote: UInt8) throws(RuleSyntaxError) -> String {
    let start = offset
    offset += 1
    var text: [UInt8] = []
    while offset < bytes.count, bytes[offset] != quote {
      switch bytes[offset] {
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        throw RuleSyntaxError(
          message: "A text ends in its line: a quote is missing, or write the line break as \\n.",
          place: start)
      case UInt8(ascii: "\\"): try escape(into: &text)
      default:
        text.append(bytes[offset])
        offset += 1
      }
    }
    // A backslash at the end skips one byte more.
    if offset >= bytes.count {
      throw RuleSyntaxError(
        message: "This text is not closed: \(Character(Unicode.Scalar(quote))) is missing.",
        place: start)
    }
    offset += 1
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads an escape of JavaScript, and appends its character.
  private mutating func escape(into text: inout [UInt8]) throws(RuleSyntaxError) {
    let start = offset
    offset += 2
    switch byte(start + 1) {
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "v"): text.append(0x0B)
    case UInt8(ascii: "0") where !RuleLetter.isDigit(byte(start + 2)): text.append(0)
    case UInt8(ascii: "x"): try append(try code(digits: 2, from: start), to: &text, from: start)
    case UInt8(ascii: "u"): try unicodeEscape(into: &text, from: start)
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      throw RuleSyntaxError(
        message: "A text has no octal escapes: write \\x and two digits.", place: start)
    // A line break after a backslash is left out.
    case UInt8(ascii: "\n"): break
    case UInt8(ascii: "\r"):
      if byte(offset) == UInt8(ascii: "\n") { offset += 1 }
    // Any other character stands for itself; the rest of its bytes follow.
    case let other: if start + 1 < bytes.count { text.append(other) }
    }
  }

  private mutating func unicodeEscape(
    into text: inout [UInt8], from start: Int
  ) throws(RuleSyntaxError) {
    if byte(offset) == UInt8(ascii: "{") {
      let end = bytes[offset...].prefix(9).firstIndex(of: UInt8(ascii: "}")) ?? offset
      let digits = bytes[offset...].dropFirst().prefix(max(end - offset - 1, 0))
      offset = end + 1
      let isHexadecimal = !digits.isEmpty && digits.allSatisfy(RuleLetter.isHexadecimal)
      let value = isHexadecimal ? UInt32(String(decoding: digits, as: UTF8.self), radix: 16) : nil
      return try append(value ?? 0xD800, to: &text, from: start)
    }
    let high = try code(digits: 4, from: start)
    guard (0xD800...0xDBFF).contains(high), byte(offset) == UInt8(ascii: "\\"),
      byte(offset + 1) == UInt8(ascii: "u")
    else { return try append(high, to: &text, from: start) }
    offset += 2
    let low = try code(digits: 4, from: start)
    guard (0xDC00...0xDFFF).contains(low) else {
      return try append(high, to: &text, from: start)
    }
    try append(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00), to: &text, from: start)
  }

  private mutating func code(digits count: Int, from start: Int) throws(RuleSyntaxError) -> UInt32 {
    let digits = bytes[min(offset, bytes.count)...].prefix(count)
    guard digits.count == count, digits.allSatisfy(RuleLetter.isHexadecimal),
      let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else {
      throw RuleSyntaxError(
        message: "\(count) hexadecimal digits are expected in this escape.", place: start)
    }
    offset += count
    return value
  }

  private func append(
    _ value: UInt32, to text: inout [UInt8], from start: Int
  ) throws(RuleSyntaxError) {
    guard let scalar = Unicode.Scalar(value), let encoded = UTF8.encode(scalar) else {
      throw RuleSyntaxError(
        message: "This escape stands for no letter: both halves of a pair are written.",
        place: start)
    }
    text.append(contentsOf: encoded)
  }
}

// MARK: Regular expressions

extension RuleLexer {
  /// Reads a regular expression whose first `/` is at `start`, and returns its body and its flags.
  mutating func pattern(
    from start: Int
  ) throws(RuleSyntaxError) -> (body: Range<Int>, flags: Range<Int>) {
    offset = start + 1
    var isInSet = false
    while offset < bytes.count {
      let byte = bytes[offset]
      if byte == UInt8(ascii: "/"), !isInSet { break }
      if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { break }
      if byte == UInt8(ascii: "[") { isInSet = true }
      if byte == UInt8(ascii: "]") { isInSet = false }
      offset += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    guard offset < bytes.count, bytes[offset] == UInt8(ascii: "/") else {
      throw RuleSyntaxError(
        message: "This regular expression is not closed: / is missing.", place: start)
    }
    let body = (start + 1)..<offset
    offset += 1
    let flags = offset
    while RuleLetter.isOfName(self.byte(offset)) { offset += 1 }
    return (body, flags..<offset)
  }
}

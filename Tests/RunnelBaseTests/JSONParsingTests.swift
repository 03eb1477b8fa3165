import RunnelBase
import Testing

/// A text that is no JSON, with the code and the place of the error.
struct RejectedCase: Sendable, CustomTestStringConvertible {
  var text: String
  var code: JSONError.Code
  var offset: Int
  var testDescription: String { text }

  init(_ text: String, _ code: JSONError.Code, _ offset: Int) {
    self.text = text
    self.code = code
    self.offset = offset
  }
}

@Suite struct JSONParsingTests {
  // tidy:table
  static let accepted: [(String, JSONValue)] = [
    ("null", nil),
    ("true", true),
    (" false ", false),
    ("0", 0),
    ("-0", 0),
    ("-0.0", 0),
    ("7", 7),
    ("-12", -12),
    ("1.0", 1),
    ("1e0", 1),
    ("1E2", 100),
    ("1e+2", 100),
    ("10e-1", 1),
    ("1.5", 1.5),
    ("-1.25e2", -125),
    ("0.1", 0.1),
    ("0e9999999999999999999", 0),
    ("1e-400", 0),
    ("123.456e-789", 0),
    ("5e-324", .number(JSONNumber(Double.leastNonzeroMagnitude) ?? 0)),
    ("1.7976931348623157e308", .number(JSONNumber(Double.greatestFiniteMagnitude) ?? 0)),
    ("\"\"", ""),
    ("\"a\"", "a"),
    ("\"\u{7F}\"", "\u{7F}"),
    ("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\u{8}\u{C}\n\r\t"),
    ("\"\\u0041\\u00e9\\u00E9\"", "Aéé"),
    ("\"\\u0000\"", "\0"),
    ("\"\\uD83D\\uDE00\"", "😀"),
    ("\"\\uDBFF\\uDFFF\"", "\u{10FFFF}"),
    ("\"\\ufffe\\uFFFF\"", "\u{FFFE}\u{FFFF}"),
    ("\"é€😀\u{2028}\"", "é€😀\u{2028}"),
    (
      "\"long enough for a few words of eight bytes\"", "long enough for a few words of eight bytes"
    ),
    ("\"1234567\\n1234567é\\t12345678\"", "1234567\n1234567é\t12345678"),
    ("[]", []),
    ("[ ]", []),
    ("[1]", [1]),
    ("[1,[2],{}]", [1, [2], [:]]),
    ("\t[\n1\r,\t2 ]\r\n", [1, 2]),
    ("{}", [:]),
    ("{ }", [:]),
    ("{\"\":0}", ["": 0]),
    ("{\"b\":1 , \"a\" : [null]}", ["b": 1, "a": [nil]]),
    ("{\"a\":1,\"b\":2,\"a\":3}", ["a": 3, "b": 2]),
  ]

  @Test(arguments: accepted)
  func acceptedTextGivesItsValue(text: String, value: JSONValue) throws {
    #expect(try JSONValue(parsing: text) == value)
  }

  // tidy:table
  static let rejected: [RejectedCase] = [
    .init("", .unexpectedEnd, 0),
    .init("  \n", .unexpectedEnd, 3),
    .init("\u{FEFF}1", .byteOrderMark, 0),
    .init(" \u{FEFF}1", .unexpectedCharacter, 1),
    .init("\0", .unexpectedCharacter, 0),
    .init("1\0", .trailingContent, 1),
    .init("\u{A0}1", .unexpectedCharacter, 0),
    .init("nul", .unexpectedEnd, 3),
    .init("nulL", .unexpectedCharacter, 3),
    .init("True", .unexpectedCharacter, 0),
    .init("truefalse", .trailingContent, 4),
    .init("NaN", .unexpectedCharacter, 0),
    .init("-NaN", .invalidNumber, 1),
    .init("Infinity", .unexpectedCharacter, 0),
    .init("-Infinity", .invalidNumber, 1),
    .init("+1", .invalidNumber, 0),
    .init(".5", .invalidNumber, 0),
    .init("-.5", .invalidNumber, 1),
    .init("1.", .unexpectedEnd, 2),
    .init("[1.]", .invalidNumber, 3),
    .init("1.e5", .invalidNumber, 2),
    .init("1e", .unexpectedEnd, 2),
    .init("1e+", .unexpectedEnd, 3),
    .init("[1e-]", .invalidNumber, 4),
    .init("-", .unexpectedEnd, 1),
    .init("01", .invalidNumber, 0),
    .init("-012", .invalidNumber, 1),
    .init("00", .invalidNumber, 0),
    .init("0x1F", .trailingContent, 1),
    .init("1_000", .trailingContent, 1),
    .init("1e400", .numberOutOfRange, 0),
    .init(" -1e309", .numberOutOfRange, 1),
    .init("1e99999999999999999999", .numberOutOfRange, 0),
    .init("\"", .unexpectedEnd, 1),
    .init("\"abc", .unexpectedEnd, 4),
    .init("\"abc\\", .unexpectedEnd, 5),
    .init("\"abc\\\"", .unexpectedEnd, 6),
    .init("\"a\nb\"", .controlCharacter, 2),
    .init("\"12345678\u{1F}\"", .controlCharacter, 9),
    .init("\"\0\"", .controlCharacter, 1),
    .init("\"\\x41\"", .invalidEscape, 1),
    .init("\"\\a\"", .invalidEscape, 1),
    .init("\"\\'\"", .invalidEscape, 1),
    .init("\"\\u12\"", .invalidEscape, 1),
    .init("\"\\u12G4\"", .invalidEscape, 1),
    .init("\"\\U0041\"", .invalidEscape, 1),
    .init("\"\\u00", .unexpectedEnd, 5),
    .init("\"\\uD800\"", .loneSurrogate, 1),
    .init("\"\\uDC00\"", .loneSurrogate, 1),
    .init("\"\\uD800\\n\"", .loneSurrogate, 1),
    .init("\"\\uD800\\uD800\"", .loneSurrogate, 1),
    .init("\"\\uD800\\u0041\"", .loneSurrogate, 1),
    .init("\"\\uDE00\\uD83D\"", .loneSurrogate, 1),
    .init("'a'", .unexpectedCharacter, 0),
    .init("[", .unexpectedEnd, 1),
    .init("[1", .unexpectedEnd, 2),
    .init("[1,", .unexpectedEnd, 3),
    .init("[1,]", .unexpectedCharacter, 2),
    .init("[,1]", .unexpectedCharacter, 1),
    .init("[1,,2]", .unexpectedCharacter, 3),
    .init("[1 2]", .unexpectedCharacter, 3),
    .init("[1}", .unexpectedCharacter, 2),
    .init("[1]]", .trailingContent, 3),
    .init("]", .unexpectedCharacter, 0),
    .init("{", .unexpectedEnd, 1),
    .init("{\"a\"", .unexpectedEnd, 4),
    .init("{\"a\":", .unexpectedEnd, 5),
    .init("{\"a\":1", .unexpectedEnd, 6),
    .init("{\"a\":1,", .unexpectedEnd, 7),
    .init("{\"a\":1,}", .unexpectedCharacter, 6),
    .init("{,}", .unexpectedCharacter, 1),
    .init("{a:1}", .unexpectedCharacter, 1),
    .init("{1:1}", .unexpectedCharacter, 1),
    .init("{\"a\" 1}", .unexpectedCharacter, 5),
    .init("{\"a\":}", .unexpectedCharacter, 5),
    .init("{\"a\"::1}", .unexpectedCharacter, 5),
    .init("{\"a\":1 \"b\":2}", .unexpectedCharacter, 7),
    .init("{\"a\":1]", .unexpectedCharacter, 6),
    .init("{}{}", .trailingContent, 2),
    .init("1 // one", .trailingContent, 2),
    .init("/* */1", .unexpectedCharacter, 0),
    .init("[1]\u{C}", .trailingContent, 3),
  ]

  @Test(arguments: rejected)
  func rejectedTextSaysWhatAndWhere(rejected: RejectedCase) throws {
    let error = try #require(throws: JSONError.self) { try JSONValue(parsing: rejected.text) }
    #expect(error.code == rejected.code)
    #expect(error.offset == rejected.offset)
    #expect(!error.message.isEmpty)
  }

  static let illFormed: [[UInt8]] = [
    [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x20], [0xE0, 0x9F, 0xBF],
    [0xE2, 0x82], [0xE2, 0x82, 0x20], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
    [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF0, 0x9F, 0x98, 0x20],
    [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
  ]

  @Test(arguments: illFormed)
  func illFormedUTF8IsRefusedWhereItStarts(sequence: [UInt8]) throws {
    let text = Array("\"ascii €".utf8) + sequence + Array("\"".utf8)
    let error = try #require(throws: JSONError.self) { try JSONValue(parsing: text) }
    #expect(error.code == .invalidUTF8)
    #expect(error.offset == 10)
    #expect(error.column == 9)
  }

  @Test func everyScalarIsReadRawAndEscaped() throws {
    for value: UInt32 in Array(0x20..<0xD800) + Array(0xE000..<0x1_0000)
      + Array(stride(from: 0x1_0000, through: 0x10_FFFF, by: 257))
    {
      let scalar = try #require(Unicode.Scalar(value))
      guard scalar != "\"", scalar != "\\" else { continue }
      let expected = Array(String(scalar).utf8)
      #expect(try utf8(ofParsed: [0x22] + expected + [0x22]) == expected)
      let units = String(scalar).utf16.map { "\\u" + hexadecimal($0) }.joined()
      #expect(try utf8(ofParsed: Array("\"\(units)\"".utf8)) == expected)
    }
  }

  private func utf8(ofParsed text: [UInt8]) throws -> [UInt8]? {
    guard case .string(let string) = try JSONValue(parsing: text) else { return nil }
    return Array(string.utf8)
  }

  private func hexadecimal(_ unit: UInt16) -> String {
    let digits = String(unit, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }
}

// MARK: - Numbers

extension JSONParsingTests {
  static let integers = [
    Int64.min, Int64.min + 1, -9_007_199_254_740_993, -1, 0, 1, 9_007_199_254_740_993,
    1_000_000_000_000_000_007, Int64.max - 1, Int64.max,
  ]

  @Test(arguments: integers)
  func integersAreExact(integer: Int64) throws {
    #expect(try JSONValue(parsing: String(integer)) == .number(JSONNumber(integer)))
  }

  static let decimals = [
    "9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
    "123456789012345680000", "9007199254740993.5", "0.1", "0.30000000000000004", "1e23",
    "8.41e21", "5.0e-324", "2.2250738585072011e-308", "2.2250738585072014e-308",
    "1.00000000000000011102230246251565404236316680908203125", "4.35", "1e22", "1e-22", "1e-23",
    "123456789e-30", "9007199254740992e22", "3.141592653589793238462643383279502884197",
    "0.000000000000000000000000000000000000000000000000000000000001",
  ]

  @Test(arguments: decimals)
  func doublesAreCorrectlyRounded(text: String) throws {
    let expected = try #require(Double(text))
    guard case .number(let number) = try JSONValue(parsing: text) else {
      Issue.record("no number")
      return
    }
    #expect(number.double == expected)
  }
}

// MARK: - Objects, depth, places

extension JSONParsingTests {
  @Test(arguments: [2, 8, 9, 10, 40])
  func repeatedNameKeepsItsPlaceAndGetsTheLastValue(count: Int) throws {
    let names = (0..<count).map { "name\($0)" }
    for order in [names, names.sorted(), names.reversed()] {
      for repeated in order {
        let members = order.map { "\"\($0)\":1" } + ["\"\(repeated)\":2"]
        let expected = order.map { JSONMember($0, $0 == repeated ? 2 : 1) }
        let text = "{" + members.joined(separator: ",") + "}"
        #expect(try JSONValue(parsing: text) == .object(expected))
      }
    }
  }

  @Test func namesThatOnlyLookAlikeAreTwo() throws {
    let value = try JSONValue(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2}")
    #expect(value["\u{E9}"] == 1)
    #expect(value["e\u{301}"] == 2)
  }

  @Test func nestingIsLimitedOnBothSides() throws {
    let depth = JSONScanner.depthMax
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
      let deepest =
        String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
      #expect(throws: Never.self) { try JSONValue(parsing: deepest) }
      let error = try #require(throws: JSONError.self) {
        try JSONValue(parsing: open + deepest + close)
      }
      #expect(error.code == .tooDeep)
      #expect(error.offset == open.utf8.count * depth)
    }
    let bottomless = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
    let error = try #require(throws: JSONError.self) { try JSONValue(parsing: bottomless) }
    #expect(error.code == .tooDeep)
  }

  @Test func deepValuesAreReadAsShallowOnes() throws {
    // The value at the bottom stands at each depth around that from which recursion is not used.
    for depth in JSONScanner.recursionMax / 2 - 3...JSONScanner.recursionMax / 2 + 3 {
      let text =
        String(repeating: "[{\"b\":[],\"a\":", count: depth) + "[1,[],{\"x\":{},\"x\":[2]}]"
        + String(repeating: "},3]", count: depth)
      let value = try JSONValue(parsing: text)
      #expect(value.jsonText() == text.replacing("\"x\":{},", with: ""))
      try Array(text.utf8).withUnsafeBufferPointer { bytes in
        var scanner = JSONScanner(bytes)
        try scanner.skipValue()
        try scanner.finish()
        scanner = JSONScanner(bytes)
        #expect(try scanner.readValue(maxBytes: 20) == nil)
        #expect(scanner.offset == 0)
      }
      let (cut, closed) = (String(text.dropLast()), String(text.dropLast(2)) + "}")
      for wrong in [cut, closed, text.replacing("[1", with: "[1 1")] {
        #expect(throws: JSONError.self) { try JSONValue(parsing: wrong) }
      }
    }
  }

  @Test func errorNamesLineAndColumn() throws {
    let text = "{\n  \"naïve\": 1,\n  \"日本\": tru\n}"
    let error = try #require(throws: JSONError.self) { try JSONValue(parsing: text) }
    #expect(error.line == 3)
    #expect(error.column == 12)
    #expect(error.description == "line 3, column 12: expected 'true'")
  }

  @Test func messageSaysWhatToDo() throws {
    func message(_ text: String) throws -> String {
      try #require(throws: JSONError.self) { try JSONValue(parsing: text) }.message
    }
    #expect(try message("{\"a\":1 2}") == "expected ',' or '}' after a member")
    #expect(try message("[1 2]") == "expected ',' or ']' after an element")
    #expect(try message("[1,]") == "no ',' may stand before ']'; remove it")
    #expect(try message("[1") == "expected ',' or ']' after an element, but the text ends here")
    #expect(
      try message("\u{FEFF}[]") == "the text starts with a byte order mark; save it without one")
  }

  @Test func sequenceThatIsNotContiguousIsParsed() throws {
    let text = Array("[1,\"é\"]".utf8)
    #expect(try JSONValue(parsing: text.lazy.map { $0 }) == [1, "é"])
    #expect(
      try JSONValue(parsing: [UInt8]().reversed().makeIterator().map { $0 } + text) == [1, "é"])
  }

  @Test func everyTruncationIsAnErrorAtItsEnd() throws {
    let sample = Array(
      """
      {"a": [1, -2.5e-3, true, false, null, {}], "é\\n\\uD83D\\uDE00": "text of some length €",
       "nested": {"x": [[], [[]]], "y": {"z": "\\\\"}}}
      """.utf8)
    #expect(throws: Never.self) { try JSONValue(parsing: sample) }
    for count in 0..<sample.count {
      let error = try #require(throws: JSONError.self, "\(count) bytes") {
        try JSONValue(parsing: sample.prefix(count))
      }
      // Half of a scalar or of a surrogate pair is refused where it starts.
      #expect(
        error.code == .unexpectedEnd && error.offset == count
          || error.code == .invalidUTF8 || error.code == .loneSurrogate, "\(count) bytes")
    }
  }

  @Test func everyChangedByteIsAcceptedOrRefusedWithoutACrash() {
    let sample = Array("{\"a\":[1.5e3,\"\\u00e9€\",null],\"b\":{\"c\":true}}".utf8)
    for index in sample.indices {
      for byte in UInt8.min...UInt8.max {
        var changed = sample
        changed[index] = byte
        do {
          let value = try JSONValue(parsing: changed)
          #expect(throws: Never.self) { try JSONValue(parsing: value.jsonBytes()) }
        } catch {
          #expect(error.offset <= changed.count)
        }
      }
    }
  }
}

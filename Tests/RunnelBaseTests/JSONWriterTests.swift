import RunnelBase
import Testing

@Suite struct JSONWriterTests {
  @Test func compactLayoutHasNoSpaces() {
    let value: JSONValue = ["b": [1, true, nil], "a": ["c": [:], "d": []], "e": "x"]
    #expect(value.jsonText() == #"{"b":[1,true,null],"a":{"c":{},"d":[]},"e":"x"}"#)
  }

  @Test func prettyLayoutIsThatOfECMAScript() {
    let value: JSONValue = ["b": [1, [2]], "a": ["c": [:], "d": []], "e": "x"]
    let expected = """
      {
        "b": [
          1,
          [
            2
          ]
        ],
        "a": {
          "c": {},
          "d": []
        },
        "e": "x"
      }
      """
    #expect(value.jsonText(pretty: true) == expected)
    #expect(JSONValue.object([]).jsonText(pretty: true) == "{}")
    #expect(JSONValue.array([]).jsonText(pretty: true) == "[]")
    #expect(JSONValue.array([[]]).jsonText(pretty: true) == "[\n  []\n]")
  }

  @Test func onlyWhatMustBeIsEscaped() {
    let text = "\"\\/\u{8}\u{C}\n\r\t\0\u{1}\u{1F}\u{7F}é€😀\u{2028}"
    let expected = #""\"\\/\b\f\n\r\t\u0000\u0001\u001f"# + "\u{7F}é€😀\u{2028}\""
    #expect(JSONValue.string(text).jsonText() == expected)
  }

  @Test func escapeIsFoundAtEveryPlaceOfAWord() {
    for length in 1...24 {
      for index in 0..<length {
        var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
        bytes[index] = 0x0A
        let text = String(decoding: bytes, as: UTF8.self)
        let expected =
          "\"" + String(repeating: "a", count: index) + "\\n"
          + String(repeating: "a", count: length - index - 1) + "\""
        #expect(JSONValue.string(text).jsonText() == expected)
      }
    }
  }

  // tidy:table
  static let numbers: [(Double, String)] = [
    (0, "0"), (-0.0, "0"), (1, "1"), (-1, "-1"), (1.5, "1.5"), (-1.5, "-1.5"), (0.1, "0.1"),
    (0.5, "0.5"), (100, "100"), (123.456, "123.456"), (1e20, "100000000000000000000"),
    (1e21, "1e+21"), (1.5e21, "1.5e+21"), (1.2345678901234568e20, "123456789012345680000"),
    (-1.2345678901234568e+21, "-1.2345678901234568e+21"), (1e-6, "0.000001"),
    (1.5e-6, "0.0000015"), (1e-7, "1e-7"), (1.5e-7, "1.5e-7"),
    (Double.leastNonzeroMagnitude, "5e-324"),
    (1.7976931348623157e308, "1.7976931348623157e+308"),
    (0.30000000000000004, "0.30000000000000004"),
    (2.2250738585072014e-308, "2.2250738585072014e-308"), (4.35, "4.35"), (0.001, "0.001"),
    (9.3e18, "9300000000000000000"), (12345678901234567.5, "12345678901234568"),
    (1_000_000.5, "1000000.5"), (1e100, "1e+100"), (0.012, "0.012"), (10.01, "10.01"),
  ]

  @Test(arguments: numbers)
  func doublesAreWrittenAsECMAScriptDoes(double: Double, text: String) throws {
    let number = try #require(JSONNumber(double))
    #expect(JSONValue.number(number).jsonText() == text)
  }

  @Test(arguments: JSONParsingTests.integers)
  func integersAreWrittenWithAllDigits(integer: Int64) {
    #expect(JSONValue.number(JSONNumber(integer)).jsonText() == String(integer))
  }

  @Test func piecesGiveTheDocumentOfTheWhole() throws {
    let value: JSONValue = ["a": [1, "x", [:]], "b": ["c": nil, "d": false]]
    for layout in [JSONWriter.Layout.compact, .pretty] {
      var writer = JSONWriter(layout: layout)
      var taken: [UInt8] = []
      writer.beginObject()
      taken += writer.takeBytes()
      writer.writeName("a")
      writer.beginArray()
      writer.writeNumber(1)
      taken += writer.takeBytes()
      writer.writeString("x")
      writer.beginObject()
      writer.endObject()
      writer.endArray()
      writer.writeName("b")
      taken += writer.takeBytes()
      writer.beginObject()
      writer.writeName("c")
      writer.writeNull()
      writer.writeName("d")
      writer.writeBool(false)
      writer.endObject()
      #expect(!writer.isComplete)
      writer.endObject()
      #expect(writer.isComplete)
      taken += writer.takeBytes()
      #expect(writer.bytes.isEmpty)
      #expect(taken == value.jsonBytes(pretty: layout == .pretty))
    }
  }

  @Test(arguments: [1, 0x5EED, UInt64.max])
  func randomValuesSurviveWritingAndParsing(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for round in 0..<400 {
      let value = randomValue(depth: 5, using: &random)
      for pretty in [false, true] {
        let text = value.jsonBytes(pretty: pretty)
        #expect(try JSONValue(parsing: text) == value, "seed \(seed), round \(round)")
        // Writing is a function of the value alone.
        #expect(try JSONValue(parsing: text).jsonBytes(pretty: pretty) == text)
      }
    }
  }

  @Test(arguments: [2, 0xD0B1E])
  func randomDoublesSurviveWritingAndParsing(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for round in 0..<20_000 {
      guard let number = JSONNumber(Double(bitPattern: random.next())) else { continue }
      let text = JSONValue.number(number).jsonText()
      #expect(Double(text)?.bitPattern == number.double.bitPattern, "seed \(seed), round \(round)")
      #expect(try JSONValue(parsing: text) == .number(number), "seed \(seed), round \(round)")
    }
  }

  private func randomValue(depth: Int, using random: inout SeededRandom) -> JSONValue {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &random) {
    case 0: return nil
    case 1: return .bool(Bool.random(using: &random))
    case 2: return .number(JSONNumber(Int64(bitPattern: random.next())))
    case 3:
      return .number(JSONNumber(Double.random(in: -1e9...1e9, using: &random).rounded(.down)) ?? 0)
    case 4: return .number(JSONNumber(Double(bitPattern: random.next())) ?? 0)
    case 5: return .string(randomText(using: &random))
    case 6:
      return .array(
        (0..<Int.random(in: 0..<6, using: &random)).map { _ in
          randomValue(depth: depth - 1, using: &random)
        })
    default:
      // The index makes the names different.
      return .object(
        (0..<Int.random(in: 0..<14, using: &random)).map { index in
          JSONMember(
            randomText(using: &random) + String(index),
            randomValue(depth: depth - 1, using: &random))
        })
    }
  }

  private func randomText(using random: inout SeededRandom) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0..<20, using: &random) {
      let limit: UInt32 =
        [0x30, 0x80, 0x800, 0x1_0000, 0x11_0000].randomElement(using: &random) ?? 1
      if let scalar = Unicode.Scalar(UInt32.random(in: 0..<limit, using: &random)) {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

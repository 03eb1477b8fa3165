import Foundation
import RunnelBase
import Testing

/// JSON in the coding of other libraries, and as text.
@Suite struct JSONValueCodingTests {
  private static let values: [JSONValue] = [
    nil, true, false, "", "é\u{1F600}", 0, -1, .number(JSONNumber(.max)), .number(JSONNumber(.min)),
    0.1, -1e300, .array([]), .object([]), [1, nil, [true, ["a": 2.5]]],
    ["a": 1, "b": ["c": [[], [:]], "d": "x"], "e": nil],
  ]

  @Test(arguments: values) func otherEncodersWriteTheSameJSON(value: JSONValue) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let data = try encoder.encode(["value": value])
    let parsed = try JSONValue(parsing: String(decoding: data, as: UTF8.self))
    #expect(parsed == ["value": value])
  }

  @Test(arguments: values) func otherDecodersReadTheSameJSON(value: JSONValue) throws {
    let data = Data(JSONValue.object([JSONMember("value", value)]).jsonBytes())
    let read = try JSONDecoder().decode([String: JSONValue].self, from: data)
    #expect(read == ["value": value])
  }

  @Test func numberOfAnotherEncoderIsAnIntegerIfItIsOne() throws {
    let numbers = [JSONNumber(7), JSONNumber(.max), try #require(JSONNumber(0.5))]
    let data = try JSONEncoder().encode(numbers)
    #expect(String(decoding: data, as: UTF8.self) == "[7,9223372036854775807,0.5]")
    #expect(try JSONDecoder().decode([JSONNumber].self, from: data) == numbers)
  }

  @Test(arguments: values) func valueIsShownAsJSON(value: JSONValue) {
    #expect("\(value)" == value.jsonText())
    #expect(String(reflecting: value) == value.jsonText())
  }

  @Test func partsOfAValueAreShownAsJSON() {
    let member = JSONMember("a\"b", [1])
    #expect("\(member)" == #""a\"b":[1]"#)
    #expect("\(JSONNumber(7))" == "7")
    #expect(String(reflecting: [JSONMember("a", nil)]) == #"["a":null]"#)
    #expect("\(JSONError.Code.invalidNumber)" == "invalid_number")
  }
}

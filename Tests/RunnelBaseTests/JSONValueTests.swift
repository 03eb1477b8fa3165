import RunnelBase
import Testing

@Suite struct JSONValueTests {
  @Test func stringsAreEqualOnlyByteForByte() {
    #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
    #expect(JSONValue.string("\u{E9}") == .string("\u{E9}"))
    #expect(JSONMember("\u{E9}", 1) != JSONMember("e\u{301}", 1))
    #expect(Set<JSONValue>(["\u{E9}", "e\u{301}", "\u{E9}"]).count == 2)
  }

  @Test func kindsAreNeverEqual() {
    let values: [JSONValue] = [nil, false, 0, "", [], [:]]
    for (index, left) in values.enumerated() {
      for (other, right) in values.enumerated() {
        #expect((left == right) == (index == other))
      }
    }
  }

  @Test func memberIsFoundByItsName() {
    let value: JSONValue = ["a": 1, "b": nil]
    #expect(value["a"] == 1)
    #expect(value["b"] == .some(.null))
    #expect(value["c"] == nil)
    #expect(JSONValue.array([])["a"] == nil)
  }

  @Test func integersAndDoublesAreComparedExactly() throws {
    let above = try #require(JSONNumber(0x1p63))
    let below = try #require(JSONNumber(-0x1.8p63))
    let half = try #require(JSONNumber(4.5))
    #expect(JSONNumber(Int64.max) < above)
    #expect(below < JSONNumber(Int64.min))
    #expect(JSONNumber(4) < half)
    #expect(half < JSONNumber(5))
    #expect(JSONNumber(9_007_199_254_740_992) < JSONNumber(9_007_199_254_740_993))
    #expect(JSONNumber(1.0) == 1)
    #expect(JSONNumber(Double.nan) == nil)
    #expect(JSONNumber(Double.infinity) == nil)
  }
}

import RunnelBase
import Testing

@Suite struct JSONValueReadingTests {
  private static let values: [JSONValue] = [nil, true, 7, 2.5, "7", [1], ["a": 1]]

  @Test func eachKindIsReadAsItselfAndAsNothingElse() {
    #expect(Self.values.map(\.isNull) == [true, false, false, false, false, false, false])
    #expect(Self.values.map(\.bool) == [nil, true, nil, nil, nil, nil, nil])
    #expect(Self.values.map(\.int) == [nil, nil, 7, nil, nil, nil, nil])
    #expect(Self.values.map(\.double) == [nil, nil, 7, 2.5, nil, nil, nil])
    #expect(Self.values.map(\.string) == [nil, nil, nil, nil, "7", nil, nil])
    #expect(Self.values.map(\.array) == [nil, nil, nil, nil, nil, [1], nil])
    #expect(Self.values.map(\.object) == [nil, nil, nil, nil, nil, nil, [JSONMember("a", 1)]])
  }

  @Test func listsAndDictionariesOfValuesAreValues() {
    let members: [String: JSONValue] = ["b": 2, "a": [1], "ä": nil]
    #expect(JSONValue(members).jsonText() == #"{"a":[1],"b":2,"ä":null}"#)
    #expect(JSONValue([JSONValue(members), "x"])[1] == "x")
  }

  @Test func integersAreExactOrNil() throws {
    let large = try JSONValue(parsing: "9007199254740993")
    #expect(large.int == 9_007_199_254_740_993)
    #expect(try JSONValue(parsing: "1e300").int == nil)
    #expect(try JSONValue(parsing: "1e300").double == 1e300)
  }

  @Test func indexesReachElementsAndMembersOfThatName() {
    let value: JSONValue = ["list": ["a", "b"], "stored": ["0": "c"]]
    #expect(value["list"]?[1]?.string == "b")
    #expect(value["list"]?[2]?.isNull == nil && value["list"]?[-1]?.isNull == nil)
    #expect(value["stored"]?[0]?.string == "c")
    #expect(value["none"]?[0]?.isNull == nil && JSONValue.null[0]?.isNull == nil)
  }

  @Test func aPathIsTheSameAsItsSteps() {
    let json: JSONValue = ["days": [["high": 3], ["high": .null]], "0": ["a/b": true], "01": 7]
    #expect(json[path: "days/0/high"] == json["days"]?[0]?["high"])
    #expect(json[path: "days/1/high"] == .null)
    #expect(json[path: "0/a/b"] == nil && json[0]?["a/b"] == true)
    #expect(json[path: "01"] == 7 && json[path: "/01/"] == 7)
    #expect(json[path: "days/2"] == nil && json[path: "days/-1"] == nil)
    #expect(json[path: "days/00"] == nil && json[path: "days/high"] == nil)
    #expect(json[path: "01/x"] == nil && json[path: "days/99999999999999999999"] == nil)
    #expect(json[path: ""] == json && json[path: "/"] == json)
  }

  @Test func aMemberIsReplacedInItsPlaceAddedAndRemoved() {
    var json: JSONValue = ["a": 1, "b": ["c": true]]
    json["a"] = "new"
    json["d"] = 4
    json["b"]?["c"] = false
    #expect(json.jsonText() == #"{"a":"new","b":{"c":false},"d":4}"#)
    json["b"] = nil
    json["none"] = nil
    #expect(json.jsonText() == #"{"a":"new","d":4}"#)
    var text: JSONValue = "no object"
    text["a"] = nil
    #expect(text == "no object")
    text["a"] = 1
    #expect(text == ["a": 1])
  }

  @Test func valuesOfVariablesAreThoseOfLiterals() throws {
    let (name, count, isNew, high) = ("a", Int.max, true, 2.5)
    #expect(
      [JSONValue(name), JSONValue(count), JSONValue(isNew)]
        == ["a", 9_223_372_036_854_775_807, true])
    let (half, seven) = (try JSONValue(high), try JSONValue(Double(7)))
    #expect(half.double == 2.5 && seven.int == 7)
    #expect(JSONValue(Int64.min) == -9_223_372_036_854_775_808)
    for double in [Double.nan, .infinity, -.infinity] {
      let error = #expect(throws: JSONNumberError.self) { _ = try JSONValue(double) }
      #expect(error?.description.hasPrefix("\(double) is no finite number") == true)
    }
  }
}

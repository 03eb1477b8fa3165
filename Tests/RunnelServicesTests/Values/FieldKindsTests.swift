import RunnelBase
import RunnelServices
import Testing

/// How the texts of an address are read by the kinds of fields.
@Suite struct FieldKindsTests {
  private func typed(_ query: String, _ records: [JSONValue]) throws -> ServiceCondition {
    let condition = try QueryReading(ServiceQuery(text: query)).condition
    var kinds = FieldKinds(for: condition)
    for record in records { kinds.note(record) }
    return kinds.typed(condition)
  }

  @Test func aTextIsReadAsWhatAllRecordsHave() throws {
    let numbers: [JSONValue] = [["a": 1], ["a": .null], ["b": 1], ["a": [2, 3]]]
    #expect(try typed(#"{"a":"2"}"#, numbers) == .field("a", .equal, 2))
    #expect(try typed(#"{"a":"x"}"#, numbers) == .field("a", .equal, "x"))
    #expect(try typed(#"{"a":"true"}"#, numbers) == .field("a", .equal, "true"))
    #expect(
      try typed(#"{"a":{"$in":["1","x"]}}"#, numbers) == .field("a", .oneOf, [1, "x"]))
    #expect(try typed(#"{"a":"true"}"#, [["a": false]]) == .field("a", .equal, true))
    #expect(try typed(#"{"d.x":"1"}"#, [["d": ["x": 5]]]) == .field("d.x", .equal, 1))
    for mixed in [["a": "t"], ["a": true], ["a": ["x": 1]], ["a": ["t"]]] as [JSONValue] {
      #expect(try typed(#"{"a":"2"}"#, numbers + [mixed]) == .field("a", .equal, "2"), "\(mixed)")
    }
    #expect(try typed(#"{"a":"2"}"#, []) == .field("a", .equal, "2"))
  }

  @Test func onlyFieldsWhoseTextsMayMeanMoreAreLookedAt() throws {
    let query = try ServiceQuery(text: #"{"a":"x","b":"1","$or":[{"c":"true"},{"d":5}]}"#)
    var kinds = FieldKinds(for: try QueryReading(query).condition)
    #expect(kinds.openFields == ["b", "c"])
    kinds.note(["b": "text"])
    #expect(kinds.openFields == ["c"])
  }
}

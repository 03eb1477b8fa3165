import RunnelBase
import RunnelTree
import Testing

@testable import RunnelStreams

@Suite struct FieldRuleTests {
  private static let values: [(json: JSONValue, name: String)] = [
    (nil, "null"), (true, "bool"), (1, "one"), (1.5, "half"), ("x", "text"), (["a": 1], "object"),
    ("", "empty"), ("longer", "long"), (100, "hundred"),
  ]

  /// Each kind with the names of the values that it allows; nothing is allowed everywhere.
  @Test(
    arguments: [
      (FieldRule.Kind.text(), ["text", "empty", "long"]),
      (.text(length: 1...3), ["text"]), (.integer(), ["one", "hundred"]),
      (.integer(0...10), ["one"]), (.number(), ["one", "half", "hundred"]),
      (.number(1.2...50), ["half"]), (.boolean, ["bool"]), (.time, ["one", "hundred"]),
      (.choice(["x", true]), ["text", "bool"]), (.object, ["object"]),
      (.reference("user"), ["text", "long"]),
      (.any, ["bool", "one", "half", "text", "object", "empty", "long", "hundred"]),
    ])
  func eachKindAllowsExactlyItsValues(kind: FieldRule.Kind, allowed: [String]) throws {
    let rule = try FieldRule("f", kind)
    for (json, name) in FieldRuleTests.values {
      let error = rule.error(in: try Node(json: json))
      #expect((error == nil) == (name == "null" || allowed.contains(name)), "\(kind) \(name)")
    }
    let required = try FieldRule("f", kind, isRequired: true)
    #expect(required.error(in: .empty)?.code == .required)
  }

  @Test func eachFieldIsToldOnceAndInOrder() throws {
    let schema = ResourceSchema(
      [
        try FieldRule("name", .text(length: 2...9), isRequired: true),
        try FieldRule("age", .integer(0...150)), try FieldRule("role", .choice([.string("a")])),
      ], allowsOthers: false)
    let record = try Node(json: ["age": 200, "extra": 1, "n": 5, "role": "b"])
    let errors = schema.errors(in: record, known: [try Key("n")])
    #expect(
      errors.map(\.description) == [
        "`name` is missing.", "`age` must be a whole number from 0 to 150.",
        "`role` must be one of \"a\".",
        "`extra` is not a field of this resource.",
      ])
    #expect(errors.map(\.code) == [.required, .range, .choice, .unknown])
  }
}

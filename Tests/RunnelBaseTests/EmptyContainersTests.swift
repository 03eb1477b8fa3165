import RunnelBase
import Testing

@Suite struct EmptyContainersTests {
  /// Counts the empty objects and arrays below a value.
  private static func count(_ json: JSONValue) -> Int {
    let parts: [JSONValue]
    switch json {
    case .object(let members): parts = members.map(\.value)
    case .array(let elements): parts = elements
    case .null, .bool, .number, .string: parts = []
    }
    return parts.reduce(0) { sum, part in
      switch part {
      case .object([]), .array([]): sum + 1
      default: sum + count(part)
      }
    }
  }

  @Test(arguments: [
    "{}", "[]", "7", #"{"a":[]}"#, #"{"a": [ \t], "b":{ }, "c":[[],{"d":{}}]}"#,
    #"{"a\"{}":"[] {}","b\\":[1,"]"],"c":{"x":[]}}"#, #"[[],[[]],{"t":"x"},{}]"#,
  ])
  func everyEmptyOneIsCounted(text: String) throws {
    let text = text.replacing("\\t", with: "\t")
    let found = try EmptyContainers(in: JSONValue(parsing: text))
    #expect(found.count == Self.count(try JSONValue(parsing: text)))
    var copy = text
    #expect(copy.withUTF8 { EmptyContainers(in: $0) } == found)
  }

  @Test func thoseOfSeveralDocumentsAreAdded() throws {
    var sum = EmptyContainers()
    for text in [#"{"a":1}"#, #"{"b":[]}"#, #"{"c":{},"d":[[]]}"#] {
      sum.add(try EmptyContainers(in: JSONValue(parsing: text)))
    }
    #expect(sum.count == 3 && sum.firstName == "b")
  }

  @Test func theFirstIsNamedWhereAMemberHoldsIt() throws {
    func sentence(_ text: String) throws -> String? {
      try EmptyContainers(in: JSONValue(parsing: text)).sentence
    }
    #expect(try sentence(#"{"a":1}"#) == nil)
    #expect(
      try sentence(#"{"a":1,"t\u0061gs":[]}"#)
        == "1 empty list or object ([] or {}) in tags is not kept: the tree has no such value.")
    #expect(
      try sentence(#"{"x":{"tags":[],"b":{}}}"#)
        == "2 empty lists or objects ([] or {}), the first in tags, are not kept: the tree has no "
        + "such values.")
    #expect(try sentence(#"{"a":[1,[]]}"#)?.contains(" in ") == false)
    // Two places end in the same name.
    #expect(
      try sentence(#"{"x":{"tags":[]},"y":{"b":1,"tags":{}}}"#)?.contains("the first in x/tags,")
        == true)
    #expect(
      try sentence(#"{"x":[{"tags":[]},{"tags":{}}]}"#)?.contains("the first in tags,") == true)
  }
}

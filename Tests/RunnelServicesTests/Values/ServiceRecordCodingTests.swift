import RunnelBase
import RunnelServices
import Testing

@Suite struct ServiceRecordCodingTests {
  /// What a tree makes of a value: nothing of null and of what is empty, and no order of members.
  private func inTree(_ value: JSONValue) -> JSONValue? {
    switch value {
    case .null: return nil
    case .array(let elements):
      return inTree(
        .object(elements.enumerated().map { JSONMember(String($0.offset), $0.element) }))
    case .object(let members):
      let kept = members.compactMap { member in
        inTree(member.value).map { JSONMember(member.name, $0) }
      }
      return kept.isEmpty ? nil : .object(kept.sorted { $0.name < $1.name })
    default: return value
    }
  }

  private func sorted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): .array(elements.map(sorted))
    case .object(let members):
      .object(
        members.map { JSONMember($0.name, sorted($0.value)) }.sorted { $0.name < $1.name })
    default: value
    }
  }

  @Test(arguments: [
    #"{"a":null,"b":[],"c":{},"d":[null,[],{}],"e":{"f":null}}"#,
    #"{"~":"n","~~":1,"~a":{"~":"l"}}"#, #"{"a.b/c$d#e[f]%":1,"":2,"%":3,"tab\t":4}"#,
    #"{"n":12345678901234567,"x":0.1,"t":"","0":1,"1":2}"#, "[]", "{}", "null",
  ])
  func aRecordSurvivesATree(text: String) throws {
    let value = try JSONValue(parsing: text)
    let stored = try #require(inTree(try ServiceRecordCoding.encoded(value)))
    #expect(sorted(ServiceRecordCoding.decoded(stored)) == sorted(value), "\(stored)")
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func anyRecordSurvivesATree(seed: UInt64) throws {
    var random = RandomQueries(seed: seed)
    let value = JSONValue.object(
      (0..<random.number(0..<5)).map { index in
        JSONMember(
          random.pick(["", "~", "~~x", "a.b", "%41", "é/", "k"]) + "\(index)",
          random.value(depth: 3))
      })
    let stored = try #require(inTree(try ServiceRecordCoding.encoded(value)))
    #expect(sorted(ServiceRecordCoding.decoded(stored)) == sorted(value), "seed \(seed): \(stored)")
  }

  @Test func aNameThatIsTooLongIsRefused() {
    let name = String(repeating: "x", count: 800)
    #expect(throws: FeathersError.self) { try ServiceRecordCoding.key(for: name) }
  }
}

import RunnelBase
import Testing

@testable import RunnelApp

/// Plain values are those of YAML 1.2's core schema.
@Suite struct YAMLScalarTests {
  @Test(
    arguments: [
      ("12:30", "12:30"), ("12:30:15.5", "12:30:15.5"), ("no", "no"), ("on", "on"), ("Yes", "Yes"),
      ("1_000", "1_000"), ("0b11", "0b11"), (".inf", ".inf"), (".nan", ".nan"), ("-", "-"),
      ("2025-01-01", "2025-01-01"), ("1.2.3", "1.2.3"), ("nan", "nan"), ("0x", "0x"),
      ("0x-1", "0x-1"), ("e5", "e5"),
    ] as [(String, JSONValue)])
  func textsStayTexts(text: String, value: JSONValue) { #expect(YAMLScalar.json(text) == value) }

  @Test(
    arguments: [
      ("", .null), ("~", .null), ("Null", .null), ("true", true), ("FALSE", false), ("0", 0),
      ("-17", -17), ("+3", 3), ("010", 10), ("0o10", 8), ("0xff", 255), ("1.5", 1.5), (".5", 0.5),
      ("-1e3", -1000), ("2.", 2),
    ] as [(String, JSONValue)])
  func otherValuesAreResolved(text: String, value: JSONValue) {
    #expect(YAMLScalar.json(text) == value)
  }

  @Test func settingsMaySayOnAndOff() throws {
    let object = try #require(try YAMLObject(settings: "a: on\nb: no\nc: 'on'", file: "a.yaml"))
    #expect(try object.bool("a") == true)
    #expect(try object.bool("b") == false)
    #expect(throws: ConfigurationError.self) { try object.bool("c") }
  }
}

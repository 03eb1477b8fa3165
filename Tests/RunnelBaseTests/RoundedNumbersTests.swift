import RunnelBase
import Testing

/// The numbers in a document that have more digits than are kept.
@Suite struct RoundedNumbersTests {
  private func found(_ text: String) -> RoundedNumbers {
    var text = text
    return text.withUTF8 { RoundedNumbers(in: $0) }
  }

  @Test(arguments: [
    "[1, -2.50, 1e300, 1.5E-7, 0e5, 5e-324, 0.1, 100000000000000000000000]", "9223372036854775807",
    "[-9223372036854775808,0.000000000000000001,1.00000000000000000000]",
    #"{"123456789012345678901234567890":"99999999999999999999 \" 8888888888888888888"}"#,
    "0.30000000000000004", "[]", "",
  ]) func numberThatIsKeptIsNotTold(text: String) {
    #expect(found(text).sentence == nil)
  }

  @Test(arguments: [
    ("[9223372036854775809]", "9223372036854775809"),
    ("12345678901234567.5", "12345678901234567.5"),
    (#"{"a":"x","b":{"c":-0.12345678901234567890123}}"#, "-0.12345678901234567890123"),
  ]) func numberThatIsRoundedIsTold(text: String, number: String) throws {
    let found = found(text)
    #expect(found.count == 1)
    let sentence = try #require(found.sentence)
    #expect(sentence.contains("1 number has more digits than are kept: \(number) is"))
  }

  @Test(arguments: ["1e-400", "-2E-324", "0.1e-323"])
  func numberThatBecomesZeroIsTold(number: String) throws {
    let found = found("[\(number)]")
    let sentence = try #require(found.sentence)
    #expect(sentence.contains("1 number is too small to be kept: \(number) is read as"))
  }

  @Test func severalAreCounted() throws {
    let found = found("[12345678901234567890123,1,{\"x\":98765432109876543210987}]")
    #expect(found.count == 2)
    let sentence = try #require(found.sentence)
    #expect(sentence.contains("2 numbers have more digits than are kept: the first, 12345678"))
    let small = try #require(self.found("[12345678901234567890123,1e-999]").sentence)
    #expect(small.contains("2 numbers have more digits than are kept, or are too small: the first"))
  }
}

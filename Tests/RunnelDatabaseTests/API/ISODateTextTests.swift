import Foundation
import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

/// Dates as text by ISO 8601.
@Suite struct ISODateTextTests {
  private func encoded(_ date: Date, _ encoder: NodeEncoder) throws -> String {
    try encoder.encode(date).exportJSON.jsonText()
  }

  private func decoded(
    _ type: Date.Type, _ json: String, _ decoder: NodeDecoder
  ) throws -> Date {
    try decoder.decode(type, from: Node(json: JSONValue(parsing: json)), at: Path("at"))
  }

  @Test func datesOfWholeMillisecondsAreTheSameTextHoweverOftenTheyAreWritten() throws {
    let (seed, coders) = (
      UInt64(1604), (NodeEncoder(dates: .iso8601), NodeDecoder(dates: .iso8601))
    )
    var random = SeededRandom(seed: seed)
    let some = (0..<2000).map { _ in
      Int64.random(in: -62_135_596_800_000..<253_402_300_800_000, using: &random)
    }
    for number in [1_731_144_939_833, -1, -999, 1] + some {
      let text = #""\#(CivilTime.utcText(number))""#
      let date = Date(timeIntervalSince1970: Double(number) / 1000)
      #expect(try encoded(date, coders.0) == text, "seed \(seed)")
      #expect(try encoded(decoded(Date.self, text, coders.1), coders.0) == text, "seed \(seed)")
    }
  }

  @Test func partsBelowAMillisecondAreCutOffTheTextOfADate() throws {
    let text = NodeEncoder(dates: .iso8601)
    #expect(
      try encoded(Date(timeIntervalSince1970: 1.4999), text) == #""1970-01-01T00:00:01.499Z""#)
    #expect(
      try encoded(Date(timeIntervalSince1970: -0.0001), text) == #""1969-12-31T23:59:59.999Z""#)
  }

  @Test func oldDatesAreOfTheGregorianCalendar() throws {
    let date = Date(timeIntervalSince1970: -14_831_769_600)
    #expect(try encoded(date, NodeEncoder(dates: .iso8601)) == #""1500-01-01T00:00:00.000Z""#)
    #expect(
      try decoded(Date.self, #""1500-01-01T00:00:00Z""#, NodeDecoder(dates: .iso8601)) == date)
  }

  @Test(arguments: [
    "2024-02-30T10:00:00Z", "2023-02-29T10:00:00Z", "2024-02-03T25:00:00Z", "2024-02-03T24:00:00Z",
    "2024-13-03T10:00:00Z", "2024-02-03T10:60:00Z", "2024-02-03T10:00:00", "2024-02-03T10:00:00.Z",
    "2024-02-03T10:00:00+0", "2024-02-03T10:00:00ZZ", "0000-02-03T10:00:00Z", "",
  ])
  func textOfNoDayOrTimeIsNotRead(text: String) {
    #expect(throws: DataCodingError.self, "\(text)") {
      try decoded(Date.self, "\"\(text)\"", NodeDecoder(dates: .iso8601))
    }
  }

  @Test(arguments: [
    "2023-11-14T23:13:20+01:00", "2023-11-14T20:43:20-0130", "2023-11-15T00:13:20.000+02",
    "2023-11-14T22:13:20.0Z",
  ])
  func datesWithAnOffsetOrAShortFractionAreRead(text: String) throws {
    let date = try decoded(Date.self, "\"\(text)\"", NodeDecoder(dates: .iso8601))
    #expect(date == Date(timeIntervalSince1970: 1_700_000_000))
  }
}

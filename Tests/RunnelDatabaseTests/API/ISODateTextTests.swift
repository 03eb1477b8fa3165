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
      try encoded(Date(timeIntervalSince1970: 1.9999999), text) == #""1970-01-01T00:00:01.999Z""#)
    #expect(
      try encoded(Date(timeIntervalSince1970: -0.0001), text) == #""1969-12-31T23:59:59.999Z""#)
  }

  @Test func whatIsReadIsWrittenAndWhatIsWrittenIsReadUpToTheEndsOfTheRange() throws {
    let (seed, coders) = (
      UInt64(1605), (NodeEncoder(dates: .iso8601), NodeDecoder(dates: .iso8601))
    )
    var random = SeededRandom(seed: seed)
    func padded(_ number: Int, _ count: Int) -> String {
      String(repeating: "0", count: max(0, count - String(number).count)) + String(number)
    }
    let (years, offsets) = (
      [0, 1, 2, 1582, 9998, 9999], ["Z", "+14:00", "-14:00", "+00:01", "-2359"]
    )
    let days = ["01-01", "01-02", "12-30", "12-31"]
    let times = ["00:00:00", "00:00:00.0001", "23:59:59", "23:59:59.999", "23:59:59.9999999"]
    var readCount = 0
    for year in years + (0..<200).map({ _ in Int.random(in: 0...9999, using: &random) }) {
      for (day, offset) in days.flatMap({ day in offsets.map { (day, $0) } }) {
        let time = times[Int.random(in: 0..<times.count, using: &random)]
        let text = "\(padded(year, 4))-\(day)T\(time)\(offset)"
        guard let date = try? decoded(Date.self, "\"\(text)\"", coders.1) else {
          #expect([0, 1, 9999].contains(year), "seed \(seed): \(text)")
          continue
        }
        readCount += 1
        let written = try encoded(date, coders.0)
        let again = try decoded(Date.self, written, coders.1)
        #expect(abs(again.timeIntervalSince(date)) < 0.0011, "seed \(seed): \(text)")
        #expect(try encoded(again, coders.0) == written, "seed \(seed): \(text)")
      }
    }
    #expect(readCount > 3000)
    for end in [-62_135_596_800.0, 253_402_300_799.999, 253_402_300_800.0.nextDown] {
      let written = try encoded(Date(timeIntervalSince1970: end), coders.0)
      #expect(try encoded(decoded(Date.self, written, coders.1), coders.0) == written)
    }
    for end in [-62_135_596_800.001, 253_402_300_800, .infinity, .nan] {
      #expect(throws: DataCodingError.self) {
        try encoded(Date(timeIntervalSince1970: end), coders.0)
      }
    }
  }

  @Test(arguments: ["0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59.999-00:01"])
  func textOfAMomentOutsideTheRangeIsNotRead(text: String) {
    #expect(throws: DataCodingError.self, "\(text)") {
      try decoded(Date.self, "\"\(text)\"", NodeDecoder(dates: .iso8601))
    }
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

import RunnelBase
import Testing

@Suite struct CivilTimeTests {
  @Test func epochIsAThursday() {
    let time = CivilTime(milliseconds: 0)
    #expect(time.dateText == "1970-01-01")
    #expect(time.timeText == "00:00")
    #expect(time.longDateText == "Thu 1 Jan 1970")
    #expect(CivilTime.utcText(0) == "1970-01-01T00:00:00.000Z")
    #expect(CivilTime.utcText(-1) == "1969-12-31T23:59:59.999Z")
    #expect(
      CivilTime.utcText(.max) == "\(Int64.max) ms" && CivilTime.utcText(.min) == "\(Int64.min) ms")
    #expect(time.weekday == 4)
    #expect(time.dayNumber == 0)
  }

  // tidy:table
  static let moments: [(Int64, Int, String, String)] = [
    (1_787_562_599_123, 0, "Mon 24 Aug 2026", "09:09"),
    (1_787_562_599_123, 7_200, "Mon 24 Aug 2026", "11:09"),
    (1_787_562_599_123, 54_000, "Tue 25 Aug 2026", "00:09"),
    (1_787_562_599_123, -36_000, "Sun 23 Aug 2026", "23:09"),
    (-1, 0, "Wed 31 Dec 1969", "23:59"),
    (951_782_400_000, 0, "Tue 29 Feb 2000", "00:00"),
    (951_868_800_000, 0, "Wed 1 Mar 2000", "00:00"),
    (4_107_542_400_000, 0, "Mon 1 Mar 2100", "00:00"),
    (-2_203_891_200_000, 0, "Thu 1 Mar 1900", "00:00"),
  ]

  @Test(arguments: moments)
  func momentIsShownAsClocksDo(moment: Int64, offset: Int, date: String, clock: String) {
    let time = CivilTime(milliseconds: moment, offsetSeconds: offset)
    #expect(time.longDateText == date)
    #expect(time.timeText == clock)
    #expect(time.milliseconds(offsetSeconds: offset) == moment)
  }

  @Test func everyDayOfEightHundredYearsFollowsTheOneBefore() throws {
    var expected = (year: 1_600, month: 1, day: 1, weekday: 6)
    let first = try #require(CivilTime(year: 1_600, month: 1, day: 1)).dayNumber
    for number in first..<first + 2 * 146_097 {
      let time = CivilTime(dayNumber: number)
      let found = (time.year, time.month, time.day, time.weekday)
      try #require(found == expected, "\(time.dateText) is day \(number)")
      try #require(time.dayNumber == number)
      expected.day += 1
      expected.weekday = expected.weekday % 7 + 1
      if expected.day > CivilTime.dayCount(year: expected.year, month: expected.month) {
        expected = (expected.year, expected.month + 1, 1, expected.weekday)
      }
      if expected.month > 12 { expected = (expected.year + 1, 1, 1, expected.weekday) }
    }
    #expect(expected.year == 2_400)
  }

  @Test func everyPartIsTakenAndGivenBack() throws {
    let time = try #require(
      CivilTime(year: 2_024, month: 2, day: 29, hour: 23, minute: 58, second: 57, millisecond: 6))
    let again = CivilTime(milliseconds: time.milliseconds())
    #expect(again == time)
    #expect(again.second == 57)
    #expect(again.millisecond == 6)
  }

  @Test func dateThatDoesNotExistIsNil() {
    #expect(CivilTime(year: 2_023, month: 2, day: 29) == nil)
    #expect(CivilTime(year: 1_900, month: 2, day: 29) == nil)
    #expect(CivilTime(year: 2_000, month: 2, day: 29) != nil)
    #expect(CivilTime(year: 2_023, month: 4, day: 31) == nil)
    #expect(CivilTime(year: 2_023, month: 0, day: 1) == nil)
    #expect(CivilTime(year: 2_023, month: 13, day: 1) == nil)
    #expect(CivilTime(year: 2_023, month: 1, day: 0) == nil)
    #expect(CivilTime(year: 2_023, month: 1, day: 1, hour: 24) == nil)
    #expect(CivilTime(year: 2_023, month: 1, day: 1, minute: 60) == nil)
    #expect(CivilTime(year: 2_023, month: 1, day: 1, second: 60) == nil)
    #expect(CivilTime(year: 2_023, month: 1, day: 1, millisecond: 1_000) == nil)
    #expect(CivilTime(year: CivilTime.yearMax + 1, month: 1, day: 1) == nil)
  }

  @Test func farthestYearsAreTakenAndGivenBack() throws {
    for year in [-CivilTime.yearMax, CivilTime.yearMax] {
      let time = try #require(CivilTime(year: year, month: 1, day: 1))
      #expect(CivilTime(milliseconds: time.milliseconds()) == time)
    }
  }

  @Test func earlierTimeIsLess() throws {
    let early = try #require(CivilTime(year: -5, month: 12, day: 31, hour: 23))
    let late = try #require(CivilTime(year: -4, month: 1, day: 1))
    #expect(early < late)
    #expect(early.dateText == "-0005-12-31")
  }
}

import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelWorkspace

/// The calendar in which the date of a field is chosen.
@Suite struct CalendarTests {
  private static let dayLength: Int64 = 86_400_000

  /// An hour east of UTC until 2026-10-25T01:00Z, and then none.
  private static let zone = LocalTime(name: "zone") { $0 < 1_792_890_000_000 ? 3600 : 0 }

  private static func calendar(at text: String) throws -> CalendarScreen {
    let date = try #require(FieldDate(FieldInput(kind: .string, text: text), now: 0, .utc))
    return CalendarScreen(date, today: 0)
  }

  private static func time(_ text: String) throws -> FieldInput {
    let rule = FieldRule(try Key("due"), .time)
    var input = FieldInput(rule: rule, .null)
    input.editor = LineEditor(text)
    return input
  }

  private static func day(_ year: Int, _ month: Int, _ day: Int) throws -> Int {
    try #require(CivilTime(year: year, month: month, day: day)).dayNumber
  }

  @Test func emptyFieldForDatesOpensAtToday() throws {
    var input = FieldInput(kind: .string, like: .string("2026-08-24"))
    input.editor = LineEditor("")
    let date = try #require(FieldDate(input, now: 0, .utc))
    #expect(CalendarScreen(date, today: 20_000).day == 20_000)
    #expect(date.text(day: try Self.day(2026, 9, 1), .utc) == "2026-09-01")
    #expect(FieldDate(FieldInput(kind: .string), now: 0, .utc) == nil)
  }

  @Test(arguments: [
    ("05.04.1942", "01.09.2026"), ("5.4.1942 10:00", "1.9.2026"), ("2026-08-24", "2026-09-01"),
    ("2026-08-24T10:00", "2026-09-01"),
  ])
  func emptyFieldIsFilledAsOtherRecordsWriteTheirDates(other: String, written: String) throws {
    let input = FieldInput(kind: .string, like: .string(other))
    let date = try #require(FieldDate(input, now: 0, .utc))
    #expect(date.text(day: try Self.day(2026, 9, 1), .utc) == written)
  }

  // MARK: Moving

  @Test(arguments: [
    ("2026-01-31", 1, "2026-02-28"), ("2024-01-31", 1, "2024-02-29"),
    ("2026-01-15", -1, "2025-12-15"),
    ("2026-08-24", 12, "2027-08-24"), ("0001-02-03", -2, "0001-01-03"),
    ("9999-12-31", 1_000_000, "9999-12-31"),
  ])
  func monthsAreMovedByToADayThatIsThere(from: String, count: Int, to: String) throws {
    var calendar = try Self.calendar(at: from)
    calendar.move(months: count)
    #expect(calendar.civil.dateText == to)
  }

  @Test func calendarEndsWithTheYears1And9999() throws {
    var calendar = try Self.calendar(at: "2026-08-24")
    calendar.move(days: -7_000_000)
    #expect(calendar.civil.dateText == "0001-01-01")
    calendar.move(days: 7_000_000)
    #expect(calendar.civil.dateText == "9999-12-31")
  }

  @Test func weeksBeginOnMonday() throws {
    for text in ["2026-08-24", "2026-06-01", "2026-02-01"] {
      let first = CivilTime(dayNumber: try Self.calendar(at: text).firstDay)
      #expect(first.weekday == 1)
      #expect(first.dateText <= text)
    }
  }

  // MARK: Fields

  @Test func momentKeepsItsTimeOfDayAcrossAChangeOfClocks() throws {
    // Noon on 2026-10-24, an hour east.
    let noon: Int64 = 1_792_839_600_000
    let date = try #require(FieldDate(Self.time("\(noon)"), now: 0, Self.zone))
    let day = try #require(date.day)
    #expect(day == (try Self.day(2026, 10, 24)))
    let next = date.text(day: day + 1, Self.zone)
    #expect(next == "\(noon + Self.dayLength + 3_600_000)")
  }

  @Test func emptyTimeOpensAtTodayAndGetsMidnight() throws {
    let date = try #require(FieldDate(Self.time(""), now: 0, Self.zone))
    #expect(date.day == nil)
    let today = try Self.day(2026, 8, 24)
    #expect(CalendarScreen(date, today: today).day == today)
    #expect(date.text(day: today, Self.zone) == "\(Int64(today) * Self.dayLength - 3_600_000)")
  }

  @Test func anyNumberOfATimeFieldOpensACalendar() throws {
    for text in ["9223372036854775807", "-9223372036854775808", "0", "no number", "now"] {
      let date = try #require(FieldDate(Self.time(text), now: 0, .utc))
      let calendar = CalendarScreen(date, today: 0)
      #expect(CalendarScreen.days.contains(calendar.day))
      #expect(Int64(date.text(day: calendar.day, .utc)) != nil)
    }
  }

  @Test func textThatBeginsWithADateKeepsWhatFollows() throws {
    for rest in ["", "T09:30:00Z", " 09:30"] {
      let input = FieldInput(kind: .string, text: "2026-08-24" + rest)
      let date = try #require(FieldDate(input, now: 0, .utc))
      #expect(date.text(day: try Self.day(2026, 9, 1), .utc) == "2026-09-01" + rest)
    }
  }

  @Test func dayFirstStaysDayFirst() throws {
    for (text, changed) in [
      ("05.04.1942", "06.04.1942"), ("5.4.1942", "6.4.1942"), ("31.12.2026", "01.01.2027"),
      ("20.08.2026 20:45", "21.08.2026 20:45"),
    ] {
      let date = try #require(FieldDate(FieldInput(kind: .string, text: text), now: 0, .utc))
      #expect(date.text(day: try #require(date.day) + 1, .utc) == changed)
    }
  }

  @Test(arguments: ["", "2026-08-24x", "2026-8-24", "2026-13-01", "key", "+026-08-24"])
  func otherTextsHoldNoDate(text: String) {
    #expect(FieldDate(FieldInput(kind: .string, text: text), now: 0, .utc) == nil)
  }

  @Test func emptyNumberMayBecomeADate() {
    let date = FieldDate(FieldInput(kind: .number, text: ""), now: 0, .utc)
    #expect(date != nil && date?.day == nil)
    #expect(CalendarCommands.hints(of: FieldInput(kind: .number, text: "")).isEmpty)
  }

  @Test(arguments: ["12", "1.5e12", "1787595600000.5", "4000000000000"])
  func numbersThatLookLikeNoMomentHoldNoDate(text: String) {
    #expect(FieldDate(FieldInput(kind: .number, text: text), now: 0, .utc) == nil)
  }

  // MARK: In the workspace

  @Test func chosenDayIsPutIntoTheFieldAndNotWrittenYet() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("Enter e F4 l Enter")
    let input = app.state.layers.last?.component.fieldInput
    #expect(input?.editor.text == "\(Fixture.now - 300_000 + Self.dayLength)")
    #expect(app.backend.writeCount == 0)
  }

  @Test func leavingLeavesTheFieldAsItWas() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("Enter e")
    let before = app.state.layers.last
    app.press("F4 j > Esc")
    #expect(app.state.layers.last == before)
  }

  @Test func fieldWithoutADateSaysSo() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j Enter j j j e F4")
    #expect(app.toast == "this field holds no date")
    #expect(!app.screen.contains { $0.contains("F4 calendar") })
  }

  @Test(arguments: [(80, 24), (30, 8), (20, 5)])
  func dateUnderTheCursorIsSeenHoweverSmallTheScreenIs(columns: Int, rows: Int) throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: columns, rows: rows)
    app.press("Enter e F4 j")
    #expect(app.screen.contains { $0.contains("Mon 31 Aug") })
  }
}

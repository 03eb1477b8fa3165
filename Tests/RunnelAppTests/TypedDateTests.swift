import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Dates are typed as people write them.
@Suite struct TypedDateTests {
  private static let hour: Int64 = 3_600_000
  /// 2026-08-24, 10:00 an hour east of UTC.
  private static let now: Int64 = 1_787_562_000_000
  private static let zone = LocalTime(name: "zone") { _ in 3600 }
  private static let midnight = now - 10 * hour

  /// Texts, and the minutes from midnight of the day.
  @Test(
    arguments: [
      ("today", 0), ("Tomorrow 9:00", 1980), ("yesterday  18:30", -330), ("18:30", 1110),
      ("-2d", -2280), ("+90m", 690), ("2h", 480), ("2026-08-24", 0),
      ("Tomorrow 9", 1980), ("25.8.", 1440), ("23.08.26", -1440), ("25.8. 9:00", 1980),
      ("2026-08-23 09:30", -870), ("2026-08-23T09:30", -870), ("now", 600),
    ] as [(String, Int64)])
  func momentIsRead(text: String, minutes: Int64) {
    let moment = MomentReader(now: Self.now, local: Self.zone).moment(text)
    #expect(moment == Self.midnight + minutes * 60_000)
  }

  @Test(arguments: [
    "", "soon", "tomorrow 25:00", "+", "-2", "9", "2026-13-01", "a b c", "today now", "31.6.",
    "1.13.26", "1.4.2", "2.3", "tomorrow 24",
  ])
  func otherTextIsNoMoment(text: String) {
    #expect(MomentReader(now: Self.now, local: Self.zone).moment(text) == nil)
  }

  private func typed(
    _ text: String, over value: JSONValue, _ rule: FieldRule? = nil
  ) throws
    -> JSONValue
  {
    var input = FieldInput(rule: rule, value)
    input.readDates(by: MomentReader(now: Self.now, local: Self.zone))
    input.editor = LineEditor(text)
    return try input.value()
  }

  @Test func fieldThatHoldsATimeTakesDates() throws {
    let tomorrow = JSONValue.number(JSONNumber(Self.midnight + 33 * Self.hour))
    let rule = FieldRule(try Key("due"), .time)
    #expect(try typed("tomorrow 9:00", over: .null, rule) == tomorrow)
    #expect(try typed("now", over: .null, rule) == [".sv": "timestamp"])
    let time = JSONValue.number(JSONNumber(Self.now))
    #expect(try typed("tomorrow 9:00", over: time) == tomorrow)
    #expect(try typed("1787562000001", over: time) == .number(JSONNumber(Self.now + 1)))
    let error = #expect(throws: InputError.self) { try typed("soon", over: time) }
    #expect(error?.message.contains("tomorrow 9:00") == true)
  }

  @Test(arguments: ["2024-06-31", "31.6.2024", "2023-02-29T10:00"])
  func dayThatDoesNotExistIsRefusedWhereDatesStand(text: String) throws {
    let error = #expect(throws: InputError.self) { try typed(text, over: "2024-06-30") }
    #expect(error?.message.hasPrefix("there is no day") == true)
    #expect(throws: InputError.self) { try typed(text, over: .number(JSONNumber(Self.now))) }
    #expect(throws: Never.self) { try typed(text, over: "a text") }
    var input = FieldInput(kind: .string, like: .string("1.2.2024"))
    input.editor = LineEditor(text)
    #expect(throws: InputError.self) { try input.value() }
  }

  @Test func dateThatIsNotUnderstoodIsRefusedWhereDatesStand() throws {
    #expect(try typed("2.3.", over: "5.4.1942") == "2.3.2026")
    #expect(try typed("1.4.26", over: "2026-02-11") == "2026-04-01")
    #expect(try typed("Tomorrow 9", over: "2026-02-11 14:30") == "2026-08-25 09:00")
    for text in ["31.6.", "1/2/2026", "week 9", "12", "soon", "next month", "?"] {
      let error = #expect(throws: InputError.self, "\(text)") {
        try typed(text, over: "2026-02-11")
      }
      #expect(error?.message.hasPrefix("not a date: type 2026-08-24") == true, "\(text)")
      #expect(try typed("\"\(text)\"", over: "2026-02-11") == .string(text))
      #expect(throws: Never.self) { try typed(text, over: "a text") }
    }
    #expect(throws: InputError.self) { try typed("Tomorrow 9", over: "2026-02-11") }
  }

  @Test func fieldThatHoldsANumberTakesNone() throws {
    #expect(throws: InputError.self) { try typed("tomorrow", over: 12) }
    #expect(try typed("tomorrow", over: "a text") == "tomorrow")
  }

  /// What a field holds, what is typed over it, and what is stored.
  @Test(
    arguments: [
      ("2026-02-11", "today", "2026-08-24"), ("2026-02-11", "Tomorrow", "2026-08-25"),
      ("2026-02-11", "+3d", "2026-08-27"), ("2026-02-11", "now", "2026-08-24"),
      ("2026-02-11", "24.12.2026", "24.12.2026"), ("2026-02-11", "2026-12-24", "2026-12-24"),
      ("2026-02-11", "\"tomorrow 9:00\"", "tomorrow 9:00"),
      ("2026-02-11", "\"soon\"", "soon"), ("a text", "soon", "soon"),
      ("a text", "\"today\"", "\"today\""),
      ("5.4.1942", "yesterday", "23.8.2026"), ("05.04.1942", "-20d", "04.08.2026"),
      ("2026-02-11 14:30", "tomorrow 9:05", "2026-08-25 09:05"),
      ("2026-02-11T14:30:00", "today", "2026-08-24T00:00:00"),
      ("2026-02-11T14:30:00Z", "tomorrow 9:05", "2026-08-25T08:05:00Z"),
      ("2026-02-11, late", "today", "today"), ("a text", "today", "today"),
    ] as [(String, String, String)])
  func fieldThatHoldsADateAsATextTakesWords(held: String, typed: String, stored: String) throws {
    #expect(try self.typed(typed, over: .string(held)) == .string(stored))
    let rule = FieldRule(try Key("day"), .text())
    #expect(try self.typed(typed, over: .string(held), rule) == .string(stored))
  }

  @Test(arguments: ["2026-02-11", "5.4.1942"], ["tomorrow 9:00", "18:30", "2:00"])
  func timeOfDayIsRefusedInAFieldOfDays(held: String, typed: String) throws {
    for rule in [nil, FieldRule(try Key("am"), .text())] {
      let error = #expect(throws: InputError.self) {
        try self.typed(typed, over: .string(held), rule)
      }
      #expect(
        error?.message == "this field holds days: type a day, or the text in \"quotes\"")
    }
  }

  @Test func wordIsTakenInFormsRecordsAndTheTree() throws {
    let views = try ViewFile(
      yaml: "views:\n  - { name: f, path: /f, columns: [{ field: name }] }",
      name: "test.views.yaml"
    ).views
    let json: JSONValue = [
      "f": ["a": ["am": "2025-03-01", "name": "A"], "b": ["name": "B"]]
    ]
    for (word, stored) in [
      ("tomorrow", "2026-08-25"), ("tomorrow 9:00", nil), ("soon", nil), ("\"soon\"", "soon"),
    ] {
      let type = { (app: AppDriver, save: String) in
        app.press("C-u")
        app.type(word)
        app.press(save)
      }
      let new = stored.map(JSONValue.string)
      let record = try AppDriver(views, json: json)
      record.go(to: "A")
      record.press("Enter")
      record.go(to: "am ")
      record.press("e")
      type(record, "Enter")
      #expect(try record.stored("/f/a/am") == new ?? "2025-03-01")
      let form = try AppDriver(views, json: json)
      form.go(to: "A")
      form.press("i")
      form.go(toField: "am")
      type(form, "C-s")
      #expect(try form.stored("/f/a/am") == new ?? "2025-03-01")
      let lacking = try AppDriver(views, json: json)
      lacking.go(to: "B")
      lacking.press("i")
      lacking.go(toField: "am")
      type(lacking, "C-s")
      #expect(try lacking.stored("/f/b/am") == new ?? .null)
      let tree = try AppDriver(views, json: json)
      tree.press("g2 gg j l j l j e")
      type(tree, "Enter")
      #expect(try tree.stored("/f/a/am") == new ?? "2025-03-01")
    }
  }

  @Test func dateThatAWordNamesIsShownAndChosen() throws {
    var input = FieldInput(rule: nil, "2026-02-11")
    input.readDates(by: MomentReader(now: Self.now, local: Self.zone))
    input.editor = LineEditor("tomorrow")
    #expect(input.label(Self.zone) == "string · 2026-08-25")
    let date = try #require(FieldDate(input, now: Self.now, Self.zone))
    #expect(date.text(day: try #require(date.day), Self.zone) == "2026-08-25")
  }

  @Test func dateIsTypedInTheWorkspace() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("Enter gg j")
    #expect(app.cursorLine.contains("created"))
    app.press("e C-u")
    app.type("tomorrow 9:00")
    app.press("Enter")
    let reader = MomentReader(now: app.state.now, local: app.state.settings.local)
    let moment = try #require(reader.moment("tomorrow 9:00"))
    #expect(try app.stored("/room/-M6/created") == .number(JSONNumber(moment)))
  }

  /// A field with other texts than dates may have any word.
  @Test func aWordIsTakenWhereSomeRecordsHoldTexts() throws {
    for (values, takesWord) in [
      (["2026-02-11", "2026-03-01"], false), (["2026-02-11", "later"], true),
      (["later", "2026-02-11"], true), (["2026-02-11", ""], false),
    ] {
      var input = FieldInput(kind: .string)
      input.hold(values.map { .string($0) })
      input.readDates(by: MomentReader(now: Self.now, local: Self.zone))
      input.editor = LineEditor("soon")
      #expect((try? input.value()) == (takesWord ? "soon" : nil), "\(values)")
      input.editor = LineEditor("week 9")
      #expect(throws: InputError.self) { try input.value() }
      input.editor = LineEditor("\"soon\"")
      #expect(try input.value() == (takesWord ? "\"soon\"" : "soon"), "\(values)")
    }
  }

  /// While a word is typed, its beginning is no error.
  @Test func theBeginningOfAWordIsNoErrorYet() throws {
    var input = FieldInput(rule: FieldRule(try Key("day"), .text()), "2026-02-11")
    input.readDates(by: MomentReader(now: Self.now, local: Self.zone))
    input.editor = LineEditor("tomorr")
    input.check()
    #expect(input.error == nil)
    #expect(throws: InputError.self) { try input.value() }
  }

  /// As in a table where only some rows have a date.
  @Test func emptyTextOfAColumnOfDatesTakesADateWord() throws {
    let app = try AppDriver(
      Fixture.views(),
      json: [
        "user": ["ana": ["plot": "2.3.2026"], "bo": ["plot": ""], "cy": ["plot": "24.12.2026"]]
      ])
    app.press("g2")
    let view = try #require(app.state.tabs.front.view)
    let example = app.state.tabs.lists[view].example(of: Fixture.path("/plot"))
    #expect(example == .string("2.3.2026") || example == .string("24.12.2026"))
    var input = FieldInput(rule: nil, "")
    if let example { input.hold([example.json]) }
    input.readDates(by: MomentReader(now: Self.now, local: Self.zone))
    input.editor = LineEditor("today")
    #expect(try input.value() == "24.8.2026")
  }
}

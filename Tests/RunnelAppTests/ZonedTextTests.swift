import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// A text in ISO 8601 with a zone is a moment: it is shown in the user's time zone, and stays as it is written.
@Suite struct ZonedTextTests {
  /// Berlin: an hour east of UTC until 2026-03-29T01:00Z and from 2026-10-25T01:00Z on, two in between.
  private static let berlin = LocalTime(name: "Europe/Berlin") {
    (1_774_746_000_000..<1_792_890_000_000).contains($0) ? 7200 : 3600
  }
  /// 2026-11-28, 10:00 in Berlin.
  private static let now: Int64 = 1_795_856_400_000

  private static let records: JSONValue = [
    "m": [
      "k1": ["t": 1_795_819_260_000, "i": "2026-11-27T22:41:00.000Z", "n": "first"],
      "k2": ["t": 1_795_822_200_000, "i": "2026-11-27T23:30:00.000Z", "n": "second"],
      "k3": ["t": 1_795_824_000_000, "i": "2026-11-28T00:00:00.000Z", "n": "third"],
    ]
  ]

  private func app(order: String = "$key") throws -> AppDriver {
    let sections = order == "$key" ? "sections: [{ day: i }]" : "page: 20"
    let views = try ViewFile(
      yaml: """
        views:
          - name: Messages
            path: /m
            order: \(order)
            \(sections)
            columns:
              - { field: t, format: date, width: 16 }
              - { field: i, format: date, width: 16 }
              - { field: i, format: time, width: 5 }
              - { field: n }
        """, name: "test.views.yaml"
    ).views
    return try AppDriver(views, json: Self.records, now: Self.now, local: Self.berlin)
  }

  private func go(_ app: AppDriver, _ place: String) {
    app.type(":")
    app.type("go \(place)")
    app.press("Enter")
  }

  @Test func cellShowsTheMomentThatItsHeadingAndANumberShow() throws {
    let app = try app()
    let screen = app.screen
    let row = try #require(screen.firstIndex { $0.contains("second") })
    #expect(screen[row].contains("2026-11-28 00:30 2026-11-28 00:30 00:30"), "\(screen)")
    let heading = try #require(screen[..<row].last { $0.contains("·") })
    #expect(heading.contains("Today · Sat 28 Nov"), "\(screen)")
    let first = try #require(screen.firstIndex { $0.contains("first") })
    #expect(screen[first].contains("2026-11-27 23:41 2026-11-27 23:41 23:41"), "\(screen)")
    #expect(screen[..<first].contains { $0.contains("Yesterday · Fri 27 Nov") }, "\(screen)")
  }

  @Test(arguments: [
    ("2026-11-27T23:30:00Z", "2026-11-28", "00:30"), ("2026-07-01T23:30Z", "2026-07-02", "01:30"),
    ("2026-11-27 18:30:00.5-05:00", "2026-11-28", "00:30"),
    ("2026-11-27T23:30:00", "2026-11-27", "23:30"), ("2026-11-27 23:30", "2026-11-27", "23:30"),
  ])
  func onlyATextWithAZoneIsShownElsewhere(text: String, date: String, time: String) throws {
    let row = RowText.rowText(try app().state, of: try app().list, .unicode)
    let node = Node(.string(text))
    #expect(row.text(of: node, .date) == date)
    #expect(row.text(of: node, .time) == time)
    #expect(row.text(of: node, .plain) == text)
  }

  @Test(arguments: ["2026-11-27", "27.11.2026", "2026-11-27 or so"])
  func textWithoutATimeIsShownAsWritten(text: String) throws {
    let row = RowText.rowText(try app().state, of: try app().list, .unicode)
    #expect(row.text(of: Node(.string(text)), .date) == String(text.prefix(10)))
    #expect(TreeText.moment(of: Leaf.string(text), Self.berlin) == nil)
  }

  @Test func sectionOfATextIsThatOfItsMoment() throws {
    let view = try app().list.definition
    let today = Self.berlin.civil(Self.now).dayNumber
    for (text, day) in [("2026-11-27T23:30:00.000Z", today), ("2026-11-27T23:30:00", today - 1)] {
      let record = try Node(json: ["i": .string(text)])
      #expect(SectionID(of: record, key: try Key("k"), in: view, local: Self.berlin).rank == day)
    }
  }

  @Test func filterFindsWhatTheCellsShow() throws {
    let app = try app()
    app.press("f")
    app.type("i>=2026-11-28")
    app.press("Enter")
    #expect(!app.body.contains { $0.contains("first") }, "\(app.screen)")
    #expect(app.body.contains { $0.contains("second") && $0.contains("2026-11-28 00:30") })
    let column = app.list.definition.columns[1]
    let node = Node(.string("2026-11-27T23:30:00.000Z"))
    #expect(Cells.term(of: node, column, Self.berlin) == "i:2026-11-28")
  }

  @Test(arguments: [
    ("i", "2026-11-28", "second"), ("i", "2026-11-28 00:31", "third"),
    ("[i:desc]", "2026-11-27", "first"), ("[i:desc]", "2026-11-28 00:30", "second"),
    ("i", "2026-11-27T23:30:00.000Z", "second"), ("[i:desc]", "2026-11-27T23:30:00.000Z", "second"),
  ])
  func goFindsWhatTheCellsShow(order: String, place: String, row: String) throws {
    let app = try app(order: order)
    go(app, place)
    #expect(app.cursorLine.contains(row), "\(app.screen)")
  }

  @Test func recordTellsTheLocalTimeBesideTheStoredText() throws {
    let app = try app()
    go(app, "k2")
    app.press("Enter")
    let line = try #require(app.screen.first { $0.contains("23:30:00.000Z") })
    #expect(line.contains("2026-11-27T23:30:00.000Z  2026-11-28 00:30"), "\(line)")
  }

  @Test func editorHasTheStoredTextAndSaysTheLocalTime() throws {
    let app = try app()
    go(app, "k2")
    app.press("Enter gg")
    for _ in 0..<6 where !app.cursorLine.contains("23:30:00.000Z") { app.press("j") }
    app.press("e")
    let input = try #require(app.state.layers.last?.component.fieldInput)
    #expect(input.editor.text == "2026-11-27T23:30:00.000Z")
    #expect(app.screen.contains { $0.contains("string · 2026-11-28 00:30 local") }, "\(app.screen)")
    #expect(app.backend.writeCount == 0)
  }

  @Test func cellIsEditedAsTheStoredText() throws {
    let app = try app()
    go(app, "k2")
    app.press("| l e")
    #expect(app.state.layers.last?.component.fieldInput?.editor.text == "2026-11-27T23:30:00.000Z")
    #expect(app.screen.contains { $0.contains("2026-11-28 00:30 local") }, "\(app.screen)")
  }

  @Test func calendarWritesTheMomentInTheZoneInWhichItStands() throws {
    let app = try app()
    go(app, "k2")
    app.press("Enter gg")
    for _ in 0..<6 where !app.cursorLine.contains("23:30:00.000Z") { app.press("j") }
    app.press("e F4")
    #expect(app.screen.contains { $0.contains("Nov 2026 · local time") }, "\(app.screen)")
    #expect(app.screen.contains { $0.contains("Sat 28 Nov 2026") }, "\(app.screen)")
    app.press("Enter")
    #expect(app.state.layers.last?.component.fieldInput?.editor.text == "2026-11-27T23:30:00.000Z")
    app.press("F4 l Enter")
    #expect(app.state.layers.last?.component.fieldInput?.editor.text == "2026-11-28T23:30:00.000Z")
  }

  @Test(arguments: [
    ("2026-10-24T10:00:00.250Z", 1, "2026-10-25T11:00:00.250Z"),
    ("2026-10-24 12:00+02:00", 1, "2026-10-25 13:00+02:00"),
    // Clocks in Berlin show 02:30 twice on that day: the same day is the same moment.
    ("2026-10-25T00:30:00Z", 0, "2026-10-25T00:30:00Z"),
    ("2026-10-25T01:30:00Z", 0, "2026-10-25T01:30:00Z"),
    ("2026-10-24T10:00:00", 1, "2026-10-25T10:00:00"),
  ])
  func chosenDayKeepsTheLocalTimeOfDay(text: String, days: Int, written: String) throws {
    let input = FieldInput(kind: .string, text: text)
    let date = try #require(FieldDate(input, now: 0, Self.berlin))
    #expect(date.text(day: try #require(date.day) + days, Self.berlin) == written)
  }

  @Test func emptyFieldBesideMomentsGetsTheMomentOfMidnight() throws {
    let like = FieldInput(kind: .string, like: .string("2026-11-27T23:30:00.250Z"))
    let date = try #require(FieldDate(like, now: 0, Self.berlin))
    let day = Self.berlin.civil(Self.now).dayNumber
    #expect(date.text(day: day, Self.berlin) == "2026-11-27T23:00:00.000Z")
  }

  @Test func copyIsTheStoredText() throws {
    let app = try app()
    go(app, "k2")
    app.press("yy")
    #expect(app.clipboard.contains("2026-11-27T23:30:00.000Z"), "\(app.clipboard)")
  }

  @Test func inferredColumnShowsLocalTime() throws {
    let records: [JSONValue] = ["one", "two"].map { title in
      ["createdAt": "2026-11-27T23:30:00.000Z", "title": .string(title)]
    }
    let sample = CollectionSample(
      path: try Path("m"), keys: [try Key("a"), try Key("b")],
      records: try records.map { try Node(json: $0) })
    let view = ViewInference.view(of: sample, named: "m", pageSize: 50)
    let json: JSONValue = ["m": ["a": records[0], "b": records[1]]]
    let app = try AppDriver([view], json: json, now: Self.now, local: Self.berlin)
    #expect(app.body.contains { $0.contains("2026-11-28") }, "\(app.screen)")
    #expect(!app.body.contains { $0.contains("2026-11-27") }, "\(app.screen)")
  }
}

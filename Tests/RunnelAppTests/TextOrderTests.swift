import RunnelBase
import RunnelStreams
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Lists sorted by dates and numbers that are texts, as tables have them.
@Suite struct TextOrderTests {
  private static let count = 120
  private static let daysOfMonth = 28

  /// A number with two digits.
  private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private static func record(_ number: Int) -> JSONValue {
    let day = padded(number % daysOfMonth + 1)
    let month = padded(number / daysOfMonth + 1)
    return [
      "Datum": .string("\(day).\(month).2026"), "day": .string("2026-\(month)-\(day)"),
      "Betrag": .string("\(number * 37),50"), "Nr": .string("\(10_000 + number)"),
      "rank": number % 3 == 0 ? "?" : .number(JSONNumber(Int64(number))),
    ]
  }

  /// A ledger with the keys 0 to 119.
  private func app(order: String = "$key") throws -> AppDriver {
    let views = try ViewFile(
      yaml: """
        views:
          - name: Ledger
            path: /ledger
            order: \(order)
            page: 20
            columns:
              - { field: $key, width: 6 }
              - { field: Datum, width: 10 }
              - { field: Betrag, width: 10 }
              - { field: day, width: 10 }
              - { field: Nr }
        """, name: "ledger.views.yaml"
    ).views
    let records = (0..<Self.count).map { JSONMember(String($0), Self.record($0)) }
    return try AppDriver(views, json: ["ledger": .object(records)])
  }

  /// The error in the line of the palette.
  private func problem(_ app: AppDriver) -> String {
    guard case .palette(let screen)? = app.state.layers.last else { return "" }
    return screen.problem ?? ""
  }

  private static let texts: [([String], SortedTexts?)] = [
    (["01.02.2026", "2.1.2026 10:30", "?"], .dates),
    (["2026-02-01", "13.11.2026"], .dates),
    (["2026-02-01", "2026-11-13"], nil),
    (["1432,85", "99,00"], .numbers),
    (["-1.432,85 €", "12 %", "1'000"], .numbers),
    (["9", "10", "?"], .numbers),
    (["9", "Ana", "Bo"], nil),
    (["00999", "01000"], nil),
    (["2024", "2025"], nil),
    (["1.2.3", "1.10.0"], nil),
    (["Ana", ""], nil),
    ([], nil),
  ]

  @Test func textsInAnotherOrderThanTheyMeanAreKnown() {
    for (texts, expected) in Self.texts {
      #expect(SortedTexts(texts) == expected, "\(texts)")
    }
  }

  @Test(arguments: [
    ("Datum", "Datum holds dates as texts", "by Datum ↑ as text"),
    ("Betrag desc", "Betrag holds numbers as texts", "by Betrag ↓ as text"),
  ])
  func sortingByTheCharactersOfDatesAndNumbersIsTold(
    order: String, words: String, line: String
  ) throws {
    let app = try app()
    app.type(":sort \(order)")
    app.press("Enter")
    #expect(app.toast.contains(words), "\(app.toast)")
    #expect(app.toast.contains("sorted by their characters"))
    app.press("j")
    #expect(app.screen[1].contains(line), "\(app.screen)")
    app.type(":sort own")
    app.press("Enter")
    #expect(!app.screen[1].contains("as text"))
  }

  @Test(arguments: ["day", "Nr", "$key"]) func rightOrderOfTextsIsNoNews(order: String) throws {
    let app = try app()
    app.type(":sort \(order)")
    app.press("Enter")
    #expect(!app.toast.contains("characters"))
    #expect(!app.screen[1].contains("as text"))
  }

  @Test func ownOrderOfAViewByTextsIsTold() throws {
    let app = try app(order: "Datum")
    #expect(app.screen[1].contains("by Datum ↑ as text"), "\(app.screen)")
  }

  // MARK: Times

  @Test(arguments: [
    ("Datum", "13.03.2026", "Datum holds dates as texts"),
    ("Datum", "2026-03-13", "f Datum:2026-03-13 finds one"),
    ("Betrag", "2026-03-13", "sorted by Betrag, which holds no times"),
    ("rank", "2020-01-01", "sorted by rank, which holds no times"),
  ])
  func timeIsNoPlaceInAnOrderWithoutTimes(order: String, text: String, words: String) throws {
    let app = try app(order: order)
    let before = app.list.cursorRecord?.row.key
    app.type(":go \(text)")
    app.press("Enter")
    #expect(problem(app).contains(words), "\(problem(app))")
    #expect(app.list.cursorRecord?.row.key == before)
  }

  @Test func filterThatIsToldForADateFindsIt() throws {
    let app = try app(order: "Datum")
    app.press("f")
    app.type("Datum:2026-03-13")
    app.press("Enter")
    #expect(app.list.records.values.map(\.row.key.text) == ["68"])
  }

  @Test func dateLeadsToItsTextWhereTextsHaveTheOrderOfTime() throws {
    let app = try app(order: "day")
    app.type(":go 13.03.2026")
    app.press("Enter")
    #expect(app.list.cursorRecord?.row.key.text == "68")
  }

  // MARK: Keys and numbers of rows

  @Test func numberOfAKeyMeansTheKeyWhateverIsLoaded() throws {
    let app = try app(order: "Datum")
    for keys in ["gg", "G", "gg j j"] {
      app.press(keys)
      for number in [13, 100, 67] {
        app.type(":go \(number)")
        app.press("Enter")
        #expect(app.list.cursorRecord?.row.key.text == "\(number)", "after \(keys)")
        #expect(app.toast == "\(number) is the key of this record", "after \(keys)")
      }
    }
  }

  @Test(arguments: ["first", "last"])
  func numberOfNoKeyMeansTheRowWhateverIsLoaded(anchor: String) throws {
    let views = try ViewFile(
      yaml: """
        views:
          - { name: Songs, path: /songs, anchor: \(anchor), page: 20, columns: [{ field: title }] }
        """, name: "songs.views.yaml"
    ).views
    let songs = (1...400).map { JSONMember("s\(1000 + $0)", ["title": .string("Song \($0).")]) }
    for text in ["G", "gg", "go s1350", "go s1050"] {
      let app = try AppDriver(views, json: ["songs": .object(songs)])
      if text.hasPrefix("go") {
        app.type(":" + text)
        app.press("Enter")
      } else {
        app.press(text)
      }
      for number in [203, 7, 395] {
        app.type(":go \(number)")
        app.press("Enter")
        #expect(
          app.list.cursorRecord?.row.key.text == "s\(1000 + number)", "after \(text), to \(number)")
        #expect(
          app.toast == "no record has the key \(number): this is row \(number) of 400",
          "after \(text), to \(number)")
      }
    }
  }

  @Test func keysWaitForWhereANumberLeads() throws {
    let app = try app()
    app.type(":go 100")
    app.strike("Enter Enter")
    app.pump()
    #expect(app.record?.path.description == "/ledger/100")
  }

  // MARK: The menu

  /// The lines of the sort menu that name the priority.
  private func priorityLines(_ records: JSONValue) throws -> [String] {
    let views = try ViewFile(
      yaml: """
        views:
          - { name: Tasks, path: /tasks, columns: [{ field: title }] }
        """, name: "tasks.views.yaml"
    ).views
    let app = try AppDriver(views, json: ["tasks": records])
    app.press("s")
    return app.screen.filter { $0.contains("priority") }
  }

  @Test func priorityIsOfferedOnceAndOnlyWhereThereIsOne() throws {
    #expect(try priorityLines(["a": ["title": "x"]]).isEmpty)
    #expect(try priorityLines(["a": ["title": "x", ".priority": 5]]).count == 1)
    let field = try priorityLines(["a": ["title": "x", "priority": 2]])
    #expect(field.count == 1 && field.first?.contains("$priority") == false)
    let both = try priorityLines(["a": ["title": "x", "priority": 2, ".priority": 5]])
    #expect(both.count == 2, "\(both)")
    #expect(both.count { $0.contains("$priority") } == 1)
  }
}

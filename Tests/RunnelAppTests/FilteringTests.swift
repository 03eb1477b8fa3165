import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The filter bar as it is used.
@Suite struct FilteringTests {
  private func chat(rows: Int = 24) throws -> AppDriver {
    try AppDriver(Fixture.views(), json: Fixture.small, rows: rows)
  }

  private func rows(_ app: AppDriver) -> [String] {
    app.list.content.sections.flatMap(\.rows).compactMap { id in
      app.list.records[id]?.row.key.text
    }
  }

  @Test func listNarrowsWhileOneTypes() throws {
    let app = try chat()
    app.press("f")
    app.type("from:")
    #expect(rows(app).count == 6)
    #expect(app.composeRule.contains("a value is missing after from:"))
    app.type("bo")
    #expect(rows(app) == ["-M2", "-M5"])
    #expect(app.screen.contains { $0.contains("2 of 6 rows") })
    app.type(" good")
    #expect(rows(app) == ["-M5"])
    app.press("C-w")
    #expect(rows(app) == ["-M2", "-M5"])
  }

  @Test func typingReplacesAKeptFilterAndABlankAddsToIt() throws {
    let app = try chat()
    app.press("f")
    app.type("from:bo")
    app.press("Enter f")
    #expect(app.composeRule.contains("typing replaces it"))
    app.type("from:eve")
    #expect(rows(app) == ["-M4"])
    app.press("Enter f")
    app.type(" good")
    #expect(app.list.filtering.filter?.text == "from:eve good")
    app.press("Esc f Backspace")
    #expect(app.list.filtering.filter?.text == "from:ev", "an edited filter is no kept one")
    app.type("e")
    #expect(rows(app) == ["-M4"])
  }

  @Test func keptFilterStaysUntilItIsCleared() throws {
    let app = try chat()
    app.press("f")
    app.type("from:bo")
    app.press("Enter")
    #expect(app.state.layers.isEmpty)
    #expect(app.screen[1].contains("f from:bo · 2 of 6 rows"))
    try app.set("/room/-M7", Fixture.message("one more", from: "bo", at: Fixture.now))
    try app.set("/room/-M8", Fixture.message("another", from: "ana", at: Fixture.now))
    #expect(rows(app) == ["-M2", "-M5", "-M7"])
    app.press("Esc")
    #expect(rows(app).count == 8)
    #expect(!app.screen[1].contains("from:bo"))
  }

  @Test func leavingTheBarPutsTheFilterBack() throws {
    let app = try chat()
    app.press("f")
    app.type("from:bo")
    app.press("Enter f")
    app.type(" gate")
    #expect(rows(app) == ["-M2"])
    app.press("Esc")
    #expect(rows(app) == ["-M2", "-M5"])
  }

  @Test func wrongFilterIsNotKept() throws {
    let app = try chat()
    app.press("f")
    app.type("text~(")
    app.press("Enter")
    #expect(app.state.layers.count == 1)
    #expect(app.toast.contains("not a regular expression"))
  }

  @Test func cursorStaysOnItsRowWhereItIsWanted() throws {
    let app = try chat()
    app.press("G k")
    #expect(app.cursorLine.contains("Good morning"))
    app.press("f")
    app.type("from:bo")
    app.press("Enter")
    #expect(app.cursorLine.contains("Good morning"))
    app.press("Esc")
    #expect(app.cursorLine.contains("Good morning"))
  }

  @Test func nothingIsNewBecauseAFilterWasCleared() throws {
    let app = try chat(rows: 12)
    app.press("f")
    app.type("nothing-like-it")
    app.press("Enter Esc")
    #expect(app.list.list.newAbove.isEmpty)
    #expect(app.list.list.newBelow.isEmpty)
  }

  @Test func emptyListSaysThatTheFilterWantsNoRow() throws {
    let app = try chat()
    app.press("f")
    app.type("nothing-like-it")
    #expect(app.body.contains { $0.contains("no row fits the filter") })
  }

  @Test(arguments: [
    ("placed<3w", "no row has a field placed"),
    ("from:bo has:photo", "no row has a field photo"),
    ("is:urgent", "no row has a field urgent"),
    ("created:soon", "created holds numbers, and soon is neither a number nor a time"),
    ("created>soon", "created holds numbers, and soon is neither a number nor a time"),
  ])
  func termThatFitsNoRowIsTold(filter: String, words: String) throws {
    let app = try chat()
    app.press("f")
    app.type(filter)
    #expect(app.composeRule.contains(words))
    #expect(app.body.contains { $0.contains("no row fits the filter") })
    app.press("Enter")
    let note = app.body.joined(separator: " ").split(separator: " ").joined(separator: " ")
    #expect(note.contains(words))
  }

  @Test(arguments: ["from:bo", "from:none", "created>2w", "created:today", "is:mine", "photo:none"])
  func termThatMayBeMeantIsNoDoubt(filter: String) throws {
    let app = try chat()
    app.press("f")
    app.type(filter)
    #expect(app.composeRule.contains("Filter ─"))
  }

  private static let orders: JSONValue = [
    "order": [
      "a": ["Art%2E-Nr%2E": "A7", "Datum": "31.12.2022", "due": "2024-02-01", "status": "in work"],
      "b": ["Art%2E-Nr%2E": "B8", "Datum": "2.1.2023", "due": "2024-03-01", "status": "done"],
      "c": ["Art%2E-Nr%2E": "C9", "Datum": "soon", "due": "2024-04-01", "status": "quoted"],
    ]
  ]

  private func orders() throws -> AppDriver {
    try AppDriver(
      [
        try ViewDefinition(
          name: "Orders", source: SourceDefinition(path: Path("order"), order: .key),
          columns: [
            ColumnDefinition(field: FieldPath("Art%2E-Nr%2E"), width: 12),
            ColumnDefinition(field: FieldPath("status"), width: 12),
          ])
      ], json: Self.orders)
  }

  @Test(arguments: [
    ("status:done OR status:quoted", "one or the other is written status:done|quoted"),
    ("status:\"in work|done\"", "one or the other is written status:\"in work\"|done"),
    ("due>junk", "due holds dates, and junk is neither a date nor a time"),
    ("Datum>2023-01-01", "1 row has a text in Datum, not compared with dates"),
    ("status>2023-01-01", "3 rows have texts in status, not compared with dates"),
  ])
  func whatAFilterLeavesOutIsTold(filter: String, words: String) throws {
    let app = try orders()
    app.press("f")
    app.type(filter)
    #expect(app.composeRule.contains(words), "\(app.composeRule)")
  }

  @Test func comparisonThatFitsSomeRowsIsKept() throws {
    let app = try orders()
    app.press("f")
    app.type("Datum>2023-01-01")
    app.press("Enter")
    #expect(app.state.layers.isEmpty)
    #expect(rows(app) == ["b"])
    #expect(app.toast == "1 row has a text in Datum, not compared with dates")
  }

  @Test func titleOfAColumnIsTheNameInTheFile() throws {
    let app = try orders()
    #expect(app.screen.contains { $0.contains("Art.-Nr.") })
    #expect(ListOrder("Art.-Nr. desc") == ListOrder("Art%2E-Nr%2E desc"))
    #expect(ListOrder("$nothing") == nil)
    app.press("f")
    app.type("Art.-Nr.:b8")
    #expect(rows(app) == ["b"])
  }

  @Test func aPartOfATextIsToldToBeOne() throws {
    let app = try chat()
    app.press("f")
    app.type("text:gate")
    #expect(app.composeRule.contains("text~gate finds it in longer texts"))
    app.press("Enter")
    #expect(app.state.layers.isEmpty, "a row with just this text may come")
    app.press("Esc f")
    app.type("-text:gate")
    #expect(app.composeRule.contains("Filter ─"))
  }

  @Test func negatedTermWithAnUnknownFieldIsToldToo() throws {
    let app = try chat()
    app.press("f")
    app.type("-form:bo")
    #expect(app.composeRule.contains("no row has a field form"))
  }

  @Test func headersForgetAFilterThatEveryRowFits() throws {
    let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
    let before = app.body
    app.press("f")
    app.type("has:created")
    app.press("Enter")
    #expect(app.body.contains { $0.contains(" match") })
    app.press("Esc")
    #expect(app.body == before)
  }

  @Test func mineIsToldWhereNoFieldIsTheUser() throws {
    let app = try chat()
    app.press("g2 f")
    app.type("is:mine")
    #expect(app.composeRule.contains("no field of new: in this view is $me"))
  }

  @Test func longFilterIsCutAndNotTheCount() throws {
    let app = try chat()
    app.press("f")
    app.type("from:bo -text:aaaaaaaaaaaaaaaa -text:bbbbbbbbbbbbbbbbbbbbbb -text:ccccccccccccccccc")
    app.press("Enter")
    #expect(app.screen[1].contains("f from:bo -text:a"))
    #expect(app.screen[1].contains("… · 2 of 6 rows"))
  }

  @Test func savedRowThatTheFilterHidesIsTold() throws {
    let app = try chat()
    app.press("f")
    app.type("from:bo")
    app.press("Enter gg j Enter j e")
    app.press("C-u")
    app.type("ana")
    app.press("Enter")
    #expect(app.toast.contains("saved: the filter hides the row now"))
  }

  @Test func olderRowsAreSearchedOnceAFilterIsKeptThatFindsFew() throws {
    let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
    app.press("f")
    app.type("$key:\(Fixture.historyKey(3))")
    #expect(rows(app).isEmpty)
    #expect(app.body.contains { $0.contains("only loaded rows were searched") })
    app.press("Enter")
    #expect(rows(app) == [Fixture.historyKey(3)])
    #expect(app.list.reach.paging == .exhausted)
    #expect(app.screen[1].contains("1 of \(437) rows"))
  }

  @Test func filterOfThePaletteSearchesOlderRowsToo() throws {
    let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
    app.type(":filter $key:\(Fixture.historyKey(3))")
    app.press("Enter")
    #expect(rows(app) == [Fixture.historyKey(3)])
    #expect(app.list.reach.paging == .exhausted)
    #expect(app.screen[1].contains("1 of \(437) rows"))
  }

  @Test func searchOfOlderRowsIsStopped() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.history(1200))
    app.press("f")
    app.type("nothing-like-it")
    app.strike("Enter")
    #expect(app.body.contains { $0.contains("searching older rows") })
    app.strike("C-c")
    app.pump()
    #expect(app.list.reach.paging == .more)
    #expect(app.list.reach.loadedCount < 1200)
    #expect(!app.state.session.isLeaving)
  }

  @Test func historyBringsFiltersBack() throws {
    let app = try chat()
    for text in ["from:bo", "gate"] {
      app.press("f C-u")
      app.type(text)
      app.press("Enter")
    }
    app.press("Esc f")
    app.type("la")
    app.press("Up")
    #expect(app.list.filtering.filter?.text == "gate")
    app.press("Up")
    #expect(rows(app) == ["-M2", "-M5"])
    app.press("Up Down Down")
    #expect(app.list.filtering.filter?.text == "la")
  }

  @Test func tabCompletesFieldsStatesAndValues() throws {
    let app = try chat()
    func completed(_ text: String) -> String {
      app.press("f C-u")
      app.type(text)
      app.press("Tab")
      defer { app.press("Esc") }
      guard case .filter(let screen)? = app.state.layers.last else { return "" }
      return screen.editor.text
    }
    #expect(completed("fr") == "from:")
    #expect(completed("-cr") == "-created:")
    #expect(completed("from:e") == "from:eve")
    #expect(completed("from:ana|b") == "from:ana|bo")
    #expect(completed("is:ma") == "is:marked")
    #expect(completed("is:p") == "is:pinned")
    #expect(completed("text:Rain") == "text:\"Rain tomorrow\"")
    #expect(completed("zzz") == "zzz")
    app.press("f")
    app.type("from:")
    app.press("Tab")
    #expect(app.screen.contains { $0.contains("ana  bo  eve") })
  }

  @Test(arguments: [(80, 24), (40, 10)])
  func barLeavesTheCursorRowInSight(columns: Int, rows: Int) throws {
    let app = try chat()
    app.resize(columns: columns, rows: rows)
    app.press("f")
    #expect(!app.cursorLine.isEmpty)
    #expect(app.canvas.cursor != nil)
  }
}

extension FilteringTests {
  /// Members whose fees are objects, on several pages.
  private func members() throws -> AppDriver {
    let views = try ViewFile(
      yaml: """
        views:
          - { name: Members, path: /members, page: 20, columns: [{ field: name }] }
        """, name: "members.views.yaml"
    ).views
    let members = (100..<200).map { number in
      JSONMember(
        String(number),
        [
          "name": .string("M\(number)"), "amount": .string("\(number),50"),
          "fees": ["balance": .number(JSONNumber(Int64(number))), "paid": ["on": "2026-01-02"]],
          "late": number == 190 ? true : .null,
        ])
    }
    return try AppDriver(views, json: ["members": .object(members)])
  }

  @Test func tabCompletesFieldsBelowOthers() throws {
    let app = try members()
    for (typed, completed) in [("fees/ba", "fees/balance:"), ("fees/p", "fees/paid/on:")] {
      app.press("f C-u")
      app.type(typed)
      app.press("Tab")
      guard case .filter(let screen)? = app.state.layers.last else {
        Issue.record("the filter line is not open")
        return
      }
      #expect(screen.editor.text == completed)
      app.press("Esc")
    }
  }

  @Test func fieldWrittenWithAPointIsToldToHaveASlash() throws {
    let app = try members()
    app.press("f")
    app.type("fees.balance<-30")
    #expect(app.composeRule.contains("did you mean fees/b"), "\(app.composeRule)")
  }

  /// Rows that the filter hid while it searched are not remembered, and so are not counted.
  @Test func rowsOfWhichOnlySomeAreRememberedAreNotCounted() throws {
    let app = try members()
    app.press("f")
    app.type("amount>10")
    #expect(app.composeRule.contains("20 loaded rows have texts in amount"))
    app.press("Enter")
    #expect(app.list.isComplete && app.list.reach.loadedCount == 100)
    let text = app.body.joined(separator: " ").split(separator: " ").joined(separator: " ")
    #expect(
      text.contains("no row fits the filter: rows have texts in amount, not compared with numbers"),
      "\(text)")
  }

  @Test func fieldOfRowsThatAreNotRememberedIsNoMistake() throws {
    let app = try members()
    app.press("f")
    app.type("amount>10")
    app.press("Enter f")
    app.type("has:late")
    app.press("Enter")
    #expect(app.state.layers.isEmpty, "\(app.toast)")
    #expect(rows(app) == ["190"])
  }

  /// What is typed ahead must not run as commands because the first rows are not there yet.
  @Test func filterOpensWhileTheFirstRowsAreLoaded() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.strike("g2 f")
    for character in "name:Ana" { app.send(.key(KeyStroke(.character(character)))) }
    app.strike("Enter")
    app.pump()
    #expect(app.list.filtering.filter?.text == "name:Ana")
    let rows = app.list.content.sections.flatMap(\.rows).filter { $0 != ListScreen.fetchMoreRow }
    #expect(rows == ["/user/ana"])
  }
}

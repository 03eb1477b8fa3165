import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Titles of columns, and the cursor that goes from cell to cell.
@Suite struct CellTests {
  private static let tickets: JSONValue = [
    "tickets": [
      "a": ["status": "open", "title": "Printer", "votes": 3, "done": false],
      "b": ["status": "closed", "title": "Login", "votes": 10, "done": true],
      "c": ["status": "open", "title": "Crash at start", "votes": 7],
    ]
  ]

  private func app(columns: Int = 80) throws -> AppDriver {
    let view = try ViewFile(
      yaml: """
        views:
          - name: Tickets
            path: /tickets
            columns:
              - { field: $key, width: 4 }
              - { field: title }
              - { field: status, width: 8 }
              - { field: votes, width: 6 }
        """, name: "test.views.yaml"
    ).views
    return try AppDriver(view, json: Self.tickets, columns: columns)
  }

  /// The line with the titles.
  private func titles(_ app: AppDriver) -> String {
    app.screen.first { $0.contains("status") } ?? ""
  }

  @Test(arguments: [("first", true), ("last", false)])
  func onlyAChatHasNoTitles(anchor: String, hasTitles: Bool) throws {
    let view = try ViewFile(
      yaml: """
        views:
          - name: Tickets
            path: /tickets
            anchor: \(anchor)
            compose: title
            columns: [{ field: title, width: 20 }, { field: status, width: 12 }]
        """, name: "test.views.yaml"
    ).views
    let app = try AppDriver(view, json: Self.tickets)
    #expect(titles(app).contains("title") == hasTitles, "\(app.screen)")
    app.press("|")
    #expect(titles(app).contains("title"), "\(app.screen)")
  }

  @Test func cursorInTheCellsIsToldInTheStatusLine() throws {
    let app = try app()
    app.press("j |")
    #expect(app.screen.last?.contains("cells · row") == true, "\(app.screen)")
    app.press("Esc")
    #expect(app.screen.last?.contains("cells") == false)
  }

  @Test func theFirstRowIsNoHeaderInCells() throws {
    let app = try app()
    app.press("gg")
    #expect(app.list.list.cursor != .row("/tickets/a"), "\(app.screen)")
    app.press("| l j j gg")
    #expect(app.cursorLine.contains("Printer"), "\(app.screen)")
    app.press("j Home")
    #expect(app.cursorLine.contains("Printer"), "\(app.screen)")
    app.press("k")
    #expect(!app.cursorLine.contains("Printer"), "a header can still be folded")
    app.press("za gg")
    #expect(!app.cursorLine.contains("Printer"), "there is no row")
  }

  @Test(arguments: [80, 40])
  func theKindOfValueStandsInTheLineOfTheEditedCell(columns: Int) throws {
    let app = try app(columns: columns)
    app.press("gg j | l l e")
    #expect(app.cursorLine.contains("open") && app.cursorLine.contains("string"), "\(app.screen)")
    #expect(app.body.contains { $0.contains("Login") && $0.contains("closed") }, "\(app.screen)")
    app.press("Esc")
    #expect(!app.screen.joined().contains("string"), "\(app.screen)")
  }

  @Test func titlesStandAboveTheirColumns() throws {
    let app = try app()
    let line = titles(app)
    let row = try #require(app.screen.first { $0.contains("Printer") })
    for (title, value) in [
      ("key", "a "), ("title", "Printer"), ("status", "open"), ("votes", "3"),
    ] {
      let above = try #require(line.firstRange(of: title)?.lowerBound)
      let below = try #require(row.firstRange(of: value)?.lowerBound)
      #expect(
        line.distance(from: line.startIndex, to: above)
          == row.distance(from: row.startIndex, to: below), "\(title)")
    }
    #expect(line.contains("key↑"))
  }

  @Test func listsThatAreTypedIntoHaveNoTitles() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    #expect(!app.screen.joined().contains("created"))
  }

  @Test func sortingByTheCellGoesUpAndDownAndBack() throws {
    let app = try app()
    app.press("gg j | l l l s")
    #expect(titles(app).contains("votes↑"))
    #expect(app.body.prefix(4).map { $0.contains("Printer") } == [false, true, false, false])
    app.press("s")
    #expect(titles(app).contains("votes↓"))
    #expect(app.body[1].contains("Login"))
    app.press("s")
    #expect(titles(app).contains("key↑"))
  }

  @Test func aFieldThatIsNotShownBecomesAColumnBesideTheCursor() throws {
    let app = try app()
    app.press("gg j | l A")
    #expect(app.screen.contains { $0.contains("Add a column to Tickets") })
    #expect(app.screen.contains { $0.contains("done") })
    app.press("Enter")
    let fields = app.list.definition.columns.map(\.field.text)
    #expect(fields == ["$key", "title", "done", "status", "votes"])
    #expect(app.list.look.cell == 2)
    #expect(titles(app).contains("done"))
    app.press("A")
    #expect(app.toast == "each field of the loaded rows has a column")
  }

  @Test func theMenuOfColumnsOffersFieldsWithoutOne() throws {
    let app = try app()
    app.press("zw")
    #expect(app.screen.contains { $0.contains("[ ] done") })
    app.type("done")
    app.press("Enter")
    #expect(app.list.definition.columns.map(\.field.text).last == "done")
    #expect(app.screen.contains { $0.contains("[x] done") })
  }

  /// The first record may lack a field that others have.
  @Test func everyFieldOfTheLoadedRowsIsOfferedToSortBy() throws {
    let app = try app()
    app.press("gg j j j s")
    #expect(app.screen.contains { $0.contains("done") })
  }

  @Test func aHiddenColumnIsShownInItsPlace() throws {
    let app = try app()
    app.press("gg j | l l x")
    #expect(app.list.look.hiddenColumns == [2])
    app.press("A")
    app.type("status")
    app.press("Enter")
    #expect(app.list.look.hiddenColumns.isEmpty)
    #expect(app.list.look.cell == 2)
    // Columns behind a new one keep their places.
    app.press("x h A")
    app.type("done")
    app.press("Enter")
    #expect(app.list.look.hiddenColumns.count == 1)
    #expect(
      app.list.look.hiddenColumns.map { app.list.definition.columns[$0].field.text } == ["status"])
  }

  @Test func valueOfTheCellFiltersAndFiltersOut() throws {
    let app = try app()
    app.press("gg j | l l =")
    #expect(app.list.filtering.filter?.text == "status:open")
    #expect(app.line(of: "Login") == nil)
    app.press("Esc Esc | l l -")
    #expect(app.list.filtering.filter?.text == "-status:open")
    #expect(app.line(of: "Login") != nil && app.line(of: "Printer") == nil)
  }

  @Test func valueThatWasShownAndIsThenHiddenIsNoContradiction() throws {
    let app = try app()
    app.press("gg j | l l = -")
    #expect(app.list.filtering.filter?.text == "-status:open")
    #expect(app.line(of: "Login") != nil && app.line(of: "Printer") == nil)
    app.press("Esc Esc gg j | l l = =")
    #expect(app.list.filtering.filter?.text == "status:open")
  }

  @Test(arguments: [
    ("status:a Login", "-status:a", "Login"), ("status:a|b", "status:a", ""),
    ("status:A", "-status:a", ""), ("status:a|b", "-status:a", "status:a|b"),
    ("-status:a", "-status:b", "-status:a"), ("-has:done", "has:done", ""),
    ("\"two words\" votes>3", "votes:7", "\"two words\" votes>3"),
  ])
  func termTakesThePlaceOfThoseThatItContradicts(old: String, new: String, rest: String) throws {
    let app = try app()
    let before = try FilterScreen.filter(app.state, old)
    let added = try FilterScreen.filter(app.state, new)
    #expect(before.text(withoutTermsReplacedBy: added) == rest)
  }

  /// The value of a cell is looked for like a filter that is typed.
  @Test func valueOfTheCellIsAlsoFoundInRowsThatAreNotLoaded() throws {
    let view = try ViewFile(
      yaml: """
        views:
          - name: Tickets
            path: /tickets
            page: 20
            columns: [{ field: title }, { field: status, width: 8 }]
        """, name: "test.views.yaml"
    ).views
    let tickets = (100..<200).map { number in
      JSONMember(
        String(number),
        ["title": .string("T\(number)"), "status": number % 50 == 0 ? "rare" : "usual"])
    }
    let app = try AppDriver(view, json: ["tickets": .object(tickets)])
    app.press("gg j | l =")
    #expect(app.list.filtering.filter?.text == "status:rare")
    #expect(app.list.records.values.map(\.row.key.text).sorted() == ["100", "150"])
    #expect(app.list.isComplete)
  }

  @Test func columnMovesAndChangesItsWidthAndIsHidden() throws {
    let app = try app()
    app.press("gg j | l l L")
    #expect(titles(app).contains("votes"))
    let moved = titles(app)
    let (status, votes) = (
      try #require(moved.firstRange(of: "status")), try #require(moved.firstRange(of: "votes"))
    )
    #expect(votes.lowerBound < status.lowerBound)
    app.press("3 >")
    #expect(app.list.definition.columns[3].width == 14)
    app.press("9 9 <")
    #expect(app.list.definition.columns[3].width == 2)
    app.press("x")
    #expect(app.list.look.hiddenColumns == [3])
    #expect(app.list.look.cell == 2)
  }

  // MARK: Editing

  @Test func aCellIsEditedInTheListWhichStaysInFront() throws {
    let app = try app()
    app.press("gg j | l l")
    let place = try #require(app.line(of: "Printer"))
    app.press("e C-u")
    app.type("waiting")
    #expect(app.body[place].contains("Printer") && app.body[place].contains("waiting"))
    // The text field has 16 columns at least, as far as the list reaches.
    let column = try #require(start(of: "status", in: titles(app)))
    #expect(start(of: "waiting", in: app.body[place]) == min(column, 80 - 16))
    #expect(app.canvas.cursor?.row == app.state.layout.body.row + place)
    #expect(app.line(of: "Login") != nil)
    app.press("Enter")
    #expect(app.state.layers.isEmpty)
    #expect(app.list.look.cell == 2)
    #expect(try app.stored("/tickets/a/status") == "waiting")
  }

  private func start(of word: String, in line: String) -> Int? {
    line.firstRange(of: word).map { line.distance(from: line.startIndex, to: $0.lowerBound) }
  }

  @Test func aCellThatIsLeftKeepsItsTextAsADraft() throws {
    let app = try app()
    app.press("gg j | l l e C-u")
    app.type("waiting")
    app.press("Esc")
    #expect(app.toast == "kept as a draft: e goes on with it")
    #expect(app.state.layers.isEmpty)
    #expect(try app.stored("/tickets/a/status") == "open")
    app.press("e")
    #expect(app.record?.edit?.input.editor.text == "waiting")
  }

  @Test func tabSavesACellAndGoesToTheNextOne() throws {
    let app = try app()
    app.press("gg j | l l e C-u")
    app.type("waiting")
    app.press("Tab")
    #expect(try app.stored("/tickets/a/status") == "waiting")
    #expect(app.state.layers.isEmpty)
    #expect(app.list.look.cell == 3)
  }

  @Test(arguments: [80, 40])
  func aWrongValueIsToldBesideTheCell(columns: Int) throws {
    let app = try app(columns: columns)
    app.press("gg j | l l l e")
    app.type("x")
    app.press("Enter")
    #expect(app.screen.joined().contains("not a number"), "\(app.screen)")
    #expect(app.record?.edit != nil)
    #expect(try app.stored("/tickets/a/votes") == 3)
  }

  @Test func aCellOfAnObjectOpensTheRecord() throws {
    let app = try app()
    try app.set("/tickets/a/status", ["now": "open"])
    app.press("gg j | l l e")
    #expect(app.record?.edit == nil)
    #expect(app.line(of: "status/now") != nil)
  }

  @Test func theListEditsAFieldThatItShows() throws {
    let view = try ViewFile(
      yaml: """
        views:
          - name: Tickets
            path: /tickets
            columns:
              - { field: title, width: 20 }
              - { field: note, screen: 200 }
        """, name: "test.views.yaml"
    ).views
    let app = try AppDriver(view, json: Self.tickets)
    app.press("gg j e")
    #expect(app.record?.edit?.field.text == "title")
    #expect(app.record?.content.sections[0].rows.count == 4, "no line is made for a note")
  }

  @Test func aDraftOfAFieldThatTheRecordLacksHasALine() throws {
    let app = try app()
    try app.remove("/tickets/b/title")
    app.press("gg j j e")
    app.type("Again")
    app.press("Esc")
    #expect(app.cursorLine.hasPrefix(">~ title"), "\(app.body)")
    app.press("q Enter")
    #expect(app.line(of: "~ title") != nil)
    app.press("q e")
    #expect(app.record?.edit?.input.editor.text == "Again")
    app.press("C-u Enter")
    #expect(app.line(of: "title") == nil, "nothing was typed after all")
  }

  // MARK: Columns without room

  @Test func theSortedColumnIsShownAndHiddenOnesAreCounted() throws {
    let view = try ViewFile(
      yaml: """
        views:
          - name: Tickets
            path: /tickets
            columns:
              - { field: title }
              - { field: status, width: 8 }
              - { field: votes, width: 6, screen: 200 }
        """, name: "test.views.yaml"
    ).views
    let app = try AppDriver(view, json: Self.tickets)
    #expect(titles(app).contains("+1"), "\(app.screen)")
    #expect(!titles(app).contains("votes"))
    app.press("gg j s")
    app.type("votes")
    app.press("Enter")
    #expect(titles(app).contains("votes↑"), "\(app.screen)")
    #expect(!titles(app).contains("+1"))
  }

  @Test func columnsInFullTellWhichStandsLast() throws {
    let app = try app()
    app.press("W")
    #expect(app.toast.hasPrefix("columns are shown in full, title last:"), "\(app.toast)")
  }

  @Test func oneOtherValueIsToldInTheSingular() throws {
    let app = try app()
    for (key, value) in [("d", "c1"), ("e", "c2"), ("f", "c3")] {
      try app.set("/tickets/\(key)", ["title": "More", "status": .string(value)])
    }
    app.press("gg j Space Space Space Space Space Space gg j | l l e")
    #expect(app.screen.joined().contains("and 1 other value"), "\(app.screen)")
    #expect(!app.screen.joined().contains("1 other values"))
  }

  // MARK: Marked rows

  @Test func fieldOfMarkedRowsIsChangedAndUndoneAsOne() throws {
    let app = try app()
    app.press("gg j Space Space Space gg j | l l e")
    #expect(app.screen.joined().contains("Set status of 3 marked records"))
    #expect(app.screen.joined().contains("open (2), closed (1)"))
    app.type("done")
    app.press("C-s")
    for key in ["a", "b", "c"] { #expect(try app.stored("/tickets/\(key)/status") == "done") }
    #expect(app.list.markCount == 0)
    app.press("Esc u")
    #expect(try app.stored("/tickets/a/status") == "open")
    #expect(try app.stored("/tickets/b/status") == "closed")
  }

  private static let deedsOfOthers = ["set", "move", "remove", "remove the field", "put a leaf"]

  /// What another process does with a ticket and its status.
  private func change(_ key: String, by deed: String, _ app: AppDriver) throws {
    try app.elsewhere { session in
      let (record, gone) = (try Path("/tickets/\(key)"), try Path("/gone/\(key)"))
      let status = try Path("/tickets/\(key)/status")
      switch deed {
      case "set": _ = try session.write(.set(status, "theirs"))
      case "move": _ = try session.write(.move(from: record, to: gone))
      case "remove": _ = try session.write(.remove(record))
      case "remove the field": _ = try session.write(.remove(status))
      default: _ = try session.write(.set(record, 5))
      }
    }
  }

  @Test(arguments: deedsOfOthers)
  func whatOthersChangedMeanwhileStaysAndIsNamed(deed: String) throws {
    let app = try app()
    app.press("gg j Space Space Space gg j | l l e")
    app.type("done")
    try change("b", by: deed, app)
    let theirs = try app.stored("/tickets/b")
    let isGone = theirs == .null
    let count = isGone ? 2 : 3
    #expect(app.screen.contains { $0.contains("of \(count) marked records") }, "\(app.screen)")
    #expect(!app.screen.contains { $0.contains("closed (1)") }, "\(app.screen)")
    #expect(
      app.screen.contains { $0.contains("PATCH 2 records · 1 that others changed") },
      "\(app.screen)")
    app.press("C-s")
    #expect(
      app.toast
        == "changed 2 records · " + (isGone ? "others removed b" : "others changed b: still marked")
    )
    #expect(try app.stored("/tickets/b") == theirs)
    for key in ["a", "c"] { #expect(try app.stored("/tickets/\(key)/status") == "done") }
    #expect(app.list.marks == (isGone ? [] : ["/tickets/b"]))
  }

  /// The list does not load all rows, so that a row which is missing may be one of them.
  @Test func aMarkedRecordThatOthersRemoveFromALongListIsLeftOut() throws {
    let view = try ViewFile(
      yaml: """
        views:
          - name: Tickets
            path: /tickets
            page: 4
            columns: [{ field: $key, width: 4 }, { field: title }, { field: status, width: 8 }]
        """, name: "test.views.yaml"
    ).views
    let tickets = (10..<30).map {
      JSONMember("t\($0)", ["title": "Ticket", "status": "open"])
    }
    let app = try AppDriver(view, json: ["tickets": .object(tickets)])
    app.press("gg j Space Space Space gg j | l l e")
    #expect(app.screen.joined().contains("Set status of 3 marked records"))
    app.press("C-u")
    app.type("done")
    let marks = app.list.marks.sorted()
    try app.remove(marks[1])
    #expect(app.screen.joined().contains("Set status of 2 marked records"), "\(app.screen)")
    #expect(app.screen.joined().contains("PATCH 2 records"), "\(app.screen)")
    app.press("C-s")
    let key = try #require(marks[1].split(separator: "/").last)
    #expect(app.toast == "changed 2 records · others removed \(key)")
    #expect(try app.stored(marks[0])["status"] == "done")
    #expect(try app.stored(marks[1]) == .null)
    #expect(app.list.markCount == 0)
  }

  @Test func whatOthersChangeUnseenInAFilteredListIsLeftOutAtTheNextTry() throws {
    let app = try app()
    app.press("f")
    app.type("status:open")
    app.press("Enter gg j Space Space gg j | l l e")
    #expect(app.screen.joined().contains("Set status of 2 marked records"))
    app.press("C-u")
    app.type("done")
    try app.set("/tickets/a/status", "theirs")
    app.press("C-s")
    #expect(try app.stored("/tickets/c/status") == "open", "nothing is written at first")
    app.press("C-s")
    #expect(app.toast.hasPrefix("changed 1 record · others changed a"), "\(app.toast)")
    #expect(try app.stored("/tickets/a/status") == "theirs")
    #expect(try app.stored("/tickets/c/status") == "done")
  }

  @Test func whatOthersChangeJustBeforeTheWriteRefusesAllOfIt() throws {
    let app = try app()
    app.press("gg j Space Space Space gg j | l l e")
    app.type("done")
    try app.elsewhereUnseen { _ = try $0.write(.set(Path("/tickets/b/status"), "theirs")) }
    app.press("C-s")
    #expect(try app.stored("/tickets/a/status") == "open")
    try app.elsewhere { _ in }
    #expect(app.list.markCount == 3)
    app.press("C-s")
    #expect(app.toast == "changed 2 records · others changed b: still marked")
    #expect(try app.stored("/tickets/b/status") == "theirs")
  }

  @Test(arguments: deedsOfOthers)
  func cellThatOthersChangedOrRemovedIsCompared(deed: String) throws {
    let app = try app()
    app.press("gg j | l l e C-u")
    app.type("mine")
    try change("a", by: deed, app)
    let theirs = try app.stored("/tickets/a")
    app.press("Enter")
    #expect(try app.stored("/tickets/a") == theirs, "nothing is written unasked")
    app.press("m C-s")
    #expect(try app.stored("/tickets/a/status") == "mine")
    #expect(try app.stored("/tickets/a/title") == "Printer", "no half of a record is written")
  }

  @Test func markedRecordsThatHaveTheValueAlreadyAreNotCounted() throws {
    let app = try app()
    app.press("gg j Space Space Space gg j | l l e")
    #expect(app.screen.contains { $0.contains("PATCH 3 records") }, "\(app.screen)")
    app.type("open")
    #expect(
      app.screen.contains { $0.contains("PATCH 1 record · 2 with this value already") },
      "\(app.screen)")
    #expect(app.screen.contains { $0.contains("- status  another value") })
    app.press("C-s")
    #expect(app.toast == "changed 1 record")
    #expect(try app.stored("/tickets/b/status") == "open")
    app.press("Esc u")
    #expect(app.toast.hasPrefix("undone: set status of 1 record"), "\(app.toast)")
    #expect(try app.stored("/tickets/b/status") == "closed")
  }

  @Test func markedRecordsThatAllHaveTheValueAreNotWritten() throws {
    let app = try app()
    app.press("gg j Space j Space gg j | l l e C-s")
    #expect(app.toast == "nothing to change: 2 records have this value already")
    #expect(app.state.layers.isEmpty)
    #expect(app.backend.writeCount == 0)
  }

  @Test func textOfMarkedRowsIsMadeEmptyOnlyOnPurpose() throws {
    for keys in ["x Backspace", "C-u"] {
      let app = try app()
      app.press("gg j Space Space Space gg j | l l e")
      #expect(app.screen.contains { $0.contains("nothing yet") }, "\(app.screen)")
      #expect(!app.screen.contains { $0.contains("+ status") })
      app.press("C-s")
      #expect(app.screen.contains { $0.contains("type the value that all of them get") })
      #expect(try app.stored("/tickets/a/status") == "open")
      app.press(keys)
      #expect(app.screen.contains { $0.contains("+ status  \"\"") }, "\(app.screen)")
      app.press("C-s")
      for key in ["a", "b", "c"] { #expect(try app.stored("/tickets/\(key)/status") == "") }
    }
  }

  @Test(
    arguments: [
      ("open", "status:open"), ("two words", #"status:"two words""#), (nil, "-has:status"),
      ("a|b", #"status:"a|b""#),
    ] as [(String?, String)])
  func valuesBecomeTerms(value: String?, term: String) throws {
    let node = try RunnelTree.Node(json: value.map { .string($0) } ?? .null)
    let column = ColumnDefinition(field: try FieldPath("status"))
    #expect(Cells.term(of: node, column, LocalTime.utc) == term)
    if value != nil { _ = try FilterScreen.filter(try app().state, term) }
  }

  // MARK: A field that the record lacks

  @Test func aFieldThatTheRecordLacksIsEditedLikeThatOfOthers() throws {
    let app = try app()
    try app.set("/tickets/c", ["title": "Crash at start"])
    app.press("gg j j j | l l l Enter")
    #expect(app.record?.edit?.field.text == "votes")
    #expect(app.record?.edit?.input.kind == .number)
    app.type("4")
    app.press("Enter")
    #expect(try app.stored("/tickets/c/votes") == 4)
  }

  @Test func theListEditsItsMainFieldEvenIfTheRecordLacksIt() throws {
    let app = try app()
    try app.remove("/tickets/b/title")
    app.press("gg j j e")
    #expect(app.record?.edit?.field.text == "title")
    app.press("Enter")
    #expect(app.backend.writeCount == 0, "an empty field that was not there is not written")
    app.press("q e")
    app.type("Again")
    app.press("Enter")
    #expect(try app.stored("/tickets/b/title") == "Again")
  }

  @Test func anObjectIsNotReplacedByAText() throws {
    let app = try app()
    try app.set("/tickets/b/title", ["en": "Login", "de": "Anmeldung"])
    app.press("gg j j e")
    #expect(app.record?.edit == nil)
    #expect(app.toast.hasPrefix("no field is chosen yet"), "\(app.toast)")
  }

  // MARK: The fetch-more row

  @Test func enterFetchesRowsInCellsToo() throws {
    let view = try ViewFile(
      yaml: """
        views:
          - name: Tickets
            path: /tickets
            page: 2
            columns: [{ field: title }, { field: votes, width: 6 }]
        """, name: "test.views.yaml"
    ).views
    let app = try AppDriver(view, json: Self.tickets)
    app.press("gg j | j j")
    #expect(app.cursorLine.contains("more rows not loaded"))
    app.press("Enter")
    #expect(app.line(of: "Crash at start") != nil)
    #expect(app.state.layers.isEmpty)
  }
}

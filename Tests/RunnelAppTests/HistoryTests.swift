import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The history of a record and of the database, as a layer.
@Suite struct HistoryLayerTests {
  private func app(isRecording: Bool = false) throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, isRecording: isRecording)
    app.press("g2 gg j")
    try app.set("/user/ana/plot", 4)
    app.wait(milliseconds: Fixture.minute)
    try app.set("/user/ana/email", "a@example.org")
    try app.set("/user/bo/plot", 13)
    return app
  }

  private func screen(_ app: AppDriver) throws -> HistoryScreen {
    guard case .history(let screen)? = app.state.layers.last else {
      throw CancellationError()
    }
    return screen
  }

  @Test func aRecordTellsItsWritesTheNewestFirst() throws {
    let app = try app()
    app.press("gh")
    #expect(app.screen[0].contains("history of /user/ana"))
    #expect(app.body[0].contains("Today · Mon 24 Aug 2026"))
    #expect(app.body[1].hasPrefix(">"))
    #expect(app.body[1].contains("18:21 zoe"))
    #expect(app.body[1].contains("email  \"ana@example.org\" -> \"a@example.org\""))
    #expect(app.body[2].contains("plot  3 -> 4"))
    #expect(app.line(of: "13") == nil)
    app.press("h")
    #expect(app.state.layers.isEmpty)
  }

  @Test func theDatabaseTellsAllWrites() throws {
    let app = try app()
    app.press("gH")
    #expect(app.line(of: "user/bo/plot  12 -> 13") == 1)
    #expect(app.line(of: "the newest 1000 writes of the database are kept") != nil)
  }

  @Test func replicaTellsOnlyOfItsOwnWrites() throws {
    let app = try app()
    app.take(.origin(OriginFacts(.live)))
    app.press("gH")
    #expect(app.line(of: "only what was written from this replica is known here") != nil)
    let untouched = try AppDriver(Fixture.views())
    untouched.take(.origin(OriginFacts(.live)))
    untouched.press("gH")
    #expect(untouched.line(of: "from this replica: it knows no writes of others") != nil)
  }

  @Test func enterShowsAWriteInFull() throws {
    let app = try app()
    try app.set("/user/ana", ["name": "Ana", "plot": 4, "nick": ["a": 1]])
    app.press("gh Enter")
    let lines = app.body.map { $0.trimmingBlanks }
    for line in ["- active  true", "- email  \"a@example.org\"", "+ nick/a  1"] {
      #expect(lines.contains(line), "\(line)")
    }
    #expect(!lines.contains { $0.contains("plot  4") })
    app.press("j j Enter")
    #expect(try screen(app).opened.isEmpty, "Enter within it closes it")
    #expect(app.cursorLine.contains("18:21"))
  }

  @Test func whatIsWrittenMeanwhileArrives() throws {
    let app = try app()
    app.press("gh")
    let before = app.cursorLine
    try app.set("/user/ana/plot", 99)
    #expect(app.line(of: "plot  4 -> 99") == 1)
    #expect(app.cursorLine == before)
  }

  @Test func aWriteIsTakenBackAndDoneAgain() throws {
    let app = try app()
    app.press("gh j u")
    #expect(try app.stored("/user/ana/plot") == 3)
    #expect(app.toast.hasPrefix("undone: plot  3 -> 4"))
    #expect(app.line(of: "undo: plot  4 -> 3") != nil)
    app.press("C-r")
    #expect(try app.stored("/user/ana/plot") == 4)
    #expect(app.line(of: "redo: plot  3 -> 4") != nil)
  }

  @Test func whatWasChangedSinceIsNotTakenBack() throws {
    let app = try app()
    try app.set("/user/ana/plot", 5)
    app.press("gh j j u")
    #expect(app.toast.contains("was written since"))
    #expect(try app.stored("/user/ana/plot") == 5)
  }

  @Test func anOperationIsTakenBackWithItsCounters() throws {
    let app = try Fixture.gardenApp()
    app.press("a")
    app.type("hello")
    app.press("Enter a")
    app.type("again")
    app.press("Enter Esc k gh u")
    #expect(app.line(of: "nothing") == nil)
    #expect(try app.stored("/group/g/message_count") == 3)
    #expect(try app.report().isInStep)
    app.press("C-r")
    #expect(try app.stored("/group/g/message_count") == 4)
  }

  @Test func aLongHistoryIsPaged() throws {
    let app = try app()
    for number in 0..<120 { try app.set("/user/ana/plot", .number(JSONNumber(Int64(number)))) }
    app.press("gh")
    #expect(try screen(app).entries.count == 50)
    app.press("G Enter")
    #expect(try screen(app).entries.count == 100)
    app.press("gm")
    #expect(try screen(app).entries.count == 123)
    #expect(try Set(screen(app).entries.map(\.id)).count == 123)
    app.press("gm")
    #expect(app.toast.contains("1000"))
  }

  @Test func aHistoryThatIsOffSaysHowToTurnItOn() throws {
    let app = try app()
    try app.elsewhere { try $0.setHistoryLimit(0) }
    app.press("gh")
    #expect(app.line(of: "the history is off: `runnel history --keep 1000`") != nil)
    app.press("u")
    #expect(app.toast == "move to a write to take it back")
  }

  @Test func valuesThatWereTooLargeAreSaidToBe() throws {
    let app = try app()
    try app.set("/user/ana/note", .string(String(repeating: "x", count: 70_000)))
    try app.set("/user/ana/note", .string(String(repeating: "y", count: 70_000)))
    app.press("gh")
    #expect(app.body[1].contains("note  (too large to keep)"))
    #expect(app.body[2].contains("note  (too large to show)"), "what stood there is kept")
    app.press("Enter")
    #expect(app.line(of: "the values were too large to keep") != nil)
    app.press("u")
    #expect(app.toast.contains("too large to keep"))
  }

  @Test func aTitleCutsNoObject() throws {
    let visit: JSONValue = ["at": 1_735_725_600_000, "name": "A long name of somebody"]
    let part = HistoryEntry.Part(
      path: Fixture.path("/visits/-P7R"), values: HistoryEntry.Part.Values(old: visit, new: .null))
    let text = EntryText(ellipsis: "…", place: .root, log: nil)
    let entry = HistoryEntry(id: 1, at: 0, author: "zoe", parts: [part])
    #expect(text.title(of: entry) == "visits/-P7R  deleted { 2 keys }")
  }

  @Test func whatIsKeptInAFileIsSaidWithItsNameAndSize() throws {
    let part = HistoryEntry.Part(
      path: .root, values: nil,
      before: .file(suffix: "-undo-12.json", byteCount: 3 << 20, checksum: 0))
    let text = EntryText(ellipsis: "…", place: .root, log: nil)
    let entry = HistoryEntry(id: 1, at: 0, author: "zoe", parts: [part])
    #expect(
      text.text(of: entry) == "/  (too large to show); before: 3 MiB in the file …-undo-12.json")
  }

  @Test func aHistoryThatCannotBeReadSaysWhyAndIsReadAgain() throws {
    let app = try app()
    app.backend.historyRefusal = DatabaseError(.locked, "locked by another")
    app.press("gh")
    #expect(app.line(of: "locked by another") != nil)
    app.backend.historyRefusal = nil
    app.press("gm")
    #expect(app.line(of: "plot  3 -> 4") != nil)
  }

  @Test func whoDoesNotWantToWaitStopsTheReading() throws {
    let app = try app()
    app.strike("gH")
    #expect(app.line(of: "reading the history… · C-c stops") != nil)
    app.strike("C-c")
    #expect(app.line(of: "the history was not read · gm reads it") != nil)
    app.pump()
    #expect(app.line(of: "plot  3 -> 4") == nil, "what comes late is not wanted")
    app.press("gm")
    #expect(app.line(of: "plot  3 -> 4") != nil)
    #expect(!app.state.session.isLeaving)
  }

  @Test func fetchingOlderWritesIsStoppedToo() throws {
    let app = try app()
    for number in 0..<60 { try app.set("/user/ana/plot", .number(JSONNumber(Int64(number)))) }
    app.press("gh")
    app.strike("gm C-c")
    #expect(try screen(app).paging == .more)
    app.pump()
    #expect(try screen(app).entries.count == 50)
    app.press("gm")
    #expect(try screen(app).entries.count == 63)
  }

  @Test func theTreeAndTheRecordHaveHistoriesToo() throws {
    let app = try app()
    app.press("Enter j gh")
    #expect(app.screen[0].contains("history of /user/ana"))
    app.press("h h g3 gg j gh")
    #expect(app.screen[0].contains("history of /room"))
  }

  @Test(arguments: [(80, 24), (40, 10), (20, 5)])
  func itFitsEverySize(columns: Int, rows: Int) throws {
    let app = try app()
    app.press("gh Enter")
    app.resize(columns: columns, rows: rows)
    #expect(app.cursorLine.hasPrefix(">"))
  }

  @Test func aSessionWithAHistoryIsReplayed() throws {
    let app = try app(isRecording: true)
    app.press("gh Enter j j u gm")
    let replay = try SessionReplay(parsing: app.recording, file: "s.log")
    #expect(replay.state == app.state)
  }

  // MARK: Words

  @Test func onlyWhatIsDifferentIsTold() throws {
    let changes = EntryText.changes(
      from: ["a": 1, "b": ["x": 1, "y": 2], "c": 3], to: ["a": 1, "b": ["x": 1, "y": 3], "d": 4])
    #expect(changes.map(\.name) == ["b/y", "c", "d"])
    #expect(EntryText.changes(from: 1, to: ["a": 1]).map(\.name) == [""])
    #expect(EntryText.changes(from: nil, to: ["a": ["b": 1]]).map(\.name) == ["a/b"])
    #expect(EntryText.changes(from: 1, to: 1).isEmpty)
  }
}

extension String {
  fileprivate var trimmingBlanks: String {
    String(drop { $0 == " " || $0 == ">" })
  }
}

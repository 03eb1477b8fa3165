import Foundation
import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// What becomes of a write where others wrote meanwhile.
@Suite struct CompareTests {
  /// A form with all fields of Zoe, whose plot others change while one types a name.
  private func app(
    columns: Int = 80, isRecording: Bool = false, theirs: String = "/user/zoe/name"
  ) throws -> AppDriver {
    let app = try Fixture.gardenApp(isRecording: isRecording)
    app.resize(columns: columns, rows: 24)
    app.press("g3 G k")
    app.go(to: "Zoe")
    app.press("i C-u")
    app.type("Mine")
    // Not told to the application: what is written is compared with what stands there.
    try app.elsewhereUnseen { _ = try $0.write(.set(Path(theirs), "Theirs")) }
    app.press("C-s")
    return app
  }

  private func screen(_ app: AppDriver) -> CompareScreen? {
    if case .compare(let screen)? = app.state.layers.last { screen } else { nil }
  }

  @Test func whatOthersChangedInOtherFieldsIsMergedByItself() throws {
    let app = try app(theirs: "/user/zoe/note")
    #expect(app.toast == "saved")
    #expect(try app.stored("/user/zoe/name") == "Mine")
    #expect(try app.stored("/user/zoe/note") == "Theirs")
  }

  @Test func whatOthersChangedInTheSameFieldIsComparedAndNothingIsWritten() throws {
    let app = try app()
    #expect(try app.stored("/user/zoe/name") == "Theirs")
    #expect(app.screen[0].contains("compare /user/zoe"))
    for text in ["base    \"Zoe\"", "mine    \"Mine\"", "theirs  \"Theirs\""] {
      #expect(app.line(of: text) != nil, "\(text)")
    }
    #expect(app.toast.contains("choose what is kept"))
    #expect(app.screen[0].contains("!1"), "the header counts what needs attention")
    app.press("C-s")
    #expect(app.toast == "1 field needs a choice")
  }

  @Test func whoWroteTheOtherVersionAndWhenIsTold() throws {
    let narrow = try app()
    #expect(narrow.screen.contains { $0.contains("theirs by zoe, ") && $0.contains("choose") })
    let wide = try app(columns: 120)
    #expect(wide.screen.contains { $0.contains("theirs · zoe, ") && $0.contains("mine · zoe") })
  }

  @Test(arguments: [("m", "Mine"), ("t", "Theirs"), ("b", "Zoe"), ("M", "Mine"), ("T", "Theirs")])
  func whatIsChosenIsWritten(key: String, name: String) throws {
    let app = try app()
    app.press("\(key) C-s")
    #expect(try app.stored("/user/zoe/name") == .string(name))
    #expect(app.state.layers.isEmpty)
    #expect(app.state.writes.queue.refused.isEmpty)
    #expect(!app.screen[0].contains("!1"))
  }

  @Test func anotherValueMayBeTyped() throws {
    let app = try app()
    app.press("e C-u")
    app.type("Both")
    app.press("C-s C-s")
    #expect(try app.stored("/user/zoe/name") == "Both")
  }

  @Test(arguments: [80, 120])
  func longValueIsShownInFullAndNoLonger(columns: Int) throws {
    let app = try app(columns: columns)
    let long = (0..<40).map { "word\($0)" }.joined(separator: " ")
    try app.elsewhereUnseen { _ = try $0.write(.set(Path("/user/zoe/name"), .string(long))) }
    app.press("m C-s")
    #expect(app.line(of: "word39") == nil)
    app.press("Enter")
    #expect(app.line(of: "word39") != nil, "\(app.body)")
    // A choice is made there as before.
    app.press("t")
    #expect(app.line(of: "word39") != nil)
    app.press("l")
    #expect(app.line(of: "word39") == nil)
    app.press("C-s")
    #expect(try app.stored("/user/zoe/name") == .string(long))
  }

  @Test func piecesOfAValueAreTheWholeValueAndBounded() {
    let value = JSONValue.string(String(repeating: "äb", count: 100))
    let pieces = CompareScreen.pieces(of: value, columns: 40)
    #expect(pieces.joined() == value.jsonText())
    #expect(pieces.allSatisfy { $0.count <= 22 })
    let huge = JSONValue.string(String(repeating: "x", count: 100_000))
    #expect(CompareScreen.pieces(of: huge, columns: 40).count == 2001)
  }

  @Test func whoChangesItAgainIsAskedAgain() throws {
    let app = try app()
    app.press("m")
    try app.elsewhereUnseen { _ = try $0.write(.set(Path("/user/zoe/name"), "Third")) }
    app.press("C-s")
    #expect(try app.stored("/user/zoe/name") == "Third")
    #expect(app.line(of: "theirs  \"Third\"") != nil)
    app.press("m C-s")
    #expect(try app.stored("/user/zoe/name") == "Mine")
    #expect(app.state.writes.queue.refused.isEmpty)
  }

  @Test func escKeepsWhatWasTypedInTheQueue() throws {
    let app = try app()
    app.press("Esc")
    #expect(app.state.layers.isEmpty)
    #expect(app.line(of: "! ") != nil, "the row of the record is marked")
    app.press("S")
    #expect(app.cursorLine.contains("conflict"))
    app.press("Enter")
    #expect(app.line(of: "+ name  \"Mine\"") != nil)
    app.press("c m C-s")
    #expect(try app.stored("/user/zoe/name") == "Mine")
    #expect(app.line(of: "nothing was refused") != nil)
  }

  @Test func wideScreensShowTheThreeBesideEachOther() throws {
    let app = try app(columns: 120)
    let line = try #require(app.body.first { $0.contains("\"Zoe\"") })
    #expect(line.contains("\"Mine\"") && line.contains("\"Theirs\""))
    #expect(app.line(of: "?  choose") != nil)
    app.press("t")
    #expect(app.line(of: "?  choose") == nil)
    app.resize(columns: 40, rows: 10)
    #expect(app.cursorLine.contains("\"Mine\""))
    app.resize(columns: 20, rows: 5)
    #expect(app.cursorLine.hasPrefix(">"))
  }

  @Test func aFieldThatIsEditedInItsPlaceIsComparedToo() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j e C-u")
    app.type("mine@example.org")
    try app.elsewhereUnseen { _ = try $0.write(.set(Path("/user/ana/email"), "theirs")) }
    app.press("Enter")
    #expect(try app.stored("/user/ana/email") == "theirs")
    app.press("m C-s")
    #expect(try app.stored("/user/ana/email") == "mine@example.org")
  }

  @Test func whatIsEditedOutsideIsComparedToo() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j")
    app.editor = { text in
      try? app.elsewhereUnseen { _ = try $0.write(.set(Path("/user/ana/plot"), 50)) }
      return (text.replacingOccurrences(of: "\"plot\": 3", with: "\"plot\": 8"), 0)
    }
    app.press("E")
    #expect(try app.stored("/user/ana/plot") == 50)
    #expect(app.line(of: "theirs  50") != nil)
    app.press("m C-s")
    #expect(try app.stored("/user/ana/plot") == 8)
    #expect(try app.stored("/user/ana/email") == "ana@example.org")
  }

  @Test func aValueOfTheTreeIsComparedToo() throws {
    let app = try AppDriver(Fixture.views(), json: ["a": 1])
    app.press("g3 gg j e C-u")
    app.type("2")
    try app.elsewhereUnseen { _ = try $0.write(.set(Path("/a"), 3)) }
    app.press("C-s")
    #expect(try app.stored("/a") == 3)
    app.press("t C-s")
    #expect(app.toast == "what others wrote is kept")
    #expect(try app.stored("/a") == 3)
  }

  @Test func whatCannotBeTakenBackIsCompared() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j e C-u")
    app.type("mine")
    app.press("Enter Esc")
    try app.set("/user/ana/email", "theirs")
    app.press("u")
    #expect(app.toast.contains("c compares"))
    app.press("c")
    for text in [
      "your write  \"mine\"", "before it   \"ana@example.org\"", "now         \"theirs\"",
    ] {
      #expect(app.line(of: text) != nil, "\(text)")
    }
    app.press("b C-s")
    #expect(try app.stored("/user/ana/email") == "ana@example.org")
  }

  @Test(arguments: [("m", "mine"), ("t", "theirs"), ("b", "ana@example.org")])
  func keysOfAComparisonAfterAnUndoChooseWhatTheRowsSay(key: String, value: String) throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: 120)
    app.press("g2 gg j e C-u")
    app.type("mine")
    app.press("Enter Esc")
    try app.set("/user/ana/email", "theirs")
    app.press("u c")
    let hints = app.screen.joined(separator: "\n")
    for hint in ["m your write", "t now", "b before it"] {
      #expect(hints.contains(hint), "\(hints)")
    }
    app.press(key)
    #expect(screen(app)?.model.rows.first?.value == .string(value))
    app.press("C-s")
    #expect(try app.stored("/user/ana/email") == .string(value))
  }

  @Test func timesAreComparedWithTheirDates() throws {
    let app = try AppDriver(Fixture.views(), json: ["a": 1])
    app.press("g3 gg j e C-u")
    app.type("2")
    try app.elsewhereUnseen { _ = try $0.write(.set(Path("/a"), 1_700_129_800_000)) }
    app.press("C-s")
    let line = try #require(app.body.first { $0.contains("1700129800000") }, "\(app.body)")
    #expect(line.contains("2023-11-16 "), "\(line)")
  }

  @Test func placesOfTheSameRecordAreCountedByThemselves() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    func draft(_ path: String, _ mine: JSONValue) throws -> CompareDraft {
      CompareDraft(path: try Path(path), base: "x", mine: mine, isUndo: true)
    }
    let saved = try draft("/user/ana/name", "A")
    var state = app.state
    state.writes.comparable = [
      saved, try draft("/user/ana/team", "B"), try draft("/user/dan/name", "C"),
    ]
    CompareScreen.finish(&state, saved)
    #expect(
      state.toast?.toast.text.contains("saved · 1 more of /user/ana to compare: c compares") == true
    )
    CompareScreen.finish(&state, try draft("/user/ana/team", "B"))
    #expect(
      state.toast?.toast.text.contains("saved · 1 other place to compare: c compares") == true)
  }

  @Test func allThatCouldNotBeTakenBackIsComparedOneAfterTheOther() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j Space Space d")
    app.wait(milliseconds: 200)
    app.press("y")
    try app.set("/user/ana", ["name": "Theirs", "role": "organizer"])
    try app.set("/user/dan", ["name": "Other", "role": "organizer"])
    app.press("u")
    #expect(app.toast.contains("not undone: deleted 2 records"))
    app.press("c")
    let first = try #require(screen(app)?.draft.path)
    app.press("Esc c")
    let second = try #require(screen(app)?.draft.path)
    #expect(Set([first.description, second.description]) == ["/user/ana", "/user/dan"])
    app.press("B C-s")
    #expect(app.toast.contains("saved · 1 other place to compare: c compares"))
    app.press("c")
    #expect(screen(app)?.draft.path == first)
    app.press("B C-s")
    #expect(try app.stored("/user/ana/name") == "Ana")
    #expect(try app.stored("/user/dan/name") == "Dan")
    app.press("c")
    #expect(app.toast == "nothing to compare")
  }

  @Test func whatIsSaidLeavesRoomOnASmallScreen() throws {
    let app = try app()
    app.press("Esc")
    app.resize(columns: 40, rows: 10)
    app.press("c")
    #expect(app.toast == "was changed: m mine, t theirs")
    #expect(app.screen[8].hasPrefix("───"), "the message has one line")
  }

  @Test func conflictsAreComparedOneAfterTheOtherWhenThatIsAskedFor() throws {
    let app = try Fixture.gardenApp()
    app.press("g3")
    app.go(to: "Ana")
    for name in ["ana", "bo"] {
      app.strike("i C-u M i n e")
      try app.elsewhereUnseen { _ = try $0.write(.set(Path("/user/\(name)/name"), "Theirs")) }
      app.strike("C-s j")
    }
    app.pump()
    #expect(screen(app) == nil, "who goes on is not interrupted")
    app.press("c")
    #expect(screen(app)?.draft.path.description == "/user/bo")
    app.press("e C-u")
    app.type("Both")
    app.press("C-s C-s")
    #expect(try app.stored("/user/bo/name") == "Both")
    #expect(try app.stored("/user/ana/name") == "Theirs")
    app.press("c")
    #expect(screen(app)?.draft.path.description == "/user/ana")
    #expect(screen(app)?.model.undecidedCount == 1)
  }

  @Test func aRefusedWriteIsKeptUntilItIsWrittenOrDropped() throws {
    let app = try Fixture.gardenApp()
    app.press("g3 gg j")
    app.backend.refusal = DatabaseError(.diskFull, "the disk is full")
    app.press("i C-u")
    app.type("Typed")
    app.press("C-s Esc S")
    #expect(app.cursorLine.contains("refused"))
    app.press("Enter")
    #expect(app.line(of: "the disk is full") != nil)
    #expect(app.line(of: "name  Typed") != nil)
    app.press("e C-s")
    #expect(app.state.writes.queue.refused.map(\.tries) == [2])
    app.backend.refusal = nil
    app.press("C-s")
    #expect(app.state.writes.queue.refused.isEmpty)
    #expect(try app.stored("/user/ana/name") == "Typed")
  }

  @Test func aRefusedWriteIsDroppedAfterAQuestion() throws {
    let app = try app()
    app.press("Esc S d")
    app.wait(milliseconds: 200)
    app.press("n")
    #expect(app.state.writes.queue.refused.count == 1)
    app.press("d")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(app.state.writes.queue.refused.isEmpty)
    #expect(app.line(of: "nothing waits, and nothing was refused") != nil)
  }

  @Test func anEmptyQueueTellsOfUnsentTexts() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("a")
    app.type("half")
    app.press("Esc S")
    #expect(
      app.line(of: "nothing was refused · 1 unsent text: a offers it") != nil,
      "\(app.body)")
  }

  @Test func aSessionWithAComparisonIsReplayed() throws {
    let app = try app(isRecording: true)
    app.press("m b Esc S Enter c m C-s u")
    let replay = try SessionReplay(parsing: app.recording, file: "s.log")
    #expect(replay.state == app.state)
  }
}

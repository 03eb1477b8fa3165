import Foundation
import RunnelBase
import RunnelStore
import RunnelStreams
import RunnelTerminal
import RunnelTree
import TestSupport
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Recorded sessions, and what replaying them comes to.
@Suite struct RecordingTests {
  private func replayed(_ app: AppDriver) throws -> SessionReplay {
    try SessionReplay(parsing: app.recording, file: "s.log")
  }

  private func expectEqual(_ app: AppDriver) throws {
    let replay = try replayed(app)
    #expect(replay.state == app.state)
    #expect(replay.canvas().textLines() == app.screen)
    #expect(replay.withheldCount == 0 && !replay.isCut)
  }

  @Test func aSessionOfAllScreensIsReplayedToAnEqualState() throws {
    let app = try Fixture.gardenApp(isRecording: true)
    try expectEqual(app)
    app.press("a")
    app.type("hello ❤️")
    app.press("Enter Esc T k e C-u")
    app.type("x")
    try expectEqual(app)
    app.press("Enter Esc g3 a")
    app.type("Far too long for a name")
    app.press("Tab F2 C-s")
    try expectEqual(app)
    app.press("Esc g6 gg j l j l")
    app.press("g5 u ? j j")
    try expectEqual(app)
    app.press("q C-x d")
    app.resize(columns: 100, rows: 30)
    app.send(.paste("ignored"))
    app.send(.pasteTooLong(2_000_000))
    app.send(
      .mouse(MouseEvent(position: Position(row: 4, column: 2), kind: .press, button: .left)))
    app.wait(milliseconds: 5000)
    app.pump()
    try expectEqual(app)
  }

  @Test func aSessionThatOthersWriteIntoIsReplayedToo() throws {
    let app = try Fixture.gardenApp(isRecording: true)
    for number in 0..<12 {
      try app.set(
        "/group_message/g/-N\(number)", ["from": "ana", "text": .string("n\(number)")])
      if number.isMultiple(of: 3) { try app.remove("/group_message/g/-M1") }
    }
    app.press("gg za zR g2 g1")
    try expectEqual(app)
  }

  @Test func foundAndPartitionedViewsAreRecordedWithTheSession() throws {
    for views in [try Fixture.views(), try Fixture.demoViews().views] {
      let file = ViewFile(me: "zoe", views: views)
      #expect(try ViewFile(yaml: file.json.jsonText(), name: "v") == file)
    }
    let app = try AppDriver(Fixture.views(), json: Fixture.small, isRecording: true)
    app.press("gt e")
    app.type("7")
    try expectEqual(app)
  }

  @Test func inferredDatesHaveTheirTimeOfDayInAReplay() throws {
    let records = (0..<6).map { number in
      JSONMember(
        "k\(number)",
        ["title": "a title", "at": .string("2024-05-0\(number + 1)T09:3\(number):00Z")])
    }
    let node = try Node(json: .object(records))
    let sample = CollectionSample(
      path: Fixture.path("/list"), keys: node.children.map(\.key),
      records: node.children.map(\.node))
    let view = ViewInference.view(of: sample, named: "list", pageSize: 50)
    let app = try AppDriver([view], json: ["list": .object(records)], isRecording: true)
    #expect(app.screen.contains { $0.contains("2024-05-03 09:32") }, "\(app.screen)")
    try expectEqual(app)
    let text = PlainText(view, PlainRequest(.text, rows: .page), local: .utc)
    let child = try #require(Node(json: .object([records[2]])).children.first)
    let record = Record(TreeRow(child, index: .key, detail: .full), in: Fixture.path("/list"))
    let line = text.line(record, change: nil, in: "", now: 0)
    #expect(line.contains("2024-05-03 09:32"), "\(line)")
  }

  @Test(arguments: Seeds.byChance())
  func randomSessionsAreReplayedToEqualStates(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let keys = [
      "j", "k", "gg", "G", "l", "h", "Enter", "Esc", "a", "e", "i", "T", "u", "d", "y", "gt", "gT",
      "za", "gm", "?", "C-x d", "x", "7", "Tab", "C-s", "F2", "Backspace", "g6", "C-u",
    ]
    for _ in 0..<2 {
      let app = try Fixture.gardenApp(isRecording: true)
      for _ in 0..<40 {
        app.press(keys.randomElement(using: &random) ?? "j")
        if Int.random(in: 0..<8, using: &random) == 0 { app.wait(milliseconds: 700) }
      }
      try expectEqual(app)
    }
  }

  // MARK: Damage

  private func error(_ text: String) throws -> ConfigurationError {
    try #require(throws: ConfigurationError.self) {
      try SessionReplay(parsing: text, file: "s.log")
    }
  }

  @Test func aDamagedRecordingIsRefusedWithItsLine() throws {
    let app = try Fixture.gardenApp(isRecording: true)
    app.press("j k")
    var lines = app.recording.split(separator: "\n").map(String.init)
    let intact = lines
    lines[4] = "{\"n\":4,\"ms\":1}"
    #expect(try error(lines.joined(separator: "\n") + "\n").line == 5)
    lines = intact
    lines.remove(at: 3)
    #expect(try error(lines.joined(separator: "\n") + "\n").line == 4)
    lines = intact
    lines[5] = "{\"n\":5,\"ms\":1,\"kind\":\"app\",\"action\":{\"tick\":\"noon\"}}"
    let wrong = try error(lines.joined(separator: "\n") + "\n")
    #expect(wrong.line == 6)
    #expect(wrong.message.contains("\"tick\" is not a whole number"))
    lines = intact
    lines.remove(at: 1)
    #expect(try error("hello\n").line == 1)
    #expect(try error(intact[0] + "\n").line == 2)
  }

  @Test func aLastLineThatWasCutIsLeftOut() throws {
    let app = try Fixture.gardenApp(isRecording: true)
    app.press("j")
    let replay = try SessionReplay(parsing: String(app.recording.dropLast(9)), file: "s.log")
    #expect(replay.isCut)
    #expect(replay.summary.contains("cut"))
  }

  // MARK: Secrets

  @Test func whatIsTypedIntoAHiddenFieldIsWithheld() throws {
    var entries: [LoggedAction] = []
    var state = try Fixture.gardenApp().state
    state.layers = [
      .compose(ComposeScreen(view: 0, editor: LineEditor("", isSecret: true)))
    ]
    let store = Store(
      state: state,
      middleware: [AppState.recording(now: { 0 }, write: { entries.append($0) })],
      reducer: AppState.reduce)
    store.dispatch(AppAction.input(.key(KeyStroke(.character("s")))))
    store.dispatch(AppAction.tick(5))
    #expect(entries[0].content == .withheld(type: "AppAction"))
    #expect(entries[1].content == .action(kind: "app", ["tick": 5]))
  }
}

/// The view of the last actions.
@Suite struct DebugScreenTests {
  @Test func itShowsTheLastActionsWithWhatTheyChanged() throws {
    let app = try Fixture.gardenApp()
    app.press("gt C-x d")
    #expect(app.body[0].contains("The last actions, the newest first"))
    let index = try #require(app.line(of: "key t"))
    #expect(app.body[index + 1].contains("view: Chat -> Groups"))
    app.press("j j k Esc")
    #expect(app.state.layers.isEmpty)
  }

  @Test func timeThatChangesNothingIsNotShown() throws {
    let app = try Fixture.gardenApp()
    app.wait(milliseconds: 100)
    app.wait(milliseconds: 100)
    #expect(!app.state.session.trace.entries.contains { $0.name == "time" })
    app.press("T")
    app.wait(milliseconds: 10_000)
    let last = try #require(app.state.session.trace.entries.last)
    #expect(last.name == "time")
    #expect(last.changes.map(\.fact) == ["message"])
  }

  @Test func onlyTheLastActionsAreKept() throws {
    let app = try Fixture.gardenApp()
    for _ in 0..<150 { app.press("j k") }
    #expect(app.state.session.trace.entries.count == ActionTrace.entriesMax)
    #expect(app.state.session.trace.count > 300)
  }
}

import Foundation
import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The file of the database goes while the workspace is open.
@Suite struct FileLossTests {
  private func app(columns: Int = 100, rows: Int = 24) throws -> AppDriver {
    try AppDriver(Fixture.views(), json: Fixture.small, columns: columns, rows: rows)
  }

  @Test func itIsSaidWhereverOneLooksForAsLongAsItIsSo() throws {
    let app = try app()
    #expect(app.screen[0].contains("live"))
    try app.loseFile()
    app.notice()
    for keys in ["j", "g2", "g3", "g1 ?", "q"] {
      app.press(keys)
      app.wait(milliseconds: 60_000)
      #expect(app.screen[0].contains("✗ the file is gone"))
      #expect(!app.screen[0].contains("live"))
      #expect(app.screen.contains { $0.contains("save-copy FILE") }, "\(keys)")
    }
    app.resize(columns: 40, rows: 10)
    #expect(app.screen[0].contains("gone"))
  }

  @Test(arguments: ["a", "e", "d", "F2", "Del", "g2 a", "g2 gg j e", "g3 a", "g3 j d", "!"])
  func everyWayToWriteIsOffWithTheReason(keys: String) throws {
    let app = try app()
    try app.loseFile()
    app.notice()
    app.press(keys)
    #expect(app.toast.hasPrefix("the file is gone"), "\(app.toast)")
    #expect(app.backend.writeCount == 0)
  }

  @Test func onlyARefusedKeyForTextEndsItsBurst() throws {
    let app = try app()
    try app.loseFile()
    app.notice()
    for (keys, refuses) in [("a", true), ("k", false), ("d", false), ("e", true), ("f", false)] {
      app.press(keys)
      #expect(app.state.input.refusesText == refuses, "\(keys)")
    }
  }

  /// Nobody had noticed yet: the write itself does.
  @Test func aWriteThatFindsTheFileGoneKeepsWhatWasTyped() throws {
    let app = try app()
    app.press("a")
    app.type("what I said")
    try app.loseFile()
    app.press("Enter")
    #expect(app.screen[0].contains("the file is gone"))
    #expect(app.state.writes.queue.refused.map { $0.title(.tree) }.count == 1)
    #expect(app.composeLine.contains("what I said"))
    #expect(!app.toast.contains("saved"))
    let refused = try #require(app.state.writes.queue.refused.first?.request)
    #expect("\(refused)".contains("what I said"))
    app.press("Esc")
    #expect(app.state.tabs.lists[0].line.draft == "what I said")
  }

  /// The next key must not begin anew: the text would be seen nowhere any more.
  @Test func whatWasTypedStaysInTheLineAndLeavingNamesIt() throws {
    let app = try app()
    app.press("a")
    app.type("what I said")
    try app.loseFile()
    app.press("Enter")
    #expect(app.composeRule.contains("the text stays here"), "\(app.composeRule)")
    app.type("!")
    #expect(app.composeLine.contains("what I said!"))
    app.press("Esc q")
    #expect(app.screen.contains { $0.contains("1 write that was not done: S lists it") })
    #expect(app.screen.contains { $0.contains(": what I said") })
    #expect(app.screen.contains { $0.contains("a draft in Chat: what I said!") })
  }

  /// Where the session is kept, a refused text comes back as a draft, but only with the file.
  @Test func leavingNamesRefusedWritesEvenIfTheSessionIsKept() throws {
    let app = try app()
    app.press("g2 gg j e x")
    try app.loseFile()
    app.press("Enter Esc q")
    #expect(app.record?.edit == nil)
    var state = app.state
    state.session.isKept = true
    state.perform(.appQuit, count: nil)
    guard case .question(let question)? = state.layers.last else {
      Issue.record("nothing is asked")
      return
    }
    let lines = question.dialog.message.map(\.text)
    #expect(lines.contains { $0.hasPrefix("1 write that was not done") }, "\(lines)")
  }

  @Test func aFileThatIsMovedAwayAndBackIsWrittenAgain() throws {
    let app = try app()
    app.press("a")
    app.type("in between")
    try app.moveFileAway()
    app.press("Enter")
    #expect(app.screen[0].contains("the file is gone"))
    try app.moveFileBack()
    app.notice()
    #expect(app.screen[0].contains("live"))
    let words = "the file is back as it was, and is written again, without 1 refused write"
    #expect(app.toast.hasPrefix(words), "\(app.toast)")
    app.press("Enter")
    #expect(app.state.writes.queue.refused.isEmpty)
    guard case .object(let members) = try app.stored("/room") else { return }
    #expect(members.contains { $0.value["text"] == "in between" })
    // It may be lost again.
    try app.moveFileAway()
    app.notice()
    #expect(app.screen[0].contains("the file is gone"))
  }

  @Test func aFileThatMayHaveBeenWrittenMeanwhileHasToBeOpenedAgain() throws {
    let app = try app()
    try app.moveFileAway()
    app.notice()
    try app.touchFileAway()
    try app.moveFileBack()
    app.notice()
    #expect(app.screen[0].contains("the file is gone"))
    #expect(app.state.database.fileGone?.message.contains("open it again") == true)
    app.press("g2 gg j d")
    #expect(app.toast.hasPrefix("the file is gone"))
  }

  @Test func aLogThatIsCutOffIsNoFileThatIsGone() throws {
    let app = try app()
    app.press("a")
    app.type("what I said")
    try app.cutLogOff()
    app.press("Enter")
    #expect(app.screen[0].contains("✗ nothing is saved"), "\(app.screen[0])")
    #expect(app.state.database.fileGone?.part == .content)
    #expect(FileGone.waysOut(app.state) == "ye exports this view")
    app.press("Esc a")
    #expect(app.toast.hasPrefix("a part of what was saved is lost"), "\(app.toast)")
  }

  @Test func theWaysOutAreWholeOnNarrowScreens() throws {
    let app = try app(columns: 80)
    try app.loseFile()
    app.notice()
    let words = "nothing is saved now · :save-copy FILE saves all · ye exports this view"
    #expect(app.screen.contains { $0.contains(words) }, "\(app.screen)")
  }

  @Test func nothingIsSaidToBeSavedThatWasUnderWay() throws {
    let app = try app()
    app.press("g2 gg j Space Space d")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.strike("y")
    try app.loseFile()
    app.pump()
    #expect(!app.toast.hasPrefix("deleted 2"), "\(app.toast)")
    #expect(app.screen[0].contains("the file is gone"))
    #expect(app.screen[0].contains("!1"), "\(app.screen[0])")
    #expect(
      app.state.writes.queue.refused.map { $0.title(.tree) } == ["deleted 2 records of /user"])
  }

  @Test func theRowsHereAndTheWholeDatabaseAreSavedElsewhere() throws {
    let app = try app()
    try app.loseFile()
    app.notice()
    let folder = NSTemporaryDirectory() + "runnel-loss-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    app.press("ye")
    #expect(app.screen.contains { $0.contains("loaded") })
    app.press("C-u")
    app.type("loaded")
    app.press("Tab Tab C-u")
    app.type("\(folder)/rows.json")
    app.press("C-s")
    #expect(app.toast.hasPrefix("exported"), "\(app.toast) \(app.screen)")
    app.press(":")
    app.type("save-copy \(folder)/copy.db")
    app.press("Enter")
    #expect(app.toast.hasPrefix("saved all"), "\(app.toast)")
    #expect(FileManager.default.fileExists(atPath: "\(folder)/copy.db"))
    #expect(app.screen[0].contains("the file is gone"))
  }

  @Test func leavingAsksIfTheSessionCannotBeKept() throws {
    let app = try app()
    app.take(.sessionKept(problem: nil))
    app.press("a")
    app.type("half a thought")
    app.press("Esc")
    #expect(app.toast.hasPrefix("kept as a draft"))
    app.press("q")
    #expect(app.state.session.isLeaving)
    app.take(.sessionKept(problem: "the disk is full"))
    #expect(!app.state.session.isLeaving)
    #expect(app.screen.contains { $0.contains("a draft in Chat: half a thought") })
    app.press("n a")
    app.press("Esc")
    #expect(app.toast.hasPrefix("kept until the program ends"))
  }

  @Test func leavingAsksWhileNothingWasSavedElsewhere() throws {
    let app = try app()
    app.press("a")
    app.type("half a thought")
    app.press("Esc")
    try app.loseFile()
    app.notice()
    app.press("q")
    #expect(!app.state.session.isLeaving)
    #expect(app.screen.contains { $0.contains("ends with the program") })
    #expect(app.screen.contains { $0.contains("a draft in Chat: half a thought") })
    app.press("n")
    #expect(!app.state.session.isLeaving)
    app.press("q")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y")
    #expect(app.state.session.isLeaving)
  }

  @Test func leavingIsFreeOnceACopyIsSaved() throws {
    let app = try app()
    try app.loseFile()
    app.notice()
    let folder = try TestFolder()
    app.press(":")
    app.type("save-copy \(folder.file("copy.db"))")
    app.press("Enter")
    #expect(app.toast.hasPrefix("saved all"), "\(app.toast)")
    app.press("q")
    #expect(app.state.session.isLeaving)
  }

  @Test func aRecordingTellsIt() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, isRecording: true)
    try app.loseFile()
    app.notice()
    let folder = try TestFolder()
    app.press(":")
    app.type("save-copy \(folder.file("copy.db"))")
    app.press("Enter")
    #expect(app.toast.hasPrefix("saved all"), "\(app.toast)")
    let replay = try SessionReplay(parsing: app.recording, file: "s.log")
    #expect(replay.state.database.fileGone == app.state.database.fileGone)
    #expect(replay.state.database.fileGone?.isCopied == true)
  }
}

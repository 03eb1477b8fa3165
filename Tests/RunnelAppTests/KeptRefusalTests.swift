import Foundation
import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelDatabase
@testable import RunnelWorkspace

/// What an origin refused is on disk until a window has sent it again or dropped it: in one queue for all windows.
@Suite struct KeptRefusalTests {
  private func open(isRecording: Bool = false) throws -> AppDriver {
    try AppDriver(Fixture.views(), json: Fixture.small, origin: "home", isRecording: isRecording)
  }

  private func second(beside app: AppDriver, seed: UInt64 = 100) throws -> AppDriver {
    try AppDriver(Fixture.views(), beside: app, origin: "home", random: seed)
  }

  /// Two windows on a replica, of whose two last writes the origin has refused both.
  private func windows() throws -> (AppDriver, AppDriver) {
    let app = try open()
    for number in 1...2 { try app.set("/notes/n\(number)", "mine") }
    for number in 1...2 { try app.reject(Int64(number), "no") }
    return (app, try second(beside: app))
  }

  /// The ids of the refused writes that a window shows.
  private func shown(_ app: AppDriver) -> [Int64] {
    app.state.writes.queue.refused.compactMap(\.write?.id)
  }

  private func write(_ id: Int64, _ text: String) throws -> KeptRefusal {
    let path = try Path("/notes/n\(id)")
    return KeptRefusal(
      write: PendingWrite(
        id: id, write: .set(path, .string(text)),
        parts: [Assignment(path: path, target: .node(try Node(json: .string(text))))],
        bases: [.empty]),
      reason: "no", at: 7, tries: 2)
  }

  @Test func refusedWriteIsOnDiskAtOnceAndListedAfterTheNextStart() throws {
    let app = try open()
    app.press("a")
    app.type("hello")
    app.press("Enter C-g")
    try app.reject(1, "too late")
    #expect(try app.keptRefusals().map(\.write.id) == [1])
    let next = try second(beside: app)
    #expect(next.screen[0].contains("!1"))
    next.press("S")
    #expect(next.cursorLine.contains("refused  set /"))
    next.press("Enter")
    #expect(next.line(of: "too late") != nil && next.line(of: "hello") != nil)
    // The text goes back into its line, and once it is sent the refusal is dealt with.
    next.press("e")
    guard case .compose(let composer)? = next.state.layers.last else {
      Issue.record("the line is not open: \(next.toast)")
      return
    }
    #expect(composer.editor.text == "hello")
    next.press("Enter")
    #expect(next.state.writes.queue.refused.isEmpty)
    #expect(try app.keptRefusals().isEmpty)
  }

  @Test func whatIsDealtWithIsOnDiskNoMore() throws {
    let (app, _) = try windows()
    #expect(try app.keptRefusals().map(\.write.id) == [1, 2])
    app.press("S gg j r")
    #expect(try app.keptRefusals().map(\.write.id) == [2])
    app.press("gg j d")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(app.toast == "dropped")
    #expect(try app.keptRefusals().isEmpty)
    #expect(!app.screen[0].contains("!"))
  }

  @Test func whatOneWindowSendsOrDropsLeavesTheOther() throws {
    let (app, other) = try windows()
    #expect(shown(app) == [1, 2] && shown(other) == [1, 2])
    other.press("S")
    app.press("S gg j r")
    try other.hear()
    #expect(shown(other) == [2] && other.screen[0].contains("!1"))
    #expect(other.toast == "another window sent or dropped a refused write")
    other.press("gg j d")
    other.wait(milliseconds: 200)
    other.press("y")
    try app.hear()
    #expect(shown(app).isEmpty && !app.screen[0].contains("!"))
  }

  @Test(arguments: ["r", "d"])
  func whatAnotherWindowDealtWithIsNotSentNorDroppedAgain(key: String) throws {
    let (app, other) = try windows()
    app.press("S gg j r")
    try app.set("/notes/n1", "newer")
    let waiting = app.state.writes.queue.pending.map(\.id)
    // The other window has not heard of it.
    other.press("S gg j \(key)")
    other.wait(milliseconds: 200)
    if key == "d" { other.press("y") }
    #expect(other.toast == "another window sent or dropped it")
    #expect(try app.stored("/notes/n1") == "newer")
    try app.hear()
    #expect(app.state.writes.queue.pending.map(\.id) == waiting)
    #expect(shown(app) == [2] && shown(other) == [2])
  }

  @Test func whatIsRefusedAgainStandsThereOnceWithItsNewestReason() throws {
    let (app, other) = try windows()
    for attempt in 1...3 {
      let window = attempt == 2 ? other : app
      window.press("S G")
      let id = try #require(window.state.writes.queue.refused.last?.id)
      while window.state.layers.isEmpty == false, !isAt(id, window) { window.press("k") }
      window.press("r Esc")
      let sent = try #require(window.state.writes.queue.pending.last?.id)
      try app.hear()
      try app.reject(sent, "no, for the time \(attempt)")
      try other.hear()
      for window in [app, other] {
        #expect(window.state.writes.queue.refused.count == 2)
        let again = try #require(window.state.writes.queue.refused.last)
        #expect(again.tries == attempt + 1)
        #expect(again.refusal.message.contains("no, for the time \(attempt)"))
      }
      #expect(try app.keptRefusals().count == 2)
    }
  }

  private func isAt(_ id: AppRequestID, _ app: AppDriver) -> Bool {
    guard case .queue(let screen)? = app.state.layers.last else { return true }
    return screen.cursorWrite(in: app.state.writes.queue)?.id == id
  }

  /// Such as by a full disk.
  @Test func whatCannotBeWrittenStaysThereOnce() throws {
    let (app, other) = try windows()
    app.backend.refusal = DatabaseError(.diskFull, "the disk is full")
    app.press("S gg j r")
    #expect(app.state.writes.queue.refused.count == 2)
    #expect(try app.keptRefusals().map(\.write.id) == [1, 2])
    app.backend.refusal = nil
    app.press("G")
    let id = try #require(app.state.writes.queue.refused.last?.id)
    for _ in 0..<20 where !isAt(id, app) { app.press("k") }
    try #require(isAt(id, app))
    app.press("r")
    #expect(try app.keptRefusals().map(\.write.id) == [2])
    try other.hear()
    #expect(shown(app) == [2] && shown(other) == [2])
  }

  @Test func leavingDoesNotAskForWhatIsKept() throws {
    let (app, _) = try windows()
    app.press("q")
    #expect(app.state.session.isLeaving)
  }

  /// Earlier versions kept them in a file beside the replica.
  @Test func fileOfAnEarlierVersionIsTakenOverOnce() throws {
    let app = try open()
    let database = try #require(app.backend.databaseFile)
    let path = database + "-refused"
    let old = try [write(1, "a"), write(2, "b")]
    let text = JSONValue.object([
      JSONMember("version", 1), JSONMember("refused", .array(old.map(\.json))),
    ]).jsonText()
    for _ in 1...2 {
      // The second time as after a kill before the file was removed.
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      #expect(RefusalFile(database: database).count == 2)
      try app.elsewhere { try RefusalFile(database: database).handOver(to: $0) }
      #expect(!FileManager.default.fileExists(atPath: path))
      let kept = try app.keptRefusals()
      #expect(kept.map(\.write.write) == old.map(\.write.write))
      #expect(kept.map(\.tries) == [2, 2] && kept.map(\.at) == [7, 7])
    }
    #expect(shown(app).count == 2 && app.screen[0].contains("!2"))
  }

  @Test func recordedSessionHasThem() throws {
    let kept = [try write(1, "a"), try write(2, "b")]
    #expect(kept.map { KeptRefusal($0.json) } == kept)
    let app = try open(isRecording: true)
    app.take(.refusedWrites(kept))
    let replay = try SessionReplay(parsing: app.recording, file: "recording")
    #expect(replay.state.writes.queue.refused == app.state.writes.queue.refused)
    #expect(replay.state.writes.queue.refused.count == 2)
  }
}

import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Taking back what was set in many records, of which others have changed some since.
@Suite struct BulkUndoTests {
  /// Sets the status of all three tickets; then others change that of the second one.
  private func app(isRecording: Bool = false) throws -> AppDriver {
    let app = try tickets(isRecording: isRecording)
    app.press("gg j Space Space Space gg j | l l e")
    app.type("done")
    app.press("C-s")
    #expect(app.toast == "changed 3 records")
    app.press("Esc")
    try app.set("/tickets/b/status", "theirs")
    return app
  }

  private func tickets(isRecording: Bool = false) throws -> AppDriver {
    let view = try ViewFile(
      yaml: """
        views:
          - name: Tickets
            path: /tickets
            columns:
              - { field: $key, width: 4 }
              - { field: title }
              - { field: status, width: 8 }
        """, name: "test.views.yaml"
    ).views
    return try AppDriver(
      view,
      json: [
        "tickets": [
          "a": ["title": "Printer", "status": "open"], "b": ["title": "Login", "status": "closed"],
          "c": ["title": "Crash", "status": "open"],
        ]
      ], isRecording: isRecording)
  }

  private func statuses(_ app: AppDriver) throws -> [JSONValue] {
    try ["a", "b", "c"].map { try app.stored("/tickets/\($0)/status") }
  }

  @Test func rangeEndsWithTheEditOfItsRows() throws {
    let app = try tickets()
    app.press("f")
    app.type("status:open")
    app.press("Enter gg j v j | l l e C-u")
    app.type("done")
    app.press("C-s")
    #expect(app.toast.hasPrefix("changed 2 records"), "\(app.toast)")
    #expect(app.list.rangeStart == nil)
    app.press("Esc u")
    #expect(try statuses(app) == ["open", "closed", "open"])
    #expect(app.list.markCount == 0)
  }

  @Test func whatOthersChangedStaysAndTheRestIsTakenBackAndDoneAgain() throws {
    let app = try app()
    app.press("u")
    #expect(try statuses(app) == ["open", "theirs", "open"])
    #expect(app.toast.hasPrefix("took back 2 of 3 · others changed b since"), "\(app.toast)")
    app.press("u")
    #expect(app.toast.contains("what others have changed since stays"), "\(app.toast)")
    app.press("C-r")
    #expect(try statuses(app) == ["done", "theirs", "done"])
    #expect(app.toast.hasPrefix("redone 2 of 3: set status of 3 records"), "\(app.toast)")
    app.press("u")
    #expect(try statuses(app) == ["open", "theirs", "open"])
    #expect(app.toast.hasPrefix("undone 2 of 3: set status of 3 records"), "\(app.toast)")
  }

  @Test func onlyWhatOthersChangedIsCompared() throws {
    let app = try app()
    app.press("u c")
    #expect(app.screen[0].contains("compare /tickets/b/status"), "\(app.screen)")
    #expect(app.state.writes.comparable.count == 1)
  }

  @Test func aRedoLeavesWhatOthersChangedMeanwhile() throws {
    let app = try app()
    app.press("u")
    try app.set("/tickets/a/status", "again")
    app.press("C-r")
    #expect(try statuses(app) == ["again", "theirs", "done"])
    #expect(app.toast.hasPrefix("redid 1 of 2 · others changed a since"), "\(app.toast)")
    app.press("u")
    #expect(app.toast.hasPrefix("undone 1 of 3: set status of 3 records"), "\(app.toast)")
  }

  @Test func theHistoryTakesAWriteBackInPartToo() throws {
    let app = try app()
    app.press("gH j u")
    #expect(try statuses(app) == ["open", "theirs", "open"])
  }

  @Test func afterARefusedUndoItIsNotSaidThatNothingWasChanged() throws {
    let app = try app()
    try app.set("/tickets/a/status", "one")
    try app.set("/tickets/c/status", "two")
    app.press("u")
    #expect(app.toast.contains("was written since"), "\(app.toast)")
    app.press("u")
    #expect(app.toast.contains("what others have changed since stays"), "\(app.toast)")
  }

  @Test func aPartialUndoIsReplayedToAnEqualScreen() throws {
    let app = try app(isRecording: true)
    app.press("u c")
    let replay = try SessionReplay(parsing: app.recording, file: "s.log")
    #expect(replay.canvas().textLines() == app.screen)
    #expect(replay.state.writes.undoing == app.state.writes.undoing)
  }
}

import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp

@Suite struct DeletingTests {
  private func chat() throws -> AppDriver { try AppDriver(Fixture.views(), json: Fixture.small) }

  @Test func deletionAsksAndNamesWhatGoes() throws {
    let app = try chat()
    app.press("d")
    #expect(app.screen.contains { $0.contains("┌─ Delete ─") })
    #expect(app.screen.contains { $0.contains("/room/-M6") })
    #expect(app.screen.contains { $0.contains("3 children, and all below them") })
    #expect(app.backend.writeCount == 0)
  }

  @Test func yesDeletesAndTheCursorGoesToTheNeighbour() throws {
    let app = try chat()
    app.press("d")
    app.wait(milliseconds: 120)
    app.press("y")
    #expect(try app.stored("/room/-M6") == .null)
    #expect(app.toast == "deleted")
    #expect(app.cursorLine.contains("Good morning"))
  }

  @Test func yesThatWasStruckForTheListDoesNotCount() throws {
    let app = try chat()
    app.press("d")
    app.wait(milliseconds: 119)
    app.press("y")
    #expect(app.backend.writeCount == 0)
    #expect(app.screen.contains { $0.contains("Delete") }, "the question stays")
  }

  @Test(arguments: ["n", "Esc", "Enter", "C-g", "C-c", "q"])
  func everyOtherAnswerIsNo(key: String) throws {
    let app = try chat()
    app.press("d")
    app.wait(milliseconds: 500)
    app.press(key)
    #expect(app.state.layers.isEmpty)
    #expect(app.backend.writeCount == 0)
    #expect(!app.state.isLeaving)
  }

  @Test(arguments: ["j", "d", "x", "Tab", "F1", "Space"])
  func otherKeysAnswerNothing(key: String) throws {
    let app = try chat()
    app.press("d")
    app.wait(milliseconds: 500)
    app.press(key)
    #expect(app.state.layers.count == 1)
    #expect(app.backend.writeCount == 0)
  }

  @Test func refusedDeletionSaysWhy() throws {
    let app = try chat()
    app.backend.refusal = DatabaseError(.locked, "the file is locked")
    app.press("d")
    app.wait(milliseconds: 500)
    app.press("y")
    #expect(app.toast == "the file is locked")
    #expect(app.line(of: "ladder") != nil)
  }

  @Test func markedRowsAreDeletedAfterOneQuestion() throws {
    let app = try chat()
    app.press("g2 gg j Space Space d")
    #expect(app.screen.contains { $0.contains("Delete 2 marked records") })
    app.wait(milliseconds: 500)
    app.press("y")
    #expect(app.toast == "deleted 2 records")
    #expect(try app.stored("/user/ana") == .null && app.stored("/user/dan") == .null)
    #expect(app.list.markCount == 0)
  }

  @Test func failureNamesTheRecordAndTheOthersGo() throws {
    let app = try Fixture.gardenApp()
    app.go(to: "Rain")
    app.press("Space Space d")
    app.wait(milliseconds: 500)
    app.strike("y")
    app.backend.refusal = DatabaseError(.locked, "the file is locked")
    if let messages = app.backend.answer() { app.runtime.receive(messages) }
    app.backend.refusal = nil
    app.pump()
    #expect(
      app.toast == "deleted 1 of 2 records; not /group_message/g/-M1: the file is locked")
    #expect(app.list.marks == ["/group_message/g/-M1"], "what is left stays marked")
    #expect(try app.report().isInStep)
  }

  @Test func manyRecordsAreDeletedByTypingTheirPlace() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.history(130))
    app.press("g m g m g m")
    app.press("G v gg j d")
    let count = app.list.markCount
    #expect(count > AppState.deletedByYesMax)
    #expect(app.form != nil)
    app.type("rom")
    app.press("Enter")
    #expect(app.backend.writeCount == 0)
    app.press("C-u")
    app.type("room")
    app.press("Enter")
    #expect(app.toast == "deleted \(count) records")
    #expect(app.backend.writeCount == count)
  }

  @Test func rowsThatAFilterHidesStay() throws {
    let app = try chat()
    app.press("g2 gg j Space Space f")
    app.type("name:Dan")
    app.press("Enter d")
    app.wait(milliseconds: 500)
    app.press("y")
    #expect(app.backend.writeCount == 1)
    #expect(try app.stored("/user/dan") == .null)
    #expect(try app.stored("/user/ana") != .null)
  }

  @Test func headersAndPagingRowsCannotBeDeletedOrEdited() throws {
    let app = try chat()
    app.press("gg d")
    #expect(app.toast == "move to a record to delete it")
    app.press("e")
    #expect(app.toast == "move to a record to edit it")
    app.moveToPagingRow()
    app.press("d")
    #expect(app.state.layers.isEmpty)
  }
}

import RunnelBase
import RunnelDatabase
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
    #expect(app.screen.contains { $0.contains("/room/m6") })
    #expect(app.screen.contains { $0.contains("3 children, and all below them") })
    #expect(app.backend.writeCount == 0)
  }

  @Test func yesDeletesAndTheCursorGoesToTheNeighbour() throws {
    let app = try chat()
    app.press("d")
    app.wait(milliseconds: 120)
    app.press("y")
    #expect(try app.stored("/room/m6") == .null)
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

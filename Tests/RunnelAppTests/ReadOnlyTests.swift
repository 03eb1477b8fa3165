import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct ReadOnlyTests {
  @Test(arguments: [
    "a", "e", "d", "F2", "Del", "Enter e", "Enter a", "Enter d", "g2 a", "g2 gg j e",
    "g3 a", "g3 j d", "g3 j l j l j j e", "g3 j l j l j j Enter",
  ])
  func everyWayToWriteIsRefusedWithAReason(keys: String) throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, isReadOnly: true)
    app.press(keys)
    #expect(app.toast == "read-only: nothing can be changed in this database")
    #expect(app.backend.writeCount == 0)
    #expect(!app.state.hasEditor)
  }

  @Test func headerSaysThatNothingCanBeChanged() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, isReadOnly: true)
    #expect(app.screen[0].contains("read-only"))
  }

  @Test func olderAndNewRowsAreReachedWhereNothingCanBeWritten() throws {
    let app = try AppDriver(
      Fixture.views(), copying: Fixture.historyFile.get(), isReadOnly: true)
    for _ in 0..<9 { app.press("gm") }
    #expect(app.list.reach.paging == .exhausted)
    try app.set("/room/-M99999", Fixture.message("seen", at: Fixture.now))
    app.press("gn")
    #expect(app.cursorLine.contains("seen"))
  }

  @Test(arguments: ["g1", "g2 gg j", "g2 gg j Enter", "g3 l j", "gH"])
  func hintsOfferNothingThatWrites(keys: String) throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, isReadOnly: true)
    app.press(keys)
    let hints = app.screen[app.state.layout.hints.row]
    for words in ["edit", "add", "delete", "take back"] {
      #expect(!hints.contains(" \(words)"), "\(hints)")
    }
    #expect(hints.contains("help"))
  }

  @Test func atTheEndOfAListNothingIsFetched() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 G")
    #expect(app.cursorLine.contains("Eve"))
    #expect(!app.screen[app.state.layout.hints.row].contains("fetch"))
  }
}

extension ReadOnlyTests {
  @Test func whatIsBeingWrittenIsNotTurnedOffHalfway() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j Space Space d")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.strike("y !")
    #expect(app.toast.contains("records are being written"))
    app.pump()
    #expect(!app.state.database.isReadOnly)
    #expect(try app.stored("/user/ana") == .null)
    #expect(try app.stored("/user/dan") == .null)
    app.press("!")
    #expect(app.state.database.isReadOnly)
  }

  @Test func recordsArePastedIntoNoReadOnlyList() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 !")
    app.send(.paste("{\"name\":\"Zoe\"}\n{\"name\":\"Yan\"}"))
    app.pump()
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y")
    #expect(app.backend.writeCount == 0)
    #expect(app.toast.contains("read-only"))
  }
}

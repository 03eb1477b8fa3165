import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp

@Suite struct ReadOnlyTests {
  @Test(arguments: [
    "a", "e", "d", "F2", "Del", "Enter e", "Enter a", "Enter d", "g2 a", "g2 j e",
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

  @Test func readingWorks() throws {
    let app = try AppDriver(
      Fixture.views(), copying: Fixture.historyFile.get(), isReadOnly: true)
    for _ in 0..<9 { app.press("gm") }
    #expect(app.list.paging == .exhausted)
    try app.set("/room/-M99999", Fixture.message("seen", at: Fixture.now))
    app.press("gn")
    #expect(app.cursorLine.contains("seen"))
  }
}

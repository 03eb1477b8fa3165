import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// A list that is held as it is while others write.
@Suite struct PauseTests {
  private func paused() throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("P")
    try app.set("/room/-M7", Fixture.message("while paused", at: Fixture.now))
    try app.set("/room/-M6/text", "changed while paused")
    return app
  }

  @Test func pausedListStandsStillAndCounts() throws {
    let app = try paused()
    #expect(app.line(of: "while paused") == nil)
    #expect(app.screen[0].contains("paused, 2 wait"))
  }

  @Test func everyChangedRowWaits() throws {
    let app = try paused()
    try app.remove("/room/-M5")
    #expect(app.screen[0].contains("paused, 3 wait"))
    try app.set("/room/-M7/text", "changed again")
    #expect(app.screen[0].contains("paused, 3 wait"))
  }

  @Test func liveAgainItShowsWhatHappened() throws {
    let app = try paused()
    app.press("P")
    #expect(app.line(of: "changed while paused") != nil)
    #expect(app.body.filter { $0.contains("while paused") }.count == 2)
    #expect(app.screen[0].contains("live"))
    try app.set("/room/-M8", Fixture.message("live again", at: Fixture.now))
    #expect(app.line(of: "live again") != nil)
  }

  @Test(arguments: ["gm", "a", "f x"]) func askingForRowsMakesItLive(keys: String) throws {
    let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
    app.press("P")
    app.press(keys)
    #expect(app.list.reach.waitingCount == nil)
  }

  @Test func otherViewsStayLive() throws {
    let app = try paused()
    app.press("g2")
    try app.set("/user/fay", Fixture.user("Fay", "organizer"))
    #expect(app.line(of: "Fay") != nil)
    app.press("g1")
    #expect(app.line(of: "while paused") == nil)
  }
}

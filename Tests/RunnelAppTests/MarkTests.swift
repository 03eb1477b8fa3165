import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Marks, ranges, and jumping from one remarkable row to the next.
@Suite struct MarkTests {
  private func people() throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j")
    return app
  }

  private func marks(_ app: AppDriver) -> [String] {
    app.list.content.sections.flatMap(\.rows).filter(app.list.isMarked)
      .map { String($0.split(separator: "/").last ?? "") }
  }

  @Test func spaceMarksAndStepsDown() throws {
    let app = try people()
    app.press("Space Space")
    #expect(marks(app) == ["ana", "dan"])
    #expect(app.status.contains("2 marked"))
    #expect(app.body.contains { $0.hasPrefix(" *  Ana") })
    app.press("gg j Space")
    #expect(marks(app) == ["dan"])
  }

  @Test func editBesideMarksSaysWhichRowItIsAbout() throws {
    let app = try people()
    app.press("gg j Space")
    app.press("gg j")
    #expect(app.screen.contains { $0.contains("e edit this row") }, "\(app.screen)")
    app.press("e")
    #expect(app.toast.hasPrefix("this edits the row under the cursor, not the marked one"))
  }

  @Test func countMarksSoManyRows() throws {
    let app = try people()
    app.press("2 Space")
    #expect(marks(app) == ["ana", "dan"])
  }

  @Test func rangeIsSeenBeforeItIsMarked() throws {
    let app = try people()
    app.press("v G")
    #expect(marks(app) == ["ana", "dan", "bo", "cleo", "eve"])
    for _ in 0..<9 where !app.cursorLine.contains("Bo ") { app.press("k") }
    #expect(marks(app) == ["ana", "dan", "bo"])
    app.press("Esc")
    #expect(marks(app).isEmpty)
    app.press("v gg j j v")
    #expect(marks(app) == ["dan", "bo"])
    #expect(app.list.rangeStart == nil)
  }

  @Test func starMarksTheSectionAndTakesItBack() throws {
    let app = try people()
    app.press("*")
    #expect(marks(app) == ["ana", "dan"])
    app.press("]] *")
    #expect(marks(app).count == 5)
    app.press("*")
    #expect(marks(app) == ["ana", "dan"])
    app.press("\\")
    #expect(marks(app).isEmpty)
  }

  @Test func escapeClearsOneThingAtATime() throws {
    let app = try people()
    app.press("Space")
    app.press("f")
    app.type("role:organizer")
    app.press("Enter v Esc")
    #expect(app.list.rangeStart == nil)
    #expect(app.list.filtering.filter != nil)
    app.press("Esc")
    #expect(app.list.filtering.filter == nil)
    #expect(marks(app) == ["ana"])
    app.press("Esc")
    #expect(marks(app).isEmpty)
  }

  @Test func recordThatIsGoneIsNotMarked() throws {
    let app = try people()
    app.press("2 Space")
    try app.remove("/user/ana")
    #expect(app.list.marks == ["/user/dan"])
  }

  @Test func marksFollowTheirRecords() throws {
    let app = try people()
    app.press("Space")
    try app.set("/user/ana/role", "participant")
    #expect(marks(app) == ["ana"])
    #expect(app.list.content.sections[0].rows == ["/user/dan"])
  }

  @Test func markedRowsAreFiltered() throws {
    let app = try people()
    app.press("2 Space f")
    app.type("is:marked")
    app.press("Enter")
    #expect(app.list.content.sections.flatMap(\.rows).filter(app.list.isMarkable).count == 2)
    app.press("gg j Space")
    #expect(app.list.content.sections.flatMap(\.rows).filter(app.list.isMarkable).count == 1)
  }

  @Test func jumpsGoAroundMarkedRows() throws {
    let app = try people()
    app.press("Space j j Space gg ]m")
    #expect(app.cursorLine.contains("Ana"))
    app.press("]m")
    #expect(app.cursorLine.contains("Bo "))
    app.press("]m")
    #expect(app.cursorLine.contains("Ana"))
    app.press("[m")
    #expect(app.cursorLine.contains("Bo "))
    app.press("[m")
    #expect(app.cursorLine.contains("Ana"))
  }

  @Test func jumpsGoToChangedRows() throws {
    let app = try people()
    try app.set("/user/cleo/plot", 99)
    app.press("]c")
    #expect(app.cursorLine.contains("Cleo"))
    app.wait(milliseconds: 5000)
    app.press("]c")
    #expect(app.toast.contains("no row changed"))
  }

  @Test func jumpsGoToNewRows() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.history(60))
    app.press("gg")
    for key in ["-N1", "-N2"] {
      try app.set("/room/\(key)", Fixture.message("news \(key)", at: Fixture.now))
    }
    #expect(app.list.list.newBelow.count == 2)
    app.press("]u")
    #expect(app.cursorLine.contains("news -N1"))
  }

  @Test func timesAreShownThreeWays() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    #expect(app.body.contains { $0.hasSuffix(" 5m") })
    app.press("t")
    #expect(app.body.contains { $0.hasSuffix(" 18:15") })
    app.press("t")
    #expect(app.body.contains { $0.hasSuffix("2026-08-24 18:15") })
    app.press("t")
    #expect(app.body.contains { $0.hasSuffix(" 5m") })
  }
}

import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct RosterTests {
  private func roster(rows: Int = 24) throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, rows: rows)
    app.press("g2")
    return app
  }

  @Test func usersStandInTwoSectionsByTheirRole() throws {
    let expected = """
      ▾ Organizers                                                                   2
      >   Ana          3     true  ana@example.org
          Dan          7     true  dan@example.org
      ▾ Participants                                                                 3
          Bo           12    true  bo@example.org
          Cleo         1     false cleo@example.org
          Eve          21    true  eve@example.org
         ── end ──
      """
    #expect(try roster().body.prefix(8).joined(separator: "\n") == expected)
  }

  @Test func changingTheFieldMovesTheRowAndTheCursorFollows() throws {
    let app = try roster()
    app.press("3 G Enter")
    #expect(app.screen[0].contains("/user/bo"))
    app.press("G e C-u")
    app.type("organizer")
    app.press("Enter q")
    #expect(try app.stored("/user/bo/role") == "organizer")
    #expect(app.cursorLine.contains("Bo"))
    #expect(app.line(of: "Bo") == 2)
    #expect(app.body[0].hasSuffix(" 3"))
    #expect(app.line(of: "Participants") == 4)
  }

  @Test func changingTheOrderedFieldMovesTheRowAndTheCursorFollows() throws {
    let app = try roster()
    app.press("3 G Enter j k e C-u")
    app.type("Zoltan")
    app.press("Enter q")
    #expect(app.cursorLine.contains("Zoltan"))
    #expect(app.line(of: "Zoltan") == 6)
  }

  @Test func namedSectionsStayWhenTheyAreEmpty() throws {
    let app = try roster()
    for user in ["ana", "dan"] { try app.set("/user/\(user)/role", "participant") }
    #expect(app.line(of: "Organizers") == 0)
    #expect(app.body[1] == "  nothing here yet · a adds")
    #expect(app.body[0].hasSuffix(" 0"))
  }

  @Test func unknownValuesGetSectionsOfTheirOwnAfterTheNamedOnes() throws {
    let app = try roster()
    try app.set("/user/eve/role", "guest")
    try app.set("/user/dan/role", true)
    try app.remove("/user/cleo/role")
    let titles = app.list.content.sections.map { app.list.headings.all[$0.id]?.title.text }
    #expect(titles == ["Organizers", "Participants", "None", "guest", "true"])
  }
}

import RunnelBase
import RunnelTerminal
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct WritePreviewTests {
  @Test func editOfAFieldShowsWhatIsWritten() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("e")
    #expect(app.screen.contains { $0.contains("─ Preview of the write ─") })
    #expect(app.screen.contains { $0.contains("PATCH /room/-M6") })
    #expect(app.screen.contains { $0.contains("nothing yet") })
    app.type("!")
    let line = try #require(app.screen.first { $0.contains("- text") })
    #expect(line.contains("- text  \"Who has the ladder?\""))
    #expect(line.contains("+ text  \"Who has the ladder?!\""))
    app.press("Esc")
    #expect(!app.screen.contains { $0.contains("Preview") })
  }

  @Test func differenceOfLongTextsIsSeen() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    try app.set("/room/-M6/text", .string(String(repeating: "long ", count: 30) + "end"))
    app.press("e")
    app.type("ing")
    let line = try #require(app.screen.first { $0.contains("- text") })
    #expect(line.contains("- text  …long end\""), "\(line)")
    #expect(line.contains("+ text  …long ending\""), "\(line)")
  }

  @Test func formShowsTheFieldsThatAreWritten() throws {
    let app = try Fixture.gardenApp()
    app.press("g3 gg j i")
    #expect(app.screen.contains { $0.contains("PATCH /user/ana") })
    app.type("x")
    #expect(
      app.screen.contains { $0.contains("- name  \"Ana\"") && $0.contains("+ name  \"Anax\"") })
    #expect(!app.screen.contains { $0.contains("+ plot") })
    app.go(toField: "plot")
    app.press("C-u")
    #expect(app.screen.contains { $0.contains("- plot  3") }, "an emptied field is removed")
    app.type("99")
    #expect(app.screen.contains { $0.contains("nothing yet: plot is wrong") })
  }

  @Test func formForANewRecordShowsAllOfIt() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, rows: 40)
    app.press("g2 a")
    app.type("Zed")
    #expect(app.screen.contains { $0.contains("POST /user") })
    #expect(app.screen.contains { $0.contains("+ name  \"Zed\"") })
    #expect(app.screen.contains { $0.contains("+ joined  {\".sv\":\"timestamp\"}") })
  }

  @Test(arguments: [(20, 5), (30, 8)])
  func formShowsTheFieldWithTheKeysAtEverySize(columns: Int, rows: Int) throws {
    let app = try AppDriver(
      Fixture.gardenViews(), resources: Fixture.gardenBook(), json: Fixture.garden,
      columns: columns, rows: rows)
    app.press("g3 gg j i")
    #expect(app.screen.contains { $0.contains("name") && $0.contains("Ana") }, "\(app.screen)")
    app.go(toField: "plot")
    #expect(app.screen.contains { $0.contains("plot") && $0.contains("3") }, "\(app.screen)")
    app.type("x")
    #expect(app.screen.contains { $0.contains("! ") }, "\(app.screen)")
    #expect(app.screen.contains { $0.contains("plot") && $0.contains("3x") }, "\(app.screen)")
    #expect(app.canvas.cursor != nil)
  }

  @Test(arguments: [(20, 5), (30, 8)])
  func menuShowsTheRowOfTheCursorAtEverySize(columns: Int, rows: Int) throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: columns, rows: rows)
    app.press("x")
    guard case .menu(let screen)? = app.state.layers.last else {
      Issue.record("no menu")
      return
    }
    let title = try #require(screen.menu.selected?.title.prefix(8))
    #expect(app.screen.contains { $0.hasPrefix(">") || $0.contains("│>") }, "\(app.screen)")
    #expect(app.screen.contains { $0.contains(title) }, "\(app.screen)")
  }
}

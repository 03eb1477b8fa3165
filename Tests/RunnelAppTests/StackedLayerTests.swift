import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// What lies over a view is drawn in its order: what takes all of the body hides what is below it.
@Suite struct StackedLayerTests {
  @Test func helpOverAFormHidesTheForm() throws {
    let app = try Fixture.gardenApp()
    app.press("g3 a")
    #expect(app.screen.contains { $0.contains("choice") })
    app.press("F1")
    #expect(app.screen[3].contains("Help"))
    #expect(!app.screen.contains { $0.contains("┌") || $0.contains("choice") })
    app.press("Esc")
    #expect(app.screen.contains { $0.contains("choice") })
  }

  @Test func helpOverALineThatIsTypedTakesItsRoom() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("f")
    app.type("from:")
    let typed = app.canvas.cursor
    app.press("F1")
    #expect(!app.screen.contains { $0.contains("from:") })
    #expect(app.canvas.cursor?.row == 3)
    app.press("Esc")
    #expect(app.canvas.cursor == typed)
  }

  @Test func aQuestionOverTheHelpIsSeen() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("? C-s")
    #expect(app.screen.contains { $0.contains("keys.md") })
  }
}

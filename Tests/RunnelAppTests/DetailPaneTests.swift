import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp

/// The record under the cursor beside the list.
@Suite struct DetailPaneTests {
  private func people(columns: Int, rows: Int = 24) throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: columns, rows: rows)
    app.press("g2 gg j")
    return app
  }

  @Test func wideScreenShowsTheRecordBesideTheList() throws {
    let app = try people(columns: 120)
    #expect(app.body[0].contains("│ ana"))
    #expect(app.body.contains { $0.contains("│ email  ana@example.org") })
    app.press("j")
    #expect(app.body[0].contains("│ dan"))
  }

  @Test func narrowScreenShowsItWhenAsked() throws {
    let app = try people(columns: 80)
    #expect(!app.body[0].contains("│"))
    app.press("p")
    #expect(app.body[0].contains("│ ana"))
    app.press("p")
    #expect(!app.body[0].contains("│"))
    app.resize(columns: 40, rows: 10)
    app.press("p")
    #expect(app.toast.contains("takes 70 columns"))
  }

  @Test func paneFollowsTheRecordLive() throws {
    let app = try people(columns: 120)
    try app.set("/user/ana/plot", 77)
    #expect(app.body.contains { $0.contains("│ plot   77") })
    try app.remove("/user/ana")
    #expect(!app.body[0].contains("│ ana"))
  }

  @Test func longTextIsWrappedAndDatesAreRead() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: 120)
    let text = "one two three four five six seven eight nine ten eleven twelve"
    try app.set("/room/-M6/text", .string(text))
    let pane = app.body.map { $0.split(separator: "│").last.map(String.init) ?? "" }
    #expect(pane.contains { $0.contains("created 2026-08-24 18:15") })
    #expect(pane.contains { $0.contains("one two three") && !$0.contains("twelve") })
    #expect(pane.contains { $0.contains("twelve") })
  }

  @Test func openRecordTakesTheWholeWidth() throws {
    let app = try people(columns: 120)
    app.press("Enter")
    #expect(!app.body.contains { $0.contains("│") })
    app.press("Esc")
    #expect(app.body[0].contains("│ ana"))
  }
}

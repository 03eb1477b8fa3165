import RunnelBase
import RunnelTree
import Testing

@testable import RunnelWorkspace

/// The status line tells the place in what is on top.
@Suite struct StatusLineTests {
  private func app(columns: Int = 80, rows: Int = 24) throws -> AppDriver {
    try AppDriver(Fixture.views(), json: Fixture.small, columns: columns, rows: rows)
  }

  @Test func aFormCountsItsFields() throws {
    let app = try app()
    app.press("g2 gg j")
    #expect(app.status.contains("row 1 of 5"))
    app.press("a Tab")
    #expect(app.status.contains("field 2 of"), "\(app.status)")
    #expect(!app.status.contains("row"))
  }

  @Test func aRecordCountsItsFieldsAlsoUnderAQuestion() throws {
    let app = try app()
    app.press("g2 gg j l")
    #expect(app.status.contains("field 1 of 5"), "\(app.status)")
    app.press("j d")
    #expect(app.state.layers.count == 2)
    #expect(app.status.contains("field 2 of 5"), "\(app.status)")
  }

  @Test func theRootOfTheTreeTellsHowManyRowsAreBelowIt() throws {
    let app = try AppDriver([], json: Fixture.small)
    #expect(app.status.contains(" 2 rows"), "\(app.status)")
    app.press("j")
    #expect(app.status.contains("row 1 of 2"), "\(app.status)")
  }

  @Test func aLineForTypingCountsTheRowsAboveIt() throws {
    let app = try app()
    app.press("gg j f")
    #expect(app.status.contains("row 1 of 6"), "\(app.status)")
  }

  @Test func aFormThatIsCutTellsHowManyFieldsAreAboveAndBelow() throws {
    var views = try Fixture.views()
    views[1].template = (1...20).map { TemplateField(path: Fixture.path("/f\($0)"), value: "") }
    let app = try AppDriver(views, json: Fixture.small, columns: 60, rows: 15)
    app.press("g2 a")
    #expect(app.screen.contains { $0.contains("more fields ") && $0.contains("↓") })
    #expect(!app.screen.contains { $0.contains("↑") && $0.contains("more field") })
    app.press("S-Tab")
    #expect(app.screen.contains { $0.contains("more fields ") && $0.contains("↑") })
    #expect(!app.screen.contains { $0.contains("↓") && $0.contains("more field") })
  }
}

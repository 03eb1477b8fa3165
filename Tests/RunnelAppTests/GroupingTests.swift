import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Sections that the user chooses, and names of tables in orders and sections.
@Suite struct GroupingTests {
  private func app(restoring session: SessionState? = nil) throws -> AppDriver {
    let views = try ViewFile(
      yaml: """
        views:
          - name: Parts
            path: /part
            columns: [{ field: title, width: 8 }, { field: status }]
        """, name: "parts.views.yaml"
    ).views
    let parts: JSONValue = [
      "a": ["title": "Nut", "status": "open", "Art%2E-Nr%2E": 3],
      "b": ["title": "Bolt", "status": "done", "Art%2E-Nr%2E": 1],
      "c": ["title": "Cap", "status": "open", "Art%2E-Nr%2E": 2],
      "d": ["title": "Rod", "Art%2E-Nr%2E": 4],
    ]
    return try AppDriver(views, json: ["part": parts], restoring: session)
  }

  private func sections(_ app: AppDriver) -> [String] {
    app.list.content.sections.map { SectionID($0.id).value }
  }

  private func rows(_ app: AppDriver) -> [String] {
    app.list.content.sections.flatMap(\.rows).compactMap { app.list.records[$0]?.row.key.text }
  }

  /// The titles of the choices in the palette.
  private func choices(_ app: AppDriver) -> [String] {
    guard case .palette(let screen)? = app.state.layers.last else { return [] }
    return screen.menu.shown.map(\.title)
  }

  private func run(_ line: String, _ app: AppDriver) {
    app.type(":\(line)")
    app.press("Enter")
  }

  @Test(arguments: [
    ("when", ["c", "a", "b", "d"]), ("when:desc", ["b", "a", "c", "d"]),
    ("when\n    descending: true", ["b", "a", "c", "d"]), ("$key", ["c", "a", "b", "d"]),
    ("title:desc", ["c", "a", "b", "d"]),
  ])
  func daysFollowTheOrderOfTheirTimes(order: String, keys: [String]) throws {
    let views = try ViewFile(
      yaml: """
        views:
          - name: Parts
            path: /part
            order: \(order)
            sections: [{ day: when }]
            columns: [{ field: title, width: 8 }]
        """, name: "parts.views.yaml"
    ).views
    let day = Fixture.day
    func part(_ days: Int64) -> JSONValue {
      ["title": "Nut", "when": .number(JSONNumber(Fixture.now - days * day))]
    }
    let app = try AppDriver(
      views, json: ["part": ["a": part(2), "b": part(0), "c": part(5), "d": ["title": "Rod"]]])
    #expect(rows(app) == keys)
    #expect(app.body.contains { $0.contains("Today · ") }, "\(app.body)")
  }

  @Test func eachValueOfTheFieldIsASection() throws {
    let app = try app()
    run("group by status", app)
    #expect(app.state.layers.isEmpty, "\(app.screen)")
    #expect(sections(app) == ["", "done", "open"])
    #expect(rows(app) == ["d", "b", "a", "c"])
    #expect(app.screen[1].contains("grouped by status"))
    #expect(app.body.contains { $0.contains("None") })
    try app.set("/part/b/status", "open")
    #expect(sections(app) == ["", "open"])
  }

  @Test(arguments: ["group none", "group own"])
  func sectionsEnd(line: String) throws {
    let app = try app()
    run("group status", app)
    #expect(sections(app).count == 3)
    run(line, app)
    #expect(sections(app).count == 1)
    #expect(!app.screen[1].contains("grouped"))
  }

  @Test func orderAndSectionsGoTogether() throws {
    let app = try app()
    run("group by status", app)
    run("sort title desc", app)
    #expect(rows(app) == ["d", "b", "a", "c"])
    #expect(app.screen[1].contains("by title") && app.screen[1].contains("grouped by status"))
  }

  @Test func menuOffersFieldsWithFewValuesFirst() throws {
    let app = try app()
    app.press("zs")
    guard case .menu(let screen)? = app.state.layers.last else {
      Issue.record("no menu is open")
      return
    }
    #expect(screen.menu.shown.first?.title == "the view's own sections")
    #expect(screen.menu.shown.map(\.title).contains("by Art.-Nr."))
    let status = screen.menu.shown.first { $0.title == "by status" }
    #expect(status?.note == "2 values")
  }

  @Test func sectionsComeBackWithTheSession() throws {
    let app = try app()
    run("group by status", app)
    let again = try self.app(restoring: SessionState.session(app.state))
    #expect(again.list.arrangement.grouping == app.list.arrangement.grouping)
    #expect(sections(again) == ["", "done", "open"])
  }

  @Test func namesOfTablesAreOfferedAsPeopleReadThem() throws {
    let app = try app()
    app.type(":sort ")
    #expect(choices(app).contains("Art.-Nr.") && choices(app).contains("Art.-Nr. desc"))
    #expect(!choices(app).contains { $0.contains("%") })
    app.type("Art.-Nr. desc")
    app.press("Enter")
    #expect(
      app.list.arrangement.order?.field == .child(Path(unchecked: [Key(unchecked: "Art%2E-Nr%2E")]))
    )
    #expect(rows(app) == ["d", "a", "c", "b"])
    #expect(app.screen[1].contains("by Art.-Nr. "))
    run("group by Art.-Nr.", app)
    #expect(sections(app) == ["1", "2", "3", "4"])
  }

  @Test func writtenNameIsStillFound() throws {
    let app = try app()
    run("sort Art%2E-Nr%2E", app)
    #expect(app.state.layers.isEmpty, "\(app.screen)")
    #expect(rows(app) == ["b", "c", "a", "d"])
  }
}

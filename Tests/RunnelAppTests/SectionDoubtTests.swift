import RunnelBase
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Sections of a view whose conditions fit no row, whatever the rows hold.
@Suite struct SectionDoubtTests {
  private func app(_ condition: String) throws -> AppDriver {
    let view = try ViewFile(
      yaml: """
        views:
          - name: Tickets
            path: /tickets
            sections: [{ title: Noted, where: { \(condition) } }]
            columns: [{ field: title }]
        """, name: "test.views.yaml"
    ).views
    let rows: JSONValue = [
      "a": ["title": "One", "note": "yes", "votes": 3], "b": ["title": "Two", "note": "no"],
    ]
    return try AppDriver(view, json: ["tickets": rows])
  }

  @Test func aTruthWhereThereAreTextsIsTold() throws {
    let toast = try app("note: true").toast
    #expect(
      toast == "the section Noted fits no row: note holds texts, and its where asks for true: "
        + "write \"true\" in quotes for the text")
  }

  @Test(arguments: ["votes: \"3\"", "note: 3"])
  func valuesOfAnotherKindAreTold(condition: String) throws {
    #expect(try app(condition).toast.hasPrefix("the section Noted fits no row: "))
  }

  /// A list of tickets with sections by day and ages, of a field.
  private func days(of field: String, _ rows: JSONValue) throws -> AppDriver {
    let view = try ViewFile(
      yaml: """
        views:
          - name: Tickets
            path: /tickets
            sections: [{ day: \(field) }]
            columns:
              - { field: title, width: 6 }
              - { field: \(field), format: age, width: 6 }
        """, name: "test.views.yaml"
    ).views
    return try AppDriver(view, json: ["tickets": rows])
  }

  @Test func datesThatAreTextsHaveDaysAndAges() throws {
    let app = try days(
      of: "at",
      [
        "a": ["title": "One", "at": "2026-08-20"],
        "b": ["title": "Two", "at": "20.08.2026"],
        "c": ["title": "Three", "at": "2026-08-10T10:00:00Z"],
        "d": ["title": "Four", "at": "soon"],
      ])
    #expect(app.toast == "")
    #expect(app.list.content.sections.map { $0.rows.storedCount } == [1, 2, 1], "\(app.screen)")
    #expect(app.body.count { $0.hasSuffix(" 4d") } == 2, "\(app.screen)")
    #expect(app.body.contains { $0.contains("Three") && $0.hasSuffix(" 2w") }, "\(app.screen)")
    #expect(app.body.contains { $0.contains("Four") && $0.hasSuffix("soon") })
    app.press("t t")
    // A day has no time that could be shown.
    #expect(app.body.contains { $0.contains("One") && $0.hasSuffix(" 2026-08-20") })
  }

  @Test func daysOfAFieldWithoutDatesAreTold() throws {
    let app = try days(of: "note", ["a": ["title": "One", "note": "yes"]])
    #expect(app.toast == "the sections by day fit no row: note holds no dates")
  }

  @Test(arguments: ["note: \"yes\"", "note: maybe", "votes: 4", "missing: yes"])
  func conditionsThatMayFitAreNot(condition: String) throws {
    #expect(try app(condition).toast == "")
  }
}

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

  @Test func aWordThatYAMLTakesForTrueIsTold() throws {
    let toast = try app("note: yes").toast
    #expect(
      toast == "the section Noted fits no row: note holds texts, and its where asks for true: "
        + "write \"yes\" in quotes for the text")
  }

  @Test(arguments: ["votes: \"3\"", "note: 3"])
  func valuesOfAnotherKindAreTold(condition: String) throws {
    #expect(try app(condition).toast.hasPrefix("the section Noted fits no row: "))
  }

  @Test(arguments: ["note: \"yes\"", "note: maybe", "votes: 4", "missing: yes"])
  func conditionsThatMayFitAreNot(condition: String) throws {
    #expect(try app(condition).toast == "")
  }
}

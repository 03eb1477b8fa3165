import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The form of a record that no resource describes.
@Suite struct PlainFormTests {
  /// Two rows, with the cursor on the first; only the second has a note.
  private func rows() throws -> AppDriver {
    let views = try ViewFile(
      yaml:
        "views:\n  - { name: f, path: /f, columns: [{ field: $key }, { field: qty }, { field: name }] }",
      name: "test.views.yaml"
    ).views
    let app = try AppDriver(
      views,
      json: [
        "f": [
          "a": ["name": "One", "price": "16,00", "qty": 2, "tags": ["x": true]],
          "b": ["name": "Two", "note": "n"],
        ]
      ])
    app.press("g g j")
    return app
  }

  @Test func formHasTheFieldsOfTheRecordAndOfItsList() throws {
    let app = try rows()
    app.press("i")
    let form = try #require(app.form)
    #expect(form.fields.map(\.label) == ["qty", "name", "price", "note"])
    #expect(form.fields.map(\.input.editor.text) == ["2", "One", "16,00", ""])
  }

  @Test func onlyWhatWasChangedIsWritten() throws {
    let app = try rows()
    app.press("i C-u")
    app.type("5")
    app.press("Tab Tab Tab")
    app.type("new")
    try app.set("/f/a/name", "Uno")
    app.press("C-s")
    #expect(
      try app.stored("/f/a") == [
        "name": "Uno", "note": "new", "price": "16,00", "qty": 5, "tags": ["x": true],
      ],
      "\(app.toast)")
    app.press("u")
    #expect(try app.stored("/f/a/qty") == 2)
  }

  @Test func fieldThatOthersChangedIsNotOverwritten() throws {
    let app = try rows()
    app.press("i C-u")
    app.type("5")
    try app.set("/f/a/qty", 3)
    app.press("C-s")
    #expect(try app.stored("/f/a/qty") == 3, "\(app.screen)")
  }

  @Test func menuOfColumnsSaysThatNumbersAreTexts() throws {
    let app = try rows()
    app.press("z w")
    #expect(app.screen.contains { $0.contains("price") && $0.contains("number as text") })
  }

  @Test func openRecordHasTheFormToo() throws {
    let app = try rows()
    app.press("l i")
    #expect(app.form?.fields.first?.label == "qty", "\(app.screen)")
  }

  // MARK: Empty lists

  /// An empty list whose view computes all first values.
  private func empty(columns: String) throws -> AppDriver {
    let views = try ViewFile(
      yaml: """
        views:
          - name: f
            path: /f
            columns: [\(columns)]
            new: { from: $me, created: { .sv: timestamp } }
        """,
      name: "test.views.yaml"
    ).views
    return try AppDriver(views, json: ["other": 1])
  }

  private func only(_ app: AppDriver) throws -> JSONValue {
    let all = try #require(app.stored("/f").object)
    return try #require(all.first).value
  }

  @Test func newRecordOfAnEmptyListHasTheFieldsOfTheColumnsAndWhatTheViewComputes() throws {
    let app = try empty(
      columns: "{ field: from }, { field: text }, { field: qty, format: number }")
    app.press("a")
    #expect(try #require(app.form).fields.map(\.label) == ["text", "qty"])
    app.type("Hello")
    app.press("Tab")
    app.type("3")
    app.press("C-s")
    let record = try only(app)
    #expect(record["text"] == "Hello" && record["qty"] == 3, "\(record)")
    #expect(record["from"] == "zoe" && record["created"]?.int != nil, "\(record)")
  }

  @Test func wholeValueOfANewRecordGetsWhatTheViewComputes() throws {
    let app = try empty(columns: "{ field: $key }")
    app.press("a")
    #expect(try #require(app.form).fields.map(\.label) == ["value"])
    app.type(#"{"text":"Hello","from":"ana"}"#)
    app.press("C-s")
    let record = try only(app)
    #expect(record["text"] == "Hello" && record["from"] == "ana", "\(record)")
    #expect(record["created"]?.int != nil, "\(record)")
  }
}

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
    #expect(form.fields.map(\.label) == ["qty", "name", "price", "tags/x", "note"])
    #expect(form.fields.map(\.input.editor.text) == ["2", "One", "16,00", "true", ""])
  }

  @Test func onlyWhatWasChangedIsWritten() throws {
    let app = try rows()
    app.press("i C-u")
    app.type("5")
    app.go(toField: "note")
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

  // MARK: Nested fields

  private func nested(_ record: JSONValue) throws -> AppDriver {
    let views = try ViewFile(
      yaml: "views:\n  - { name: f, path: /f, columns: [{ field: name }] }",
      name: "test.views.yaml"
    ).views
    let app = try AppDriver(views, json: ["f": ["a": record]], columns: 100, rows: 40)
    app.press("g g j")
    return app
  }

  @Test func nestedFieldIsWrittenAlone() throws {
    let app = try nested([
      "name": "Ana",
      "address": ["city": "Ulm", "street": "Kirchweg", "geo": ["lat": 48, "lon": 10]],
    ])
    app.press("i")
    let form = try #require(app.form)
    #expect(form.fields.map(\.label) == ["name", "address/city", "address/street"])
    #expect(form.note == "2 nested fields are not here: Enter in the list shows all")
    app.go(toField: "address/city")
    app.press("C-u")
    app.type("Bonn")
    #expect(app.screen.contains { $0.contains("+ address/city  \"Bonn\"") }, "\(app.screen)")
    // Others write beside it meanwhile.
    try app.set("/f/a/address/street", "Markt")
    app.press("C-s")
    #expect(try app.stored("/f/a/address/city") == "Bonn", "\(app.screen)")
    #expect(try app.stored("/f/a/address/street") == "Markt")
    #expect(try app.stored("/f/a/address/geo") == ["lat": 48, "lon": 10])
    app.press("u")
    #expect(try app.stored("/f/a/address/city") == "Ulm")
    #expect(try app.stored("/f/a/address/street") == "Markt")
  }

  @Test func nestedFieldThatOthersChangedIsNotOverwritten() throws {
    let app = try nested(["name": "Ana", "address": ["city": "Ulm"]])
    app.press("i")
    app.go(toField: "address/city")
    app.press("C-u")
    app.type("Bonn")
    try app.set("/f/a/address/city", "Jena")
    app.press("C-s")
    #expect(try app.stored("/f/a/address/city") == "Jena", "\(app.screen)")
  }

  @Test func emptiedNestedFieldIsRemovedAlone() throws {
    let app = try nested(["name": "Ana", "address": ["number": 4, "city": "Ulm"]])
    app.press("i")
    app.go(toField: "address/number")
    app.press("C-u C-s")
    #expect(try app.stored("/f/a/address") == ["city": "Ulm"], "\(app.screen)")
  }

  @Test func aCollectionInARecordIsCounted() throws {
    let votes = (0..<30).map { JSONMember("u\($0)", JSONValue.bool(true)) }
    let app = try nested(["name": "Ana", "votes": .object(votes)])
    app.press("i")
    #expect(app.form?.fields.map(\.label) == ["name"])
    #expect(app.form?.note.hasPrefix("30 nested fields are not here") == true)
  }
}

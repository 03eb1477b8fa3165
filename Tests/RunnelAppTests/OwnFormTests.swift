import Foundation
import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// What an export over the opened file leaves as it was: cells, lists, and the order of rows.
@Suite struct OwnFormTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file(name)))
  }

  private func bytes(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: folder.file(name))), as: UTF8.self)
  }

  /// The records of a file, after a change, in the database beside it.
  private func opened(
    _ text: String, as name: String, order: String = "",
    change: ([JSONMember]) -> [JSONMember] = { $0 }
  ) throws -> AppDriver {
    try write(text, to: name)
    let plan = try ImportPlan(text, as: ImportPlan.format(ofFile: name))
    let rows = plan.rows.enumerated().map { JSONMember($1.key ?? "\($0)", $1.value) }
    let views = try ViewFile(
      yaml: "views:\n  - { name: list, path: /list\(order), columns: [{ field: Name }] }",
      name: "test.views.yaml"
    ).views
    return try AppDriver(
      views, json: ["list": .object(change(rows))], dataFile: folder.file(name))
  }

  private func ask(_ app: AppDriver, over name: String) throws {
    let format = try #require(ExportFormat(fileName: name))
    app.press(":")
    app.type("export \(format.rawValue) \(folder.file(name))")
    app.press("Enter")
    app.wait(milliseconds: Question.graceMilliseconds)
  }

  private func written(_ app: AppDriver, over name: String) throws -> String {
    try ask(app, over: name)
    app.press("y")
    #expect(app.toast.hasPrefix("exported"), "\(app.toast)")
    return try bytes(name)
  }

  /// A record with another value of a field.
  private func with(_ name: String, _ value: JSONValue, in record: JSONMember) -> JSONMember {
    var members = record.value.object ?? []
    members.removeAll { $0.name == name }
    return JSONMember(record.name, .object(members + [JSONMember(name, value)]))
  }

  private static let table =
    "Name,Phone,Sum,Price,Steps\nAnn,+32 2 555,=SUM(A1),9.50,\"[\"\"wedge\"\",\"\"throw\"\"]\"\n"
    + "Bo,-,'-,12,\nCy,@home,\"say \"\"hi\"\"\",7.00,\"[1, 2]\"\n"

  /// What a tree does not keep: digits, the order of fields, null, [] and {}, and blanks.
  private static let loose =
    "[\n  {\"Name\": \"Äpfel\", \"id\": 12345678901234567890123, \"none\": null},\n"
    + "  {\"id\": 5.50, \"Name\": \"Birnen\", \"tags\": [], \"more\": {}}\n]\n"

  @Test(arguments: [
    ("list.csv", table),
    ("list.json", "[\n{\"Name\":\"a\",\"steps\":[\"wedge\",\"throw\"]}\n]\n"),
    ("list.json", "[\n{\"n\":[{\"t\":1},{\"t\":[2,[3]]}]},\n{\"n\":[{\"t\":[4]}]}\n]\n"),
    ("list.json", "{\n\"a\":{\"a.b\":[\"x\",null,\"y\"]},\n\"b\":{\"c\":[1,2]}\n}\n"),
    ("list.json", "[\n{\"m\":{\"0\":\"x\",\"1\":\"y\"}}\n]\n"),
    ("list.jsonl", "{\"Name\":\"a\",\"steps\":[\"wedge\",\"throw\"]}\n{\"Name\":\"b\"}\n"),
    ("list.json", OwnFormTests.loose),
    (
      "list.json",
      "{\n  \"b\": {\"z\": 1.50, \"a\": null},\n  \"a\": {\"id\": 12345678901234567890123}\n}"
    ),
    (
      "list.json",
      "{\n\"a\":{\"Name\":\"x\"},\n\"a\":{\"Name\":\"y\",\"n\":1,\"n\":2},\n\"b\":{\"Name\":\"z\"}\n}\n"
    ),
    ("list.jsonl", "{\"b\":1e2, \"a\":[]}\n{\"id\":12345678901234567890123,\"n\":null}\n"),
  ]) func fileThatNobodyChangedStaysToTheLastByte(name: String, text: String) throws {
    #expect(try written(opened(text, as: name), over: name) == text)
  }

  @Test func onlyTheChangedCellIsWrittenAnew() throws {
    let app = try opened(Self.table, as: "list.csv") { rows in
      [with("Sum", "-new", in: rows[0])] + rows.dropFirst()
    }
    let text = try written(app, over: "list.csv")
    #expect(text == Self.table.replacing("=SUM(A1)", with: "'-new"))
  }

  @Test func onlyTheChangedFieldOfARecordOfJSONIsWrittenAnew() throws {
    let app = try opened(Self.loose, as: "list.json") { rows in
      [with("Name", "Obst", in: rows[0]), with("new", 1, in: rows[1])]
    }
    let text = Self.loose.replacing("Äpfel", with: "Obst")
      .replacing("\"more\": {}", with: "\"more\": {}, \"new\": 1")
    try ask(app, over: "list.json")
    #expect(!app.screen.contains { $0.contains("left out;") }, "\(app.screen)")
    app.press("y")
    #expect(try bytes("list.json") == text)
  }

  @Test func membersOfOneNameStayUntilTheNameGoes() throws {
    let text = "[\n{\"Name\":\"a\",\"d\":1,\"d\":2,\"n\":3}\n]\n"
    let renamed = try opened(text, as: "list.json") { [with("Name", "b", in: $0[0])] }
    #expect(try written(renamed, over: "list.json") == text.replacing("\"a\"", with: "\"b\""))
    let changed = try opened(text, as: "list.json") { [with("d", 5, in: $0[0])] }
    #expect(try written(changed, over: "list.json") == text.replacing("\"d\":2", with: "\"d\":5"))
    let gone = try opened(text, as: "list.json") { [with("d", .null, in: $0[0])] }
    #expect(
      try written(gone, over: "list.json") == text.replacing("\"d\":1,\"d\":2,", with: ""))
  }

  @Test func recordsOfJSONThatGoTakeNothingFromTheOthers() throws {
    let app = try opened(Self.loose, as: "list.json") {
      [$0[1], JSONMember("-Nnew", ["Name": "Zoe"])]
    }
    #expect(
      try written(app, over: "list.json")
        == "[\n  {\"id\": 5.50, \"Name\": \"Birnen\", \"tags\": [], \"more\": {}},\n  {\"Name\":\"Zoe\"}\n]\n"
    )
  }

  /// Settings, which are in the tree as the file has them.
  private static let settings =
    "{\"server\":{\"host\":\"x\",\"tags\":[],\"note\":null,\"id\":12345678901234567890123},\n"
    + " \"ports\":[80,120], \"none\":null}\n"

  @Test func settingsAreWrittenBackFromTheTreeUnderTheirOwnName() throws {
    try write(Self.settings, to: "conf.json")
    let app = try AppDriver(
      [], json: JSONValue(parsing: Self.settings), dataFile: folder.file("conf.json"))
    try app.set("/server/host", "y")
    app.press("g g")
    app.press(":")
    app.type("export json")
    app.press("Enter")
    #expect(app.form?.fields[2].input.editor.text == folder.file("conf.json"))
    app.press("C-s")
    #expect(
      app.screen.contains { $0.contains("all of the database is written as it is now") },
      "\(app.screen)")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y")
    #expect(try bytes("conf.json") == Self.settings.replacing("\"x\"", with: "\"y\""))
  }

  @Test func listThatGrewIsStillAList() throws {
    let json = "[\n{\"Name\":\"a\",\"steps\":[\"wedge\",\"throw\"]}\n]\n"
    let app = try opened(json, as: "list.json") { rows in
      [with("steps", ["wedge", "throw", "fire"], in: rows[0])]
    }
    #expect(
      try written(app, over: "list.json") == json.replacing("]}", with: ",\"fire\"]}"))
  }

  @Test func listThatIsNoneAnyMoreIsAnObject() throws {
    let app = try opened("[\n{\"steps\":[\"wedge\"]}\n]\n", as: "list.json") { rows in
      [with("steps", ["0": "wedge", "last": "fire"], in: rows[0])]
    }
    let text = try written(app, over: "list.json")
    #expect(text.contains(#"{"0":"wedge","last":"fire"}"#), "\(text)")
  }

  @Test(arguments: ["list.csv", "list.jsonl"])
  func rowsKeepTheOrderOfTheFileHoweverTheyAreShown(name: String) throws {
    let texts = [
      "list.csv": ["Name,Qty\n", "Ann,1\n", "Cy,9\n", "Bo,4\n"],
      "list.jsonl": [
        "", "{\"Name\":\"Ann\",\"Qty\":1}\n", "{\"Name\":\"Cy\",\"Qty\":9}\n",
        "{\"Name\":\"Bo\",\"Qty\":4}\n",
      ],
    ]
    let lines = try #require(texts[name])
    let app = try opened(
      lines.joined(), as: name, order: ", order: Qty, descending: true"
    ) { rows in
      // One is added, and one goes.
      [JSONMember("-Nnew", ["Name": "Zoe", "Qty": 5])] + [rows[0], rows[2]]
    }
    #expect(app.list.definition.source.isDescending, "the rows are shown in another order")
    try ask(app, over: name)
    #expect(app.screen.contains { $0.contains("rows keep the file's order, new ones last") })
    app.press("y")
    let new = name == "list.csv" ? "Zoe,5\n" : "{\"Name\":\"Zoe\",\"Qty\":5}\n"
    #expect(try bytes(name) == lines[0] + lines[1] + lines[3] + new)
  }

  @Test func rowsOfAFileWithKeysStandInTheirOrderAndThatIsSaid() throws {
    let app = try opened("$key,Name\nb,Bo\na,Ann\n", as: "list.csv")
    try ask(app, over: "list.csv")
    #expect(app.screen.contains { $0.contains("rows stand in the order of their keys") })
    app.press("y")
    #expect(try bytes("list.csv") == "$key,Name\na,Ann\nb,Bo\n")
  }

  @Test func newFileHasTheUsualForm() throws {
    let app = try opened(Self.table, as: "list.csv")
    app.press(":")
    app.type("export csv \(folder.file("new.csv"))")
    app.press("Enter")
    #expect(try bytes("new.csv").contains("'=SUM(A1)"))
  }
}

import Foundation
import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Names that no key may have, as tables have them: what was read with them is added to, imported and
/// written back with them.
@Suite struct OwnNamesTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  /// A table as programs write them: with a byte order mark, a column without a name, and two with one.
  private static let table =
    "\u{FEFF}Beleg-Nr.;Datum;von/an;;Mahnkosten [€];Betrag;Betrag\n"
    + "00999;24.12.2026;Tove;;1,5;3;4\n"

  private func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file(name)))
  }

  private func bytes(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: folder.file(name))), as: UTF8.self)
  }

  /// The records of a file, in the database beside it.
  private func opened(
    _ text: String = table, as name: String = "list.csv", column: String = "Datum"
  ) throws -> AppDriver {
    try write(text, to: name)
    let plan = try ImportPlan(text, as: ImportPlan.format(ofFile: name))
    let rows = plan.rows.enumerated().map { JSONMember($1.key ?? "\($0)", $1.value) }
    let views = try ViewFile(
      yaml: "views:\n  - { name: list, path: /list, columns: [{ field: \(column) }] }",
      name: "test.views.yaml"
    ).views
    return try AppDriver(views, json: ["list": .object(rows)], dataFile: folder.file(name))
  }

  private func askToExport(_ app: AppDriver, _ format: String, over name: String) {
    app.press(":")
    app.type("export \(format) \(folder.file(name))")
    app.press("Enter")
    app.wait(milliseconds: Question.graceMilliseconds)
  }

  @Test func tableIsWrittenBackToTheLastByte() throws {
    let app = try opened()
    askToExport(app, "csv", over: "list.csv")
    #expect(!app.screen.contains { $0.contains("quotes are set anew") }, "\(app.screen)")
    app.press("y")
    #expect(app.toast.hasPrefix("exported 1 record"), "\(app.toast)")
    #expect(try bytes("list.csv") == OwnNamesTests.table)
  }

  @Test(arguments: [
    ("list.jsonl", "jsonl", "{\"n\":{\"a.b\":1},\"rent/yr\":5}\r\n"),
    ("list.json", "json", "[\n{\"rent/yr\":5},\n{\"rent/yr\":6}\n]\n"),
    ("list.json", "json", "{\n\"a.b\":{\"rent/yr\":5},\n\"c\":{\"rent/yr\":6}\n}\n"),
  ])
  func jsonIsWrittenBackWithItsNames(name: String, format: String, text: String) throws {
    let app = try opened(text, as: name)
    askToExport(app, format, over: name)
    #expect(app.screen.contains { $0.contains("all rows are written as they are now") })
    app.press("y")
    #expect(try bytes(name) == text, "\(app.toast)")
  }

  @Test func newFileOfADataFileHasItsNamesToo() throws {
    let app = try opened()
    app.press(":")
    app.type("export csv \(folder.file("new.csv"))")
    app.press("Enter")
    let first = try bytes("new.csv").prefix { $0 != "\r\n" }
    #expect(first.hasPrefix("$key,Datum,"))
    #expect(first.contains("Beleg-Nr.") && first.contains("von/an") && !first.contains("%"))
  }

  @Test func linesThatCannotBeReadAreSaidToGo() throws {
    let app = try opened("Datum;b\n1;2\n3;4;5\n")
    askToExport(app, "csv", over: "list.csv")
    #expect(
      app.screen.contains { $0.contains("line 3 of it, which cannot be read, goes") },
      "\(app.screen)")
    app.press("n")
    #expect(try bytes("list.csv") == "Datum;b\n1;2\n3;4;5\n")
  }

  @Test func pastedRecordFillsTheFieldsOfItsNames() throws {
    let app = try opened()
    app.send(
      .paste(#"{"Beleg-Nr.":"01000","Datum":"25.12.2026","von/an":"Ida","neu.":"x"}"#))
    app.pump()
    let labels = app.form?.fields.map(\.label) ?? []
    #expect(labels.contains("neu."), "\(labels)")
    #expect(labels.count == Set(labels).count)
    app.press("C-s")
    let records = try app.stored("/list").object ?? []
    let added = try #require(records.first { $0.value["Datum"] == "25.12.2026" })
    #expect(added.value["Beleg-Nr%2E"] == "01000")
    #expect(added.value["von%2Fan"] == "Ida")
    #expect(added.value["neu%2E"] == "x")
  }

  @Test func fileWithTheSameHeadingsIsImported() throws {
    let app = try opened()
    try write("Beleg-Nr.;von/an\n7;Ida\n8;Bo;x\n9;Cy\n", to: "more.csv")
    app.press("y i")
    app.type(folder.file("more.csv"))
    app.press("C-s")
    app.wait(milliseconds: 200)
    #expect(app.screen.contains { $0.contains("Import 2 records") }, "\(app.screen)")
    #expect(app.screen.contains { $0.contains("left out: line 3") })
    #expect(app.screen.contains { $0.contains("2 names hold signs that no key may have") })
    app.press("y")
    #expect(app.toast.hasPrefix("imported 2 records; 1 refused"), "\(app.toast)")
    let names = try (app.stored("/list").object ?? []).compactMap { $0.value["von%2Fan"]?.string }
    #expect(names.sorted() == ["Cy", "Ida", "Tove"])
  }

  @Test(arguments: ["s", "z w"])
  func menusShowTheNames(keys: String) throws {
    let app = try opened()
    app.press(keys)
    #expect(app.screen.contains { $0.contains("von/an") }, "\(app.screen)")
    #expect(!app.screen.contains { $0.contains("%2F") })
  }

  @Test func emptyColumnOfANameWithASlashIsTold() throws {
    let app = try opened(column: "von/an")
    #expect(
      app.toast == "the column von/an is empty: the field is written von%2Fan in a views file")
    #expect(try opened(column: "von%2Fan").toast == "")
    #expect(try opened(column: "none/here").toast == "")
  }

  @Test(arguments: [
    "a", "a%2Eb", "a%2eb", "%", "100%", "%%2E", "%24key", "%24value", "%2Epriority", "x%2F%5B%5D",
    "%0A", "a%2",
  ])
  func keyIsMadeOfTheNameThatIsWrittenForIt(key: String) {
    #expect(WritableKey.key(of: WritableKey.fileName(of: key)).text == key)
  }
}

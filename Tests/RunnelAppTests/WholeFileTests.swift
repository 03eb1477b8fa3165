import Foundation
import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Exports over the file that was opened save all that it holds, wherever they begin.
@Suite struct WholeFileTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private static let text =
    "{\"name\": \"F\", \"a\": {\"x\":{\"plan\":1}, \"y\":{\"plan\":2}}, \"notiz\":\"w\"}\n"

  /// The file of a whole tree, opened on a list in it, and asked to be replaced.
  private func replacing(_ text: String = text) throws -> AppDriver {
    try folder.write(text, to: "f6.json")
    let views = try ViewFile(
      yaml: "views:\n  - { name: a, path: /a, columns: [{ field: plan }] }",
      name: "test.views.yaml"
    ).views
    let app = try AppDriver(
      views, json: JSONValue(parsing: Self.text), dataFile: folder.file("f6.json"))
    try app.set("/a/x/plan", 5)
    app.press(":")
    app.type("export json \(folder.file("f6.json"))")
    app.press("Enter")
    app.wait(milliseconds: Question.graceMilliseconds)
    return app
  }

  @Test func listOfATreeSavesTheWholeTree() throws {
    let app = try replacing()
    #expect(
      app.screen.contains { $0.contains("all of the database is written as it is now") },
      "\(app.screen)")
    #expect(app.screen.contains { $0.contains("o writes only the rows of /a: all else goes") })
    app.press("y")
    #expect(
      try folder.text("f6.json") == Self.text.replacing("\"plan\":1", with: "\"plan\":5"),
      "\(app.toast)")
  }

  @Test func keysBeforeTheQuestionWaitForIt() throws {
    try folder.write(Self.text, to: "f6.json")
    let views = try ViewFile(
      yaml: "views:\n  - { name: a, path: /a, columns: [{ field: plan }] }",
      name: "test.views.yaml"
    ).views
    let app = try AppDriver(
      views, json: JSONValue(parsing: Self.text), dataFile: folder.file("f6.json"))
    app.press(":")
    app.type("export json \(folder.file("f6.json"))")
    app.strike("Enter")
    #expect(app.toast.hasPrefix("looking at what "), "\(app.toast)")
    app.strike("y")
    #expect(app.state.input.typeAhead.events.count == 1)
    app.pump()
    #expect(app.state.input.typeAhead.isEmpty)
    #expect(app.screen.contains { $0.contains("all of the database is written as it is now") })
    #expect(app.toast.contains("struck too soon to be an answer"), "\(app.toast)")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y")
    #expect(app.toast.hasPrefix("exported"), "\(app.toast)")
  }

  @Test func onlyTheListIsWrittenByAChoiceOfItsOwn() throws {
    let app = try replacing()
    app.press("o")
    let json = try JSONValue(parsing: folder.text("f6.json"))
    #expect(json == ["x": ["plan": 5], "y": ["plan": 2]], "\(app.toast)")
  }

  @Test func noAnswerLeavesTheFileAndGivesTheFormBack() throws {
    let app = try replacing()
    app.press("n")
    #expect(app.form?.fields[2].input.editor.text == folder.file("f6.json"))
    #expect(try folder.text("f6.json") == Self.text)
  }

  @Test func databaseBesideTheFileTellsThatThisWasATree() throws {
    let session = try DatabaseSession(
      file: folder.file("f6.json.db"), environment: Workspace.environment(now: { Fixture.now }))
    _ = try session.write(.set(.root, JSONValue(parsing: Self.text)))
    try session.close()
    // So an export of a list left it: it looks like a list itself.
    let app = try replacing("{\"x\":{\"plan\":1},\"y\":{\"plan\":2}}\n")
    #expect(app.screen.contains { $0.contains("all of the database is written") })
    app.press("y")
    let json = try JSONValue(parsing: folder.text("f6.json"))
    #expect(json["notiz"] == "w" && json["a"]?["x"]?["plan"] == 5, "\(json)")
  }

  /// A file without a list, opened in the Tree; its tree is changed, and it is replaced.
  private func replaced(_ text: String, _ change: (AppDriver) throws -> Void) throws -> String {
    try folder.write(text, to: "t.json")
    let json = try JSONValue(parsing: text)
    let app = try AppDriver([], json: json, dataFile: folder.file("t.json"))
    try change(app)
    app.press(":")
    app.type("export json \(folder.file("t.json"))")
    app.press("Enter")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y")
    #expect(app.toast.hasPrefix("exported"), "\(app.toast)")
    return try folder.text("t.json")
  }

  @Test func fileOfNothingStaysAsItIs() throws {
    let text = #"{"n":null,"A":null}"#
    #expect(try replaced(text) { _ in } == text)
    #expect(try replaced(text) { try $0.set("/n", 5) } == #"{"n":5,"A":null}"#)
  }

  @Test func changedRowOfAListIsKnownAfterTheFirstExport() throws {
    let text = #"[{"a":1},{"t":true},{"z":{},"big":12345678901234567890.5,"s":"x"}]"#
    try folder.write(text, to: "c8.json")
    let views = try ViewFile(
      yaml: "views:\n  - { name: c8, path: /c8, columns: [{ field: s }] }", name: "test.views.yaml"
    ).views
    let app = try AppDriver(
      views, json: ["c8": JSONValue(parsing: text)], dataFile: folder.file("c8.json"))
    func export() {
      app.press(":")
      app.type("export json \(folder.file("c8.json"))")
      app.press("Enter")
      app.wait(milliseconds: Question.graceMilliseconds)
      app.press("y")
      #expect(app.toast.hasPrefix("exported"), "\(app.toast)")
    }
    try app.remove("/c8/0")
    export()
    #expect(try folder.text("c8.json") == text.replacing(#"{"a":1},"#, with: ""))
    try app.remove("/c8/1")
    try app.set("/c8/2/s", 5)
    try app.set("/c8/2/new", 5)
    try app.set("/c8/2/more", 5)
    export()
    #expect(
      try folder.text("c8.json")
        == #"[{"z":{},"big":12345678901234567890.5,"s":5,"more":5,"new":5}]"#)
  }

  /// The place of what a file holds, where the tree has these places.
  private func place(_ text: String, _ there: [String], name: String = "f.json") -> Path {
    let all = Set(
      there.flatMap { text in (try? Path(text)).map { [$0, $0.parent ?? .root] } ?? [] })
    var text = text
    return text.withUTF8 { bytes in
      OpenedFile.place(ofFile: name, bytes) { $0.isRoot ? !there.isEmpty : all.contains($0) }
    }
  }

  @Test func treeTellsWhetherTheFileIsAList() throws {
    let list = try Path("/f")
    #expect(place("[{\"a\":1}]", ["/f/0"]) == list)
    #expect(place("{\"x\":{\"a\":1},\"y\":{\"a\":2}}", ["/f/x", "/f/y"]) == list)
    #expect(place("{\"x\":{\"a\":1}}", ["/f/x"]) == list, "all but one record are gone")
    #expect(place("[{\"a\":1}]", []) == list, "all records are gone")
    #expect(place("{\"x\":{\"a\":1},\"y\":{\"a\":2}}", ["/a/x", "/note"]) == .root)
    #expect(place("{\"f\":{\"x\":1},\"g\":{\"x\":1}}", ["/f/x", "/g/x"]) == .root)
    #expect(place("{\"a\":{\"x\":1}}", ["/a/x", "/f/new"]) == .root, "a collection came later")
    #expect(place("", ["/f/0"], name: "f.csv") == list)
  }
}

import Foundation
import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Null, arrays and empty objects in records of services: they are shown, edited, added and imported as what
/// they are, whatever their form in the tree.
@Suite struct ServiceValueTests {
  private let app: AppDriver

  /// Null and an empty array in the tree.
  private static let null: JSONValue = ["~": "n"]
  private static let empty: JSONValue = ["~": "a"]

  init() throws {
    let place = try Path("/tools")
    let record: JSONValue = [
      "id": 7, "name": "saw", "place": ServiceValueTests.null, "tags": ServiceValueTests.empty,
      "sizes": ["~": "l", "0": 3, "1": 5],
    ]
    let sample = CollectionSample(
      path: place, keys: [try Key("7")],
      records: [ValueCoding.services.sampled(try Node(json: record))])
    let view = ViewInference.view(of: sample, named: "tools", pageSize: 20)
    app = try AppDriver([view], json: ["tools": ["7": record]])
    var facts = OriginFacts(.live)
    facts.hasServices = true
    app.take(.origin(facts))
  }

  private func goTo(_ field: String) throws {
    let id = try Path(field).description
    let index = try #require(app.record?.content.sections[0].rows.firstIndex(of: id))
    app.press("\(index + 1)".map(String.init).joined(separator: " ") + " gg")
  }

  @Test func aRecordHasOneLineForEachValue() throws {
    app.press("Enter")
    let rows = try #require(app.record?.content.sections[0].rows)
    #expect(Set(rows) == ["/id", "/name", "/place", "/tags", "/sizes"])
    func line(_ name: String) -> String { app.body.first { $0.contains(name) } ?? "" }
    #expect(line("place").contains("null"))
    #expect(line("tags").contains("[]") && line("tags").hasSuffix("list"))
    #expect(line("sizes").contains("[3,5]"))
    #expect(!app.body.contains { $0.contains("~") }, "\(app.body)")
  }

  @Test func aListHasNoColumnsOfTheFormInTheTree() {
    #expect(app.list.definition.columns.allSatisfy { !$0.field.text.contains("~") })
    #expect(app.body.contains { $0.contains("[3,5]") }, "\(app.body)")
    #expect(app.list.sortFields(.services).allSatisfy { !"\($0)".contains("~") })
  }

  @Test func aTextTakesThePlaceOfNull() throws {
    app.press("Enter")
    try goTo("place")
    app.press("e")
    app.type("cellar")
    #expect(app.screen.contains { $0.contains("cellar") })
    app.press("Enter")
    #expect(app.toast == "saved")
    #expect(try app.stored("/tools/7/place") == "cellar")
  }

  @Test func anArrayIsTypedAsJSON() throws {
    app.press("Enter")
    try goTo("tags")
    app.press("e C-u")
    app.type(#"["new",null]"#)
    app.press("Enter")
    #expect(try app.stored("/tools/7/tags") == ["0": "new", "1": ["~": "n"], "~": "l"])
    try goTo("sizes")
    app.press("e C-u")
    app.type("[]")
    app.press("Enter")
    #expect(try app.stored("/tools/7/sizes") == ServiceValueTests.empty)
    try goTo("sizes")
    app.press("e C-u")
    app.type("null")
    app.press("Enter")
    #expect(try app.stored("/tools/7/sizes") == ServiceValueTests.null)
  }

  @Test func theEditorHasTheRecordAsTheServerHasIt() throws {
    var seen = ""
    app.editor = { text in
      seen = text
      return (#"{"id":7,"name":null,"place":null,"tags":["new","old"],"sizes":[3]}"#, 0)
    }
    app.press("E")
    #expect(!seen.contains("~"))
    #expect(
      try JSONValue(parsing: seen).jsonText()
        == #"{"id":7,"name":"saw","place":null,"sizes":[3,5],"tags":[]}"#)
    let stored = try app.stored("/tools/7")
    #expect(stored["name"] == ServiceValueTests.null && stored["place"] == ServiceValueTests.null)
    #expect(stored["tags"] == ["0": "new", "1": "old", "~": "l"])
    #expect(stored["sizes"] == ["0": 3, "~": "l"])
  }

  @Test func aFieldWithTheNameOfAServerValueIsOneInTheEditor() throws {
    try app.elsewhere { _ = try $0.write(.set(try Path("/tools/7/%2Esv"), "timestamp")) }
    app.editor = { ($0.replacingOccurrences(of: "\"saw\"", with: "\"axe\""), 0) }
    app.press("E")
    #expect(app.toast == "saved")
    let stored = try app.stored("/tools/7")
    #expect(stored["name"] == "axe" && stored["%2Esv"] == "timestamp")
    #expect(stored["tags"] == ServiceValueTests.empty)
  }

  @Test func aCopyHasNoID() throws {
    app.press("D")
    let records = try #require(try app.stored("/tools").object)
    #expect(records.count == 2)
    let copy = try #require(records.first { $0.name != "7" }?.value)
    #expect(copy["id"] == nil && copy["name"] == "saw")
    #expect(copy["place"] == ServiceValueTests.null)
  }

  @Test func importsKeepNullAndArrays() throws {
    app.send(
      .paste(
        """
        {"$key":"8","name":"axe","place":null,"tags":["new"]}
        {"$key":"9","name":"hoe","place":"shed","tags":[]}
        """))
    #expect(app.screen.contains { $0.contains("Import 2 records") }, "\(app.screen)")
    #expect(!app.screen.contains { $0.contains("empty") }, "\(app.screen)")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(app.toast.hasPrefix("imported 2 records"), "\(app.toast)")
    #expect(
      try app.stored("/tools/8") == [
        "name": "axe", "place": ServiceValueTests.null, "tags": ["0": "new", "~": "l"],
      ])
    #expect(try app.stored("/tools/9/tags") == ServiceValueTests.empty)
  }

  @Test func exportsHaveValuesAsTheServerHasThem() throws {
    var shape = WrittenShape()
    shape.coding = .services
    let node = try Node(
      json: ["place": ServiceValueTests.null, "sizes": ["~": "l", "0": 3], "tags": ["~": "a"]])
    var lines = ExportWriter(.jsonl, columns: [], shape: shape)
    #expect(
      String(decoding: lines.bytes(of: try Key("7"), node), as: UTF8.self)
        == #"{"$key":"7","place":null,"sizes":[3],"tags":[]}"# + "\n")
    let columns = ["place", "sizes", "tags"].map {
      FieldPath.path(Path(unchecked: [Key(unchecked: $0)]))
    }
    var cells = ExportWriter(.csv, columns: columns, shape: shape)
    #expect(
      String(decoding: cells.bytes(of: try Key("7"), node), as: UTF8.self) == ",[3],[]\r\n")
  }

  @Test(arguments: [OriginFacts.Link.waiting, .connecting])
  func whatIsTypedWithoutAConnectionIsKeptAndNotSaved(link: OriginFacts.Link) throws {
    var facts = OriginFacts(link)
    facts.hasServices = true
    app.take(.origin(facts))
    app.press("Enter")
    try goTo("name")
    app.press("e C-u")
    app.type("drill")
    app.press("Enter")
    #expect(app.toast == "kept, and sent when the server is there")
  }

  @Test func valuesAreStoredAndShownAsTheyAre() throws {
    let values: [JSONValue] = [
      .null, [], .object([]), [1, [.null, []]], ["a": .null, "b": ["c": []]], ["a.b": [1]], "~", 3,
    ]
    for value in values {
      let stored = ValueCoding.services.stored(value)
      let node = try Node(json: stored)
      #expect(ValueCoding.services.shown(node) == value, "\(value)")
      #expect(ValueCoding.tree.stored(value) == value)
    }
    #expect(ValueCoding.tree.codedValue(try Node(json: ServiceValueTests.null)) == nil)
  }
}

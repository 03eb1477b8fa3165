import Foundation
import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct ExportWriterTests {
  private static let columns: [FieldPath] = [
    .key, .path(Path(unchecked: [Key(unchecked: "text")])),
  ]

  private func written(
    _ format: ExportFormat, _ records: [(String, JSONValue)],
    columns: [FieldPath] = ExportWriterTests.columns
  ) throws -> String {
    var writer = ExportWriter(format, columns: columns)
    var bytes = writer.begin()
    for (key, json) in records {
      bytes += writer.bytes(of: try Key(key), try RunnelTree.Node(json: json))
    }
    return String(decoding: bytes + writer.end(), as: UTF8.self)
  }

  @Test func jsonIsOneObjectByKey() throws {
    let text = try written(.json, [("a", ["text": "x"]), ("b", 5)])
    #expect(text == "{\n\"a\":{\"text\":\"x\"},\n\"b\":5\n}\n")
    #expect(try JSONValue(parsing: text) == ["a": ["text": "x"], "b": 5])
    #expect(try written(.json, []) == "{}\n")
  }

  @Test func jsonLinesHaveTheKeyFirst() throws {
    #expect(
      try written(.jsonl, [("a", ["text": "x\ny"]), ("b", 5)])
        == "{\"$key\":\"a\",\"text\":\"x\\ny\"}\n{\"$key\":\"b\",\"$value\":5}\n")
  }

  @Test(arguments: [
    ("plain", "plain"), ("a,b", "\"a,b\""), ("say \"hi\"", "\"say \"\"hi\"\"\""),
    ("two\nlines", "\"two\nlines\""), ("\r", "\"\r\""), (" blank", "\" blank\""), ("漢字", "漢字"),
    ("", ""),
  ])
  func cellsOfCSVAreQuotedWhereTheyMustBe(text: String, cell: String) {
    #expect(ExportWriter.csvCell(text) == cell)
  }

  @Test func csvHasAHeaderAndNestedValuesAsJSON() throws {
    let text = try written(
      .csv, [("a", ["text": ["b": ["c": 1]]]), ("c", ["other": 1]), ("d", ["text": true])])
    #expect(text == "$key,text\r\na,\"{\"\"b\"\":{\"\"c\"\":1}}\"\r\nc,\r\nd,true\r\n")
  }

  @Test(arguments: [
    ("a|b", "a\\|b"), ("two\r\nlines\n", "two<br>lines<br>"), ("*b* <i>", "\\*b\\* \\<i\\>"),
    ("back\\slash", "back\\\\slash"), ("漢字", "漢字"),
  ])
  func cellsOfMarkdownReadAsTheyStand(text: String, cell: String) {
    #expect(ExportWriter.markdownCell(text) == cell)
  }

  @Test func markdownIsATable() throws {
    #expect(
      try written(.markdown, [("a", ["text": "x|y"])])
        == "| $key | text |\n| --- | --- |\n| a | x\\|y |\n")
  }

  @Test func fieldsWithoutAColumnAreCounted() throws {
    var writer = ExportWriter(.csv, columns: ExportWriterTests.columns)
    let records: [JSONValue] = [["text": "x"], ["text": "x", "more": 1], 5]
    for record in records {
      _ = writer.bytes(of: try Key("a"), try RunnelTree.Node(json: record))
    }
    #expect(writer.count == 3)
    #expect(writer.cutCount == 2)
  }

  @Test func columnsAreThoseOfTheRecords() throws {
    let nodes = try [JSONValue.object([JSONMember("b", 1)]), ["a": 1, "b": 2]]
      .map { try RunnelTree.Node(json: $0) }
    #expect(ExportWriter.columns(of: nodes).map(\.name) == ["$key", "b", "a"])
    #expect(
      ExportWriter.columns(of: [try RunnelTree.Node(json: 5)]).map(\.name) == ["$key", "$value"])
  }

  @Test(arguments: [("x.csv", ExportFormat.csv), ("y.MD", .markdown), ("z.ndjson", .jsonl)])
  func nameTellsTheFormat(name: String, format: ExportFormat) {
    #expect(ExportFormat(fileName: name) == format)
    #expect(ExportFormat(fileName: "none.txt") == nil)
  }
}

@Suite struct ViewReaderTests {
  /// Runs a test on a database with so many messages.
  private func withSession(_ count: Int, _ body: (DatabaseSession) throws -> Void) throws {
    let file = NSTemporaryDirectory() + "runnel-reader-\(UUID().uuidString).db"
    defer { AppDriver.removeDatabase(file) }
    let session = try DatabaseSession(
      file: file, environment: Workspace.environment(now: { Fixture.now }))
    _ = try session.write(.set(.root, Fixture.history(count)))
    try body(session)
    try session.close()
  }

  private func keys(_ definition: ViewDefinition, _ session: DatabaseSession) throws -> [String] {
    var reader = ViewReader(definition)
    var keys: [String] = []
    while let query = try reader.nextQuery() {
      keys += reader.take(try session.rows(query)).map(\.row.key.text)
    }
    return keys
  }

  @Test(arguments: [0, 1, 499, 500, 501, 1000, 1201])
  func everyRowComesOnceInOrder(count: Int) throws {
    var view = try Fixture.views()[0]
    view.also = []
    try withSession(count) { session in
      let read = try keys(view, session)
      #expect(read == (0..<count).map { Fixture.historyKey($0 + 1) })
    }
  }

  @Test func descendingViewsAreReadBackwards() throws {
    var view = try Fixture.views()[0]
    view.also = []
    view.source.isDescending = true
    try withSession(1201) { session in
      let read = try keys(view, session)
      #expect(read == (0..<1201).reversed().map { Fixture.historyKey($0 + 1) })
    }
  }

  @Test(arguments: [false, true])
  func orderWithoutAnIndexIsReadInFewScans(isDescending: Bool) throws {
    var view = try Fixture.views()[0]
    view.also = []
    view.source.order = .child(try Path("/from"))
    view.source.isDescending = isDescending
    try withSession(3300) { session in
      var reader = ViewReader(view)
      var (keys, scans): (Set<String>, Int) = ([], 0)
      while let query = try reader.nextQuery() {
        let rows = reader.take(try session.rows(query))
        #expect(keys.isDisjoint(with: rows.map(\.row.key.text)))
        keys.formUnion(rows.map(\.row.key.text))
        scans += 1
      }
      #expect(keys.count == 3300)
      #expect(scans == 3, "pages of 500, 2000 and 8000 rows")
    }
  }

  @Test func largeRowsAreReadInSmallPages() throws {
    var view = try Fixture.views()[0]
    view.also = []
    view.source.order = .child(try Path("/from"))
    let text = String(repeating: "x", count: 40_000)
    var reader = ViewReader(view)
    #expect(try reader.nextQuery()?.limit?.count == 500)
    let node = try RunnelTree.Node(json: ["from": "bo", "text": .string(text)])
    let order = view.source.order
    let rows = (0..<500).map { number in
      let child = Child(key: Key(unchecked: "k\(number)"), node: node)
      return TreeRow(child, index: order, detail: .full)
    }
    #expect(reader.take(rows).count == 500)
    #expect(try reader.nextQuery()?.limit?.count == 501, "with the last row once more")
  }

  @Test func rowsOfOtherSourcesComeFirstAndOnce() throws {
    let view = try Fixture.views()[0]
    try withSession(600) { session in
      let keys = try keys(view, session)
      #expect(keys.count == 600)
      #expect(Set(keys).count == 600)
      // Every 40th is pinned.
      #expect(keys.first == Fixture.historyKey(8))
      #expect(keys[14] == Fixture.historyKey(568))
      #expect(keys[15] == Fixture.historyKey(1))
    }
  }

  @Test func rowsThatGoWhileOneReadsAreLeftOut() throws {
    var view = try Fixture.views()[0]
    view.also = []
    var count = 0
    try withSession(1100) { session in
      var reader = ViewReader(view)
      while let query = try reader.nextQuery() {
        count += reader.take(try session.rows(query)).count
        // The last one that was read, and one that is still to come.
        guard count == 500 else { continue }
        for number in 500...501 {
          _ = try session.write(.remove(Path("/room/" + Fixture.historyKey(number))))
        }
      }
    }
    #expect(count == 1099)
  }
}

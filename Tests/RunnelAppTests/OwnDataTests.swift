import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Data of one's own: tables as programs write them, saved back as they were.
@Suite struct OwnDataTests {
  // MARK: Tables

  @Test(arguments: [",", ";", "\t"])
  func cellsAreSeparatedByWhatTheFirstLineHas(separator: String) throws {
    let lines = [["name", "price"], ["\"a\(separator)b\"", "5"], ["c", "7"]]
    let text = lines.map { $0.joined(separator: separator) + "\n" }.joined()
    let plan = try ImportPlan(text, as: .csv)
    #expect(
      plan.rows.map(\.value) == [
        ["name": .string("a\(separator)b"), "price": 5], ["name": "c", "price": 7],
      ])
  }

  @Test func commaInATextOfATableWithSemicolonsIsNoSeparator() throws {
    let plan = try ImportPlan("name;price\nBolt, long;9,50\n", as: .csv)
    #expect(plan.rows.map(\.value) == [["name": "Bolt, long", "price": "9,50"]])
  }

  private func written(
    _ format: ExportFormat, over old: String, _ records: [JSONValue]
  ) throws -> String {
    let nodes = try records.map { try Node(json: $0) }
    var writer = ExportWriter(
      format, columns: ExportWriter.columns(of: nodes),
      shape: WrittenShape(ofBeginning: old, as: format))
    var bytes = writer.begin()
    for (index, node) in nodes.enumerated() {
      bytes += writer.bytes(of: Key(unchecked: "\(index)"), node)
    }
    return String(decoding: bytes + writer.end(), as: UTF8.self)
  }

  @Test func tableIsSavedBackWithItsColumnsInTheirOrder() throws {
    let old = "nr;subject;a.b\n7;x;y\n"
    let plan = try ImportPlan(old, as: .csv)
    let records = plan.rows.map { row -> JSONValue in
      guard case .object(let members) = row.value else { return row.value }
      return .object(members.map { JSONMember(WritableKey.key(of: $0.name).text, $0.value) })
    }
    #expect(try written(.csv, over: old, records) == old)
    // A new field gets a column after them, and one that is empty keeps its own.
    #expect(
      try written(.csv, over: old, [["nr": 8, "zz": "n;w"]])
        == "nr;subject;a.b;zz\n8;;;\"n;w\"\n")
  }

  @Test func unrelatedTableDoesNotGiveItsColumns() throws {
    #expect(try written(.csv, over: "x,y\r\n1,2\r\n", [["a": 1]]) == "$key,a\r\n0,1\r\n")
  }

  @Test func linesAndListsAreSavedBackWithoutKeysTheyNeverHad() throws {
    #expect(try written(.jsonl, over: "{\"a\":0}\n", [["a": 1]]) == "{\"a\":1}\n")
    #expect(try written(.json, over: "[\n{\"a\":0}]", [["a": 1], 5]) == "[\n{\"a\":1},\n5\n]\n")
    #expect(try written(.json, over: "{}", [["a": 1]]) == "{\n\"0\":{\"a\":1}\n}\n")
  }

  // MARK: Times

  @Test func secondsAreTimesWhereTheNameSaysSo() throws {
    let records: [JSONValue] = (0..<6).map {
      [
        "created": .int(1_700_000_000 + $0 * 90_000), "phone": .int(1_700_000_000 + $0),
        "n": .int($0),
      ]
    }
    let sample = CollectionSample(
      path: try Path("calls"), keys: try (0..<6).map { try Key("k\($0)") },
      records: try records.map { try Node(json: $0) })
    let view = ViewInference.view(of: sample, named: "calls", pageSize: 50)
    let formats = Dictionary(
      uniqueKeysWithValues: view.columns.map { ($0.field.name, $0.format) })
    #expect(formats["created"] == .date)
    #expect(formats["phone"] == .number && formats["n"] == .number)
    let app = try AppDriver(
      [view], json: ["calls": .object(records.enumerated().map { JSONMember("k\($0)", $1) })])
    #expect(app.body.contains { $0.contains("2023-11-14") }, "\(app.body)")
    app.press("f")
    app.type("created>2023-11-18")
    app.press("Enter")
    #expect(app.list.content.storedRowCount == 2)
  }

  // MARK: Ends of lists

  @Test(arguments: [24, 10])
  func lastRowIsARecord(rows: Int) throws {
    let app = try tickets(rows: rows)
    app.press("G")
    #expect(app.cursorLine.contains("ticket-29."), "\(app.body)")
  }

  @Test func endOfAnOrderByTwoFieldsIsReached() throws {
    let app = try tickets(order: "half,title", page: 5)
    app.press("G")
    #expect(app.cursorLine.contains("ticket-9."), "\(app.body)")
    #expect(app.list.reach.loadedCount < 30)
    app.press("gg j")
    #expect(app.cursorLine.contains("ticket-0."), "\(app.body)")
  }

  private func tickets(order: String = "$key", page: Int = 50, rows: Int = 24) throws -> AppDriver {
    let views = try ViewFile(
      yaml: """
        views:
          - name: Tickets
            path: /tickets
            order: \(order)
            page: \(page)
            columns: [{ field: title }]
        """, name: "v.yaml"
    ).views
    let tickets = (0..<30).map { number in
      JSONMember(
        String(number),
        ["title": .string("ticket-\(number)."), "half": .int(number % 2 == 0 ? 1 : 2)])
    }
    return try AppDriver(views, json: ["tickets": .object(tickets)], rows: rows)
  }

  // MARK: Mistakes

  @Test func viewsWithoutAMistakeAreShown() throws {
    let yaml = """
      views:
        - { name: Good, path: /a, columns: [{ field: name }] }
        - { nme: Bad, path: /a, columns: [{ field: name }] }
      """
    let read = try ViewFile.reading(yaml, name: "v.yaml", pageSize: 50)
    #expect(read.file.views.map(\.name) == ["Good"])
    #expect(read.problem?.description.hasPrefix("v.yaml:3:") == true)
    #expect(throws: ConfigurationError.self) { try ViewFile(yaml: yaml, name: "v.yaml") }
  }

  // MARK: Two workspaces

  @Test func workspacesKeepEachOthersBookmarksAndDrafts() throws {
    func draft(_ text: String) throws -> Draft {
      Draft(
        Draft.Subject(.message, try Path("m")), [Draft.Text("text", text, .string, base: "")])
    }
    var base = SessionState()
    (base.bookmarks, base.drafts) = (["a": "1", "b": "1", "c": "1"], [try draft("sent")])
    var own = base
    (own.bookmarks, own.drafts) = (["a": "2", "b": "1"], [try draft("mine")])
    var theirs = base
    theirs.bookmarks = ["a": "1", "b": "3", "c": "1", "d": "4"]
    theirs.drafts = [try draft("sent"), try draft("theirs")]
    theirs.views["v"] = SessionState.View(cursor: "row")
    (own.writer, theirs.writer) = (1, 2)
    let merged = own.merged(with: theirs, since: base)
    #expect(merged.bookmarks == ["a": "2", "b": "3", "d": "4"])
    #expect(merged.drafts == [try draft("mine")])
    #expect(merged.others.map(\.writer) == [2])
    #expect(merged.others.map(\.drafts) == [[try draft("sent"), try draft("theirs")]])
    #expect(merged.views["v"]?.cursor == "row")
  }
}

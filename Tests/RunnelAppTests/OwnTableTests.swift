import Foundation
import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// A table that was opened, and what an export over it leaves as it was: rows, cells, columns and keys.
@Suite struct OwnTableTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  /// The records of a table, after a change, in a database.
  private func opened(
    _ text: String, column: String = "a", change: ([JSONMember]) -> [JSONMember] = { $0 }
  ) throws -> AppDriver {
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file("list.csv")))
    let plan = try ImportPlan(text, as: .csv)
    let rows = plan.rows.enumerated().map { JSONMember($1.key ?? "\($0)", $1.value) }
    let views = try ViewFile(
      yaml: "views:\n  - { name: list, path: /list, columns: [{ field: \(column) }] }",
      name: "test.views.yaml"
    ).views
    return try AppDriver(
      views, json: ["list": .object(change(rows))], dataFile: folder.file("list.csv"))
  }

  private func written(_ app: AppDriver) throws -> String {
    app.press(":")
    app.type("export csv \(folder.file("list.csv"))")
    app.press("Enter")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y")
    #expect(app.toast.hasPrefix("exported"), "\(app.toast)")
    return String(
      decoding: try Data(contentsOf: URL(fileURLWithPath: folder.file("list.csv"))), as: UTF8.self)
  }

  @Test(arguments: [
    "a,b\n[],1\n,2\n{},3\n\"[]\",4\n", "a,b\n9.5,1\n9.50,2\n", "a,b\n1e2,1\n100,2\n",
    "a,\"b\"\n\"x\",1\ny,\"2\"\n", "a,b\r1,2\r3,4\r", "a,b\r\n1\r\n3,4\r\n",
    "$key,b\n\"k/1\",2\nz,3\n", "a,b\n\"x\ny\",\"say \"\"hi\"\"\"\nz,\n",
    "a,b\r\n1,2\n3,4\r5,6", "\na,b\n\n1,2\r\n\r\n\n3,4\n\n", "a,b\n1,2\n,\n3,4\n,\n",
  ]) func tableThatNobodyChangedStaysToTheLastByte(text: String) throws {
    #expect(try written(opened(text)) == text)
  }

  @Test func cellsOfAChangedRowStayWhereTheyWereNotChanged() throws {
    let app = try opened("a,b,c\n9.50,\"x\",[]\n9.5,y,\n") { rows in
      [JSONMember(rows[0].name, ["a": 9.5, "b": "new"]), rows[1]]
    }
    #expect(try written(app) == "a,b,c\n9.50,new,[]\n9.5,y,\n")
  }

  @Test func lineEndsAndEmptyLinesStayBesideARowThatChanges() throws {
    let app = try opened("a,b\r\n1,2\n\n3,4\r\n\r\n5,6") { rows in
      [rows[0], JSONMember(rows[1].name, ["a": 3, "b": 9]), rows[2]]
        + [JSONMember("3", ["a": 7, "b": 8])]
    }
    #expect(try written(app) == "a,b\r\n1,2\n\n3,9\r\n\r\n5,6\r\n7,8\r\n")
    let gone = try opened("a,b\n1,2\n\n3,4\r\n5,6") { [$0[0], $0[2]] }
    #expect(try written(gone) == "a,b\n1,2\n5,6")
  }

  @Test func rowsBehindOneThatIsGoneKeepTheirCells() throws {
    let app = try opened("a,b\nx,9.50\ny,9.5\nz,\"9.50\"\n") { Array($0.dropFirst()) }
    #expect(try written(app) == "a,b\ny,9.5\nz,\"9.50\"\n")
    #expect(try written(app) == "a,b\ny,9.5\nz,\"9.50\"\n", "the rows have other places now")
  }

  @Test func cellWithJSONAddsNoColumn() throws {
    let text = "id,props\n1,\"{\"\"a\"\":1}\"\n2,\n"
    #expect(try written(opened(text, column: "props/a")) == text)
    let both = "props,props/a\n\"{\"\"a\"\":1}\",\n"
    #expect(try written(opened(both, column: "props/a")) == both)
  }

  @Test func newFieldGetsAColumnBehindTheOthers() throws {
    let app = try opened("a,b\n1,\"2\"\n3\n") { rows in
      [JSONMember(rows[0].name, ["a": 1, "b": 2, "c": 5]), rows[1]]
    }
    #expect(try written(app) == "a,b,c\n1,\"2\",5\n3,,\n")
  }

  @Test func keyIsWrittenWithTheNameThatItHasInTheFile() throws {
    let app = try opened("$key,a\nk/1,2\n") { [JSONMember($0[0].name, ["a": 3])] }
    #expect(try written(app) == "$key,a\nk/1,3\n")
  }

  // MARK: Keys that stand twice

  @Test(arguments: [
    ("$key,b\nk1,2\nk2,5\nk1,3\n", ImportPlan.Format.csv, "line 2 and line 4", "k1"),
    ("$key,b\nk/1,2\nk%2F1,5\n", .csv, "line 2 and line 3", "k%2F1"),
    ("{\"$key\":\"k\",\"b\":1}\n{\"$key\":\"k\",\"b\":2}\n", .jsonl, "line 1 and line 2", "k"),
  ])
  func recordsWithOneKeyAreRefusedWithBothLines(
    text: String, format: ImportPlan.Format, lines: String, key: String
  ) throws {
    let error = #expect(throws: ImportPlan.Unreadable.self) { try ImportPlan(text, as: format) }
    let message = error?.message ?? ""
    #expect(message.hasPrefix("\(lines) have the same key, \(key),"), "\(message)")
  }

  @Test func numberOfARecordWithoutAKeyMayBeTheKeyOfAnother() throws {
    let plan = try ImportPlan("$key,b\n1,x\n,y\n", as: .csv)
    #expect(plan.repeatedKey() == nil)
    #expect(plan.repeatedKey(isNumbered: true)?.hasPrefix("line 2 and line 3 have") == true)
  }

  // MARK: Byte order marks

  @Test(arguments: [("{\"a\":1}\n", ImportPlan.Format.jsonl), ("[{\"a\":1}]", .json)])
  func byteOrderMarkIsNoPartOfTheRecords(text: String, format: ImportPlan.Format) throws {
    let plan = try ImportPlan("\u{FEFF}" + text, as: format)
    #expect(plan.rows.map(\.value) == [["a": 1]])
    #expect(plan.refused.isEmpty)
  }
}

import Foundation
import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Columns for fields within others, in files of separated values.
@Suite struct NestedColumnsTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func app(_ json: JSONValue, columns: String = "name, m/u") throws -> AppDriver {
    let fields = columns.split(separator: ",").map { "{ field: \($0) }" }.joined(separator: ", ")
    let views = try ViewFile(
      yaml: "views:\n  - { name: f, path: /f, columns: [\(fields)] }", name: "test.views.yaml"
    ).views
    return try AppDriver(views, json: ["f": json])
  }

  private func exported(_ app: AppDriver) throws -> String {
    app.press(":")
    app.type("export csv \(folder.file("r.csv"))")
    app.press("Enter")
    #expect(app.toast.hasPrefix("exported") && !app.toast.contains("no column"), "\(app.toast)")
    return try folder.text("r.csv")
  }

  private func importFile(_ app: AppDriver) {
    app.press("y i")
    app.type(folder.file("r.csv"))
    app.press("C-s")
    app.wait(milliseconds: Question.graceMilliseconds)
  }

  private static let json: JSONValue = [
    "a": ["m": ["u": 1, "v": ["w": "x"]], "name": "A"],
    "b": ["m": ["u": 3], "name": "B"], "c": ["name": "C"],
  ]

  @Test func eachValueIsWrittenOnceAndReadBack() throws {
    let app = try app(Self.json)
    let text = try exported(app)
    #expect(text == "$key,name,m/u,m/v/w\r\na,A,1,x\r\nb,B,3,\r\nc,C,,\r\n")
    try folder.write(
      text.replacingOccurrences(of: "b,B,3", with: "d,D,4"), to: "r.csv")
    let other = try self.app(["b": ["m": ["u": 3, "v": ["w": "y"]], "name": "B"]])
    importFile(other)
    #expect(
      other.screen.contains { $0.contains("2 columns are set within their fields") },
      "\(other.screen)")
    other.press("y")
    #expect(try other.stored("/f/a") == Self.json["a"])
    #expect(try other.stored("/f/d") == ["m": ["u": 4], "name": "D"])
  }

  @Test func headerWithAnEscapedSlashOrOfNoKnownFieldStaysAKey() throws {
    try folder.write("$key,m%2Fu,x/y\nd,5,6\n", to: "r.csv")
    let app = try app(Self.json)
    importFile(app)
    app.press("y")
    #expect(try app.stored("/f/d") == ["m%2Fu": 5, "x%2Fy": 6])
  }

  @Test func nameWithASlashThatRecordsHaveIsTheirs() throws {
    try folder.write("$key,m/u\nd,5\n", to: "r.csv")
    let app = try app(["a": ["m": ["u": 1], "m%2Fu": 2]])
    importFile(app)
    app.press("y")
    #expect(try app.stored("/f/d") == ["m%2Fu": 5])
  }

  @Test func columnAboveWithAnotherValueIsRefused() throws {
    let plan = try ImportPlan(
      "m,m/u,n\n5,1,2\n\"{\"\"v\"\":1}\",2,3\n", as: .csv, nested: [Path("m/u")])
    #expect(plan.refused.map(\.place) == ["line 2"])
    #expect(plan.rows.map(\.value) == [["m": ["v": 1, "u": 2], "n": 3]])
  }

  @Test(
    arguments: [
      // A view that shows the object, too, has no value in two columns.
      ("name, m, m/u", ["a": ["m": ["u": 1, "v": 2]]], "$key,name,m/u,m/v\r\na,,1,2\r\n"),
      // A value in the place of the object leaves one column for both.
      ("m/u", ["a": ["m": ["u": 1]], "b": ["m": 5]], "$key,m\r\na,\"{\"\"u\"\":1}\"\r\nb,5\r\n"),
      ("name, m/u", ["a": ["m%2Fu": 1, "m": ["u": 2]]], "$key,name,m/u,m%2Fu\r\na,,2,1\r\n"),
    ] as [(String, JSONValue, String)])
  func noValueStandsInTwoColumns(columns: String, json: JSONValue, text: String) throws {
    #expect(try exported(try app(json, columns: columns)) == text)
  }

  @Test func fieldOfManyValuesIsOneColumn() throws {
    let many = (0..<200).map { JSONMember("k\($0)", 1) }
    let text = try exported(try app(["a": ["m": .object([JSONMember("u", 1)] + many)]]))
    #expect(text.hasPrefix("$key,name,m\r\na,,\"{"), "\(text.prefix(40))")
  }
}

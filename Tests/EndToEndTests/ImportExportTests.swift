import Glibc
import RunnelBase
import Testing

@Suite struct ImportExportTests {
  @Test func theStateOfAnEarlierTimeIsExported() throws {
    let database = try TestDatabase("{\"a\":1}")
    // What the import replaces is kept in a file beside the database, which stays.
    let large = "{\"l\":\"" + String(repeating: "x", count: 100_000) + "\"}"
    let document = try database.folder.write(large, to: "large.json")
    #expect(try database.run(["import", document, "/b"]).status == 0)
    #expect(try database.run(["import", document, "/b", "--replace"]).status == 0)
    let history = try database.run(["history", "--limit", "1"]).output
    let time = try #require(JSONValue(parsing: history)["at"]?.int)
    #expect(try database.run(["set", "/a", "2", "--force"]).status == 0)
    #expect(try database.run(["import", document, "/b", "--replace"]).status == 0)
    let earlier = try database.run(["export", "/a", "--at", "\(time)"])
    #expect(earlier.output == "1\n", "\(earlier.errors)")
    #expect(try database.get("/a") == "2")
    let early = try database.run(["export", "--at", "1999-12-31T23:59:59Z"])
    #expect(early.status == 1)
    #expect(early.errors.contains("its history begins at"))
    #expect(try database.run(["export", "--at", "noon"]).status == 2)
  }

  /// A document of many records, too large for one row of the database.
  private static func messages(_ count: Int) -> String {
    let messages = (0..<count).map { #""m\#($0)":{"from":"ana","n":\#($0)}"# }
    return "{" + messages.joined(separator: ",") + "}"
  }

  @Test func importReplacesTheValueAtAPlace() throws {
    let database = try TestDatabase(#"{"a": {"old": 1}, "b": 2}"#)
    let file = try database.folder.write(#"{"new": [true]}"#, to: "new.json")
    let outcome = try database.run(["import", file, "/a", "--replace"])
    #expect(outcome.status == 0)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors == "runnel: Imported 15 bytes at /a of \(database.file).\n")
    #expect(try database.get() == #"{"a":{"new":{"0":true}},"b":2}"#)
  }

  @Test func refusedNamesPointToTheWayThatTakesThem() throws {
    let database = try TestDatabase(#"{"a": 1}"#)
    let file = try database.folder.write(#"{"x":{"rent/yr":1}}"#, to: "society.json")
    let outcome = try database.run(["import", file, "/b"])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("`runnel \(file)` opens it as a database"), "\(outcome.errors)")
    let pushed = try database.run(["push", "/b", "--lines"], input: "{\"rent/yr\":1}\n")
    #expect(pushed.status == 1)
    #expect(pushed.errors.contains("`runnel FILE` opens a file with such names"))
    #expect(try database.get() == #"{"a":1}"#)
  }

  @Test func importReadsStandardInput() throws {
    let database = try TestDatabase()
    #expect(try database.run(["import", "-"], input: #"{"a": 1}"#).status == 0)
    #expect(try database.get() == #"{"a":1}"#)
  }

  @Test(arguments: ["", "--pretty"])
  func exportIsImportedAgainAsItWas(layout: String) throws {
    let json = #"{"a":{".value":1,".priority":"p"},"b":{"c":1.5,".priority":2},"d":"é"}"#
    let database = try TestDatabase(json)
    #expect(try database.run(["set", "/many", "-"], input: Self.messages(500)).status == 0)
    let export = try database.run(["export"] + (layout.isEmpty ? [] : [layout]))
    #expect(export.status == 0)
    let copy = try TestDatabase()
    #expect(try copy.run(["import", "-"], input: export.output).status == 0)
    #expect(try copy.run(["export"]).output == database.run(["export"]).output)
    #expect(try copy.run(["export", "/b"]).output == "{\"c\":1.5,\".priority\":2}\n")
  }

  @Test func exportOfNothingIsNull() throws {
    #expect(try TestDatabase(#"{"a": 1}"#).run(["export", "/b"]).output == "null\n")
  }

  @Test func brokenDocumentChangesNothing() throws {
    let database = try TestDatabase(#"{"kept": true}"#)
    let broken = Self.messages(2_000).dropLast() + ",}"
    let file = try database.folder.write(String(broken), to: "broken.json")
    let outcome = try database.run(["import", file, "--replace"])
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("runnel: \(file): "))
    #expect(outcome.errors.contains("line 1, column"))
    #expect(try database.get() == #"{"kept":true}"#)
  }

  @Test func unreadableFileIsExplained() throws {
    let database = try TestDatabase()
    let absent = try database.run(["import", database.folder.file("no.json")])
    #expect(absent.status == 1)
    #expect(absent.errors.contains("no such file"))
    let folder = try database.run(["import", database.folder.path])
    #expect(folder.status == 1)
    #expect(folder.errors.contains("folder"))
    let empty = try database.run(["import", database.folder.write("", to: "empty.json")])
    #expect(empty.status == 1)
    #expect(empty.errors.contains("ends here"))
  }

  @Test func interruptedImportChangesNothing() throws {
    let database = try TestDatabase(#"{"kept": true}"#)
    let program = try database.start(["import", "-", "--replace"])
    // That all of it was taken tells that the program is past its start.
    try program.write(Self.messages(40_000))
    program.closeInput()
    try program.send(SIGINT)
    #expect(try program.wait() == 130)
    #expect(try program.errors() == "runnel: The import was stopped. Nothing was changed.\n")
    #expect(try database.get() == #"{"kept":true}"#)
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func importThatWaitsForInputIsInterrupted(signal: Int32, status: Int32) throws {
    let database = try TestDatabase(#"{"kept": true}"#)
    let program = try database.start(["import", "-", "--replace"])
    // More than a pipe holds: the program has begun to read.
    try program.write(String(repeating: " ", count: 200_000))
    try program.send(signal)
    #expect(try program.wait() == status)
    #expect(try database.get() == #"{"kept":true}"#)
  }

  @Test func readersDoNotWaitForAnImport() throws {
    let database = try TestDatabase(#"{"kept": true}"#)
    let program = try database.start(["import", "-", "--replace"])
    try program.write(Self.messages(40_000))
    program.closeInput()
    let seen = try database.get("/kept")
    #expect(seen == "true")
    #expect(try program.wait() == 0)
    #expect(try database.get("/m39999/n") == "39999")
  }
}

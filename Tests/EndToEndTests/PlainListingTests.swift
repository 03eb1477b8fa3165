import Glibc
import RunnelBase
import Testing

/// The workspace without a screen: rows on standard output.
@Suite struct PlainListingTests {
  private static let people = """
    {"user":{"ana":{"name":"Ana","age":30},"bo":{"name":"Bo","age":41},"cy":{"name":"漢字","age":7}}}
    """

  @Test func rowsAreLinesOfJSONWithoutATerminal() throws {
    let outcome = try TestDatabase(PlainListingTests.people).run([])
    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty)
    #expect(
      outcome.output == """
        {"$key":"ana","age":30,"name":"Ana"}
        {"$key":"bo","age":41,"name":"Bo"}
        {"$key":"cy","age":7,"name":"漢字"}

        """)
  }

  @Test func plainRowsAreText() throws {
    let outcome = try TestDatabase(PlainListingTests.people).run(["--plain"])
    #expect(outcome.status == 0)
    #expect(outcome.output.split(separator: "\n").count == 3)
    #expect(outcome.output.contains("Ana"))
    #expect(!outcome.output.contains("\u{1B}"))
  }

  @Test func filterLeavesRowsOut() throws {
    let database = try TestDatabase(PlainListingTests.people)
    let outcome = try database.run(["--filter", "age>20"])
    #expect(outcome.output.split(separator: "\n").count == 2)
    #expect(try database.run(["--plain", "--filter", "age>20"]).output.contains("Bo"))
  }

  @Test func filterByAFieldThatNoRowHasIsDoubted() throws {
    let database = try TestDatabase(PlainListingTests.people)
    let outcome = try database.run(["--filter", "nonsuch:1"])
    #expect(outcome.status == 0 && outcome.output.isEmpty)
    #expect(outcome.errors.contains("The filter finds nothing: no row has a field nonsuch."))
    #expect(try database.run(["--filter", "age>100"]).errors.isEmpty)
  }

  @Test(arguments: [[], ["--plain"]]) func rowsThatAFilterDoesNotCompareAreTold(
    layout: [String]
  ) throws {
    let database = try TestDatabase(
      #"{"bill":{"a":{"cost":116},"b":{"cost":"163,50"},"c":{"cost":7}}}"#)
    let outcome = try database.run(layout + ["--filter", "cost>100"])
    #expect(outcome.output.split(separator: "\n").count == 1)
    #expect(
      outcome.errors.contains(
        "The filter leaves rows out: 1 row has a text in cost, not compared with numbers."))
    #expect(try database.run(layout + ["--filter", "cost:116"]).errors.isEmpty)
  }

  @Test func valueThatIsMissingKeepsItsPlaceInText() throws {
    let database = try TestDatabase(
      #"{"people":{"a":{"age":3,"name":"Ana","role":"x"},"b":{"age":4,"role":"y"}}}"#)
    let lines = try database.run(["--plain"]).output.split(separator: "\n")
    let words = lines.map { $0.split(separator: " ") }
    #expect(words.count == 2 && words[0].count == words[1].count, "\(lines)")
    #expect(words[1].contains("-"))
  }

  @Test func filterMayBeginWithADash() throws {
    let database = try TestDatabase(PlainListingTests.people)
    let outcome = try database.run(["--filter", "-name:bo"])
    #expect(outcome.status == 0 && outcome.output.split(separator: "\n").count == 2)
    let missing = try database.run(["--filter", "--plain"])
    #expect(missing.status == 2 && missing.errors.contains("--filter needs a filter behind it"))
  }

  @Test func wrongFilterIsShownWithItsPlace() throws {
    let outcome = try TestDatabase(PlainListingTests.people).run(["--filter", "age>20 name~("])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("  age>20 name~(\n         ^"))
  }

  @Test func absentDatabaseIsNotMade() throws {
    let database = try TestDatabase()
    let outcome = try database.run(["--plain"])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("does not exist"))
    #expect(try database.folder.names().isEmpty)
  }

  @Test func emptyDatabaseSaysWhatToDo() throws {
    let outcome = try TestDatabase("null").run(["--plain"])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("runnel import"))
  }

  @Test func changesAreToldUntilInterrupted() throws {
    let database = try TestDatabase(PlainListingTests.people)
    let program = try database.start(["--plain", "--follow"])
    for _ in 0..<3 { _ = try program.readLine() }
    #expect(try database.run(["set", "/user/dan", #"{"name":"Dan","age":1}"#]).status == 0)
    #expect(try program.readLine()?.hasPrefix("added   ") == true)
    #expect(try database.run(["set", "/user/bo/age", "42"]).status == 0)
    let changed = try #require(try program.readLine())
    #expect(changed.hasPrefix("changed ") && changed.contains("42"))
    #expect(try database.run(["remove", "/user/ana"]).status == 0)
    let removed = try #require(try program.readLine())
    #expect(removed.hasPrefix("removed ") && removed.contains("Ana"))
    try program.send(SIGINT)
    #expect(try program.wait() == 130)
  }

  @Test func changesAreToldAsJSONToo() throws {
    let database = try TestDatabase(PlainListingTests.people)
    let program = try database.start(["--follow", "--rows", "1"])
    #expect(try program.readLine() == #"{"$key":"ana","age":30,"name":"Ana"}"#)
    #expect(try database.run(["remove", "/user/bo"]).status == 0)
    #expect(
      try program.readLine() == #"{"$change":"removed","$key":"bo","age":41,"name":"Bo"}"#)
    try program.send(SIGTERM)
    #expect(try program.wait() == 143)
  }

  @Test func listEndsWithItsReader() throws {
    let database = try TestDatabase(PlainListingTests.people)
    let program = try database.start(["--plain", "--follow"])
    _ = try program.readLine()
    program.closeOutput()
    #expect(try program.wait() == 0)
  }

  @Test func keysAreListedAsTextAndAsJSON() throws {
    let text = try Program.run(["--list-keys"])
    #expect(text.status == 0)
    #expect(text.output.contains("collection\trecord.add\tadd a record\ta\n"))
    let json = try Program.run(["--list-keys", "--json"])
    guard case .array(let rows) = try JSONValue(parsing: json.output) else {
      Issue.record("it is no list")
      return
    }
    #expect(rows.count == text.output.split(separator: "\n").count)
  }

  @Test func checkTellsWhatIsToBeMended() throws {
    let folder = try TemporaryFolder()
    let good = try Program.run(
      ["--check"], environment: ["TERM": "xterm", "EDITOR": "cat", "XDG_CONFIG_HOME": folder.path])
    #expect(good.status == 0)
    #expect(good.output.contains("terminal        xterm"))
    let dumb = try Program.run(["--check"], environment: ["TERM": "dumb", "EDITOR": "cat"])
    #expect(dumb.status == 1)
    #expect(dumb.output.contains("! terminal        dumb"))
    try check(mkdir(folder.file("runnel"), 0o700), "mkdir")
    _ = try folder.write("page: many\n", to: "runnel/config.yaml")
    let wrong = try Program.run(
      ["--check"], environment: ["TERM": "xterm", "EDITOR": "cat", "XDG_CONFIG_HOME": folder.path])
    #expect(wrong.status == 1)
    #expect(wrong.output.contains("config.yaml:1: "))
  }

  @Test func rowsAreNoWishOfTheScreen() throws {
    #expect(try Program.run(["--json"]).status == 2)
    #expect(try Program.run(["--plain", "--rows", "0"]).status == 2)
  }
}

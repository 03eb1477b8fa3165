import Testing

/// Commands that work on two places.
@Suite struct PlacesTests {
  @Test func copyPutsTheSameAtAnotherPlace() throws {
    let database = try TestDatabase(#"{"a":{"b":{".value":1,".priority":2}},"c":"old"}"#)
    let outcome = try database.run(["copy", "/a", "/c", "--force"])
    #expect(outcome.status == 0)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.isEmpty)
    #expect(
      try database.run(["export"]).output
        == #"{"a":{"b":{".value":1,".priority":2}},"c":{"b":{".value":1,".priority":2}}}"# + "\n")
  }

  @Test func copyOfManyRecordsIsWhole() throws {
    let records = (0..<3000).map { #""m\#($0)":{"from":"ana","n":\#($0)}"# }
    let database = try TestDatabase()
    let json = "{\"list\":{" + records.joined(separator: ",") + "}}"
    #expect(try database.run(["import", "-"], input: json).status == 0)
    #expect(try database.run(["copy", "/list", "/old/list"]).status == 0)
    #expect(try database.get("/old/list") == database.get("/list"))
    #expect(try database.run(["diff", "/list", "/old/list"]).output.isEmpty)
    #expect(try database.run(["move", "/list", "/new"]).status == 0)
    #expect(try database.get("/new") == database.get("/old/list"))
    #expect(try database.get("/list") == "null")
  }

  @Test func moveLeavesNothingBehind() throws {
    let database = try TestDatabase(#"{"a":{"b":1,"c":2}}"#)
    #expect(try database.run(["move", "/a/b", "/d/e"]).status == 0)
    #expect(try database.get() == #"{"a":{"c":2},"d":{"e":1}}"#)
  }

  @Test func aWatcherIsToldOfAMoveOnce() throws {
    let database = try TestDatabase(#"{"l":{"a":1,"b":2}}"#)
    let watcher = try database.start(["watch", "/l"])
    for _ in 0..<2 { _ = try watcher.readLine() }
    #expect(try database.run(["move", "/l/a", "/l/c"]).status == 0)
    let lines = try (0..<2).map { _ in try watcher.readLine() ?? "" }
    #expect(lines[0].contains(#""event":"child_removed","path":"/l/a""#))
    #expect(lines[1].contains(#""event":"child_added","path":"/l/c""#))
  }

  @Test(arguments: [
    (["copy", "/no", "/b"], "/no: Nothing stands there"),
    (["move", "/no", "/b"], "/no: Nothing stands there"),
    (["move", "/a", "/a/b/c"], "/a: A node cannot be moved into itself, and /a/b/c is below it"),
    (["move", "/", "/b"], "/: A node cannot be moved into itself, and /b is below it"),
    (["copy", "/a", String(repeating: "/k", count: 32)], "33 levels"),
  ])
  func whatCannotBeDoneChangesNothing(arguments: [String], explanation: String) throws {
    let database = try TestDatabase(#"{"a":{"b":1}}"#)
    let outcome = try database.run(arguments)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains(explanation))
    #expect(try database.get() == #"{"a":{"b":1}}"#)
  }

  @Test(arguments: [["copy", "/a", "/b"], ["move", "/a", "/b"], ["diff", "/a", "/b"]])
  func nothingIsMadeOfAnAbsentDatabase(arguments: [String]) throws {
    let database = try TestDatabase()
    let outcome = try database.run(arguments)
    #expect(outcome.status == (arguments[0] == "diff" ? 2 : 1))
    #expect(outcome.errors.contains("does not exist"))
    #expect(try database.folder.names().isEmpty)
  }
}

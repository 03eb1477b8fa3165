import Testing

@Suite struct DiffTests {
  @Test func differencesAreLinesInTheOrderOfPaths() throws {
    let database = try TestDatabase(
      #"{"a":{"x":1,"y":{"z":2},"p":3},"b":{"x":4,"w":[5],"p":{".value":3,".priority":"q"}}}"#)
    let outcome = try database.run(["diff", "/a", "/b"])
    // As with diff(1): 1 if they differ, and 2 for trouble.
    #expect(outcome.status == 1)
    #expect(outcome.errors.isEmpty)
    #expect(
      outcome.output.split(separator: "\n") == [
        #"{"change":"priority","path":"/p","old":null,"new":"q"}"#,
        #"{"change":"added","path":"/w","new":{"0":5}}"#,
        #"{"change":"changed","path":"/x","old":1,"new":4}"#,
        #"{"change":"removed","path":"/y","old":{"z":2}}"#,
      ])
  }

  @Test func whatIsTheSameGivesNothing() throws {
    let database = try TestDatabase(#"{"a":{"x":1},"b":{"x":1.0}}"#)
    let outcome = try database.run(["diff", "/a", "/b"])
    #expect(outcome.status == 0)
    #expect(outcome.output.isEmpty)
    #expect(try database.run(["diff", "/no", "/nothing"]).output.isEmpty)
  }

  @Test func anotherDatabaseIsComparedAtTheSamePlace() throws {
    let database = try TestDatabase(#"{"a":{"x":1},"b":1}"#)
    let other = try TestDatabase(#"{"a":{"x":2},"c":{"x":1}}"#)
    #expect(
      try database.run(["diff", "/a", "--with", other.file]).output
        == #"{"change":"changed","path":"/x","old":1,"new":2}"# + "\n")
    #expect(try database.run(["diff", "/a", "/c", "--with", other.file]).output.isEmpty)
  }

  @Test func anExportIsComparedAsAWhole() throws {
    let database = try TestDatabase(#"{"a":{"x":{".value":1,".priority":2},"y":"z"}}"#)
    let export = try database.run(["export", "/a"]).output
    let file = try database.folder.write(export, to: "a.json")
    #expect(try database.run(["diff", "/a", "--with", file]).output.isEmpty)
    #expect(try database.run(["set", "/a/x", "1"]).status == 0)
    #expect(
      try database.run(["diff", "/a", "--with", "-"], input: export).output
        == #"{"change":"priority","path":"/x","old":null,"new":2}"# + "\n")
    let whole = try database.folder.write(#"{"a":{"x":1,"y":"z"}}"#, to: "whole.json")
    #expect(try database.run(["diff", "/a", "/a", "--with", whole]).output.isEmpty)
  }

  @Test(arguments: [
    ("{\"a\": 1,}", "neither a database nor JSON: line 1, column 8"), ("", "line 1, column 1"),
    (#"{"a":{"b$":1}}"#, "/a: The key"), (#"{"a/b":1}"#, "takes the database that it makes of it"),
    ("{\"a\":1}\n{\"a\":2}\n", "it is JSON lines"),
  ])
  func aBadFileIsExplained(contents: String, explanation: String) throws {
    let database = try TestDatabase(#"{"a":1}"#)
    let file = try database.folder.write(contents, to: "bad.json")
    let outcome = try database.run(["diff", "/", "--with", file])
    #expect(outcome.status == 2)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains(explanation))
    let absent = try database.run(["diff", "/", "--with", database.folder.file("no.json")])
    #expect(absent.status == 2)
    #expect(absent.errors.contains("no such file"))
  }

  @Test func aTableHasAWayOutAndAMarkIsPassedOver() throws {
    let database = try TestDatabase(#"{"a":1}"#)
    let table = try database.folder.write("a,b\n1,2\n", to: "t.csv")
    let refused = try database.run(["diff", "/", "--with", table])
    #expect(refused.status == 2)
    #expect(refused.errors.contains("it is a table") && refused.errors.contains("FILE.db"))
    let marked = try database.folder.write("\u{FEFF}{\"a\":1}", to: "m.json")
    let outcome = try database.run(["diff", "/", "--with", marked])
    #expect(outcome.status == 0 && outcome.output.isEmpty, "\(outcome.errors)")
  }
}

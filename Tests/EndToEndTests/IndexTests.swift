import Testing

@Suite struct IndexTests {
  private func list(_ database: TestDatabase) throws -> String {
    let outcome = try database.run(["index", "list"])
    #expect(outcome.status == 0)
    return outcome.output
  }

  @Test func indexesAreAddedListedAndRemoved() throws {
    let database = try TestDatabase(#"{"m": {"a": {"s": 1}}}"#)
    #expect(try list(database) == "")
    for arguments in [["/m", "s:desc,t"], ["/g/$any/x", "s"], ["m", "s:desc,t"]] {
      #expect(try database.run(["index", "add"] + arguments).status == 0)
    }
    #expect(
      try list(database) == """
        {"path":"/m","order":"s:desc,t"}
        {"path":"/g/$any/x","order":"s"}

        """)
    let removed = try database.run(["index", "remove", "/m", "s,t:desc,$key:desc"])
    #expect(removed.status == 0)
    #expect(removed.output + removed.errors == "")
    #expect(try list(database) == #"{"path":"/g/$any/x","order":"s"}"# + "\n")
    let missing = try database.run(["index", "remove", "/m", "s"])
    #expect(missing.status == 1)
    #expect(missing.errors.contains("There is no index /m s."))
  }

  @Test(arguments: [
    (["/m", "$key"], "needs no index"), (["/m", "a,a"], "twice"),
    (["/a.b", "s"], "not allowed in a key"),
    (["/m", "$keys"], "'$key', '$value' or '$priority'"), (["/m"], "order"),
  ])
  func whatIsNoIndexIsStatus2(arguments: [String], explanation: String) throws {
    for command in ["add", "remove"] {
      let outcome = try Program.run(["index", command] + arguments)
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains(explanation), "\(outcome.errors)")
    }
  }

  @Test func indexesOfAnAbsentDatabaseAreNone() throws {
    let database = try TestDatabase()
    for arguments in [["list"], ["add", "/m", "s"], ["remove", "/m", "s"]] {
      let outcome = try database.run(["index"] + arguments)
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("does not exist"))
    }
    #expect(try database.folder.names() == [])
  }

  @Test func adviceIsACommandThatEndsIt() throws {
    let database = try TestDatabase()
    let members = (0..<1000).map { #""k\#($0)":{"it's":\#($0 % 10)}"# }
    let json = "{" + members.joined(separator: ",") + "}"
    #expect(try database.run(["set", "/big", "-"], input: json).status == 0)
    let query = ["get", "/big", "--order-by", "it's:desc", "--limit-to-first", "1"]
    let before = try database.run(query)
    let command = "runnel index add /big 'it'\\''s:desc' --database \(database.file)\n"
    #expect(before.errors.contains(command), "\(before.errors)")
    #expect(try database.run(["index", "add", "/big", "it's:desc"]).status == 0)
    let after = try database.run(query + ["--explain"])
    #expect(after.output == before.output)
    #expect(after.errors == "runnel: scanned 1, shown 1, by the index /big it's:desc\n")
    #expect(try database.run(["remove", "/big/k9"]).status == 0)
    let whole = try database.run(["get", "/big", "--order-by", "x", "--limit-to-first", "1"])
    #expect(!whole.errors.contains("index add"), "999 children are not enough for an advice.")
  }
}

import Testing

/// `runnel get` and `runnel export` in the forms of records.
@Suite struct FormatTests {
  private static let users = #"""
    {"users": {"ana": {"name": "Ana, \"A\"", "age": 40, ".priority": 2},
      "bo": {"name": "Bo|x", "team": {"id": 7}}, "cy": "text", "10": {"age": 9}}, "n": 5}
    """#

  private func run(_ arguments: String..., json: String = users) throws -> Program.Outcome {
    try TestDatabase(json).run(arguments)
  }

  @Test func linesHaveTheKeyFirst() throws {
    let get = try run("get", "/users", "--format", "jsonl")
    #expect(get.status == 0 && get.errors.isEmpty)
    #expect(
      get.output == #"""
        {"$key":"10","age":9}
        {"$key":"ana","age":40,"name":"Ana, \"A\""}
        {"$key":"bo","name":"Bo|x","team":{"id":7}}
        {"$key":"cy","$value":"text"}

        """#)
  }

  @Test func exportedLinesKeepPriorities() throws {
    let lines = try run("export", "/users", "--format", "jsonl").output
    #expect(lines.contains(#""$key":"ana","age":40,"name":"Ana, \"A\"",".priority":2"#))
  }

  @Test func cellsHaveAColumnForEachField() throws {
    let table = "$key,$value,age,name,team\r\n10,,9,,\r\nana,,40,\"Ana, \"\"A\"\"\",\r\n"
    let rest = "bo,,,Bo|x,\"{\"\"id\"\":7}\"\r\ncy,text,,,\r\n"
    #expect(try run("get", "/users", "--format", "csv").output == table + rest)
    #expect(try run("export", "/users", "--format", "csv").output == table + rest)
  }

  @Test func columnsStandAsInTheViewThatShowsTheRecords() throws {
    let database = try TestDatabase(Self.users)
    _ = try database.folder.write(
      "views: [{ name: Users, path: /users, columns: [{ field: team/id }, { field: name }] }]",
      to: "test.views.yaml")
    for command in ["get", "export"] {
      let table = try database.run([command, "/users", "--format", "csv"]).output
      #expect(table.hasPrefix("$key,$value,team,name,age\r\n10,,,,9\r\n"), "\(table)")
    }
    let table = try database.run(
      ["get", "/users", "--format", "markdown", "--limit-to-last", "2"]
    ).output
    #expect(table.hasPrefix("| $key | $value | team | name |\n"), "\(table)")
    _ = try database.folder.write("views: [{ name: ", to: "test.views.yaml")
    let other = try database.run(["get", "/users", "--format", "csv"])
    #expect(other.output.hasPrefix("$key,$value,age,name,team\r\n"), "\(other)")
  }

  @Test func columnsStandAsInTheTableOfWhichTheDatabaseWasMade() throws {
    let folder = try TemporaryFolder()
    let table = try folder.write("size,Art.,made\n3,x,2026\n", to: "pots.csv")
    #expect(try Program.run([table, "--plain"]).status == 0)
    let outcome = try Program.run(["get", "/pots", "--format", "csv", "-d", table + ".db"])
    #expect(outcome.output.contains("$key,size,Art%2E,made\r\n"), "\(outcome)")
  }

  @Test func tableReadsAsTheText() throws {
    let table = try run("get", "/users", "--format", "markdown", "--limit-to-first", "1").output
    #expect(table == "| $key | age |\n| --- | --- |\n| 10 | 9 |\n")
    #expect(try run("get", "/users", "--format", "markdown").output.contains("Bo\\|x"))
  }

  @Test func queryDecidesWhichRecordsAndTheirOrder() throws {
    let lines = try run(
      "get", "/users", "--format", "jsonl", "--order-by", "age:desc", "--where", "age > 0"
    ).output.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.first?.contains("ana") == true)
  }

  @Test(arguments: ["jsonl", "csv", "markdown"], ["get", "export"])
  func valueWithoutChildrenIsNoRecords(format: String, command: String) throws {
    let outcome = try run(command, "/n", "--format", format)
    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains("/n is a value without children"))
    let query = try run("get", "/n", "--format", format, "--limit-to-first", "1")
    #expect(query.status == 1)
  }

  @Test func nothingIsNoRecords() throws {
    #expect(try run("get", "/none", "--format", "jsonl").output == "")
    #expect(try run("export", "/none", "--format", "csv").output == "$key\r\n")
    #expect(try run("get", "/none", "--format", "csv", "--where", "a").output == "$key\r\n")
  }

  @Test(arguments: ["get", "export"]) func jsonIsAsWithoutAFormat(command: String) throws {
    #expect(
      try run(command, "/users", "--format", "json").output == run(command, "/users").output)
    #expect(try run(command, "/n", "--format", "json", "--pretty").output == "5\n")
  }

  @Test func whatDoesNotGoTogetherIsRefused() throws {
    for arguments in [["--pretty"], ["--shallow"]] {
      let outcome = try TestDatabase(Self.users)
        .run(["get", "/users", "--format", "csv"] + arguments)
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains("is for JSON"))
    }
    let unknown = try run("export", "--format", "xml")
    #expect(unknown.status == 2)
    #expect(unknown.errors.contains("markdown"))
  }

  @Test func manyRecordsAreWrittenPageByPage() throws {
    let database = try TestDatabase()
    let messages = (0..<1_700).map { #""m\#(10_000 + $0)":{"n":\#($0),"f\#($0 / 900)":true}"# }
    #expect(
      try database.run(["set", "/", "-"], input: "{\(messages.joined(separator: ","))}").status == 0
    )
    let lines = try database.run(["export", "--format", "jsonl"]).output.split(separator: "\n")
    #expect(lines.count == 1_700)
    #expect(lines.last == #"{"$key":"m11699","f1":true,"n":1699}"#)
    let table = try database.run(["export", "--format", "csv"]).output
    // A field that only later records have is a column, too.
    #expect(table.hasPrefix("$key,f0,n,f1\r\nm10000,true,0,\r\n"))
    #expect(table.hasSuffix("m11699,,1699,true\r\n"))
  }

  @Test func tooManyFieldsAreNoColumns() throws {
    let fields = (0..<1_001).map { #""r\#($0)":{"f\#($0)":1}"# }
    let database = try TestDatabase()
    _ = try database.run(["set", "/", "-"], input: "{\(fields.joined(separator: ","))}")
    for command in ["get", "export"] {
      let outcome = try database.run([command, "--format", "csv"])
      #expect(outcome.status == 1)
      #expect(outcome.output.isEmpty)
      #expect(outcome.errors.contains("more than 1000 different fields"))
      #expect(outcome.errors.contains("--format jsonl"))
    }
    #expect(try database.run(["export", "--format", "jsonl"]).status == 0)
  }
}

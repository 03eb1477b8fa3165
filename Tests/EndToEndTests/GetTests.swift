import Testing

@Suite struct GetTests {
  private static let users = #"""
    {"users": {"ana": {"age": 40, "team": "red"}, "bo": {"age": 9, "team": "blue"},
      "cy": {"team": "red"}, "10": {"age": 40.5}, "2": {"age": "old"}}}
    """#

  /// The keys of an object that `get` printed, in their order.
  private func keys(_ database: TestDatabase, _ arguments: [String]) throws -> [String] {
    let outcome = try database.run(["get", "/users", "--shallow"] + arguments)
    #expect(outcome.status == 0)
    return outcome.output.split(separator: "\"").enumerated().filter { $0.offset % 2 == 1 }
      .map { String($0.element) }
  }

  @Test func mistypedPlaceIsAskedAbout() throws {
    let database = try TestDatabase(#"{"tickets":{"a":{"title":"One"},"17":{"title":"Two"}}}"#)
    let mistyped = try database.run(["get", "/tickts/a"])
    #expect(mistyped.status == 0 && mistyped.output == "null\n")
    #expect(
      mistyped.errors == "runnel: Nothing stands at /tickts: did you mean /tickets?\n",
      "\(mistyped.errors)")
    for place in ["/tickets/18", "/tickets/b", "/people", "/tickets/a"] {
      #expect(try database.run(["get", place]).errors.isEmpty, "\(place)")
    }
  }

  @Test func valueIsExactJSON() throws {
    let json = #"{"a":[1,null,{}],"big":9007199254740993,"é😀":"\"\\\n","n":1.0,"t":true}"#
    let database = try TestDatabase(json)
    #expect(
      try database.get() == #"{"a":{"0":1},"big":9007199254740993,"n":1,"t":true,"é😀":"\"\\\n"}"#)
    #expect(try database.get("big") == "9007199254740993")
    #expect(try database.get("/é😀/") == #""\"\\\n""#)
  }

  @Test func absentValueIsNull() throws {
    let database = try TestDatabase(#"{"a": 1}"#)
    #expect(try database.get("/b") == "null")
    #expect(try database.get("/a/b/c") == "null")
    #expect(try database.get("/b", "--shallow") == "null")
    #expect(try database.get("/b", "--limit-to-first", "1") == "null")
  }

  @Test func testOfAListIsToldToFindNothing() throws {
    let database = try TestDatabase(#"{"job":{"a":{"work":["oil","x"]},"b":{"work":["y"]}}}"#)
    let outcome = try database.run(["get", "/job", "--where", #"work contains "x""#])
    #expect(outcome.output == "{}\n" || outcome.output == "null\n")
    #expect(outcome.errors.contains("work holds lists or objects"), "\(outcome.errors)")
    #expect(outcome.errors.contains("--filter 'work~TEXT'"))
    let right = try database.run(["get", "/job", "--where", #"work/1 contains "x""#])
    #expect(right.output.contains("oil") && right.errors.isEmpty)
  }

  @Test func comparisonOfTextsWithANumberIsToldToFindNothing() throws {
    let database = try TestDatabase(#"{"m":{"a":{"Stand m³":"7,5"},"b":{"Stand m³":"9"}}}"#)
    let outcome = try database.run(["get", "/m", "--where", "`Stand m³` > 5"])
    #expect(outcome.status == 0 && outcome.output == "null\n")
    #expect(
      outcome.errors.contains("Stand m³ holds texts, which are not compared with numbers"),
      "\(outcome.errors)")
  }

  @Test func testOfAFieldThatNoRecordHasIsTold() throws {
    let records = (0..<60).map { #""r\#($0)":{"sponsor":"x"}"# }.joined(separator: ",")
    let database = try TestDatabase(#"{"m":{"a":{"sponsor":"x"}},"many":{\#(records)}}"#)
    let advice = "has a field sponsr: did you mean sponsor?\n"
    let starts = [
      ("/m", "No record at /m"), ("/many", "None of the first 50 records at /many"),
    ]
    for (place, start) in starts {
      let outcome = try database.run(["get", place, "--where", #"sponsr == "x""#])
      #expect(outcome.status == 0 && outcome.output == "null\n")
      #expect(outcome.errors == "runnel: \(start) \(advice)")
    }
    let other = try database.run(["get", "/m", "--where", #"sponsr != "x""#])
    #expect(other.errors == "runnel: No record at /m \(advice)")
    for test in ["missing sponsr", "exists sponsr"] {
      let outcome = try database.run(["get", "/m", "--where", test])
      #expect(outcome.errors == "runnel: No record at /m \(advice)", "\(test)")
    }
    let quiet = [
      ("/none", #"sponsr == "x""#), ("/m", #"sponsor == "z""#), ("/m", #"not sponsr == "x""#),
      ("/m", "missing sponsor"), ("/m", "exists sponsor"), ("/m", #"$key == "z""#),
    ]
    for (place, test) in quiet {
      let outcome = try database.run(["get", place, "--where", test])
      #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(test): \(outcome.errors)")
    }
  }

  @Test func prettyIsIndented() throws {
    let database = try TestDatabase(#"{"a": {"b": 1, "c": "d"}}"#)
    #expect(
      try database.get("--pretty") == "{\n  \"a\": {\n    \"b\": 1,\n    \"c\": \"d\"\n  }\n}")
  }

  @Test func prioritiesAreLeftOut() throws {
    let database = try TestDatabase(#"{"a": {".value": 1, ".priority": 5}}"#)
    #expect(try database.get() == #"{"a":1}"#)
  }

  @Test func shallowPrintsTrueForChildren() throws {
    let database = try TestDatabase(#"{"a": {"b": 1}, "c": "d"}"#)
    #expect(try database.get("--shallow") == #"{"a":true,"c":true}"#)
    #expect(try database.get("/c", "--shallow") == #""d""#)
  }

  @Test(arguments: [
    (["--order-by", "age"], ["cy", "bo", "ana", "10", "2"]),
    (["--order-by", "$key"], ["2", "10", "ana", "bo", "cy"]),
    (["--order-by", "$value"], ["2", "10", "ana", "bo", "cy"]),
    (["--order-by", "$priority"], ["2", "10", "ana", "bo", "cy"]),
    (["--limit-to-first", "2"], ["2", "10"]),
    (["--limit-to-last", "2"], ["bo", "cy"]),
    (["--start-at", #""bo""#], ["bo", "cy"]),
    (["--start-after", #""bo""#], ["cy"]),
    (["--end-at", #""ana""#], ["2", "10", "ana"]),
    (["--end-before", #""ana""#], ["2", "10"]),
    (["--equal-to", #""ana""#], ["ana"]),
    (["--order-by", "team", "--equal-to", #""red""#], ["ana", "cy"]),
    (["--order-by", "team", "--equal-to", "null"], ["2", "10"]),
    (["--order-by", "age", "--start-at", "-1", "--end-before", "40.5"], ["bo", "ana"]),
    (["--order-by", "age", "--start-after", "40", "--limit-to-first", "1"], ["10"]),
    (["--order-by", "age", "--limit-to-last", "2"], ["10", "2"]),
    (["--order-by", "team", "--start-at", #""red","b""#], ["cy"]),
    (["--order-by", "age:desc"], ["10", "2"].reversed() + ["ana", "bo", "cy"]),
    (["--order-by", "$key:desc", "--limit-to-first", "2"], ["cy", "bo"]),
    (["--order-by", "team:desc,age:desc"], ["ana", "cy", "bo", "2", "10"]),
    (["--order-by", "team:desc", "--order-by", "age:desc"], ["ana", "cy", "bo", "2", "10"]),
    (["--order-by", "team:desc,age", "--equal-to", #""red""#], ["cy", "ana"]),
    (["--order-by", "team:desc,age", "--start-after", #""red",null"#], ["ana", "bo", "10", "2"]),
    (["--order-by", "team:desc,age", "--start-at", #""red",40,"ana""#], ["ana", "bo", "10", "2"]),
    (["--where", "age >= 40"], ["10", "ana"]),
    (["--where", #"team == "red" and not (age == 40)"#], ["cy"]),
    (["--where", "exists team", "--order-by", "age:desc", "--limit-to-first", "1"], ["ana"]),
    (["--where", "missing age"], ["cy"]),
    (["--where", #"$key begins~ "A""#], ["ana"]),
    (
      ["--order-by", "age", "--start-at", "true", "--end-at", #""young""#],
      ["bo", "ana", "10", "2"]
    ),
  ])
  func queryAnswersInItsOrder(arguments: [String], expected: [String]) throws {
    #expect(try keys(TestDatabase(GetTests.users), arguments) == expected)
  }

  @Test func queryPrintsWholeChildren() throws {
    let database = try TestDatabase(GetTests.users)
    #expect(
      try database.get("/users", "--order-by", "age", "--limit-to-first", "2")
        == #"{"cy":{"team":"red"},"bo":{"age":9,"team":"blue"}}"#)
  }

  @Test func onlyAQueryWithoutBoundsAnswersWithALeaf() throws {
    let database = try TestDatabase(#"{"a": 7}"#)
    #expect(try database.get("/a", "--order-by", "$value") == "7")
    #expect(try database.get("/a", "--limit-to-first", "1") == "null")
  }

  @Test(arguments: [
    (["--start-at", "bo"], #"'"bo"'"#),
    (["--start-at", "{}"], "null, a boolean, a number or a string"),
    (["--start-at", "1,2"], "the key after the comma"),
    (["--start-at", #"1,"a",3"#], "one value"),
    (["--start-at", ""], "what follows --start-at is empty"),
    (["--equal-to", "true"], "--order-by"),
    (["--start-at", #""a""#, "--start-after", #""b""#], "--start-after"),
    (["--end-at", #""a""#, "--end-before", #""b""#], "--end-before"),
    (["--equal-to", #""a""#, "--end-at", #""b""#], "--equal-to excludes the other"),
    (["--limit-to-first", "1", "--limit-to-last", "1"], "exclude each other"),
    (["--limit-to-first", "0"], "positive"),
    (["--order-by", "$keys"], "'$key', '$value' or '$priority'"),
    (["--order-by", ""], "what follows --order-by is empty"),
    (["--order-by", "/"], "name a child"),
    (["--order-by", "a.b"], "not allowed in a key"),
    (["--order-by", "a,"], "'$key', '$value' or '$priority'"),
    (["--order-by", "a", "--order-by", "a:desc"], "twice"),
    (["--order-by", "$key,a"], "the last of an order"),
    (["--order-by", "a,b", "--start-at", "1,2,3"], "a string in quotes"),
    (["--order-by", "a,b", "--start-at", #"1,2,"k",4"#], "up to 2 values"),
    (["--order-by", "a,b", "--start-at", #"1,2,"a.b""#], "not allowed in a key"),
    (["--where", "a =="], "at character 5"), (["--order-by", "Art.-Nr."], ". as %2E"),
    (["--where", "ctx.user.name == 1"], "by its path: `ctx/user/name`"),
    (["--where", ""], "what follows --where is empty"),
  ])
  func contradictoryQueryIsStatus2(arguments: [String], explanation: String) throws {
    for command in ["get", "watch"] {
      let outcome = try Program.run([command] + arguments)
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains(explanation))
    }
  }

  @Test func explanationTellsWhatWasRead() throws {
    let database = try TestDatabase(GetTests.users)
    let outcome = try database.run(
      ["get", "/users", "--where", "age > 20", "--explain", "--shallow"])
    #expect(outcome.status == 0)
    #expect(outcome.output == #"{"10":true,"ana":true}"# + "\n")
    #expect(outcome.errors == "runnel: scanned 5, shown 2, within one record\n")
    let plain = try database.run(["get", "/users/ana/age", "--explain"])
    #expect(plain.output == "40\n")
    #expect(plain.errors == "runnel: scanned 0, shown 0, within one record\n")
  }

  @Test func mistakeInAPredicateIsPointedAt() throws {
    let outcome = try Program.run(["get", "--where", "age = 4"])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("at character 5: equality is written `==`."))
    #expect(outcome.errors.contains("\n  age = 4\n      ^"))
  }

  @Test func largeValueIsPrintedWhole() throws {
    let database = try TestDatabase()
    let members = (0..<5_000).map { #""k\#($0)":"\#(String(repeating: "x", count: 50))""# }
    let json = "{" + members.joined(separator: ",") + "}"
    #expect(try database.run(["set", "/big", "-"], input: json).status == 0)
    let printed = try database.get("/big")
    #expect(printed.utf8.count == json.utf8.count)
    #expect(try database.get("/big/k4999") == #""\#(String(repeating: "x", count: 50))""#)
  }
}

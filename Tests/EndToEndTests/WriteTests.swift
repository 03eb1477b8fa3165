import Glibc
import Testing

@Suite struct WriteTests {
  @Test func setReplacesTheWholeValue() throws {
    let database = try TestDatabase(#"{"a": {"b": 1, "c": 2}}"#)
    let outcome = try database.run(["set", "a", #"{"d": 3}"#])
    #expect(outcome.status == 0)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.isEmpty)
    #expect(try database.get() == #"{"a":{"d":3}}"#)
  }

  @Test(arguments: [["set", "/a"], ["set", "/a", "-"]])
  func setReadsStandardInput(arguments: [String]) throws {
    let database = try TestDatabase()
    #expect(try database.run(arguments, input: " [1, 2]\n").status == 0)
    #expect(try database.get() == #"{"a":{"0":1,"1":2}}"#)
  }

  @Test func negativeNumberIsSetAfterTwoDashes() throws {
    let database = try TestDatabase()
    #expect(try database.run(["set", "/a", "--", "-5"]).status == 0)
    #expect(try database.get("/a") == "-5")
  }

  @Test(arguments: [nil, "18446744073709551615\n"])
  func aNumberThatIsNotKeptAsWrittenIsTold(input: String?) throws {
    let database = try TestDatabase()
    let arguments = ["set", "/a"] + (input == nil ? ["18446744073709551615"] : [])
    let outcome = try database.run(arguments, input: input ?? "")
    #expect(outcome.status == 0)
    #expect(outcome.errors.contains("18446744073709551615 is read as 18446744073709552000"))
    #expect(try database.run(["set", "/a", "9223372036854775807"]).errors.isEmpty)
  }

  @Test func serverValuesAreResolved() throws {
    let database = try TestDatabase(#"{"count": 5}"#)
    #expect(try database.run(["set", "/count", #"{".sv": {"increment": 2}}"#]).status == 0)
    #expect(try database.run(["set", "/time", #"{".sv": "timestamp"}"#]).status == 0)
    #expect(try database.get("/count") == "7")
    let time = try #require(Int64(try database.get("/time")))
    #expect(time > 1_600_000_000_000)
  }

  @Test(arguments: [
    (["set", "/a"], "{", "line 1, column 2"),
    (["set", "/a"], "", "line 1, column 1"),
    (["set", "/a"], #"{"x.y": 1}"#, "not allowed in a key"),
    (["push", "/a"], "nope", "line 1"),
    (["push", "/l", "--lines"], "1\n2 3\n", "Line 2"),
    (["update", "/a"], "[1]", "object"),
    (["update", "/a"], #"{"b": 1, "b/c": 2}"#, "which is below it"),
    (["import", "-", "/a", "--replace"], "{\n  \"b\": 1,\n}", "standard input: "),
    (["import", "-", "/a", "--replace"], #"{"b": {"c$": 1}}"#, "/a/b"),
  ])
  func badDataIsStatus1(arguments: [String], input: String, explanation: String) throws {
    let database = try TestDatabase(#"{"a": "kept"}"#)
    let outcome = try database.run(arguments, input: input)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains(explanation))
    if !arguments.contains("--lines") { #expect(try database.get() == #"{"a":"kept"}"#) }
  }

  @Test func badDataDoesNotMakeADatabase() throws {
    let database = try TestDatabase()
    #expect(try database.run(["set", "/a"], input: "{").status == 1)
    #expect(try database.run(["update", "/a"], input: "[]").status == 1)
    #expect(try database.run(["push", "/a"], input: "").status == 1)
    #expect(try database.folder.names().isEmpty)
  }

  @Test func updateReplacesSeveralPlacesAtOnce() throws {
    let database = try TestDatabase(#"{"a": {"b": 1, "c": 2, "d": {"e": 3, "f": 4}}}"#)
    let update = #"{"b": 10, "c": null, "d/e": 30, "g/h": 5}"#
    #expect(try database.run(["update", "/a", update]).status == 0)
    #expect(try database.get() == #"{"a":{"b":10,"d":{"e":30,"f":4},"g":{"h":5}}}"#)
  }

  @Test func pushPrintsKeysThatAscend() throws {
    let database = try TestDatabase()
    var keys: [String] = []
    for value in 1...3 {
      let outcome = try database.run(["push", "/list", "\(value)"])
      #expect(outcome.status == 0)
      #expect(outcome.output.utf8.count == 23)
      keys.append(String(outcome.output.dropFirst().dropLast(2)))
    }
    #expect(keys == keys.sorted())
    #expect(
      try database.get("/list") == #"{"\#(keys[0])":1,"\#(keys[1])":2,"\#(keys[2])":3}"#)
  }

  @Test func pushedLinesKeepTheirOrder() throws {
    let database = try TestDatabase()
    let outcome = try database.run(
      ["push", "/list", "--lines"], input: "1\n\n  \r\n\"b\"\n{\"c\":3}")
    #expect(outcome.status == 0)
    let keys = outcome.output.split(separator: "\n")
    #expect(keys.count == 3)
    #expect(try database.get("/list") == "{\(keys[0]):1,\(keys[1]):\"b\",\(keys[2]):{\"c\":3}}")
  }

  @Test func pushedLinesBeforeABadOneStay() throws {
    let database = try TestDatabase()
    let outcome = try database.run(["push", "/list", "--lines"], input: "1\n2\n{\n4\n")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("Line 3"))
    let keys = outcome.output.split(separator: "\n")
    #expect(try database.get("/list") == "{\(keys[0]):1,\(keys[1]):2}")
  }

  @Test func keyOfAPushedLineComesBeforeTheNextLine() throws {
    let database = try TestDatabase()
    let program = try database.start(["push", "/list", "--lines"])
    for value in 1...3 {
      try program.write("\(value)\n")
      let key = try #require(try program.readLine())
      #expect(try database.get("/list/" + key.dropFirst().dropLast()) == "\(value)")
    }
    program.closeInput()
    #expect(try program.wait() == 0)
  }

  @Test func pushSaysWhatWasAddedWhenNobodyReadsTheKeys() throws {
    let database = try TestDatabase()
    let program = try database.start(["push", "/list", "--lines"])
    program.closeOutput()
    try program.write("1\n2\n3\n")
    #expect(try program.wait() == 1)
    #expect(try program.errors().contains("Line 1 was added"))
    #expect(try database.get("/list", "--shallow").split(separator: ",").count == 1)
  }

  @Test(arguments: [["/a"], ["/a/b"], ["/a", "--lines"]]) func pushDestroysNoValue(
    words: [String]
  ) throws {
    let database = try TestDatabase(#"{"a":"text"}"#)
    let outcome = try database.run(["push"] + words + (words.count == 1 ? ["1"] : []), input: "1\n")
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("/a holds a value and is no list"))
    #expect(try database.get() == #"{"a":"text"}"#)
  }

  @Test func removeRemovesWithoutATerminal() throws {
    let database = try TestDatabase(#"{"a": {"b": 1}, "c": 2}"#)
    #expect(try database.run(["remove", "/a"]).status == 0)
    #expect(try database.get() == #"{"c":2}"#)
    let again = try database.run(["remove", "/a"])
    #expect(again.status == 0)
    #expect(again.errors.contains("There is nothing at /a."))
    #expect(try database.run(["remove", "/", "--force"]).status == 0)
    #expect(try database.get() == "null")
  }

  @Test(arguments: [
    ("y\n", [String](), true), ("Yes\n", [], true), ("n\n", [], false), ("\n", [], false),
    ("\u{4}", [], false), ("", ["-f"], true),
  ])
  func removeAsksAtATerminal(answer: String, options: [String], isRemoved: Bool) throws {
    let database = try TestDatabase(#"{"a": {"b": 1, "c": 2}}"#)
    let terminal = try PseudoTerminal()
    let program = try database.start(
      ["remove", "/a"] + options, .init(input: .file(terminal.programEnd)))
    if options.isEmpty { try program.answer(answer, at: terminal) }
    #expect(try program.wait() == (isRemoved ? 0 : 1))
    #expect(
      try program.errors().contains("Remove /a and its 2 children (13 bytes)? ") == options.isEmpty
    )
    #expect(try database.get("/a/b") == (isRemoved ? "null" : "1"))
  }

  @Test func whatAServerValueWouldReplaceIsNotLost() throws {
    let database = try TestDatabase()
    let value = #"{"a": {".sv": "timestamp", "b": 1}}"#
    for arguments in [["set", "/sv"], ["push", "/sv"], ["update", "/sv"]] {
      let outcome = try database.run(arguments + [value])
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains(#""b" stands beside ".sv""#), "\(outcome.errors)")
    }
    let withPriority = #"{".sv": "timestamp", ".priority": 1}"#
    #expect(try database.run(["set", "/sv", withPriority]).status == 0)
  }

  @Test func theNameOfAFolderIsNoFile() throws {
    let database = try TestDatabase()
    let outcome = try Program.run(["set", "/q", "1", "--create", "-d", database.file + "/"])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("names a folder"), "\(outcome.errors)")
  }
}

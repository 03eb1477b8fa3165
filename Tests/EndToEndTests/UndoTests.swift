import RunnelBase
import Testing

/// `runnel history` and `runnel undo`.
@Suite struct UndoTests {
  private let database: TestDatabase

  init() throws {
    database = try TestDatabase()
    #expect(try database.run(["set", "/a", "1"]).status == 0)
    #expect(try database.run(["set", "/a/b", "2"]).status == 0)
  }

  /// The lines of the history, each as JSON without the time and the author.
  private func history(_ arguments: [String] = []) throws -> [String] {
    let outcome = try database.run(["history"] + arguments)
    #expect(outcome.status == 0)
    return try outcome.output.split(separator: "\n").map { line in
      guard case .object(let members) = try JSONValue(parsing: String(line)) else { return "?" }
      let names = ["at", "by"]
      return JSONValue.object(members.filter { !names.contains($0.name) }).jsonText()
    }
  }

  @Test func historyNamesThePriorityOfTheRoot() throws {
    let database = try TestDatabase(#"{"a":{"b":1}}"#)
    #expect(try database.run(["update", "/", #"{".priority":3}"#]).status == 0)
    let lines = try database.run(["history", "--limit", "1"]).output
    #expect(lines.contains(#""path":"/.priority","old":null,"new":3"#), "\(lines)")
  }

  @Test func historyNamesWhoWrote() throws {
    let words = ["--database", database.file]
    let outcome = try Program.run(["set", "/a", "3"] + words, environment: ["USER": "ana"])
    #expect(outcome.status == 0)
    #expect(try database.run(["history", "--limit", "1"]).output.contains(#""by":"ana""#))
    #expect(
      !(try database.run(["history"]).output.contains(#""by":"""#)),
      "Without a name in the environment, the name of the user's number counts.")
  }

  @Test func historyTellsWhatStoodBeforeAndSince() throws {
    let lines = try history()
    #expect(
      lines == [
        #"{"write":2,"changes":[{"path":"/a","old":1,"new":{"b":2}}]}"#,
        #"{"write":1,"changes":[{"path":"/a","old":null,"new":1}]}"#,
      ])
    #expect(try history(["/z"]).isEmpty)
    #expect(try history(["--limit", "1"]).count == 1)
  }

  @Test func undoTakesTheNewestWriteBackAndAnUndoingByItsNumber() throws {
    #expect(try database.run(["undo"]).status == 0)
    #expect(try database.get() == #"{"a":1}"#)
    #expect(try history(["--limit", "1"])[0].contains(#""undoes":2"#))
    #expect(try database.run(["undo", "3"]).status == 0)
    #expect(try database.get() == #"{"a":{"b":2}}"#)
  }

  @Test func whatNothingBringsBackNeedsForce() throws {
    let large = "\"" + String(repeating: "x", count: 70_000) + "\""
    #expect(try database.run(["set", "/large", large]).status == 0)
    let commands = [
      ["set", "/large", "1"], ["update", "/", #"{"large":1}"#], ["remove", "/large"],
    ]
    for command in commands {
      let outcome = try database.run(command)
      #expect(outcome.status == 2, "\(command)")
      #expect(outcome.errors.contains("too large for `runnel undo`"), "\(outcome.errors)")
    }
    #expect(try database.get("/large") == large)
    #expect(try database.run(["remove", "/large", "--force"]).status == 0)
    let outcome = try database.run(["undo"])
    #expect(outcome.status == 1)
    #expect(
      outcome.errors.contains("`runnel undo 2` undoes the newest write before it at other places."),
      "\(outcome.errors)")
    #expect(try database.run(["undo", "2"]).status == 0)
  }

  @Test func noWriteIsNamedWhoseResultWasReplaced() throws {
    let large = "\"" + String(repeating: "x", count: 70_000) + "\""
    let database = try TestDatabase()
    #expect(try database.run(["set", "/list/a", large]).status == 0)
    #expect(try database.run(["remove", "/list", "--force"]).status == 0)
    let outcome = try database.run(["undo"])
    #expect(outcome.status == 1)
    #expect(!outcome.errors.contains("runnel undo"), "\(outcome.errors)")
  }

  @Test func whatWasWrittenSinceIsLeft() throws {
    let outcome = try database.run(["undo", "1"])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("/a was written since"))
    #expect(try database.get() == #"{"a":{"b":2}}"#)
  }

  @Test func aWriteOfManyRecordsIsUndoneInPartIfThatIsAskedFor() throws {
    let database = try TestDatabase(#"{"list":{"a":{"x":1},"b":{"x":2},"c":{"x":3}}}"#)
    #expect(try database.run(["update", "/list", #"{"a/x":9,"b/x":9,"c/x":9}"#]).status == 0)
    #expect(try database.run(["set", "/list/b/x", "5"]).status == 0)
    let number = try database.run(["history", "/list/a", "--limit", "1"]).output
    let write = try #require(try JSONValue(parsing: number)["write"]?.int)
    let refused = try database.run(["undo", "\(write)"])
    #expect(refused.status == 1)
    #expect(refused.errors.contains("Written since: /list/b/x."), "\(refused.errors)")
    #expect(refused.errors.contains("`runnel undo \(write) --partial` takes it back"))
    let undone = try database.run(["undo", "\(write)", "--partial"])
    #expect(undone.status == 0)
    #expect(
      undone.errors.contains("at 2 of 3 places. Written since: /list/b/x."), "\(undone.errors)")
    #expect(try database.get("/list") == #"{"a":{"x":1},"b":{"x":5},"c":{"x":3}}"#)
  }

  @Test func aPartThatCannotBeTakenBackAloneIsExplained() throws {
    let database = try TestDatabase(#"{"list":{"a":1,"b":2}}"#)
    #expect(try database.run(["update", "/list", #"{"a":2,"b":1}"#]).status == 0)
    #expect(try database.run(["set", "/list/b", "5"]).status == 0)
    let number = try database.run(["history", "/list/a", "--limit", "1"]).output
    let write = try #require(try JSONValue(parsing: number)["write"]?.int)
    let refused = try database.run(["undo", "\(write)", "--partial"])
    #expect(refused.status == 1)
    #expect(refused.errors.contains("/list/b was written since"), "\(refused.errors)")
    #expect(
      refused.errors.contains("(1 became 2 at /list/a, 2 became 1 at /list/b)"),
      "\(refused.errors)")
  }

  @Test func theUndoOfAnImportTellsHowManyRecordsStandThere() throws {
    let database = try TestDatabase(#"{"list":{"a":{"x":1}}}"#)
    let new = #"{"b":{"x":1},"c":{"x":2}}"#
    #expect(try database.run(["set", "/list", new]).status == 0)
    let undone = try database.run(["undo"])
    #expect(undone.errors.contains("1 record stands there now, 2 before."), "\(undone.errors)")
  }

  @Test func aHistoryThatIsOffHoldsNothing() throws {
    #expect(try database.run(["history", "--keep", "0", "--force"]).status == 0)
    #expect(try history().isEmpty)
    #expect(try database.run(["set", "/a", "3"]).status == 0)
    #expect(try history().isEmpty)
    let outcome = try database.run(["undo"])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("nothing to undo") && !outcome.errors.contains("runnel undo "))
  }

  @Test(arguments: [["--limit", "0"], ["--keep", "-1"]])
  func badNumbersAreUsage(arguments: [String]) throws {
    #expect(try database.run(["history"] + arguments).status == 2)
  }

  @Test(arguments: [Int64.max, .max - 1, .min])
  func aNumberOfNoWriteIsRefused(number: Int64) throws {
    let outcome = try database.run(["undo", "--", "\(number)"])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("There is no write \(number)"), "\(outcome.errors)")
  }

  @Test(arguments: ["2026-02-30T00:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01T01:61:00Z"])
  func aTimeThatDoesNotExistIsUsage(time: String) throws {
    let outcome = try database.run(["export", "--at", time])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("there is no such time"), "\(outcome.errors)")
  }

  @Test(arguments: ["2028-02-29T23:59:59Z", "2099-11-23T12:00:00+01:00"])
  func aTimeThatExistsIsTaken(time: String) throws {
    #expect(try database.run(["export", "--at", time]).status == 0)
  }
}

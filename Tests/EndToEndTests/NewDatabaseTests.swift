import Glibc
import Testing

/// A database that a failing command made itself goes with it.
@Suite struct NewDatabaseTests {
  @Test(arguments: [
    (["import", "-"], "{"), (["import", "-"], #"{"a.b": 1}"#), (["push", "/x", "--lines"], "{\n"),
    (["set", "/a"], #"{"x.y": 1}"#),
  ])
  func failingCommandLeavesNoFile(words: [String], input: String) throws {
    let database = try TestDatabase()
    #expect(try database.run(words, input: input).status != 0)
    #expect(try database.folder.names() == [])
  }

  @Test func demoThatCannotBeMadeLeavesNoFile() throws {
    let folder = try TemporaryFolder()
    let resources = try TemporaryFolder()
    try check(mkdir(resources.file("demo"), 0o700), "mkdir")
    _ = try resources.write("{", to: "demo/demo.json")
    let outcome = try Program.run(
      ["demo", "--make-only", "-d", folder.file("demo.db")],
      environment: ["RUNNEL_RESOURCES": resources.path])
    #expect(outcome.status == 1)
    #expect(try folder.names() == [])
  }

  @Test func whatWasWrittenBeforeTheFailureStays() throws {
    let database = try TestDatabase()
    #expect(try database.run(["push", "/x", "--lines"], input: "1\n{\n").status == 1)
    #expect(try database.get("/x", "--format", "json").contains(":1"))
  }

  @Test func anEmptyDatabaseThatWasThereStays() throws {
    let database = try TestDatabase("null")
    #expect(try database.run(["import", "-", "--replace"], input: "{").status == 1)
    #expect(try database.folder.names().contains("test.db"))
    #expect(try database.get() == "null")
  }

  @Test(arguments: ["null", "{}", "[]", #"{"a": {"b": null}}"#])
  func pushOfNothingIsAMistakeAndMakesNoFile(json: String) throws {
    let database = try TestDatabase()
    for (words, input) in [(["push", "/x", json], ""), (["push", "/x"], json)] {
      let outcome = try database.run(words, input: input)
      #expect(outcome.status == 2)
      #expect(outcome.output.isEmpty)
      #expect(outcome.errors.contains("holds nothing"))
    }
    let lines = try database.run(["push", "/x", "--lines"], input: json + "\n")
    #expect(lines.status == 1 && lines.output.isEmpty)
    #expect(lines.errors.contains("Line 1 was not added: The value holds nothing"))
    #expect(try database.folder.names() == [])
  }
}

import Glibc
import Testing

@Suite struct CommandLineTests {
  @Test func versionIsPrinted() throws {
    let outcome = try Program.run(["--version"])
    #expect(outcome.output == "0.1.0\n")
    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty)
  }

  @Test func helpNamesEveryCommand() throws {
    let outcome = try Program.run(["--help"])
    #expect(outcome.status == 0)
    let commands = [
      "open", "get", "set", "push", "update", "remove", "copy", "move", "watch", "import", "export",
      "diff",
    ]
    for command in commands { #expect(outcome.output.contains("\n  \(command) ")) }
    #expect(!outcome.output.contains("generate-demo"))
    #expect(outcome.output.contains("runnel import chat.json"))
  }

  @Test(arguments: [["service", "find"], ["sync", "push"], ["rules", "test"]])
  func helpStandsBeforeOrBehindTheNameOfAGroup(_ names: [String]) throws {
    let wanted = try Program.run(names + ["--help"])
    #expect(wanted.status == 0 && !wanted.output.isEmpty)
    let behind = try Program.run([names[0], "help", names[1]])
    #expect(behind.output == wanted.output && behind.status == 0)
    #expect(
      try Program.run([names[0], "help"]).output == Program.run([names[0], "--help"]).output)
    #expect(try Program.run([names[0], "help", "nonsense"]).output.contains("SUBCOMMANDS"))
  }

  @Test(arguments: [
    "get", "set", "push", "update", "remove", "copy", "move", "watch", "import", "export", "diff",
    "open",
  ])
  func everyCommandHasHelp(command: String) throws {
    let outcome = try Program.run([command, "--help"])
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("OVERVIEW"))
    #expect(outcome.output.contains("--database"))
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func completionScriptIsPrinted(shell: String) throws {
    let outcome = try Program.run(["--generate-completion-script", shell])
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("limit-to-last"))
  }

  @Test(arguments: [
    ["get", "--nope"], ["set"], ["push"], ["update"], ["remove"], ["import"],
    ["copy", "/a"], ["move", "/a"], ["diff", "/a"], ["diff"], ["diff", "/a", "--with", ""],
    ["get", "/a", "/b"], ["get", "/a.b"], ["set", "/a", "text"], ["set", "/a", "-5"],
    ["get", "--limit-to-last", "x"], ["get", "-d", ""], ["watch", "--events", "all"],
    ["push", "/a", "1", "--lines"], ["--mouse=maybe"], ["generate-demo", "--messages", "-1"],
    ["generate-demo", "--messages", "10000001"], ["generate-demo", "--until", "631152000000"],
    ["generate-demo", "--until", "9223372036854775807"], ["generate-demo", "--seed", "-1"],
    ["update", "/a", "[1]"], ["set", "/a", #"{"b.c": 1}"#], ["push", "/.info", "1"],
    ["set", "/users//name", "1"], ["remove", "/users/"], ["remove", "-f", "//"],
    ["update", "/", #"{"a": 1, "a/b": 2}"#], ["perform", "update", "/a", "{"],
    ["import", "x.json", "--merge", "--replace"], ["get", "--where", "a ="],
    ["export", "--format", "xml"], ["index", "add", "/a", ":desc"], ["undo", "x"],
    ["screenshot", "x.svg", "--size", "0x0"], ["--color", "17"], ["--theme", "pink"],
  ])
  func wrongCommandLineIsStatus2(arguments: [String]) throws {
    let outcome = try Program.run(arguments)
    #expect(outcome.status == 2)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.hasPrefix("runnel: "))
    #expect(outcome.errors.contains("Usage: "))
  }

  @Test func wordThatIsNoCommandGetsASuggestion() throws {
    let outcome = try Program.run(["gte"])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("Did you mean `runnel get`?"))
  }

  @Test func optionBeforeTheCommandIsExplained() throws {
    let outcome = try Program.run(["-d", "/nonexistent/a.db", "get", "/"])
    #expect(outcome.status == 2)
    #expect(
      outcome.errors.contains("The command comes first, and its options behind it: runnel get"))
  }

  @Test func undoNamesTheWrite() throws {
    let database = try TestDatabase()
    #expect(try database.run(["set", "/a", "1", "--create"]).status == 0)
    #expect(try database.run(["update", "/", #"{"b":1,"c":2,"d":3,"e":4}"#]).status == 0)
    let outcome = try database.run(["undo"])
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains("which changed /b, /c, /d and 1 more place."))
  }

  @Test func negativeNumberIsExplained() throws {
    let outcome = try Program.run(["set", "/a", "-5"])
    #expect(outcome.errors.contains("runnel set /place -- -5"))
  }

  @Test func unquotedStringIsExplained() throws {
    let outcome = try Program.run(["set", "/a", "text"])
    #expect(outcome.errors.contains(#"'"text"'"#))
  }

  @Test func demoIsTheSameForTheSameOptions() throws {
    let options = ["--messages", "300", "--seed", "7", "--until", "1760000000000"]
    let demo = try Program.run(["generate-demo"] + options)
    #expect(demo.status == 0)
    #expect(try Program.run(["generate-demo"] + options).output == demo.output)
    let database = try TestDatabase()
    #expect(try database.run(["import", "-"], input: demo.output).status == 0)
    #expect(
      try database.get("--shallow")
        == #"{"group":true,"group_message":true,"message_like":true,"user":true}"#)
    #expect(try database.run(["export"]).output == demo.output)
  }

  @Test func fullDiskBehindStandardOutputIsStatus1() throws {
    let database = try TestDatabase(#"{"a": 1}"#)
    for command in ["get", "export"] {
      let full = File(try check(open("/dev/full", O_WRONLY | O_CLOEXEC), "open"))
      let program = try database.start([command], .init(output: .file(full)))
      #expect(try program.wait() == 1)
      #expect(try program.errors().contains("Standard output cannot be written"))
    }
  }

  @Test(arguments: [["get"], ["export"], ["watch"], ["diff", "/", "/b"]])
  func readerThatWentAwayEndsQuietly(command: [String]) throws {
    let database = try TestDatabase(#"{"a": 1}"#)
    let program = try database.start(command)
    program.closeOutput()
    #expect(try program.wait() == 0)
    #expect(try program.errors().isEmpty)
  }
}

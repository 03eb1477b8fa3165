import Foundation
import TestSupport
import Testing

/// Servers' databases by the names that the configuration gives them.
@Suite(.timeLimit(.minutes(5))) struct OriginProfileTests {
  private let database: TestDatabase
  private let served: Served
  private let environment: [String: String]

  init() throws {
    database = try TestDatabase("{\"list\":{\"a\":1,\"b\":2},\"x\":5}")
    served = try Served([database.file, "--emulator"])
    let url = "http://localhost:\(served.port)/?ns=test"
    try FileManager.default.createDirectory(
      atPath: database.folder.file("config/runnel"), withIntermediateDirectories: true)
    _ = try database.folder.write(
      """
      origins:
        prod:
          url: \(url)
          read-only: true
          color: red
        careful: { url: "\(url)", confirm: true }
        stage: { url: "http://localhost:\(served.port)/list?ns=test" }
        broken: { url: "\(url)", read-onyl: true }
      """, to: "config/runnel/config.yaml")
    environment = [
      "XDG_CONFIG_HOME": database.folder.file("config"),
      "XDG_DATA_HOME": database.folder.file("data"),
    ]
  }

  private func run(_ arguments: String..., input: String = "") throws -> Program.Outcome {
    try Program.run(arguments, input: input, environment: environment)
  }

  @Test func nameOfAProfileStandsWhereAFileDoes() throws {
    #expect(try run("get", "/x", "-d", "prod").output == "5\n")
    #expect(try run("get", "/x", "-d", "prod:").output == "5\n")
    #expect(try run("get", "/a", "-d", "prod:/list").output == "1\n")
    #expect(try run("get", "prod:/list/b").output == "2\n")
    #expect(try run("get", "stage:/b").output == "2\n")
    #expect(try run("set", "/c", "3", "-d", "stage").status == 0)
    #expect(try run("get", "/list/c", "-d", "prod").output == "3\n")
  }

  @Test func nameOfAProfileAsAPlaceIsExplained() throws {
    let bare = try run("get", "prod")
    #expect(bare.status != 0)
    #expect(bare.errors.contains("prod is a profile: prod:/ is the place"), "\(bare.errors)")
    for place in ["prod/list/a", "prod:list/a"] {
      let errors = try run("get", place).errors
      #expect(errors.contains("prod is a profile: prod:/list/a is the place"), "\(errors)")
    }
    let absent = try run("get", "nix:/x").errors
    #expect(absent.contains("nix does not exist"), "\(absent)")
    #expect(absent.contains("there is no profile nix, but "), "\(absent)")
    #expect(absent.contains("careful") && absent.contains("stage"), "\(absent)")
  }

  @Test func copyIntoAnEmptyPlaceTellsWhatIsWritten() throws {
    let outcome = try run("copy", "prod:/list", "careful:/new")
    #expect(outcome.status != 0)
    #expect(
      outcome.errors.contains("write 2 children below /new of careful, where nothing stands"),
      "\(outcome.errors)")
  }

  @Test func readOnlyProfileCannotBeWrittenByAnyCommand() throws {
    let file = try database.folder.write("{}", to: "some.json")
    let attempts: [[String]] = [
      ["set", "/x", "6", "-d", "prod"], ["push", "prod:/list", "1"],
      ["update", "prod:/", "{\"x\":6}"], ["remove", "prod:/x", "--force"],
      ["import", file, "prod:/", "--replace"], ["copy", "prod:/x", "prod:/y"],
      ["copy", "stage:/a", "prod:/x", "--force"], ["sync", "push", "prod"],
    ]
    for arguments in attempts {
      let outcome = try Program.run(arguments, environment: environment)
      #expect(outcome.status == 1, "\(arguments): \(outcome.errors)")
      #expect(outcome.errors.contains("prod is read-only"), "\(arguments): \(outcome.errors)")
    }
    #expect(try run("undo", "-d", "prod").status == 2)
    #expect(try run("get", "prod:/").output == "{\"list\":{\"a\":1,\"b\":2},\"x\":5}\n")
  }

  @Test func carefulProfileAsksBeforeItReplaces() throws {
    for arguments in [
      ["set", "/x", "6"], ["update", "/", "{\"x\":6}"], ["remove", "/x"],
      ["import", "-", "/x", "--replace"],
    ] {
      let outcome = try Program.run(
        arguments + ["-d", "careful"], input: "7", environment: environment)
      #expect(outcome.status == 2, "\(arguments): \(outcome.errors)")
      #expect(outcome.errors.contains("--force does it"), "\(arguments): \(outcome.errors)")
      #expect(outcome.errors.contains("of careful"), "\(outcome.errors)")
    }
    #expect(try run("get", "careful:/x").output == "5\n")
    #expect(try run("set", "careful:/new", "1").status == 0)
    #expect(try run("set", "careful:/x", "6", "--force").status == 0)
    #expect(try run("get", "careful:/x").output == "6\n")
  }

  @Test func rootOfAProfileWithAPlaceIsRemovedWithForceOnly() throws {
    let place = "http://localhost:\(served.port)/list?ns=test"
    for arguments in [
      ["remove", "/", "-d", "stage"], ["remove", "stage:/"], ["set", "/", "5", "-d", "stage"],
      ["set", "stage:/", "5"], ["remove", "/", "-d", place], ["set", "/", "5", "-d", place],
    ] {
      let outcome = try Program.run(arguments, environment: environment)
      #expect(outcome.status == 2, "\(arguments): \(outcome.errors)")
      #expect(outcome.errors.contains(" /list of "), "\(arguments): \(outcome.errors)")
      #expect(outcome.errors.contains("--force"), "\(arguments): \(outcome.errors)")
    }
    #expect(try run("get", "prod:/list").output == "{\"a\":1,\"b\":2}\n")
    // An address that is the argument names the place itself.
    #expect(try run("set", place, "7").status == 0)
    #expect(try run("set", "/", "8", "-d", "stage", "--force").status == 0)
    #expect(try run("remove", "stage:/", "--force").status == 0)
    #expect(try run("get", "prod:/").output == "{\"x\":5}\n")
  }

  @Test func moveOnAProfileIsRefused() throws {
    for arguments in [
      ["move", "stage:/a", "stage:/c"], ["move", "/a", "/c", "-d", "stage"],
      ["move", "\(database.file):/x", "stage:/c"],
    ] {
      let outcome = try Program.run(arguments, environment: environment)
      #expect(outcome.status == 2, "\(arguments)")
      #expect(outcome.errors.contains("works on files only, and stage is"), "\(outcome.errors)")
    }
    let file = try TestDatabase("{\"a\":1}")
    #expect(try run("move", "\(file.file):/a", "\(file.file):/b").status == 0)
    #expect(try file.get() == "{\"b\":1}")
  }

  @Test func unknownNameSuggestsTheNearestAndAMistakeIsTold() throws {
    let near = try run("get", "-d", "prodd")
    #expect(near.status == 1)
    #expect(near.errors.contains("did you mean the profile prod?"), "\(near.errors)")
    let place = try run("get", "prodd:/x")
    #expect(place.status == 1)
    #expect(place.errors.contains("did you mean the profile prod?"), "\(place.errors)")
    let spelled = try run("get", "-d", "prodd:")
    #expect(spelled.status == 2)
    #expect(spelled.errors.contains("There is no profile prodd (did you mean the profile prod?)"))
    let opened = try run("open", "prodd")
    #expect(opened.status == 2)
    #expect(opened.errors.contains("did you mean the profile prod?"), "\(opened.errors)")
    let broken = try run("set", "broken:/x", "1")
    #expect(broken.status == 2)
    #expect(broken.errors.contains("`read-onyl` is not known here: did you mean `read-only`?"))
    let check = try run("config", "check")
    #expect(check.status == 1)
    #expect(check.output.contains("config.yaml:8:"), "\(check.output)")
  }

  @Test func workspaceOpensAProfileInATerminalOnly() throws {
    for arguments in [["prod"], ["prod:"], ["open", "prod:/list"], ["--plain", "-d", "prod"]] {
      let outcome = try Program.run(arguments, environment: environment)
      #expect(outcome.status == 2, "\(arguments)")
      #expect(outcome.errors.contains("is shown in a terminal only"), "\(outcome.errors)")
    }
    #expect(try run("prod", "--scratch").errors.contains("--scratch opens files of data"))
    #expect(try run("prod", "-d", "stage").errors.contains("give one"))
  }

  @Test func nameThatIsAFileTooIsToBeSpelledOut() throws {
    let folder = database.folder.path
    let program = try Program.path()
    let script = """
      cd '\(folder)' && : > prod && '\(program)' get -d prod; echo $?
      '\(program)' get -d prod: /x; '\(program)' get -d ./prod; echo $?
      '\(program)' prod 2> opened; echo $?; grep -c 'write ./prod' opened
      '\(program)' prod: 2> opened; echo $?; grep -c 'in a terminal only' opened
      '\(program)' ./prod 2> opened; echo $?; grep -c 'prod is empty' opened
      """
    let outcome = try Program.run(["-c", script], environment: environment, program: "/bin/sh")
    #expect(outcome.output == "2\n5\n1\n2\n1\n2\n1\n1\n1\n", "\(outcome.output)")
    #expect(outcome.errors.contains("write ./prod for the file, and prod: for the profile"))
  }

  @Test func shellCompletesNamesOfProfiles() throws {
    let script = try run("--generate-completion-script", "bash")
    #expect(script.output.contains("---completion open"))
    let completed = try run(
      "---completion", "open", "--", "positional@0", "2", "0", "runnel", "open", "")
    #expect(completed.output.split(separator: "\n").contains("prod"), "\(completed)")
  }

  @Test func placesOfTwoDatabasesAreCompared() throws {
    let file = database.folder.file("other.db")
    #expect(try run("set", "/", "{\"a\":1,\"b\":3}", "-d", file, "--create").status == 0)
    let outcome = try run("diff", "prod:/list", "\(file):/")
    #expect(
      outcome.output == "{\"change\":\"changed\",\"path\":\"/b\",\"old\":2,\"new\":3}\n",
      "\(outcome.errors)")
    #expect(try run("diff", "prod:/list/a", "/list/b").output.contains("\"new\":2"))
    #expect(try run("diff", "prod:/x", "-d", file, "/a").output.contains("\"new\":1"))
    #expect(try run("get", "prod:/x", "-d", file).status == 2)
  }

  @Test func placesAreCopiedBetweenDatabases() throws {
    let file = database.folder.file("copy.db")
    let pulled = try run("sync", "pull", "prod:/list", file)
    #expect(pulled.status == 0, "\(pulled.errors)")
    #expect(try run("get", "/list", "-d", file).output == "{\"a\":1,\"b\":2}\n")
    #expect(try run("sync", "pull", "stage:/a", "\(file):/one").status == 0)
    #expect(try run("get", "\(file):/one").output == "1\n")
    for (name, text) in [("stage", "whole.db"), ("stage:", "again.db")] {
      let whole = database.folder.file(text)
      let outcome = try run("sync", "pull", name, whole)
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(try run("get", "/list", "-d", whole).output == "{\"a\":1,\"b\":2}\n")
    }
    #expect(try run("sync", "pull", "stagge", file).errors.contains("names no server's database"))
    let refused = try run("sync", "pull", "prod:/list", file)
    #expect(refused.status == 2)
    #expect(refused.errors.contains("--force"))
    #expect(try run("sync", "pull", "prod:/list", file, "--force").status == 0)
    #expect(try run("copy", "\(file):/list", "stage:/d").status == 0)
    #expect(try run("get", "prod:/list/d").output == "{\"a\":1,\"b\":2}\n")
    #expect(try run("copy", "\(file):/one", "stage:/d").status == 2)
    #expect(try run("copy", "prod:/none", "\(file):/d").status == 1)
  }

  @Test func writesThatWaitAreSent() throws {
    #expect(try run("sync", "push", "stage").errors.contains("There are no pending writes"))
    // The replica of a workspace that was left before the server could be reached.
    let terminal = try TmuxTerminal()
    let before = environment.map { "\($0.key)='\($0.value)'" }.joined(separator: " ")
    try terminal.runnel(["open", "stage", "--no-session"], before: before)
    try terminal.wait(for: "live")
    try terminal.keys("q")
    try terminal.wait(for: TmuxTerminal.prompt)
    let status = try run("sync", "status").output
    let file = try #require(status.split(separator: "\"").first { $0.hasSuffix("public.db") })
    #expect(try run("set", "/x", "8", "-d", String(file)).status == 0)
    #expect(try run("get", "prod:/x").output == "5\n")
    let pushed = try run("sync", "push", "stage", "--timeout", "30")
    #expect(pushed.status == 0, "\(pushed.errors)")
    #expect(pushed.errors.contains("confirmed the write"))
    #expect(try run("get", "prod:/x").output == "8\n")
    try served.program.send(SIGKILL)
    _ = try served.program.wait()
    #expect(try run("set", "/x", "9", "-d", String(file)).status == 0)
    let waiting = try run("sync", "push", "stage", "--timeout", "1")
    #expect(waiting.status == 3)
    #expect(waiting.errors.contains("1 of 1 writes are still pending"), "\(waiting.errors)")
  }
}

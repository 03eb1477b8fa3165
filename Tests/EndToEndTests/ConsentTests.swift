import Glibc
import Testing

/// Nothing is destroyed, and no file made, without a word.
@Suite struct ConsentTests {
  private static let json = #"{"a":{"b":1,"c":2},"d":3}"#

  private static let destroyers: [[String]] = [
    ["remove", "/"], ["set", "/", "1"], ["set", "/", "null"], ["move", "/a", "/d"],
    ["copy", "/d", "/a"], ["copy", "/a", "/"], ["copy", "/a", "/d/e"], ["move", "/d", "/"],
    ["history", "--keep", "0"],
  ]

  /// A database with the document, whose making is no part of what is tested; and what is read of it.
  private static let template = Result { try TestDatabase.Template(json) }
  private static let templateExport = Result { try export(TestDatabase(template.get())) }

  private static func export(_ database: TestDatabase) throws -> String {
    try database.get() + database.run(["history"]).output
  }

  @Test(arguments: destroyers) func withoutATerminalForceIsNeeded(command: [String]) throws {
    let database = try TestDatabase(Self.template.get())
    let before = try Self.templateExport.get()
    let refused = try database.run(command)
    #expect(refused.status == 2)
    #expect(refused.errors.contains("--force"))
    #expect(refused.errors.contains("Nothing was changed"))
    #expect(try Self.export(database) == before)
    let isFirst = command == Self.destroyers[0]
    for option in isFirst ? ["--force", "-f"] : ["--force"] {
      let database = try TestDatabase(Self.template.get())
      #expect(try database.run(command + [option]).status == 0)
      #expect(try Self.export(database) != before)
    }
  }

  @Test(arguments: destroyers, [("y\n", 0), ("n\n", 1)] as [(String, Int32)])
  func atATerminalThePersonIsAsked(command: [String], answer: (String, Int32)) throws {
    try ask(command, answer)
  }

  @Test(arguments: ["\n", "\u{4}"]) func whoDoesNotSayYesSaysNo(answer: String) throws {
    try ask(["remove", "/"], (answer, 1))
  }

  @Test func whatWasTypedBeforeAQuestionIsNoAnswerToIt() throws {
    let database = try TestDatabase(Self.template.get())
    let terminal = try PseudoTerminal()
    try terminal.testEnd.write("y\ny\ny")
    let program = try database.start(["remove", "/"], .init(input: .file(terminal.programEnd)))
    try program.answer("n\n", at: terminal)
    #expect(try program.wait() == 1)
    #expect(try Self.export(database) == Self.templateExport.get())
  }

  private func ask(_ command: [String], _ answer: (String, Int32)) throws {
    let database = try TestDatabase(Self.template.get())
    let before = try Self.templateExport.get()
    let terminal = try PseudoTerminal()
    let program = try database.start(command, .init(input: .file(terminal.programEnd)))
    try program.answer(answer.0, at: terminal)
    #expect(try program.wait() == answer.1)
    #expect(try program.errors().contains("? "))
    #expect(try program.errors().contains("[y/N]"))
    #expect(try (Self.export(database) == before) == (answer.1 != 0))
  }

  @Test func questionSaysWhatGoes() throws {
    let refused = try TestDatabase(Self.json).run(["remove", "/"])
    #expect(refused.errors.contains("/ and its 2 children (25 bytes; 2 more inside those)"))
    #expect(refused.errors.contains("`runnel undo` would bring it back"))
    let set = try TestDatabase(Self.json).run(["set", "/", "1"])
    #expect(set.errors.contains("`runnel undo` would bring it back"))
    let value = try TestDatabase(Self.json).run(["copy", "/a", "/d"])
    #expect(value.errors.contains("the value at /d (1 byte)"))
  }

  @Test(arguments: [
    ["remove", "/"], ["set", "/", "1"], ["move", "/none", "/d"], ["copy", "/a", "/a"],
    ["move", "/a", "/new"], ["remove", "/d"], ["set", "/a", "1"], ["update", "/", #"{"a": 1}"#],
    ["history", "--keep", "5"],
  ])
  func nobodyIsAskedWhereNothingGoes(command: [String]) throws {
    let isEmpty = command == ["remove", "/"] || command == ["set", "/", "1"]
    let database = try isEmpty ? TestDatabase("null") : TestDatabase(Self.template.get())
    let outcome = try database.run(command)
    #expect(outcome.status == (command.contains("/none") ? 1 : 0))
    #expect(!outcome.errors.contains("--force"))
  }

  @Test(arguments: [
    ["set", "/a", "1"], ["push", "/a", "1"], ["update", "/a", #"{"b": 1}"#], ["import", "-"],
    ["--plain"], ["demo"], ["get"], ["export"], ["watch"], ["remove", "-f", "/a"], ["doctor"],
    ["perform", "update", "/a", "{}"], ["index", "add", "/a", "b"], ["undo"], ["compact"],
    ["screenshot", "-"], ["history"], ["diff", "/a", "/b"],
  ])
  func mistypedDatabaseIsNotMade(command: [String]) throws {
    let folder = try TemporaryFolder()
    let made = try Program.run(["set", "/a", "1", "-d", folder.file("chat.db"), "--create"])
    #expect(made.status == 0)
    let names = try folder.names()
    let outcome = try Program.run(command + ["-d", folder.file("chst.db")], input: "1")
    let takesCreate = ["set", "push", "update", "import", "demo"].contains(command[0])
    let isUsage = takesCreate || command[0] == "diff"
    #expect(outcome.status == (isUsage ? 2 : 1), "\(outcome.errors)")
    #expect(outcome.errors.contains("does not exist (did you mean chat.db?)"))
    #expect(outcome.errors.contains("--create"))
    #expect(try folder.names() == names)
  }

  @Test(arguments: [
    ["set", "/a", "1"], ["push", "/a", "1"], ["update", "/a", #"{"b": 1}"#], ["import", "-"],
    ["demo", "--make-only"],
  ])
  func databaseIsMadeWhereThatIsSaid(command: [String]) throws {
    let folder = try TemporaryFolder()
    let words = command + ["-d", folder.file("new.db"), "--create"]
    #expect(try Program.run(words, input: #"{"a": 1}"#).status == 0)
    #expect(try folder.names().contains("new.db"))
  }

  @Test func whatAKilledCommandLeftIsRemovedByTheNext() throws {
    let database = try TestDatabase(Self.json)
    let gone = try RunningProgram(["--version"])
    #expect(try gone.wait() == 0)
    let running = "p.txt.part-\(getpid())"
    for name in ["p.txt.part-\(gone.processID)", running, "p.txt.part-x", "q.txt.part-1"] {
      _ = try database.folder.write("half", to: name)
    }
    #expect(try database.run(["screenshot", database.folder.file("p.txt")]).status == 0)
    let names = try database.folder.names().filter { $0.contains("part") || $0 == "p.txt" }
    #expect(names.sorted() == ["p.txt", running, "p.txt.part-x", "q.txt.part-1"].sorted())
  }

  @Test func pictureReplacesNoFileUnasked() throws {
    let database = try TestDatabase(Self.json)
    let before = try database.get()
    let refused = try database.run(["screenshot", database.file])
    #expect(refused.status == 2)
    #expect(refused.errors.contains("is there already"))
    #expect(try database.get() == before)
    let picture = database.folder.file("p.txt")
    #expect(try database.run(["screenshot", picture]).status == 0)
    #expect(try database.run(["screenshot", picture]).status == 2)
    #expect(try database.run(["screenshot", picture, "--force"]).status == 0)
  }
}

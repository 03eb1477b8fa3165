import Glibc
import Testing

/// `runnel import` where something stands already.
@Suite struct ImportGuardTests {
  private static func messages(_ count: Int) -> String {
    let messages = (0..<count).map { #""m\#($0)":{"from":"ana","n":\#($0)}"# }
    return "{" + messages.joined(separator: ",") + "}"
  }

  /// The files that imports left for their undoing.
  private func undoFiles(_ database: TestDatabase) throws -> [String] {
    try database.folder.names().filter { $0.contains("-undo-") }
  }

  @Test func withoutATerminalAnOptionIsNeeded() throws {
    let database = try TestDatabase(#"{"a": {"b": 1}}"#)
    let file = try database.folder.write(#"{"c": 2}"#, to: "new.json")
    for words in [["import", file], ["import", "-"], ["import", file, "/a"]] {
      let outcome = try database.run(words, input: #"{"c": 2}"#)
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains("--replace") && outcome.errors.contains("--merge"))
    }
    #expect(try database.get() == #"{"a":{"b":1}}"#)
    #expect(try database.run(["import", file, "/new"]).status == 0)
    #expect(try database.get() == #"{"a":{"b":1},"new":{"c":2}}"#)
  }

  @Test(arguments: [("y\n", 0), ("n\n", 1), ("\u{3}", 130)] as [(String, Int32)])
  func atATerminalThePersonIsAsked(answer: String, status: Int32) throws {
    let database = try TestDatabase(#"{"a": {"b": 1}}"#)
    let file = try database.folder.write(#"{"c": 2}"#, to: "new.json")
    let terminal = try PseudoTerminal()
    let program = try database.start(["import", file], .init(input: .file(terminal.programEnd)))
    if status == 130 {
      // Before it asks, it may not listen to signals yet.
      try program.waitForErrors("[y/N] ")
      try program.send(SIGINT)
    } else {
      try program.answer(answer, at: terminal)
    }
    #expect(try program.wait() == status)
    if status != 130 {
      #expect(
        try program.errors().contains("Replace / and its child (13 bytes; 1 more inside those) by"))
      #expect(try program.errors().contains("`runnel undo` would bring it back"))
    }
    #expect(try database.get() == (status == 0 ? #"{"c":2}"# : #"{"a":{"b":1}}"#))
  }

  @Test func smallImportIsUndoneAndDoneAgain() throws {
    let database = try TestDatabase(#"{"a": {"b": 1}}"#)
    #expect(try database.run(["import", "-", "--replace"], input: #"{"c": 2}"#).status == 0)
    #expect(try undoFiles(database).isEmpty)
    #expect(try database.run(["undo"]).status == 0)
    #expect(try database.get() == #"{"a":{"b":1}}"#)
    #expect(try database.run(["undo", "3"]).status == 0)
    #expect(try database.get() == #"{"c":2}"#)
  }

  @Test func eachUndoGoesOneWriteFurtherBack() throws {
    let database = try TestDatabase("null")
    for value in 1...3 { #expect(try database.run(["set", "/a", "\(value)"]).status == 0) }
    for value in ["2", "1", "null"] {
      #expect(try database.run(["undo"]).status == 0)
      #expect(try database.run(["get", "/a"]).output == value + "\n")
    }
    let outcome = try database.run(["undo"])
    #expect(outcome.status == 1 && outcome.errors.contains("nothing to undo"))
    #expect(outcome.errors.contains("`runnel undo 7` takes the last undoing back"))
    // The newest undoing is undone, so the oldest write stands again, and can be undone again.
    #expect(try database.run(["undo", "7"]).status == 0)
    #expect(try database.run(["get", "/a"]).output == "1\n")
    #expect(try database.run(["undo"]).status == 0)
    #expect(try database.run(["get", "/a"]).output == "null\n")
  }

  /// A write that changes nothing is in nobody's way.
  @Test func anImportIsUndoneAfterWritesThatChangedNothing() throws {
    let database = try TestDatabase(#"{"a": {"b": 1}}"#)
    let document = Self.messages(5_000)
    #expect(try database.run(["import", "-", "--replace"], input: document).status == 0)
    for place in ["/none", "/a/none", "/none/below/it"] {
      #expect(try database.run(["remove", "--force", place]).status == 0)
    }
    #expect(try database.run(["undo"]).status == 0)
    #expect(try database.get() == #"{"a":{"b":1}}"#)
  }

  @Test func largeImportIsUndoneAndDoneAgain() throws {
    let database = try TestDatabase()
    #expect(try database.run(["import", "-"], input: Self.messages(5_000)).status == 0)
    #expect(try undoFiles(database).isEmpty)
    let before = try database.run(["export"]).output
    let outcome = try database.run(["import", "-", "--replace"], input: Self.messages(4_000))
    #expect(outcome.status == 0)
    #expect(try undoFiles(database) == ["test.db-undo-2.json"])
    #expect(outcome.errors.contains("\(database.file)-undo-2.json"))
    let history = try database.run(["history", "--limit", "1"]).output
    #expect(history.contains(#""file":"\#(database.file)-undo-2.json""#))
    let after = try database.run(["export"]).output
    #expect(after != before)
    let undone = try database.run(["undo"])
    #expect(undone.status == 0)
    #expect(undone.errors.contains("\(database.file)-undo-3.json"))
    #expect(undone.errors.contains("`runnel undo 3`") && outcome.errors.contains("`runnel undo 2`"))
    #expect(try database.run(["export"]).output == before)
    #expect(try undoFiles(database) == ["test.db-undo-3.json"])
    #expect(try database.run(["undo", "3"]).status == 0)
    #expect(try database.run(["export"]).output == after)
    #expect(try database.run(["doctor"]).status == 0)
  }

  @Test func firstImportIsUndoneToNothing() throws {
    let database = try TestDatabase("null")
    #expect(try database.run(["import", "-"], input: Self.messages(5_000)).status == 0)
    #expect(try database.run(["undo"]).status == 0)
    #expect(try database.get() == "null")
  }

  @Test func mergeKeepsWhatTheDocumentDoesNotName() throws {
    let database = try TestDatabase(#"{"a":{"b":1,"c":{"x":1,"y":2}},"d":3,"e":{"f":1}}"#)
    let document = #"{"a":{"b":10,"c":{"y":null,"z":5}},"d":{"new":true},"e":{},"g":[7]}"#
    let outcome = try database.run(["import", "-", "--merge"], input: document)
    #expect(outcome.status == 0)
    let merged = #"{"a":{"b":10,"c":{"x":1,"z":5}},"d":{"new":true},"e":{"f":1},"g":{"0":7}}"#
    #expect(try database.get() == merged)
    #expect(try database.run(["undo"]).status == 0)
    #expect(try database.get() == #"{"a":{"b":1,"c":{"x":1,"y":2}},"d":3,"e":{"f":1}}"#)
  }

  @Test(arguments: [["--replace"], ["--merge"]])
  func interruptedImportLeavesNoFile(options: [String]) throws {
    let database = try TestDatabase()
    #expect(try database.run(["import", "-"], input: Self.messages(40_000)).status == 0)
    let before = try database.run(["export"]).output
    let program = try database.start(["import", "-"] + options)
    try program.write(Self.messages(40_000).replacing("ana", with: "bo"))
    program.closeInput()
    try program.send(SIGINT)
    #expect(try program.wait() == 130)
    #expect(try undoFiles(database).isEmpty)
    #expect(try database.run(["export"]).output == before)
  }

  @Test func undoFileThatIsGoneOrChangedIsTold() throws {
    let database = try TestDatabase()
    _ = try database.run(["import", "-"], input: Self.messages(5_000))
    _ = try database.run(["import", "-", "--replace"], input: "1")
    let name = try #require(try undoFiles(database).first)
    let file = File(try check(open(database.folder.file(name), O_WRONLY | O_CLOEXEC), "open"))
    try file.write(Array("9".utf8), at: 40)
    let changed = try database.run(["undo"])
    #expect(changed.status == 1)
    #expect(changed.errors.contains("\(name) was changed since"))
    try check(unlink(database.folder.file(name)), "unlink")
    let gone = try database.run(["undo"])
    #expect(gone.status == 1)
    #expect(gone.errors.contains("\(name) is needed: No such file"))
    #expect(try database.get() == "1")
  }
}

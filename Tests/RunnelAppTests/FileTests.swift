import Foundation
import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// A folder of one test, removed with what is in it.
final class TestFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "runnel-files-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    // What is left behind is left to the system.
    try? FileManager.default.removeItem(atPath: path)
  }

  func file(_ name: String) -> String { path + "/" + name }
  func text(_ name: String) throws -> String {
    try String(contentsOfFile: file(name), encoding: .utf8)
  }
  func write(_ text: String, to name: String) throws {
    try text.write(toFile: file(name), atomically: true, encoding: .utf8)
  }
  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }
}

@Suite struct ExportingTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func export(_ app: AppDriver, _ format: String, _ name: String) {
    app.press(":")
    app.type("export \(format) \(folder.file(name))")
    app.press("Enter")
  }

  @Test func exportRemovesWhatKilledExportsToItsFileLeft() throws {
    let gone = Process()
    gone.executableURL = URL(fileURLWithPath: "/bin/true")
    try gone.run()
    gone.waitUntilExit()
    let left = ["all.csv.\(gone.processIdentifier).part", "all.csv.\(getpid()).part"]
    // The first one is of a process that runs; the others are no names of such files.
    let others = [
      "all.csv.1.part", "all.csv.0\(gone.processIdentifier).part", "all.csv.part",
      "all.csv.1a.part",
      "all.csv.\(gone.processIdentifier).part.old", "other.csv.\(gone.processIdentifier).part",
    ]
    for name in left + others { try folder.write("x", to: name) }
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    export(app, "csv", "all.csv")
    #expect(app.toast.hasPrefix("exported 6 records"), "\(app.toast)")
    for name in left { #expect(access(folder.file(name), F_OK) != 0, "\(name)") }
    for name in others { #expect(access(folder.file(name), F_OK) == 0, "\(name)") }
  }

  @Test func exportWithFormatAndFileBeginsAtOnceAndAFormAsksForTheRest() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    export(app, "csv", "all.csv")
    #expect(app.form == nil && app.toast.hasPrefix("exported 6 records"), "\(app.toast)")
    export(app, "csv", "")
    #expect(app.form?.fields[2].input.error == "name a file", "a folder is none")
  }

  /// What is known of a server's list may be a part, and old.
  @Test func listOfAServerIsReadBeforeItIsWritten() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.take(.origin(OriginFacts(.live)))
    app.press(":")
    app.type("export jsonl \(folder.file("all.jsonl"))")
    app.strike("Enter")
    #expect(app.toast.hasPrefix("reading all rows of the list from the server"), "\(app.toast)")
    #expect(try folder.names().isEmpty)
    // The rows are not known as all before the origin has answered.
    app.pump()
    #expect(app.toast.hasPrefix("exported 6 records, "), "\(app.toast)")
    export(app, "jsonl", "again.jsonl")
    #expect(app.toast.hasPrefix("exported 6 records, "), "\(app.toast)")
  }

  @Test func readingAllRowsIsStopped() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.take(.origin(OriginFacts(.live)))
    app.press(":")
    app.type("export jsonl \(folder.file("all.jsonl"))")
    app.strike("Enter C-c")
    app.pump()
    #expect(app.toast.hasPrefix("the export was stopped"), "\(app.toast)")
    #expect(try folder.names().isEmpty && app.state.files.export == nil)
  }

  @Test func connectionThatIsLostWhileAllRowsAreReadEndsTheExport() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.take(.origin(OriginFacts(.live)))
    app.press(":")
    app.type("export jsonl \(folder.file("all.jsonl"))")
    app.strike("Enter")
    app.runtime.send(.origin(OriginFacts(.waiting, since: app.state.now)))
    app.pump()
    #expect(try folder.names().isEmpty && app.state.files.export == nil)
    #expect(app.form?.fields[2].input.error?.contains("the connection was lost") == true)
  }

  @Test func withoutAConnectionItIsAskedWhetherWhatIsKnownIsWritten() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.take(.origin(OriginFacts(.waiting, since: app.state.now - 3_600_000)))
    export(app, "jsonl", "all.jsonl")
    #expect(app.line(of: "Export what is known here") != nil, "\(app.screen)")
    #expect(app.screen.contains { $0.contains("others may have changed or removed some") })
    app.wait(milliseconds: 200)
    app.press("n")
    #expect(try folder.names().isEmpty)
    #expect(app.form != nil)
    app.press("C-s")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(app.toast.hasPrefix("exported 6 records, which are those known here"), "\(app.toast)")
    #expect(try folder.text("all.jsonl").split(separator: "\n").count == 6)
  }

  @Test func windowWithoutAnEndIsWholeOnlyWithItsAnswer() throws {
    var ends: [String?] = []
    let reading = WholeReading([ListenerID(1), ListenerID(2)]) { ends.append($0) }
    reading.take([.page(hasMore: true)], from: ListenerID(1))
    reading.take([.page(hasMore: false)], from: ListenerID(1))
    reading.take([.page(hasMore: false)], from: ListenerID(1))
    #expect(ends.isEmpty && reading.isReading)
    reading.take([.page(hasMore: false)], from: ListenerID(2))
    reading.fail("late")
    #expect(ends == [nil] && !reading.isReading)
    let requests = try WholeReading.requests(of: try #require(try Fixture.views().first))
    #expect(requests.allSatisfy { $0.paging.map { $0.count + 1 < Int(UInt32.max) } == true })
  }

  @Test func wholeViewIsWrittenWhateverIsLoaded() throws {
    let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
    export(app, "jsonl", "all.jsonl")
    #expect(app.toast.hasPrefix("exported 437 records"), "\(app.toast)")
    #expect(try folder.text("all.jsonl").split(separator: "\n").count == 437)
    #expect(try folder.names() == ["all.jsonl"])
    #expect(app.state.files.export == nil)
  }

  @Test func filterHoldsForTheFileToo() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("f")
    app.type("from:bo")
    app.press("Enter")
    export(app, "csv", "bo.csv")
    let lines = try folder.text("bo.csv").components(separatedBy: "\r\n")
    #expect(lines[0] == "$key,created,from,text,pinned")
    #expect(lines.count == 4)
    #expect(lines[1].hasSuffix(",bo,The gate code is 4711,true"))
  }

  @Test func markedRowsGoFirst() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g t gg j Space Space")
    export(app, "json", "two.json")
    guard case .object(let members) = try JSONValue(parsing: folder.text("two.json")) else {
      Issue.record("it is no object")
      return
    }
    #expect(members.count == 2)
  }

  @Test func nodeOfTheTreeIsWritten() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g 3 j j")
    export(app, "markdown", "node.md")
    let text = try folder.text("node.md")
    #expect(text.hasPrefix("| $key | active | email"))
    #expect(text.split(separator: "\n").count == 7)
  }

  @Test func whatIsExportedOfTheTreeIsCountedByItsKind() throws {
    let json: JSONValue = [
      "note": "hi", "room": ["a": ["text": "x"]], "user": ["b": ["name": "y"], "c": ["name": "z"]],
    ]
    let app = try AppDriver([], json: json)
    app.press("gg")
    export(app, "json", "root.json")
    #expect(app.toast.hasPrefix("exported 2 collections and 1 value, "), "\(app.toast)")
    app.press("G")
    export(app, "json", "user.json")
    #expect(app.toast.hasPrefix("exported 2 records, "), "\(app.toast)")
    app.press("gg j")
    export(app, "jsonl", "note.jsonl")
    #expect(app.toast.hasPrefix("exported 1 value, "), "\(app.toast)")
  }

  @Test func valueIsWrittenAsItIs() throws {
    let app = try AppDriver(Fixture.views(), json: ["note": "hi"])
    app.press("g 3 j")
    export(app, "json", "note.json")
    #expect(try folder.text("note.json") == "\"hi\"\n")
  }

  @Test func fileThatIsThereIsReplacedOnlyWhenSaidTwice() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    try folder.write("mine", to: "all.json")
    export(app, "json", "all.json")
    #expect(try folder.text("all.json") == "mine")
    #expect(app.screen.contains { $0.contains("is there already") })
    app.press("C-s")
    #expect(try folder.text("all.json").hasPrefix("{"))
    #expect(app.toast.hasPrefix("exported 6 records"))
    #expect(try folder.names() == ["all.json"])
  }

  /// Notes that were read from `notes.csv`, with the first two marked.
  private func notes(columns: Int = 80) throws -> AppDriver {
    try folder.write("title\nOne\nTwo\nThree\n", to: "notes.csv")
    let view = try ViewFile(
      yaml: "views:\n  - { name: notes, path: /notes, columns: [{ field: title }] }",
      name: "test.views.yaml"
    ).views
    return try AppDriver(
      view,
      json: ["notes": ["a": ["title": "One"], "b": ["title": "Two"], "c": ["title": "Three"]]],
      columns: columns, dataFile: folder.file("notes.csv"))
  }

  @Test func markedRowsAreProposedAFileOfTheirOwnAndNotTheOneThatWasOpened() throws {
    let app = try notes()
    app.press("y e")
    #expect(app.form?.fields[2].input.editor.text == folder.file("notes.csv"), "all rows")
    app.press("Esc gg j Space Space y e")
    #expect(app.form?.fields[2].input.editor.text == folder.file("notes-marked.csv"))
    app.press("C-s")
    #expect(try folder.names() == ["notes-marked.csv", "notes.csv"])
    #expect(try folder.text("notes.csv") == "title\nOne\nTwo\nThree\n")
    #expect(try folder.text("notes-marked.csv").contains("Two"))
  }

  @Test(arguments: ["notes.csv", "./notes.csv"])
  func replacingTheOpenedFileAsksAndSaysWhatGoes(name: String) throws {
    let app = try notes()
    app.press("gg j Space y e Tab Tab C-u")
    app.type(folder.file(name))
    app.press("C-s")
    #expect(app.screen.contains { $0.contains("Replace \(folder.file(name))".prefix(20)) })
    #expect(app.screen.contains { $0.contains("all rows are written as they are now") })
    #expect(app.screen.contains { $0.contains("o writes only 1 row: all else goes from the file") })
    app.press("n")
    #expect(app.form?.fields[2].input.editor.text == folder.file(name), "the form is there again")
    #expect(try folder.text("notes.csv") == "title\nOne\nTwo\nThree\n")
    app.press("C-s")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("o")
    #expect(app.toast.hasPrefix("exported 1 record"), "\(app.toast)")
    #expect(try !folder.text("notes.csv").contains("Two"))
  }

  @Test func allRowsAreWrittenBackAfterAQuestion() throws {
    let app = try notes()
    app.press("y e C-s")
    #expect(app.screen.contains { $0.contains("all rows are written as they are now") })
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y")
    #expect(app.toast.hasPrefix("exported 3 records"), "\(app.toast)")
    #expect(app.state.layers.isEmpty)
  }

  @Test func linkToTheOpenedFileIsAskedAboutAndStaysALink() throws {
    let app = try notes()
    let link = folder.file("other.csv")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "notes.csv")
    try app.set("/notes/a/title", "Uno")
    app.press("y e Tab Tab C-u")
    app.type(link)
    app.press("C-s")
    #expect(app.screen.contains { $0.contains("all rows are written as they are now") })
    #expect(try folder.text("notes.csv") == "title\nOne\nTwo\nThree\n")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y")
    #expect(app.toast.hasPrefix("exported 3 records"), "\(app.toast)")
    #expect(try folder.text("notes.csv") == "title\nUno\nTwo\nThree\n")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "notes.csv")
    #expect(try folder.names() == ["notes.csv", "other.csv"])
  }

  @Test func hardLinkToTheOpenedFileIsRefused() throws {
    let app = try notes()
    let other = folder.file("other.csv")
    try FileManager.default.linkItem(atPath: folder.file("notes.csv"), toPath: other)
    try app.set("/notes/a/title", "Uno")
    app.press("y e Tab Tab C-u")
    app.type(other)
    for _ in 0..<2 {
      app.press("C-s")
      #expect(app.line(of: "that is another name of the opened file") != nil, "\(app.screen)")
      #expect(try folder.text("other.csv") == "title\nOne\nTwo\nThree\n")
    }
    #expect(try folder.names() == ["notes.csv", "other.csv"])
  }

  /// Notes in the database beside `notes.csv` what that file held when it was read.
  private func noteReading(_ text: String) throws {
    let session = try DatabaseSession(
      file: folder.file("notes.csv.db"), environment: Workspace.environment(now: { Fixture.now }))
    try session.keep(
      DataFileNote(known: Array(text.utf8).withUnsafeBytes { FileMark($0) }))
    try session.close()
  }

  @Test func questionSaysThatOthersChangedTheOpenedFile() throws {
    let app = try notes()
    try noteReading("title\nOne\nTwo\nThree\n")
    app.press("y e C-s")
    #expect(!app.screen.contains { $0.contains("others changed it") }, "\(app.screen)")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("n")
    try folder.write("title\nOne\nTwo\nThree\nEve\n", to: "notes.csv")
    app.press("C-s")
    #expect(app.screen.contains { $0.contains("others changed it after it was read") })
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("?")
    #expect(app.screen.contains { $0.contains("both") }, "\(app.screen)")
    app.press("Esc n")
    #expect(try folder.text("notes.csv").contains("Eve"))
  }

  @Test func changeBetweenTheQuestionAndTheAnswerIsAskedAbout() throws {
    let app = try notes()
    try noteReading("title\nOne\nTwo\nThree\n")
    app.press("y e C-s")
    try folder.write("title\nOne\nTwo\nThree\nEve\n", to: "notes.csv")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y")
    #expect(app.screen.contains { $0.contains("others changed it after it was read") })
    #expect(try folder.text("notes.csv").contains("Eve"))
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y")
    #expect(app.toast.hasPrefix("exported 3 records"), "\(app.toast)")
    #expect(try !folder.text("notes.csv").contains("Eve"))
    let session = try DatabaseSession(
      file: folder.file("notes.csv.db"), environment: Workspace.environment(now: { Fixture.now }))
    let note = try session.dataFileNote()
    try session.close()
    #expect(note?.known == FileMark(of: folder.file("notes.csv")), "it is not asked again")
  }

  @Test func reasonWhyNotIsSaidInTheForm() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    export(app, "json", "none/all.json")
    #expect(app.screen.contains { $0.contains("cannot be written") })
    #expect(try folder.names().isEmpty)
  }

  @Test func nameIsWrittenAsItIsTypedWhateverTheFormat() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("y e Tab F2 Tab C-u")
    app.type(folder.file("all.json"))
    app.type("l")
    app.press("C-s")
    #expect(try folder.names() == ["all.jsonl"])
  }

  @Test func keysOfTheHelpAreWrittenInEveryFormat() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("?")
    app.type("fold all")
    for (name, format) in [("keys.md", "markdown"), ("keys.jsonl", "jsonl")] {
      app.press("C-s")
      app.press(format == "markdown" ? "Tab Tab C-u" : "Tab F2 F2 Tab C-u")
      app.type(folder.file(name))
      app.press("C-s")
      #expect(app.toast.hasPrefix("exported 2 records"), "\(app.toast)")
      #expect(app.screen.contains { $0.contains("type to narrow:") })
    }
    let lines = try folder.text("keys.md").split(separator: "\n")
    #expect(lines.first == "| group | keys | what | action | off |")
    #expect(lines.dropFirst(2).contains { $0.contains("| zM | fold all | fold.closeAll |") })
    let first = try JSONValue(parsing: String(folder.text("keys.jsonl").prefix { $0 != "\n" }))
    #expect(first["action"] == "fold.closeAll" || first["action"] == "fold.openAll")
  }

  @Test(arguments: [("my notes.csv", "csv"), ("a.jsonl", "jsonl"), ("t.MD", "markdown")])
  func endOfTheNameTellsTheFormat(name: String, format: String) throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press(":")
    app.type("export \(folder.file(name))")
    app.press("Enter")
    guard case .form(let form)? = app.state.layers.last else {
      Issue.record("no form is open: \(app.toast)")
      return
    }
    #expect(form.fields.map(\.input.editor.text).suffix(2) == [format, folder.file(name)])
  }

  @Test func exportIsStoppedAndLeavesNothing() throws {
    let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
    app.press(":")
    app.type("export json \(folder.file("all.json"))")
    app.strike("Enter")
    app.press("C-c")
    #expect(app.toast == "the export was stopped, and left no file")
    #expect(try folder.names().isEmpty)
    #expect(!app.state.session.isLeaving)
  }
}

@Suite struct GreetingTests {
  @Test func aKeyClosesItAndDoesWhatItDoes() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("k")
    let after = app.screen
    app.press("j")
    app.runtime.send(.greeted(Greeting(.file("/data/chat.db"))))
    app.press("k")
    #expect(app.screen == after, "no key is lost")
  }

  @Test func escapeClosesItAndDoesNothingElse() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    let before = app.screen
    app.runtime.send(.greeted(Greeting(.file("/data/chat.db"))))
    #expect(app.screen.contains { $0.contains("Welcome to Runnel") })
    #expect(app.screen.contains { $0.contains("/data/chat.db") })
    app.press("Esc")
    #expect(app.toast.isEmpty)
    #expect(app.screen == before)
  }

  @Test(arguments: [(40, 10), (20, 5), (80, 24), (120, 40)])
  func itFitsEverySize(columns: Int, rows: Int) throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: columns, rows: rows)
    app.runtime.send(.greeted(Greeting(.file("/data/chat.db"))))
    #expect(app.screen.contains { $0.contains("Welcome") })
  }

  @Test func itIsShownOnce() throws {
    let folder = try TestFolder()
    let state = folder.file("state")
    let home = Greeting.Home.file("a")
    #expect(Greeting(unlessSeenIn: state, of: home) == Greeting(home))
    #expect(Greeting(unlessSeenIn: state, of: home) == nil)
    // Where nobody could tell the next time, it is not shown at all.
    #expect(Greeting(unlessSeenIn: "/dev/null/state", of: home) == nil)
  }
}

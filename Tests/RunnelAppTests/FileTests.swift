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
      #expect(app.toast.contains("is another name of the opened file: export to"), "\(app.toast)")
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

@Suite struct ImportingTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func open(_ name: String, _ app: AppDriver) {
    app.press("g t y i")
    app.type(folder.file(name))
    app.press("C-s")
    app.wait(milliseconds: 200)
  }

  @Test func keyInTheTreeSaysWhyAsThePaletteDoes() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    let reason = "records are imported into a view: go to one first"
    app.press("g3 y i")
    #expect(app.toast == reason)
    #expect(app.state.layers.isEmpty)
    app.type(":import x.csv")
    app.press("Enter")
    #expect(app.screen.contains { $0.contains(reason) })
  }

  @Test func formTellsWhatIsTaken() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g t y i")
    let words = "JSON, JSON lines or CSV, 16 MB at most; `runnel import` takes"
    #expect(app.screen.contains { $0.contains(words) })
  }

  @Test func readingTellsHowFarItIsAndStops() throws {
    var readings: [FileReading] = []
    let app = try AppDriver(
      Fixture.views(), json: Fixture.small,
      startFileTask: { if case .read(let reading) = $0 { readings.append(reading) } })
    try folder.write("$key,name\nfay,Fay\n", to: "new.csv")
    open("new.csv", app)
    let reading = try #require(readings.first)
    app.runtime.receive(.reading(reading.number, .progress(1 << 20, of: 4 << 20)))
    #expect(app.toast == "reading: 25% · C-c stops")
    app.press("y i")
    #expect(app.toast.hasPrefix("an import is under way"))
    app.press("C-c")
    #expect(app.toast == "the file is not read on; nothing was imported")
    #expect(app.screen.contains { $0.contains("Import into /user") })
    reading.run { _ in Issue.record("it was stopped") }
    // What was on its way is not taken for what is read next.
    app.press("C-s")
    #expect(readings.count == 2)
    app.runtime.receive(.reading(reading.number, .done(.failed("late"))))
    #expect(app.state.files.reading != nil)
    var last: FileReading.Report?
    readings[1].run { last = $0 }
    app.runtime.receive(.reading(readings[1].number, try #require(last)))
    #expect(app.screen.contains { $0.contains("Import 1 record") })
  }

  @Test func fileIsReadInPiecesUpToTheLimit() throws {
    let line = String(repeating: "x", count: 1023) + "\n"
    try folder.write("a\n" + String(repeating: line, count: 3 << 10), to: "large.csv")
    var reports: [FileReading.Report] = []
    FileReading(1, file: folder.file("large.csv"), texts: []).run { reports.append($0) }
    #expect(reports.count == 5)
    guard case .progress(let count, let size)? = reports.first,
      case .done(.records(let plan, _))? = reports.last
    else {
      Issue.record("\(reports.count) reports")
      return
    }
    #expect(count == 1 << 20 && size == 2 + 3 << 20 || count < size)
    #expect(plan.rows.count == 3 << 10)
    try folder.write(String(repeating: line, count: 16 << 10) + "x", to: "larger.csv")
    let reasons = try [
      "larger.csv": "more than 16 MB", "none.csv": "No such file", "": "is no file",
      "bytes.csv": "no text in UTF-8",
    ].filter { name, reason in
      if name == "bytes.csv" {
        try Data([0x61, 0x0A, 0xFF]).write(to: URL(fileURLWithPath: folder.file(name)))
      }
      var last: FileReading.Report?
      FileReading(1, file: folder.file(name), texts: []).run { last = $0 }
      guard case .done(.failed(let message))? = last else { return true }
      return !message.contains(reason)
    }
    #expect(reasons.isEmpty)
  }

  @Test func threadHandsOverWhatItRead() throws {
    try folder.write("a\n1\n", to: "small.csv")
    let (reading, writing) = (FileReading(7, file: folder.file("small.csv"), texts: []), Pipe())
    let threads = FileThreads { writing.fileHandleForWriting.write(Data([1])) }
    threads.start(.read(reading))
    var reports: [FileReport] = []
    while !reports.contains(where: { if case .reading(_, .done) = $0 { true } else { false } }) {
      // The thread rings when it has something.
      _ = try writing.fileHandleForReading.read(upToCount: 1)
      reports += threads.take()
    }
    #expect(reports.allSatisfy { if case .reading(7, _) = $0 { true } else { false } })
  }

  @Test func recordsOfAFileAreAdded() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    try folder.write("$key,name,plot\nfay,Fay,9\ngus,Gus,x\n", to: "new.csv")
    open("new.csv", app)
    #expect(app.screen.contains { $0.contains("Import 2 records") })
    app.press("y")
    #expect(app.toast == "imported 2 records")
    #expect(try app.stored("/user/fay/plot") == 9)
    // What is computed for new records is.
    #expect(try app.stored("/user/gus/joined") == .number(JSONNumber(Fixture.now + 200)))
  }

  @Test func nothingHappensWithoutAYes() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    try folder.write(#"[{"name":"Fay"}]"#, to: "new.json")
    open("new.json", app)
    app.press("n")
    #expect(app.backend.writeCount == 0)
    #expect(app.state.layers.isEmpty)
  }

  @Test func refusedRecordsAreWrittenBesideTheFile() throws {
    let app = try AppDriver(
      Fixture.gardenViews(), resources: Fixture.gardenBook(), json: Fixture.garden)
    try folder.write(
      """
      {"$key":"fay","name":"Fay","plot":4}
      {"$key":"gus","name":"Gus","plot":99}
      nonsense

      """, to: "new.jsonl")
    app.press("g t")
    open("new.jsonl", app)
    app.press("y")
    #expect(app.toast.hasPrefix("imported 1 record; 2 refused and written to"), "\(app.toast)")
    #expect(try app.stored("/user/fay/plot") == 4)
    #expect(try app.stored("/user/gus") == .null)
    let file = "new.jsonl.refused-\(app.state.now).jsonl"
    let lines = try folder.text(file).split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[1].contains(#""$key":"gus""#))
    // What was corrected in it is imported as the records that it holds.
    let corrected = lines[1].replacingOccurrences(of: "99", with: "9")
    try folder.write(corrected + "\n", to: "corrected.jsonl")
    app.press("g T")
    open("corrected.jsonl", app)
    app.press("y")
    #expect(try app.stored("/user/gus/plot") == 9)
  }

  /// The last message is true, and stays in the queue.
  @Test func refusedRecordsThatCannotBeListedAreTold() throws {
    let app = try AppDriver(
      Fixture.gardenViews(), resources: Fixture.gardenBook(), json: Fixture.garden)
    // With what is put behind it, the name is too long for a file.
    let name = String(repeating: "n", count: 240) + ".jsonl"
    try folder.write(
      """
      {"$key":"fay","name":"Fay","plot":4}
      {"$key":"gus","name":"Gus","plot":99}
      nonsense

      """, to: name)
    app.press("g t")
    open(name, app)
    app.press("y")
    #expect(app.toast.hasPrefix("imported 1 record; 2 are not stored"), "\(app.toast)")
    #expect(app.toast.contains("cannot be written") && !app.toast.contains("written to"))
    #expect(app.toast.contains("S keeps this · undo: u takes the 1 back"), "\(app.toast)")
    app.press("S")
    #expect(app.cursorLine.contains("2 records into /user"), "\(app.body)")
    app.press("r")
    #expect(app.toast.contains("take back what was stored"), "\(app.toast)")
    app.press("h u")
    #expect(try app.stored("/user/fay") == .null)
    app.press("S d y")
    #expect(app.state.writes.queue.refused.isEmpty)
  }

  @Test func lineEndsOfUnicodeWithinATextEndNoLine() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    try folder.write("{\"name\":\"Fay\u{2028}B\"}\n{\"name\":\"Gus\u{85}C\"}\n", to: "new.jsonl")
    open("new.jsonl", app)
    app.press("y")
    #expect(app.toast == "imported 2 records")
  }

  @Test func importStopsBetweenBatches() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    let lines = (0..<4500).map { "{\"$key\":\"n\($0)\",\"name\":\"N\($0)\"}\n" }.joined()
    try folder.write(lines, to: "many.jsonl")
    open("many.jsonl", app)
    app.strike("y C-c")
    app.pump()
    #expect(app.toast == "imported 2000 records, then stopped")
    #expect(try app.stored("/user/n1999/name") == "N1999")
    #expect(try app.stored("/user/n2000") == .null)
  }

  @Test func longImportIsOneStepAndFewWrites() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    let before = try app.stored("/")
    let lines = (0..<1200).map { "{\"name\":\"N\($0)\"}\n" }.joined()
    try folder.write(lines, to: "many.jsonl")
    open("many.jsonl", app)
    app.press("y")
    #expect(app.toast == "imported 1200 records")
    #expect(app.backend.writeCount == 1)
    let names = try #require(app.stored("/user").object).compactMap { $0.value["name"]?.string }
    #expect(names.filter { $0.hasPrefix("N") } == (0..<1200).map { "N\($0)" }, "in their order")
    app.press("u")
    #expect(app.toast.hasPrefix("undone: imported 1200 records"))
    #expect(try app.stored("/") == before)
    app.press("C-r")
    #expect(try app.stored("/user").object?.count == 1205)
    #expect(app.list.unreadCount + app.list.newAboveCount + app.list.newBelowCount == 0)
  }

  @Test func textsForAColumnOfNumbersAreSaidAndNumbersOffered() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    try folder.write("name;plot\nFay;3,5\nGus;1.432,85\nHal;7\n", to: "new.csv")
    open("new.csv", app)
    let words = "plot holds numbers, and gets 2 texts: 3,5; c imports 3.5"
    #expect(app.screen.contains { $0.contains(words) }, "\(app.screen)")
    app.press("c")
    #expect(app.toast == "imported 3 records")
    let plots = try #require(app.stored("/user").object).map { $0.value["plot"] }
    #expect(plots.contains(3.5) && plots.contains(1432.85) && plots.contains(7))
    app.press("u g 1")
    // A comma alone may stand between thousands: it is only said.
    try folder.write("name;plot\nIda;1,250\n", to: "doubt.csv")
    open("doubt.csv", app)
    #expect(app.screen.contains { $0.contains("plot holds numbers, and gets a text: 1,250") })
    app.press("c")
    #expect(app.toast.hasPrefix("there is no text to import as a number"), "\(app.toast)")
    app.press("y")
    #expect(try app.stored("/user").object?.contains { $0.value["plot"] == "1,250" } == true)
    // A text beside them keeps all of them texts.
    app.press("u g 1")
    try folder.write("name;plot\nJo;3,5\nKim;none\n", to: "mixed.csv")
    open("mixed.csv", app)
    let reason = "gets 2 texts: 3,5; none is no number"
    #expect(app.screen.contains { $0.contains(reason) }, "\(app.screen)")
  }

  @Test(arguments: [
    ("3,5", 3.5), ("-0,25", -0.25), ("1.432,85", 1432.85), ("007,5", nil), ("3,5 kg", nil),
    ("1,2,3", nil), ("1.43,5", nil), (",5", nil), ("3,", nil), ("3.5", nil),
  ])
  func numberWithADecimalCommaIsRead(text: String, number: Double?) {
    #expect(ImportedTexts.number(text)?.double == number)
  }

  @Test func refusedRecordStopsNoneOfThoseThatAreWrittenWithIt() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    let deep = String(repeating: "{\"a\":", count: 40) + "1" + String(repeating: "}", count: 40)
    try folder.write(
      "{\"name\":\"Fay\"}\n{\"name\":\(deep)}\n{\"name\":\"Gus\"}\n", to: "new.jsonl")
    open("new.jsonl", app)
    app.press("y")
    #expect(app.toast.hasPrefix("imported 2 records; 1 refused"), "\(app.toast)")
    let names = try #require(app.stored("/user").object).compactMap { $0.value["name"]?.string }
    #expect(names.contains("Fay") && names.contains("Gus"))
    app.press("u")
    #expect(try app.stored("/user").object?.count == 5)
  }

  @Test func importThatChangesNothingIsToldAsThat() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    try app.set("/user/bo/joined", 5)
    let user = try app.stored("/user/bo").jsonText()
    try folder.write("{\"bo\":\(user)}", to: "same.json")
    open("same.json", app)
    app.press("y")
    #expect(app.toast == "1 record read: it stood there already, nothing was changed")
    app.press("u")
    #expect(app.toast.hasPrefix("nothing to take back: imported 1 record"), "\(app.toast)")
  }

  @Test func importOfManyThatChangesNothingCountsWhatWasRead() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    for name in ["ana", "bo", "cleo", "dan", "eve"] { try app.set("/user/\(name)/joined", 5) }
    try folder.write(try app.stored("/user").jsonText(), to: "same.json")
    open("same.json", app)
    app.press("y")
    #expect(app.toast == "5 records read: all stood there already, nothing was changed")
  }

  @Test func importThatTheHistoryDoesNotKeepIsToldAsThat() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    try app.elsewhere { try $0.setHistoryLimit(0) }
    try folder.write(#"{"fay":{"name":"Fay"}}"#, to: "new.json")
    open("new.json", app)
    app.press("y")
    #expect(app.toast == "imported 1 record: the history is off, so that it cannot be taken back")
    #expect(try app.stored("/user/fay/name") == "Fay")
  }

  @Test func oneStepTakesABatchBack() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    try folder.write(#"{"fay":{"name":"Fay"},"gus":{"name":"Gus"}}"#, to: "new.json")
    open("new.json", app)
    app.press("y u")
    #expect(try app.stored("/user/fay") == .null)
    #expect(try app.stored("/user/gus") == .null)
  }

  @Test func readOnlyDatabasesTakeNothing() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, isReadOnly: true)
    app.press("g t y i")
    #expect(app.toast.contains("read-only"))
    app.send(.paste(#"{"name":"Fay"}"#))
    #expect(app.state.layers.isEmpty)
  }

  @Test func pasteFillsTheFormOfAResource() throws {
    let app = try AppDriver(
      Fixture.gardenViews(), resources: Fixture.gardenBook(), json: Fixture.garden)
    app.press("g 3")
    app.send(.paste(#"{"$key":"fay","name":"Fay","plot":99}"#))
    app.pump()
    // What is wrong is said before it is saved, and the field has the keys.
    guard case .form(let form)? = app.state.layers.last else {
      Issue.record("no form")
      return
    }
    #expect(form.fields[form.focus].label == "plot")
    #expect(form.fields[form.focus].input.error != nil)
    app.press("C-u 7 C-s")
    #expect(try app.stored("/user/fay/plot") == 7)
  }

  /// A paste of three records into the garden's users, of which two are refused.
  private func refusedPaste() throws -> AppDriver {
    let app = try Fixture.gardenApp()
    app.press("g3")
    app.send(
      .paste(
        #"{"$key":"fay","name":"Fay","plot":7}"# + "\n" + #"{"$key":"gus","name":"Gus","plot":99}"#
          + "\n" + "{broken\n"))
    app.pump()
    app.wait(milliseconds: 500)
    app.press("y")
    return app
  }

  @Test func refusedRecordsOfAPasteAreInTheQueue() throws {
    let app = try refusedPaste()
    #expect(app.toast.contains("imported 1 record; 2 refused, S lists them"))
    #expect(try app.stored("/user/fay/plot") == 7)
    #expect(app.state.writes.queue.refused.count == 2)
    app.press("S j Enter k Enter")
    #expect(app.screen.contains { $0.contains("line 2 of a paste into /user") }, "\(app.screen)")
    #expect(app.screen.contains { $0.contains("line 3 of a paste into /user") })
    #expect(app.screen.contains { $0.contains("{broken") })
    #expect(app.screen.contains { $0.contains("\"name\":\"Gus\"") })
  }

  @Test func refusedRecordOfAPasteIsCorrectedInAForm() throws {
    let app = try refusedPaste()
    app.press("S")
    app.go(to: "line 2")
    app.press("e")
    #expect(app.form?.fields.contains { $0.label == "plot" && $0.input.error != nil } == true)
    app.go(toField: "plot")
    app.press("C-u 8 C-s")
    #expect(try app.stored("/user/gus/plot") == 8)
    #expect(app.state.writes.queue.refused.count == 1)
    app.press("S")
    app.go(to: "line 3")
    app.press("e")
    #expect(app.toast.contains("it is no record"))
    app.press("r")
    #expect(app.toast.contains("it is no record"))
  }

  @Test func largePasteOfNoRecordIsRefusedAtOnce() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    let before = app.body
    app.send(.paste(String(repeating: "jd y", count: 250_000)))
    app.pump()
    #expect(app.toast.hasPrefix("a paste goes into a text field"))
    #expect(app.body == before)
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

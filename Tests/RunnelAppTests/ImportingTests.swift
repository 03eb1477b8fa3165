import Foundation
import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

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

  /// A server refuses a write as a whole: one bad record must not take the others with it.
  @Test func serverGetsTheRecordsOfAFileOneByOne() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, origin: "home")
    app.take(.origin(OriginFacts(.live)))
    let before = app.state.writes.queue.pending.count
    try folder.write("$key,name\nfay,Fay\ngus,Gus\nhal,Hal\n", to: "new.csv")
    open("new.csv", app)
    app.press("y")
    app.pump()
    let pending = app.state.writes.queue.pending.dropFirst(before)
    #expect(
      pending.map { $0.parts.map(\.path.description) } == [
        ["/user/fay"], ["/user/gus"], ["/user/hal"],
      ])
    let id = try #require(pending.dropFirst().first?.id)
    app.runtime.receive([
      .rejected(nil, write: id, TreeError(.permissionDenied, "Permission denied."))
    ])
    #expect(app.state.writes.queue.refused.count == 1)
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
    app.press("S d")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y")
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

import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Values of records that are read in full.
@Suite struct ReadingTests {
  private func reading(_ text: String, columns: Int = 80, rows: Int = 24) throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: columns, rows: rows)
    try app.set("/room/-M6/text", .string(text))
    app.press("Enter gg j j j l")
    return app
  }

  @Test func aLongTextIsWrappedAndScrolledToItsEnd() throws {
    let text = (1...400).map { "word\($0)" }.joined(separator: " ")
    let app = try reading(text)
    #expect(app.body.contains { $0.contains("word1 ") })
    app.press("C-f")
    #expect(!app.body.contains { $0.contains("word1 ") })
    app.press("G")
    #expect(app.body.contains { $0.contains("word400") })
    app.press("9 9 9 k")
    #expect(app.body.contains { $0.contains("word1 ") })
  }

  @Test func aTextOfAMegabyteIsShownInItsBeginning() throws {
    let app = try reading(String(repeating: "x", count: 1 << 20), columns: 200, rows: 50)
    #expect(app.body[0].contains("1 MiB"))
    app.press("G")
    #expect(app.body.contains { $0.contains("these are the first 65536 characters") })
    app.press("c G")
    #expect(app.body.contains { $0.contains("these are the first 4096") })
  }

  @Test func whatOthersChangeIsSeenAndWhatTheyRemoveIsSaid() throws {
    let app = try reading("first")
    try app.set("/room/-M6/text", "second")
    #expect(app.body.contains { $0.contains("second") })
    try app.remove("/room/-M6/text")
    #expect(app.body.contains { $0.contains("this value is gone") })
    app.press("Esc")
    #expect(app.record != nil)
  }

  @Test(arguments: [(20, 5), (40, 10), (120, 40)])
  func anySizeShowsTheBeginning(columns: Int, rows: Int) throws {
    let app = try reading(
      "begin " + String(repeating: "漢字 ", count: 300), columns: columns, rows: rows)
    #expect(app.screen.contains { $0.contains(rows == 5 ? "/room" : "begin") })
    app.press("c")
    #expect(app.screen.contains { $0.contains(rows == 5 ? "/room" : "U+0062") })
  }

  @Test func timesAreWrittenOutInRecords() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("Enter")
    #expect(app.body.contains { $0.contains("1787595300000  2026-08-24 18:15") })
  }

  @Test func enterReadsWhereNothingIsWritten() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, isReadOnly: true)
    app.press("Enter gg j Enter")
    #expect(app.record?.reading != nil)
  }

  @Test func readingNeverEdits() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("Enter gg l")
    #expect(app.toast == "there is nothing to read here")
    #expect(!app.state.hasEditor)
  }

  @Test func objectsWithFewValuesStandAmongTheFields() throws {
    let app = try AppDriver(
      Fixture.views(), json: ["room": ["-M1": ["text": "a", "meta": ["x": 1, "y": ["z": 2]]]]])
    app.press("Enter")
    #expect(app.body.contains { $0.contains("meta/y/z") })
  }
}

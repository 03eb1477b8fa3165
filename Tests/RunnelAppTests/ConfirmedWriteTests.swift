import RunnelBase
import RunnelTerminal
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// A profile with `confirm` asks before data are replaced.
@Suite struct ConfirmedWriteTests {
  private static let place = "/user/ana/email"

  private func open(confirms: Bool = true) throws -> AppDriver {
    try AppDriver(
      Fixture.views(), json: Fixture.small,
      profile: ProfileMark("prod", color: .red, confirms: confirms), isRecording: true)
  }

  /// Types another address into the record of Ana, and saves it.
  private func edit(_ app: AppDriver) {
    app.press("g2 gg j e C-u")
    app.type("anna@example.org")
    app.press("Enter")
  }

  private func answer(_ app: AppDriver, _ key: String) {
    app.wait(milliseconds: 200)
    app.press(key)
  }

  @Test func fieldIsWrittenOnlyAfterAYes() throws {
    let app = try open()
    edit(app)
    #expect(app.line(of: "Write to prod") != nil)
    #expect(app.line(of: Self.place) != nil)
    #expect(try app.stored(Self.place) == "ana@example.org")
    answer(app, "y")
    #expect(try app.stored(Self.place) == "anna@example.org")
    #expect(app.line(of: "Write to prod") == nil)
    #expect(app.state.writes.held.isEmpty)
  }

  @Test func undoAndRedoAskToo() throws {
    let app = try open()
    edit(app)
    answer(app, "y")
    app.press("u")
    #expect(app.line(of: "Undo in prod") != nil)
    #expect(app.line(of: "changed \(Self.place)") != nil)
    #expect(try app.stored(Self.place) == "anna@example.org")
    answer(app, "n")
    #expect(try app.stored(Self.place) == "anna@example.org")
    app.press("u")
    answer(app, "y")
    #expect(try app.stored(Self.place) == "ana@example.org")
    app.press("C-r")
    #expect(app.line(of: "Redo in prod") != nil)
    #expect(try app.stored(Self.place) == "ana@example.org")
    answer(app, "y")
    #expect(try app.stored(Self.place) == "anna@example.org")
  }

  @Test func severalStepsOfUndoAreOneQuestion() throws {
    let app = try open()
    app.press("a")
    for text in ["one", "two", "three"] {
      app.type(text)
      app.press("Enter")
    }
    app.press("Esc 2 u")
    #expect(app.line(of: "and 1 more step") != nil)
    answer(app, "y")
    #expect(app.line(of: "Undo in prod") == nil)
    #expect(app.line(of: "one") != nil && app.line(of: "two") == nil)
  }

  @Test func undoOfAWriteOfTheHistoryAsksToo() throws {
    let app = try open()
    edit(app)
    answer(app, "y")
    app.press("gH u")
    #expect(app.line(of: "Undo in prod") != nil)
    #expect(try app.stored(Self.place) == "anna@example.org")
    answer(app, "y")
    #expect(try app.stored(Self.place) == "ana@example.org")
  }

  @Test func textComesBackAfterANo() throws {
    let app = try open()
    edit(app)
    answer(app, "n")
    #expect(try app.stored(Self.place) == "ana@example.org")
    #expect(app.toast == "not written")
    #expect(app.line(of: "anna@example.org") != nil)
    #expect(app.state.writes.queue.refused.isEmpty)
    // The field is open, so the text can be typed on.
    app.type(".uk")
    app.press("Enter")
    answer(app, "y")
    #expect(try app.stored(Self.place) == "anna@example.org.uk")
  }

  @Test func otherProfilesWriteAtOnce() throws {
    let app = try open(confirms: false)
    edit(app)
    #expect(app.line(of: "Write to prod") == nil)
    #expect(try app.stored(Self.place) == "anna@example.org")
  }

  @Test func newRecordNeedsNoQuestion() throws {
    let app = try open()
    app.press("a")
    app.type("hello")
    app.press("Enter")
    #expect(app.line(of: "Write to prod") == nil)
    #expect(app.line(of: "hello") != nil)
  }

  @Test func recordedSessionIsReplayed() throws {
    let app = try open()
    edit(app)
    let asked = try SessionReplay(parsing: app.recording, file: "recording")
    guard case .question(let question)? = asked.state.layers.last else {
      Issue.record("The replay has no question.")
      return
    }
    #expect(question.dialog.title == "Write to prod")
    answer(app, "y")
    let replay = try SessionReplay(parsing: app.recording, file: "recording")
    #expect(replay.state.layers == app.state.layers)
  }
}

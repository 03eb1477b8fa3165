import RunnelDatabase
import RunnelTerminal
import Testing

@testable import RunnelWorkspace

/// What leaving would lose is said before.
@Suite struct LeavingTests {
  private func app() throws -> AppDriver { try AppDriver(Fixture.views(), json: Fixture.small) }

  @Test(arguments: ["Q", "q"])
  func leavingAsksAboutADraft(keys: String) throws {
    let app = try app()
    app.press("a h i Esc \(keys)")
    #expect(!app.state.session.isLeaving)
    #expect(app.screen.contains { $0.contains("a draft in Chat: hi") })
    app.press("n")
    #expect(app.state.layers.isEmpty)
    app.press(keys)
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y")
    #expect(app.state.session.isLeaving)
  }

  @Test func leavingAsksNothingAboutADraftThatComesBack() throws {
    let app = try app()
    app.press("a h i Esc")
    var state = app.state
    state.session.isKept = true
    state.perform(.appQuit, count: nil)
    #expect(state.session.isLeaving)
  }

  @Test func leavingAsksAboutRefusedWritesOnce() throws {
    let app = try app()
    app.backend.refusal = DatabaseError(.diskFull, "the disk is full")
    app.press("a h i Enter Esc g2 gg j j d")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y Q")
    #expect(!app.state.session.isLeaving)
    #expect(app.screen.contains { $0.contains("2 writes that were not done: S lists them") })
    #expect(!app.screen.contains { $0.contains("a draft in") }, "it is one of the two")
  }

  /// The header counts both.
  @Test func refusedTextThatComesBackInItsLineIsNotLost() throws {
    let app = try app()
    app.backend.refusal = DatabaseError(.diskFull, "the disk is full")
    app.press("a h i Enter Esc")
    var state = app.state
    state.session.isKept = true
    state.perform(.appQuit, count: nil)
    #expect(state.session.isLeaving)
    app.press("g2 gg j j d")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y")
    state = app.state
    state.session.isKept = true
    state.perform(.appQuit, count: nil)
    guard case .question(let question)? = state.layers.last else {
      Issue.record("nothing was asked")
      return
    }
    let asked = question.dialog.message.map(\.text)
    #expect(
      asked.contains("1 write that was not done: S lists it · 1 other is kept"), "\(asked)")
  }

  @Test func leavingDuringAnImportTellsHowManyAreStoredAndHowToGoOn() throws {
    let lines = (0..<5).map { "{\"text\":\"\($0)\"}" }.joined(separator: "\n")
    var progress = ImportProgress(
      try ImportPlan(lines, as: .jsonl), file: "in.jsonl", view: 0)
    (progress.next, progress.doneCount) = (3, 2)
    var state = try AppDriver(
      Fixture.views(), json: Fixture.small, columns: 40, rows: 10
    ).state
    state.files.importing = progress
    state.perform(.appQuit, count: nil)
    guard case .question(let question)? = state.layers.last else {
      Issue.record("nothing was asked")
      return
    }
    let asked = question.dialog.message.map(\.text)
    #expect(asked.contains("2 of 5 records are stored, and stay"), "\(asked)")
    // What follows has pages where there is no room, and a key leads to each.
    var shown = ""
    for _ in 0..<4 {
      state.perform(.helpOpen, count: nil)
      shown += AppScreen(state, glyphs: .unicode).draw().textLines().joined(separator: " ")
    }
    for words in ["after record 3", "stay: C-c", "u undoes"] {
      #expect(shown.contains(words), "\(words): \(shown)")
    }
    // Progress alone is no other question, so that it can be answered.
    let openedAt = question.openedAt
    state.now += 60_000
    state.files.importing?.doneCount = 3
    Leaving.refreshQuestion(&state)
    guard case .question(let later)? = state.layers.last else { return }
    #expect(later.openedAt == openedAt)
  }

  @Test func leavingAsksAboutARunningExport() throws {
    let app = try app()
    app.take(.origin(OriginFacts(.live)))
    app.press(":")
    app.type("export jsonl /tmp/never-written.jsonl")
    app.strike("Enter q")
    #expect(!app.state.session.isLeaving)
    let lines = app.screen
    #expect(
      lines.contains { $0.contains("the export to /tmp/never-written.jsonl, which is under way") },
      "\(lines)")
    app.strike("n C-c")
    app.pump()
    #expect(app.toast.hasPrefix("the export was stopped"), "\(app.toast)")
  }

  /// An export that goes on until the test ends it, and the question about it.
  private func asked(_ keys: String = "q") throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, startFileTask: { _ in })
    app.press(":")
    app.type("export jsonl /tmp/never-written.jsonl")
    app.strike("Enter")
    app.press(keys)
    #expect(app.screen.contains { $0.contains("the export to /tmp/never-written.jsonl") })
    return app
  }

  private static let exported = AppAction.exported(
    .done(file: "x.jsonl", count: ExportedCount(records: 3), bytes: 9, cutCount: 0))

  @Test func questionClosesWhenTheWorkThatItNamesHasEnded() throws {
    let app = try asked()
    app.wait(milliseconds: 500)
    app.take(Self.exported)
    #expect(app.state.layers.isEmpty)
    #expect(app.toast == "the export has ended: q leaves")
    // Keys that were on their way to the question do nothing.
    app.press("y q Q")
    #expect(!app.state.session.isLeaving)
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("q")
    #expect(app.state.session.isLeaving)
  }

  @Test func failureOfTheWorkIsReadBeforeTheEndOfItsQuestion() throws {
    let app = try asked()
    app.take(.exported(.failed("the disk is full")))
    #expect(app.state.layers.isEmpty)
    let words = "the disk is full · the export has ended: q leaves"
    #expect(app.toast.hasSuffix(words), "\(app.toast)")
  }

  @Test func questionGoesOnAboutWhatIsLeft() throws {
    let app = try asked("a h i Esc q")
    app.press("?")
    app.wait(milliseconds: 500)
    app.take(Self.exported)
    #expect(!app.screen.contains { $0.contains("the export to") })
    #expect(app.screen.contains { $0.contains("a draft in Chat: hi") })
    #expect(app.screen.contains { $0.contains("these texts were never written") })
    app.press("y")
    #expect(!app.state.session.isLeaving, "it was struck for what was asked before")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y")
    #expect(app.state.session.isLeaving)
  }

  @Test func leavingAsksAboutACopyThatIsBeingSaved() throws {
    let app = try app()
    var state = app.state
    state.files.copy = CopySaving(startedAt: 0)
    state.perform(.appQuit, count: nil)
    #expect(!state.session.isLeaving)
    StateReducer.handle(&state, AppAction.savingCopy(.stopped))
    #expect(state.layers.isEmpty)
    #expect(state.toast?.toast.text == "the saving of the copy has ended: q leaves")
  }

  @Test func questionNamesWhatEnterAnswers() throws {
    let app = try app()
    app.press("a h i Esc Q")
    #expect(app.screen.contains { $0.contains("y leave  n stay (Enter)") }, "\(app.screen)")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("Enter")
    #expect(app.state.layers.isEmpty && !app.state.session.isLeaving)
  }

  @Test func interruptingTwiceAsksToo() throws {
    let app = try app()
    app.press("a h i Esc C-c C-c")
    #expect(!app.state.session.isLeaving)
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y")
    #expect(app.state.session.isLeaving)
  }

  @Test func leavingAsksNothingOnceAllIsSent() throws {
    let app = try app()
    app.press("a h i Enter Esc Q")
    #expect(app.state.session.isLeaving)
  }
}

import RunnelDatabase
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

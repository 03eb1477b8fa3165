import Foundation
import RunnelBase
import RunnelDatabase
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The text of the user's editor that was not written is kept in the session, and listed the next time.
@Suite struct OutsideTextTests {
  /// The workspace after the editor has saved a text over what others wrote at the edited field; null removes the
  /// record.
  private func conflict(with theirs: JSONValue) throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j")
    let path = theirs == .null ? "/user/ana" : "/user/ana/plot"
    app.editor = { text in
      try? app.elsewhereUnseen { _ = try $0.write(.set(Path(path), theirs)) }
      return (text.replacingOccurrences(of: "\"plot\": 3", with: "\"plot\": 8"), 0)
    }
    app.press("E")
    return app
  }

  /// The workspace that is started after the first one was killed.
  private func again(_ app: AppDriver) throws -> AppDriver {
    let session = try #require(SessionState(SessionState.session(app.state).json))
    return try AppDriver(Fixture.views(), json: app.stored("/"), restoring: session)
  }

  @Test(arguments: [50, .null] as [JSONValue])
  func conflictIsListedAgainAfterTheProgramWasKilled(theirs: JSONValue) throws {
    let app = try conflict(with: theirs)
    #expect(app.line(of: "theirs") != nil)
    let again = try again(app)
    #expect(again.state.writes.queue.refused.count == 1)
    again.press("S")
    #expect(again.line(of: "/user/ana") != nil, "\(again.body)")
    again.press("c")
    #expect(again.line(of: "theirs") != nil, "\(again.body)")
    again.press("M C-s")
    #expect(try again.stored("/user/ana/plot") == 8)
    #expect(again.state.writes.queue.refused.isEmpty)
    #expect(SessionState.session(again.state).drafts.isEmpty)
  }

  @Test func decidedLaterItIsStillKept() throws {
    let app = try conflict(with: 50)
    app.press("h")
    #expect(app.toast.contains("kept as it is"))
    var state = app.state
    state.session.isKept = true
    state.perform(.appQuit, count: nil)
    #expect(state.session.isLeaving, "what the session keeps is not lost")
    #expect(try self.again(app).state.writes.queue.refused.count == 1)
  }

  @Test func textIsEditedAgainUponWhatItBeganWith() throws {
    let again = try again(conflict(with: 50))
    var shown = ""
    again.editor = { text in
      shown = text
      return (text.replacingOccurrences(of: "\"plot\": 8", with: "\"plot\": 9"), 0)
    }
    again.press("S e")
    #expect(shown.hasPrefix("#! ") && shown.contains("\"plot\": 8"))
    #expect(try again.stored("/user/ana/plot") == 50)
    #expect(again.line(of: "theirs  50") != nil, "\(again.body)")
    again.press("m C-s")
    #expect(try again.stored("/user/ana/plot") == 9)
    #expect(again.state.writes.queue.refused.isEmpty)
  }

  @Test func droppedTextIsKeptNoLonger() throws {
    let again = try again(conflict(with: 50))
    again.press("S d")
    again.wait(milliseconds: Question.graceMilliseconds)
    again.press("y")
    #expect(again.state.writes.queue.refused.isEmpty)
    #expect(SessionState.session(again.state).drafts.isEmpty)
  }

  @Test func writtenTextIsNoDraft() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j")
    app.editor = { ($0.replacingOccurrences(of: "\"plot\": 3", with: "\"plot\": 8"), 0) }
    app.press("E")
    #expect(try app.stored("/user/ana/plot") == 8)
    #expect(SessionState.session(app.state).drafts.isEmpty, "it is on disk")
  }

  /// What was chosen is text, too: others may write once more before it is on disk.
  @Test func choicesThatWereRefusedAreKept() throws {
    let app = try conflict(with: 50)
    try app.elsewhereUnseen { _ = try $0.write(.set(Path("/user/ana/plot"), 60)) }
    app.press("m C-s")
    #expect(try app.stored("/user/ana/plot") == 60)
    let again = try again(app)
    again.press("S c m C-s")
    #expect(try again.stored("/user/ana/plot") == 8)
  }

  @Test func draftHoldsTheEditAndItsText() throws {
    let edit = OutsideEdit(path: try Path("/a"), original: ["n": 1])
    let draft = try #require(Draft(edit, text: "{\"n\": 2}"))
    #expect(Draft(draft.json) == draft)
    #expect(draft.outside?.edit == edit)
    #expect(draft.outside?.text == "{\"n\": 2}")
  }

  @Test func tooLargeATextIsNotKept() throws {
    let long = String(repeating: "a", count: Draft.outsideBytesMax)
    let edit = OutsideEdit(path: try Path("/a"), original: ["n": 1])
    #expect(Draft(edit, text: "\"\(long)\"") == nil)
  }

  /// Large texts take no room from other drafts.
  @Test func newestTextsAreKept() throws {
    let long = String(repeating: "a", count: Draft.outsideBytesMax / 2)
    let drafts = try (0..<3).map { number in
      let edit = OutsideEdit(path: try Path("/a\(number)"), original: .null)
      return try #require(Draft(edit, text: "\"\(long.dropLast(100))\""))
    }
    #expect(Draft.fitting(drafts).map(\.subject.path.description) == ["/a1", "/a2"])
  }
}

import RunnelBase
import RunnelTerminal
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Text is never cut: what is too long for a line is not opened in it, and what does not fit is said.
@Suite struct LongTextTests {
  private let most = LineEditor.characterCountMax

  /// The chat with a text of so many characters in its newest message.
  private func chat(_ count: Int) throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    try app.set("/room/-M6/text", .string(String(repeating: "x", count: count)))
    return app
  }

  @Test func textThatIsTooLongIsNotOpenedInItsLine() throws {
    let app = try chat(100_000)
    app.press("Enter")
    app.go(to: "text")
    app.press("e")
    #expect(app.record?.edit == nil)
    #expect(app.toast.contains("too long to be edited here (100000 characters, 65536 at most)"))
    #expect(app.toast.contains("E opens it in your editor"))
  }

  @Test func editKeyOfAListSaysThatATextIsTooLong() throws {
    let app = try chat(100_000)
    app.press("e")
    #expect(app.record?.edit == nil)
    #expect(app.toast.contains("E opens it in your editor"))
  }

  @Test func treeSaysThatATextIsTooLong() throws {
    let app = try chat(100_000)
    app.press("g3 j l")
    app.go(to: "-M6")
    app.press("l")
    app.go(to: "text")
    app.press("e")
    #expect(app.form == nil)
    #expect(app.toast.contains("E opens it in your editor"))
  }

  @Test func formLeavesATextOutThatIsTooLong() throws {
    let app = try Fixture.gardenApp()
    let long = JSONValue.string(String(repeating: "x", count: 70_000))
    try app.set("/user/ana/story", long)
    app.press("g3 gg j i")
    #expect(app.form?.fields.contains { $0.label == "story" } == false)
    #expect(app.screen.contains { $0.contains("story is too long for a form: E edits it") })
    app.press("C-u")
    app.type("Anna")
    app.press("C-s")
    #expect(try app.stored("/user/ana/name") == "Anna")
    #expect(try app.stored("/user/ana/story") == long)
  }

  @Test func keyThatDoesNotFitIsRefusedVisibly() throws {
    let app = try chat(most)
    app.press("e Z")
    #expect(app.record?.edit?.input.error?.contains("the field is full") == true)
    #expect(app.toast.contains("a character does not fit"))
    app.press("Enter")
    #expect(app.backend.writeCount == 0)
    app.press("e Backspace Z Enter")
    #expect(
      try app.stored("/room/-M6/text") == .string(String(repeating: "x", count: most - 1) + "Z"))
  }

  @Test func pasteThatDoesNotFitIsNotTakenInPart() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("a")
    app.type("abc")
    app.send(.paste(String(repeating: "x", count: most)))
    app.pump()
    #expect(app.list.line.draft == "abc")
    #expect(app.toast.contains("65536 characters do not fit"))
    #expect(app.toast.contains("there is room for 65533"))
    #expect(app.composeRule.contains("do not fit"))
    app.type("d")
    #expect(app.list.line.draft == "abcd")
    #expect(!app.composeRule.contains("do not fit"))
  }

  @Test(arguments: ["f", "/", ":", "?"])
  func everyLineSaysWhatDoesNotFit(key: String) throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press(key)
    app.send(.paste(String(repeating: "x", count: most + 1)))
    app.pump()
    #expect(app.state.editorInFront?.text.isEmpty == true)
    #expect(app.toast.contains("65537 characters do not fit"))
  }

  @Test func pasteBeyondWhatIsTakenIsSaid() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("a")
    app.send(.pasteTooLong(2_000_000))
    #expect(app.toast.contains("not pasted: 2000000 characters, 1048576 are taken at most"))
    #expect(app.list.line.draft.isEmpty)
  }

  @Test func lineEndsThatBecomeBlanksAreSaid() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j Enter e C-u")
    app.send(.paste("one\ntwo\nthree"))
    app.pump()
    #expect(app.record?.edit?.input.editor.text == "one two three")
    #expect(app.toast == "2 line ends of the paste became blanks: this field has one line")
    app.press("C-u")
    app.wait(milliseconds: 10_000)
    app.send(.paste("one"))
    app.pump()
    #expect(app.toast.isEmpty)
  }
}

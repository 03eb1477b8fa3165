import RunnelBase
import Testing

@testable import RunnelTerminal

@Suite struct LineEditorTests {
  /// A field with the cursor at `|`.
  private func field(_ marked: String, isMultiline: Bool = false) -> LineEditor {
    let parts = marked.split(separator: "|", omittingEmptySubsequences: false)
    var editor = LineEditor(parts.joined(), isMultiline: isMultiline)
    for _ in 0..<(editor.text.count - parts[0].count) { _ = editor.perform(.inputLeft) }
    return editor
  }

  private func marked(_ editor: LineEditor) -> String {
    editor.textBeforeCursor + "|" + editor.text.dropFirst(editor.cursor)
  }

  /// The field after actions.
  private func after(
    _ start: String, _ actions: ActionID..., isMultiline: Bool = false
  ) -> String {
    var editor = field(start, isMultiline: isMultiline)
    for action in actions { _ = editor.perform(action) }
    return marked(editor)
  }

  // MARK: - Movement and deletion

  @Test func cursorMovesByCharacterWordAndLine() {
    #expect(after("ab|c", .inputLeft) == "a|bc")
    #expect(after("|abc", .inputLeft) == "|abc")
    #expect(after("abc|", .inputRight) == "abc|")
    #expect(after("one two|", .inputWordLeft) == "one |two")
    #expect(after("one |two", .inputWordLeft) == "|one two")
    #expect(after("one| two.", .inputWordRight) == "one two|.")
    #expect(after("a|b\ncd", .inputLineEnd, isMultiline: true) == "ab|\ncd")
    #expect(after("ab\nc|d", .inputLineStart, isMultiline: true) == "ab\n|cd")
  }

  @Test func deletionsTakeCharacters() {
    #expect(after("ab|c", .inputDeleteBack) == "a|c")
    #expect(after("ab|c", .inputDeleteForward) == "ab|")
    #expect(after("|", .inputDeleteBack, .inputDeleteForward) == "|")
  }

  @Test func killedTextCanBePutBack() {
    #expect(after("one two|", .inputKillWordBack) == "one |")
    #expect(after("one| two", .inputKillWord, .inputLineStart, .inputYank) == " two|one")
    #expect(after("one| two", .inputKillToStart) == "| two")
    #expect(after("one| two", .inputKillToEnd) == "one|")
    #expect(after("ab|\ncd", .inputKillToEnd, isMultiline: true) == "ab|cd")
  }

  @Test func killsInARowArePutBackAsOne() {
    #expect(
      after("a b c d|", .inputKillWordBack, .inputKillWordBack, .inputYank) == "a b c d|")
    #expect(
      after("a| b c", .inputKillWord, .inputKillWord, .inputLineStart, .inputYank) == " b c|a")
    #expect(
      after("a b c|", .inputKillWordBack, .inputLeft, .inputKillToEnd, .inputYank) == "a b |")
  }

  @Test func transposingSwapsAndStepsOn() {
    #expect(after("a|bc", .inputTranspose) == "ba|c")
    #expect(after("abc|", .inputTranspose) == "acb|")
    #expect(after("|abc", .inputTranspose) == "|abc")
    #expect(after("a|", .inputTranspose) == "a|")
  }

  @Test func linesAreMovedOverAndTheEndsAreTheOwners() {
    #expect(after("abc\nd\nef|g", .inputPrevious, isMultiline: true) == "abc\nd|\nefg")
    #expect(
      after("abc\nd\nef|g", .inputPrevious, .inputPrevious, isMultiline: true) == "ab|c\nd\nefg")
    #expect(after("a|b\ncd", .inputNext, isMultiline: true) == "ab\nc|d")
    var editor = field("one line|")
    #expect([editor.perform(.inputPrevious), editor.perform(.inputNext)] == [false, false])
  }

  @Test func actionsOfOthersAreRefused() {
    var editor = field("x|")
    let performed = ["input.accept", "input.newline", "input.reveal", "row.down"].map {
      editor.perform(ActionID($0))
    }
    #expect(performed == [false, false, false, false])
    #expect(marked(editor) == "x|")
  }

  // MARK: - Typing

  @Test func typedCharactersJoinWhatTheyBelongTo() {
    var editor = field("cafe|!")
    editor.insert("\u{301}")
    #expect(editor.text == "café!")
    #expect(editor.cursor == 4)
    _ = editor.perform(.inputUndo)
    #expect(marked(editor) == "cafe|!")
    // Letters of a flag, one by one, and a deletion that brings them together.
    editor = LineEditor()
    for letter in ["\u{1F1EB}", "x", "\u{1F1EE}"] { editor.insert(letter) }
    _ = editor.perform(.inputLeft)
    _ = editor.perform(.inputDeleteBack)
    #expect(editor.text == "\u{1F1EB}\u{1F1EE}")
    #expect(editor.text.count == 1)
    #expect(editor.buffer.characters.count == 1)
    _ = editor.perform(.inputUndo)
    #expect(editor.text == "\u{1F1EB}x\u{1F1EE}")
  }

  @Test func pastedTextFitsTheField() {
    var editor = LineEditor()
    editor.insert("a\r\nb\u{1B}[31m\tc\u{7F}")
    #expect(editor.text == "a b[31m\tc")
    editor = LineEditor(isMultiline: true)
    editor.insert("a\r\nb")
    #expect(editor.text == "a\nb")
  }

  @Test func existingTextIsKeptAsItIs() {
    let text = "a\u{0}\r\nb\u{1B}"
    #expect(LineEditor(text).text == text)
  }

  @Test func lengthIsLimited() {
    let most = LineEditor.characterCountMax
    var editor = LineEditor(String(repeating: "x", count: most - 1))
    editor.insert("yy")
    #expect(editor.text.count == most - 1, "nothing is taken of what does not fit")
    #expect(editor.overflow?.count == 2)
    #expect(editor.overflow?.room == 1)
    editor.insert("y")
    #expect(editor.text.hasSuffix("xy"))
    #expect(editor.overflow == nil)
  }

  @Test func textThatIsTooLongToBeTypedIsKeptWhole() {
    let text = String(repeating: "x", count: LineEditor.characterCountMax + 5)
    var editor = LineEditor(text)
    #expect(LineEditor.isTooLong(text))
    #expect(!LineEditor.isTooLong(String(text.dropLast(5))))
    editor.insert("y")
    #expect(editor.text == text)
    #expect(editor.overflow?.room == 0)
    _ = editor.perform(.inputDeleteBack)
    #expect(editor.text == String(text.dropLast()))
  }

  @Test func completionReplacesARange() {
    var editor = field("from:b|")
    editor.replace(5..<99, with: "bo ")
    #expect(marked(editor) == "from:bo |")
    editor.replaceText("other")
    #expect(marked(editor) == "other|")
    _ = editor.perform(.inputUndo)
    #expect(marked(editor) == "from:bo |")
  }

  // MARK: - Undo

  @Test func typingIsUndoneWordByWord() {
    var editor = LineEditor()
    for character in "one two" { editor.insert(String(character)) }
    _ = editor.perform(.inputUndo)
    #expect(editor.text == "one ")
    _ = editor.perform(.inputUndo)
    #expect(editor.text.isEmpty)
    _ = editor.perform(.inputUndo)
    _ = editor.perform(.inputRedo)
    #expect(editor.text == "one ")
  }

  @Test func movingEndsAStepOfTyping() {
    var editor = LineEditor()
    editor.insert("a")
    editor.insert("b")
    _ = editor.perform(.inputLeft)
    _ = editor.perform(.inputRight)
    editor.insert("c")
    _ = editor.perform(.inputUndo)
    #expect(editor.text == "ab")
  }

  @Test func typingForgetsWhatCouldBeRedone() {
    var editor = field("ab|")
    _ = editor.perform(.inputDeleteBack)
    _ = editor.perform(.inputUndo)
    editor.insert("c")
    _ = editor.perform(.inputRedo)
    #expect(editor.text == "abc")
  }

  @Test func undoIsLimited() {
    var editor = LineEditor(String(repeating: "x", count: 300))
    for _ in 0..<300 { _ = editor.perform(.inputDeleteBack) }
    for _ in 0..<300 { _ = editor.perform(.inputUndo) }
    #expect(editor.text.count == EditBuffer.undoCountMax)
  }

  @Test(arguments: 0..<30 as Range<UInt64>)
  func undoingEverythingGivesTheStartBack(seed: UInt64) {
    var generator = SeededRandom(seed: seed)
    let start = "añ漢👍🏽 e\u{301}\n\u{1F1EB}\u{1F1EE}end"
    var editor = LineEditor(start, isMultiline: true)
    let actions = TextFieldBindings.all.map(\.action).filter {
      $0 != .inputUndo && $0 != .inputRedo
    }
    let pieces = ["x", " ", "\u{301}", "\u{1F1EB}", "漢", "\u{200D}", "two words"]
    for _ in 0..<120 {
      if Bool.random(using: &generator) {
        editor.insert(pieces.randomElement(using: &generator) ?? "")
      } else {
        _ = editor.perform(actions.randomElement(using: &generator) ?? .inputLeft)
      }
    }
    let end = editor.text
    for _ in 0..<200 { _ = editor.perform(.inputUndo) }
    #expect(Array(editor.text.unicodeScalars) == Array(start.unicodeScalars), "seed \(seed)")
    for _ in 0..<200 { _ = editor.perform(.inputRedo) }
    #expect(Array(editor.text.unicodeScalars) == Array(end.unicodeScalars), "seed \(seed)")
  }

  // MARK: - Drawing

  private func drawn(
    _ editor: LineEditor, width: Int, height: Int = 1, label: String = "", error: String? = nil
  ) -> Canvas {
    var canvas = Canvas(size: TerminalSize(columns: width, rows: height))
    editor.draw(into: &canvas, rect: canvas.bounds, label: label, error: error)
    return canvas
  }

  @Test func fieldIsDrawnWithItsLabelAndCursor() {
    let canvas = drawn(field("ab|c"), width: 20, label: "name")
    #expect(canvas.textLines() == ["name abc"])
    #expect(canvas.cursor == Position(row: 0, column: 7))
  }

  @Test func errorTakesTheLineUnderTheField() {
    let canvas = drawn(field("x|"), width: 20, height: 2, error: "not a number")
    #expect(canvas.textLines() == ["x", "! not a number"])
    #expect(canvas.roleLines()[0].hasPrefix(String(StyleRole.inputInvalid.letter)))
  }

  @Test func secretIsHiddenUntilRevealed() {
    var editor = LineEditor("pässword", isSecret: true)
    #expect(drawn(editor, width: 20).textLines() == ["••••••••"])
    _ = editor.perform(.inputReveal)
    #expect(drawn(editor, width: 20).textLines() == ["pässword"])
  }

  @Test func longTextShowsWhereTheCursorIs() {
    let text = "0123456789abcdefghijklmnop"
    #expect(drawn(field("|" + text), width: 10).textLines() == ["012345678>"])
    let end = drawn(field(text + "|"), width: 10)
    #expect(end.textLines().first?.hasPrefix("<") == true)
    #expect(end.textLines().first?.hasSuffix("nop") == true)
  }

  @Test(arguments: 1...12)
  func cursorIsAlwaysSeenOnItsCharacter(width: Int) {
    let text = "ab漢字cdefghi漢j\u{7}klmn👍🏽op"
    var editor = LineEditor(text)
    _ = editor.perform(.inputLineStart)
    for index in 0...text.count {
      let canvas = drawn(editor, width: width)
      let cursor = canvas.cursor
      #expect(cursor.map { canvas.bounds.contains($0) } == true, "at \(index)")
      if width > 4, index < text.count, let cursor,
        let character = editor.text.dropFirst(index).first, character.isASCII,
        character.isLetter
      {
        #expect(canvas.cell(at: cursor)?.text == String(character), "at \(index)")
      }
      _ = editor.perform(.inputRight)
    }
  }

  @Test func severalLinesInOneShowTheirEnds() {
    let canvas = drawn(LineEditor("one\ntwo", isMultiline: true), width: 20, height: 1)
    #expect(canvas.textLines()[0].hasPrefix("one⏎two"))
  }

  @Test func tallFieldScrollsToTheCursorsLine() {
    let text = (0..<10).map { "line \($0)" }.joined(separator: "\n")
    let canvas = drawn(LineEditor(text, isMultiline: true), width: 10, height: 4)
    #expect(canvas.textLines().contains("line 9"))
    #expect(canvas.cursor?.column == 6)
    let row = canvas.cursor.map { canvas.textLines()[$0.row] }
    #expect(row == "line 9")
  }

  @Test func nothingIsDrawnWithoutRoom() {
    #expect(drawn(field("ab|"), width: 0).cursor == nil)
    #expect(drawn(field("ab|"), width: 3, height: 0).cursor == nil)
    #expect(drawn(field("ab|"), width: 1, label: "long label").cursor != nil)
  }
}

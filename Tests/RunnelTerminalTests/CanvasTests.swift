import Testing

@testable import RunnelTerminal

@Suite struct CanvasTests {
  private func canvas(_ columns: Int, _ rows: Int = 1, glyphs: Glyphs = .unicode) -> Canvas {
    Canvas(size: TerminalSize(columns: columns, rows: rows), glyphs: glyphs)
  }

  private let origin = Position(row: 0, column: 0)

  @Test func textThatFitsIsDrawnWhole() {
    var canvas = canvas(6)
    #expect(canvas.put("abcdef", at: origin, width: 6) == 6)
    #expect(canvas.textLines() == ["abcdef"])
  }

  @Test func longTextEndsInTheEllipsis() {
    var canvas = canvas(10)
    #expect(canvas.put("abcdefg", at: origin, width: 6) == 6)
    #expect(canvas.textLines() == ["abcde…"])
  }

  @Test func asciiEllipsisTakesThreeColumnsOrWhatThereIs() {
    var canvas = canvas(10, 2, glyphs: .ascii)
    canvas.put("abcdefg", at: origin, width: 6)
    canvas.put("abcdefg", at: Position(row: 1, column: 0), width: 2)
    #expect(canvas.textLines() == ["abc...", ".."])
  }

  @Test func wideCharacterThatFitsOnlyHalfIsReplacedByTheEllipsis() {
    var canvas = canvas(8)
    #expect(canvas.put("漢字漢", at: origin, width: 5) == 5)
    #expect(canvas.textLines() == ["漢字…"])
    #expect(canvas.put("漢字漢", at: origin, width: 4) == 3)
    #expect(canvas.cell(at: Position(row: 0, column: 2))?.text == "…")
  }

  @Test func ellipsisTakesTheRoleBeforeIt() {
    var canvas = canvas(3)
    let line = StyledLine([StyledRun("ab", .muted), StyledRun("cd", .error)])
    canvas.put(line, at: origin, width: 3)
    #expect(canvas.roleLines() == ["mmm"])
    #expect(canvas.textLines() == ["ab…"])
  }

  @Test func wideCharacterAtTheEdgeOfTheCanvasLeavesABlank() {
    var canvas = canvas(3)
    canvas.put("a漢漢", at: Position(row: 0, column: 0), width: 9)
    #expect(canvas.textLines() == ["a漢"])
    canvas.put("漢", at: Position(row: 0, column: -1), width: 2)
    #expect(canvas.cell(at: origin)?.text == " ")
    canvas.put("漢", at: Position(row: 0, column: 2), width: 2)
    #expect(canvas.cell(at: Position(row: 0, column: 2))?.width == 1)
  }

  @Test(arguments: [0, 1, 2, 3])
  func overwritingHalfOfAWideCharacterBlanksTheOther(column: Int) throws {
    var canvas = canvas(4)
    canvas.put("漢字", at: origin, width: 4)
    canvas.put("x", at: Position(row: 0, column: column), width: 1)
    let cells = try (0..<4).map { try #require(canvas.cell(at: Position(row: 0, column: $0))) }
    #expect(cells[column].text == "x")
    #expect(cells[column ^ 1].text == " ")
    #expect(cells[column ^ 1].width == 1)
    #expect(cells[column ^ 2].width == (column & 1 == 0 ? 2 : 0))
  }

  @Test func wideCharacterOverTwoWideOnesBlanksTheirOuterHalves() {
    var canvas = canvas(4)
    canvas.put("漢字", at: origin, width: 4)
    canvas.put("語", at: Position(row: 0, column: 1), width: 2)
    #expect(canvas.textLines() == [" 語"])
    #expect(canvas.cell(at: Position(row: 0, column: 3))?.width == 1)
  }

  @Test func nothingIsWrittenOutside() {
    var canvas = canvas(3, 2)
    let blank = canvas
    canvas.put("abc", at: Position(row: -1, column: 0), width: 3)
    canvas.put("abc", at: Position(row: 2, column: 0), width: 3)
    canvas.put("abc", at: Position(row: 0, column: 3), width: 3)
    canvas.put("abc", at: origin, width: 0)
    canvas.fill(Rect(row: 5, column: 5, height: 9, width: 9), role: .error)
    canvas.highlightRow(Rect(row: -3, column: 0, height: 2, width: 3))
    canvas.horizontalLine(row: 7, column: 0, width: 3)
    #expect(canvas == blank)
  }

  @Test func boxHasCornersAndATitleThatFits() {
    var canvas = canvas(12, 3)
    canvas.box(canvas.bounds, title: "Sign in", role: .dialog)
    #expect(canvas.textLines() == ["┌─ Sign in ┐", "│          │", "└──────────┘"])
    #expect(canvas.roleLines()[1] == "d..........d")
    canvas.box(canvas.bounds, title: "A longer title", role: .dialog)
    #expect(canvas.textLines()[0] == "┌─ A long… ┐")
  }

  @Test func roleLayerHasOneLetterForEachRole() {
    #expect(Set(StyleRole.allCases.map(\.letter)).count == StyleRole.allCases.count)
  }

  @Test func highlightKeepsTextAndRole() {
    var canvas = canvas(2)
    canvas.put("ab", at: origin, width: 2, role: .warn)
    canvas.highlightRow(canvas.bounds, focused: false)
    #expect(canvas.textLines() == ["ab"])
    #expect(canvas.cell(at: origin)?.role == .warn)
    #expect(canvas.cell(at: origin)?.highlight == .unfocused)
  }

  @Test func fittingToASmallerSizeCutsWideCharactersAndTheCursor() {
    var canvas = canvas(4, 2)
    canvas.put("a漢b", at: origin, width: 4)
    canvas.cursor = Position(row: 1, column: 3)
    let small = canvas.fitted(to: TerminalSize(columns: 2, rows: 1))
    #expect(small.textLines() == ["a"])
    #expect(small.cursor == nil)
    let large = canvas.fitted(to: TerminalSize(columns: 6, rows: 3))
    #expect(large.textLines() == ["a漢b", "", ""])
    #expect(large.cursor == canvas.cursor)
  }

  @Test(arguments: 0..<20)
  func randomDrawingKeepsWideCellsWhole(seed: UInt64) throws {
    var random = SplitMix(state: seed)
    var canvas = canvas(7, 2)
    let texts = ["漢字", "a", "é漢b", "👩‍👩‍👧x", "🇫🇮", "\u{301}", "…"]
    for _ in 0..<200 {
      let text = texts[Int.random(in: 0..<texts.count, using: &random)]
      let place = Position(
        row: Int.random(in: -1...2, using: &random), column: Int.random(in: -3...8, using: &random))
      canvas.put(text, at: place, width: Int.random(in: 0...6, using: &random))
      for row in 0..<2 {
        let widths = try (0..<7).map {
          try #require(canvas.cell(at: Position(row: row, column: $0))).width
        }
        for (index, width) in widths.enumerated() {
          #expect(width != 2 || (index < 6 && widths[index + 1] == 0), "seed \(seed)")
          #expect(width != 0 || (index > 0 && widths[index - 1] == 2), "seed \(seed)")
        }
      }
    }
  }

  @Test func textFromRightToLeftEndsInAMark() {
    var canvas = Canvas(size: TerminalSize(columns: 12, rows: 1))
    canvas.put(
      StyledLine([StyledRun("שלום  "), StyledRun("5m", .muted)]), at: Position(row: 0, column: 0),
      width: 12)
    #expect(canvas.textLines() == ["שלום  \u{200E}5m"])
    let cell = canvas.cell(at: Position(row: 0, column: 5))
    #expect(cell?.text == " \u{200E}")
    #expect(cell?.width == 1)
  }

  @Test func textThatIsCutEndsInAMarkToo() {
    var canvas = Canvas(size: TerminalSize(columns: 4, rows: 1))
    canvas.put("שלום עולם", at: Position(row: 0, column: 0), width: 4)
    #expect(canvas.textLines() == ["שלו…\u{200E}"])
  }

  @Test func markOfDirectionFitsInACellThatIsFull() {
    let marks = String(repeating: "\u{5B4}", count: 9)
    var canvas = Canvas(size: TerminalSize(columns: 1, rows: 1))
    canvas.put("ש" + marks, at: Position(row: 0, column: 0), width: 1)
    let text = canvas.cell(at: Position(row: 0, column: 0))?.text
    #expect(text?.unicodeScalars.count == 1 + CellText.marksMax)
    #expect(text?.unicodeScalars.last == "\u{200E}")
  }

  @Test func asciiSignsGetNoMarkOfDirection() {
    var canvas = Canvas(size: TerminalSize(columns: 4, rows: 1), glyphs: .ascii)
    canvas.put("שלום", at: Position(row: 0, column: 0), width: 4)
    #expect(canvas.textLines() == ["שלום"])
  }
}

/// A small generator whose sequence depends on nothing but its seed.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}

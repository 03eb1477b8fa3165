import RunnelBase
import Testing

@testable import RunnelTerminal

@Suite struct ListWidgetTests {
  private let content = ListContent(sections: [
    ListSection(id: "a", rows: ["r0", "r1", "r2", "r3"]),
    ListSection(id: "b", rows: [], emptyText: "nothing"),
  ])
  private let headings = [
    "a": ListHeading(
      title: StyledLine("Today", .sectionHeader), detail: StyledLine("14 loaded", .muted)),
    "b": ListHeading(title: StyledLine("Empty", .sectionHeader)),
  ]

  private func draw(
    _ state: ListState, width: Int = 24, height: Int, glyphs: Glyphs = .unicode,
    isFocused: Bool = true
  ) -> Canvas {
    var canvas = Canvas(size: TerminalSize(columns: width, rows: height), glyphs: glyphs)
    ListWidget.draw(
      content, state, headings: headings, rowText: { id, width in StyledLine("\(id) of \(width)") },
      isFocused: isFocused, into: &canvas, rect: canvas.bounds)
    return canvas
  }

  private func state(at item: ListItem, height: Int) -> ListState {
    var state = ListState()
    state.moveTo(item, in: content, height: height)
    return state
  }

  @Test func headersRowsAndTextsAreDrawn() {
    let canvas = draw(state(at: .row("r1"), height: 8), height: 8)
    #expect(
      canvas.textLines() == [
        "▾ Today        14 loaded", " r0 of 23", ">r1 of 23", " r2 of 23", " r3 of 23",
        "▾ Empty", "  nothing", "",
      ])
    #expect(canvas.cell(at: Position(row: 2, column: 23))?.highlight == .focused)
    #expect(canvas.cell(at: Position(row: 1, column: 0))?.highlight == RowHighlight.none)
  }

  @Test func stickyHeaderCoversTheTopLine() {
    let canvas = draw(state(at: .row("r3"), height: 3), height: 3)
    #expect(canvas.textLines() == ["▾ Today        14 loaded", " r2 of 23", ">r3 of 23"])
    #expect(canvas.roleLines()[0].hasPrefix(String(StyleRole.sectionSticky.letter)))
  }

  @Test func foldedHeaderUnderTheCursorShowsBothSigns() {
    var state = state(at: .row("r1"), height: 4)
    state.fold("a", in: content, height: 4)
    #expect(draw(state, height: 4).textLines()[0] == ">▸ Today       14 loaded")
    let ascii = draw(state, height: 4, glyphs: .ascii).textLines()
    #expect(ascii == [">> Today       14 loaded", " v Empty", "  nothing", ""])
  }

  @Test func detailGivesWayToTheTitle() {
    let canvas = draw(state(at: .row("r0"), height: 2), width: 14, height: 2)
    #expect(canvas.textLines()[0] == "▾ Today")
  }

  @Test func rowsScrollToTheSide() {
    var state = state(at: .row("r0"), height: 2)
    state.scrollHorizontally(by: 3)
    #expect(draw(state, height: 2).textLines() == ["▾ Today        14 loaded", ">of 26"])
  }

  @Test func cursorOfAnotherPaneIsMarkedDifferently() {
    let canvas = draw(state(at: .row("r0"), height: 2), height: 2, isFocused: false)
    #expect(canvas.cell(at: Position(row: 1, column: 5))?.highlight == .unfocused)
  }

  @Test(arguments: 0...6)
  func anySizeCanBeDrawn(width: Int) {
    for height in 0...6 {
      let canvas = draw(state(at: .row("r2"), height: height), width: width, height: height)
      if width > 0, height > 0 {
        #expect(canvas.textLines().count { $0.hasPrefix(">") } == 1)
      }
    }
  }

  @Test func wideCharactersAreCutInTheMiddleCleanly() {
    let line = StyledLine("漢字ab").dropping(columns: 1, glyphs: .unicode)
    #expect(line.text == " 字ab")
    #expect(StyledLine("漢字ab").dropping(columns: 99, glyphs: .unicode).text.isEmpty)
  }
}

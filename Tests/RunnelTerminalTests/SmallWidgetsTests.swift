import Testing

@testable import RunnelTerminal

/// `StatusLine`, `HintBar`, `ConfirmDialog`, `TextPopup`, `Toast`, and wrapping.
@Suite struct SmallWidgetsTests {
  private func canvas(_ columns: Int, _ rows: Int) -> Canvas {
    Canvas(size: TerminalSize(columns: columns, rows: rows))
  }

  // MARK: - Wrapping

  @Test func textIsWrappedBetweenWords() {
    func wrapped(_ text: String, _ width: Int) -> [String] {
      StyledLine(text).wrapped(width: width).map { $0.text }
    }
    #expect(wrapped("one two three", 8) == ["one two", "three"])
    #expect(wrapped("one two three", 7) == ["one two", "three"])
    #expect(wrapped("abcdefgh", 3) == ["abc", "def", "gh"])
    #expect(wrapped("a\n\nb\n", 5) == ["a", "", "b"])
    #expect(wrapped("", 5) == [""])
    #expect(wrapped("漢字漢", 3) == ["漢", "字", "漢"])
    #expect(wrapped("漢a", 0) == ["漢", "a"])
  }

  @Test func wrappedLinesKeepTheirRoles() {
    let line = StyledLine([StyledRun("one t", .error), StyledRun("wo", .muted)])
    #expect(
      line.wrapped(width: 4) == [
        StyledLine("one", .error), StyledLine([StyledRun("t", .error), StyledRun("wo", .muted)]),
      ])
  }

  // MARK: - Lines

  @Test func statusLineHasTextAtBothEnds() {
    var canvas = canvas(20, 1)
    StatusLine(left: "left", right: "right").draw(into: &canvas, rect: canvas.bounds)
    #expect(canvas.textLines() == ["left           right"])
  }

  @Test func statusLineCutsTheLeftTextFirst() {
    var canvas = canvas(12, 1)
    StatusLine(left: "a long left", right: "right").draw(into: &canvas, rect: canvas.bounds)
    #expect(canvas.textLines() == ["a lon… right"])
    StatusLine(left: "a long left", right: "a long right").draw(into: &canvas, rect: canvas.bounds)
    #expect(canvas.textLines() == ["a … a long …"])
    StatusLine(right: "right only").draw(into: &canvas, rect: canvas.bounds)
    #expect(canvas.textLines() == ["  right only"])
  }

  @Test func hintsAreLeftOutWhole() {
    let bar = HintBar([Hint("Enter", "open"), Hint("e", "edit")], last: Hint("?", "help"))
    func drawn(_ width: Int) -> String {
      var canvas = canvas(width, 1)
      bar.draw(into: &canvas, rect: canvas.bounds)
      return canvas.textLines()[0]
    }
    #expect(drawn(40) == " Enter open  e edit  ? help")
    #expect(drawn(27) == " Enter open  e edit  ? help")
    #expect(drawn(26) == " Enter open  ? help")
    #expect(drawn(18) == " ? help")
    #expect(drawn(6) == "")
  }

  // MARK: - Boxes

  @Test func dialogIsInTheMiddleAndShowsItsKeys() {
    var canvas = canvas(30, 9)
    let dialog = ConfirmDialog(
      title: "Delete", message: ["Delete 3 records?"], hints: [Hint("y", "yes"), Hint("n", "no")],
      isDanger: true)
    dialog.draw(into: &canvas, rect: canvas.bounds)
    #expect(
      canvas.textLines() == [
        "", "", "    ┌─ Delete ──────────┐", "    │ Delete 3 records? │",
        "    │                   │", "    │ y yes  n no       │",
        "    └───────────────────┘", "", "",
      ])
    #expect(canvas.cell(at: Position(row: 2, column: 4))?.role == .dialogDanger)
  }

  @Test func dialogGivesItsFrameUpForWhatItSays() {
    let dialog = ConfirmDialog(
      title: "Delete", message: ["/groups/g42/messages", "3 children", "u takes it back"],
      hints: [Hint("y", "yes")])
    func drawn(_ rows: Int) -> [String] {
      var canvas = canvas(16, rows)
      dialog.draw(into: &canvas, rect: canvas.bounds)
      return canvas.textLines()
    }
    #expect(
      drawn(6) == [
        "Delete", "/groups/g42/mess", "ages", "3 children", "u takes it back", "y yes",
      ])
    #expect(
      drawn(4) == ["…ps/g42/messages", "3 children", "u takes it back", "y yes"],
      "the end of a path says most")
    #expect(drawn(3) == ["…ps/g42/messages", "…", "y yes"])
    #expect(drawn(2) == ["…ps/g42/messages", "y yes"])
  }

  @Test func dialogWithoutRoomHasPages() {
    var dialog = ConfirmDialog(
      title: "Delete", message: ["one", "two", "three", "four", "five"], hints: [Hint("y", "yes")])
    func drawn(_ page: Int) -> [String] {
      dialog.page = page
      var canvas = canvas(16, 4)
      dialog.draw(into: &canvas, rect: canvas.bounds)
      return canvas.textLines()
    }
    #expect(drawn(0) == ["Delete", "one", "… 1/3", "y yes"])
    #expect(drawn(1) == ["two", "three", "… 2/3", "y yes"])
    #expect(drawn(2) == ["four", "five", "3/3", "y yes"])
    #expect(drawn(9) == drawn(2))
    let small = Rect(row: 0, column: 0, height: 4, width: 16)
    #expect(dialog.pageCount(in: small) == 3)
    #expect(dialog.pageCount(in: Rect(row: 0, column: 0, height: 20, width: 40)) == 1)
  }

  @Test func hintsOfADialogAreFoundWhereTheyAreDrawn() {
    let dialog = ConfirmDialog(
      title: "Delete", message: ["Delete 3 records?"], hints: [Hint("y", "yes"), Hint("n", "no")])
    let rect = Rect(row: 0, column: 0, height: 9, width: 30)
    func hint(_ column: Int) -> Int? {
      dialog.hint(at: Position(row: 5, column: column), rect: rect)
    }
    #expect((6...10).map(hint) == [0, 0, 0, 0, 0])
    #expect(hint(5) == nil && hint(11) == nil && hint(12) == nil && hint(17) == nil)
    #expect((13...16).map(hint) == [1, 1, 1, 1])
    #expect(dialog.hint(at: Position(row: 4, column: 6), rect: rect) == nil)
  }

  @Test func dialogMayAskForAWord() {
    var canvas = canvas(50, 10)
    let dialog = ConfirmDialog(
      title: "Purge", message: ["Type users"], hints: [Hint("Enter", "purge")])
    dialog.draw(
      into: &canvas, rect: canvas.bounds, editor: LineEditor("user"), label: "path",
      error: "not the path")
    let text = canvas.textLines().joined(separator: "\n")
    #expect(text.contains("path user"))
    #expect(text.contains("! not the path"))
    #expect(canvas.cursor != nil)
  }

  @Test func everyBoxCanBeDrawnInAnySize() {
    for width in 0...9 {
      for height in 0...7 {
        var canvas = canvas(width, height)
        ConfirmDialog(title: "t", message: ["message"], hints: [Hint("y", "yes")])
          .draw(into: &canvas, rect: canvas.bounds, editor: LineEditor("x"), error: "e")
        var popup = TextPopup(title: "t", lines: ["one two three", "four"])
        popup.scroll(by: 3, in: canvas.bounds)
        popup.scrollPage(by: -.infinity, in: canvas.bounds)
        popup.scrollToBottom(in: canvas.bounds)
        popup.draw(into: &canvas, rect: canvas.bounds)
        Toast(.error, "something went wrong").draw(into: &canvas, rect: canvas.bounds)
        #expect(canvas.textLines().count == height)
      }
    }
  }

  @Test func popupScrollsWithinItsText() {
    var canvas = canvas(12, 5)
    var popup = TextPopup(title: "Help", lines: (0..<9).map { StyledLine("line \($0)") })
    popup.scroll(by: 2, in: canvas.bounds)
    popup.draw(into: &canvas, rect: canvas.bounds)
    #expect(
      canvas.textLines() == [
        "┌─ Help ───┐", "│ line 2   │", "│ line 3   ▐", "│ line 4   │", "└──────────┘",
      ])
    popup.scroll(by: .max, in: canvas.bounds)
    #expect(popup.top == 6)
    popup.scrollPage(by: -1, in: canvas.bounds)
    #expect(popup.top == 4)
    popup.scrollToTop()
    popup.scroll(by: .min, in: canvas.bounds)
    #expect(popup.top == 0)
  }

  @Test func thumbIsAtAnEndOnlyIfTheTextIs() {
    for height in 3...10 {
      for count in (height + 1)...60 {
        for top in 0...(count - height) {
          let thumb = TextPopup.thumb(count: count, height: height, top: top)
          #expect(thumb.lowerBound >= 0 && thumb.upperBound <= height && !thumb.isEmpty)
          if height - thumb.count > 1 {
            #expect((thumb.lowerBound == 0) == (top == 0))
            #expect((thumb.upperBound == height) == (top == count - height))
          }
        }
      }
    }
  }

  @Test func toastStandsInTheCorner() {
    var canvas = canvas(24, 3)
    Toast(.warning, "writes are kept on this device").draw(into: &canvas, rect: canvas.bounds)
    #expect(canvas.textLines() == ["", "   ! writes are kept on", "     this device"])
  }
}

import Testing

@testable import RunnelTerminal

@Suite struct LineHistoryTests {
  @Test func goesBackToTheOldestAndForwardToWhatWasTyped() {
    var history = LineHistory(["one", "two"])
    #expect(history.previous(from: "thr") == "two")
    #expect(history.previous(from: "two") == "one")
    #expect(history.previous(from: "one") == nil)
    #expect(history.next() == "two")
    #expect(history.next() == "thr")
    #expect(history.next() == nil)
    #expect(history.previous(from: "three") == "two")
  }

  @Test func emptyTextsAndRepetitionsAreNotKept() {
    var history = LineHistory()
    for text in ["a", "a", "", "b", "a"] { history.add(text) }
    #expect(history.entries == ["a", "b", "a"])
    #expect(LineHistory().entries == [])
  }

  @Test func enteringEndsGoingThrough() {
    var history = LineHistory(["one", "two"])
    _ = history.previous(from: "x")
    _ = history.previous(from: "two")
    history.add("three")
    #expect(history.next() == nil)
    #expect(history.previous(from: "") == "three")
  }

  @Test func oldestGoFirst() {
    let history = LineHistory((0..<LineHistory.countMax + 3).map { "\($0)" })
    #expect(history.entries.count == LineHistory.countMax)
    #expect(history.entries.first == "3")
  }
}

@Suite struct KeyPopupTests {
  private func lines(_ count: Int, columns: Int, rows: Int) -> [String] {
    var canvas = Canvas(size: TerminalSize(columns: columns, rows: rows))
    KeyPopup(title: "g", hints: (1...count).map { Hint("\($0)", "go \($0)") })
      .draw(into: &canvas, rect: canvas.bounds)
    return canvas.textLines()
  }

  @Test func hintsStandInColumns() {
    #expect(
      lines(5, columns: 20, rows: 6) == [
        "", "┌─ g ──────────────┐", "│ 1 go 1  4 go 4   │", "│ 2 go 2  5 go 5   │",
        "│ 3 go 3           │", "└──────────────────┘",
      ])
  }

  @Test func whatHasNoRoomIsLeftOut() {
    #expect(
      lines(9, columns: 12, rows: 4) == [
        "┌─ g ──────┐", "│ 1 go 1   │", "│ …        │", "└──────────┘",
      ])
    #expect(lines(3, columns: 12, rows: 2) == ["", ""])
    #expect(lines(3, columns: 2, rows: 9).allSatisfy { $0.isEmpty })
  }
}

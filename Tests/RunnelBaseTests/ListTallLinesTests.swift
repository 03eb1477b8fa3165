import Testing

@testable import RunnelBase

/// Screens on which rows take several lines.
@Suite struct ListTallLinesTests {
  /// The screen: each line once for each line of the screen that it takes.
  private func screen(
    _ state: ListState, _ content: ListContent, height: Int, room: Int, _ lines: (String) -> Int
  ) -> [String] {
    state.tallLines(in: content, height: height, room: room, lineCount: lines).flatMap { shown in
      let text =
        switch shown.line.kind {
        case .header: "+" + content.sections[shown.line.section].id
        case .stickyHeader: "=" + content.sections[shown.line.section].id
        case .row(let id): (shown.line.isCursor ? ">" : "") + id
        case .divider: "--"
        case .emptyText: "empty"
        }
      return Array(repeating: text, count: shown.height)
    }
  }

  private func state(_ content: ListContent, at row: String, height: Int) -> ListState {
    var state = ListState()
    state.moveTo(.row(row), in: content, height: height)
    return state
  }

  private let ten = ListBatches.content(["a": ListBatches.rows("r", 0..<10)])

  @Test func rowsOfSeveralLinesFollowEachOther() {
    let state = state(ten, at: "r0", height: 2)
    #expect(
      screen(state, ten, height: 2, room: 6) { $0 == "r0" ? 3 : 1 }
        == ["+a", ">r0", ">r0", ">r0", "r1", "r2"])
  }

  @Test func lastRowThatDoesNotFitIsCut() {
    let state = state(ten, at: "r0", height: 2)
    #expect(
      screen(state, ten, height: 2, room: 6) { _ in 3 } == ["+a", ">r0", ">r0", ">r0", "r1", "r1"])
  }

  @Test func endOfTheListFillsTheScreenWithTheRowsBefore() {
    let state = state(ten, at: "r9", height: 2)
    #expect(
      screen(state, ten, height: 2, room: 6) { $0 == "r8" ? 2 : 1 }
        == ["=a", "r6", "r7", "r8", "r8", ">r9"])
  }

  @Test func rowsAboveTheCursorGiveWayIfItsRowIsLong() {
    let state = state(ten, at: "r5", height: 3)
    let shown = screen(state, ten, height: 3, room: 6) { $0 == "r5" ? 5 : 4 }
    #expect(shown == ["=a", ">r5", ">r5", ">r5", ">r5", ">r5"])
  }

  @Test func rowLongerThanTheScreenIsCutAtItsEnd() {
    let state = state(ten, at: "r5", height: 2)
    #expect(screen(state, ten, height: 2, room: 4) { _ in 9 } == ["=a", ">r5", ">r5", ">r5"])
  }

  @Test func listOfShortRowsLooksAsUsual() {
    for row in 0..<10 {
      for height in 1...12 {
        let state = state(ten, at: "r\(row)", height: height)
        let usual = state.lines(in: ten, height: height)
        let tall = state.tallLines(in: ten, height: height, room: height) { _ in 1 }
        #expect(tall.map(\.line) == usual && tall.allSatisfy { $0.height == 1 })
      }
    }
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func cursorIsInSightAndTheScreenIsFull(seed: UInt64) {
    var generator = SeededRandom(seed: seed)
    let sizes = (0..<3).map { _ in Int.random(in: 0...9, using: &generator) }
    let content = ListBatches.content([
      "a": ListBatches.rows("a", 0..<sizes[0]), "b": ListBatches.rows("b", 0..<sizes[1]),
      "c": ListBatches.rows("c", 0..<sizes[2]),
    ])
    var needs: [String: Int] = [:]
    for section in content.sections {
      for row in section.rows { needs[row] = Int.random(in: 1...7, using: &generator) }
    }
    let room = Int.random(in: 1...20, using: &generator)
    let height = max(1, room / 3)
    var state = ListState()
    for _ in 0..<40 {
      state.move(
        by: Int.random(in: -5...5, using: &generator), in: content, height: height)
      let lines = state.tallLines(in: content, height: height, room: room) { needs[$0] ?? 1 }
      let used = lines.reduce(0) { $0 + $1.height }
      let whole = content.sections.reduce(0) { sum, section in
        sum + 1 + max(section.rows.reduce(0) { $0 + (needs[$1] ?? 1) }, 1)
      }
      #expect(used <= room && used <= whole, "seed \(seed)")
      // At the end of the list there may be less room left than the row before needs.
      #expect(whole <= room ? used == whole : room - used < 7, "seed \(seed)")
      let cursor = lines.first { $0.line.isCursor }
      guard case .row(let id)? = state.cursor else { continue }
      let most = max(room > 1 ? room - 1 : room, 1)
      #expect(cursor.map { $0.height >= min(needs[id] ?? 1, most) } == true, "seed \(seed)")
    }
  }
}

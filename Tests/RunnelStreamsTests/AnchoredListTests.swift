import RunnelBase
import RunnelStreams
import Testing

/// Cursor and scroll position of a list that follows an adapter, without a terminal.
@Suite struct AnchoredListTests {
  private let source = TransientStream(
    (10..<40).map { TestRow("k\($0)", $0) }, order: TestRow.byValue)

  @Test func rowsThatArriveAboveDoNotMoveWhatIsInSight() {
    let screen = ListScreen(ListPart(source), height: 6)
    screen.go(to: "k25")
    let rows = screen.rows
    source.put(TestRow("early", 1), TestRow("later", 12))
    #expect(screen.rows == rows)
    #expect(screen.state.cursor == .row("k25"))
  }

  @Test func rowThatMovesAwayTakesTheCursorButNotTheView() {
    let screen = ListScreen(ListPart(source), height: 6)
    screen.go(to: "k25")
    let rows = screen.rows
    let first = rows[0]
    #expect(first != "k25")
    source.update(TestRow(first, 99))
    #expect(screen.rows.contains("k25"))
    #expect(screen.state.cursor == .row("k25"))
    #expect(Set(rows).subtracting(screen.rows).subtracting([first]).count <= 1)
  }

  @Test func cursorOnARowThatGoesPassesToTheNextOne() {
    let screen = ListScreen(ListPart(source), height: 6)
    screen.go(to: "k25")
    source.remove("k25")
    #expect(screen.state.cursor == .row("k26"))
  }

  @Test func cursorStaysWithItsRowThroughAReload() {
    let screen = ListScreen(ListPart(source), height: 6)
    screen.go(to: "k25")
    source.reset((20..<60).map { TestRow("k\($0)", $0) })
    #expect(screen.state.cursor == .row("k25"))
  }

  @Test func randomChangesKeepTheRules() {
    for seed in 0..<40 as Range<UInt64> {
      var random = SeededRandom(seed: seed)
      let source = TransientStream<TestRow>(order: TestRow.byValue)
      let days = PartitionedStream(source, sectionID: { "s\($0)" }, partition: { $0.value % 3 })
      let screen = ListScreen(ListPart(days, placeholders: [.empty, .status]), height: 5)
      for _ in 0..<60 {
        let key = "k\(Int.random(in: 0..<20, using: &random))"
        switch Int.random(in: 0..<6, using: &random) {
        case 0...2: source.put(TestRow(key, Int.random(in: 0..<30, using: &random)))
        case 3: source.remove(key)
        case 4: screen.state.move(by: 3, in: screen.content, height: screen.height)
        default: screen.state.move(by: -2, in: screen.content, height: screen.height)
        }
        screen.state.checkInvariants(in: screen.content, height: screen.height)
      }
    }
  }
}

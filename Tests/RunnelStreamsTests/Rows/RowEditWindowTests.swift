import Testing

@testable import RunnelStreams

@Suite struct RowEditWindowTests {
  /// All edits of a list of so many rows that take some out and put up to two in.
  private func edits(of count: Int) -> [RowEdit<Int>] {
    let removals = (0..<(1 << count)).map { bits in (0..<count).filter { bits >> $0 & 1 == 1 } }
    var gaps: [[Int]] = [[]]
    for first in 0...count {
      gaps.append([first])
      for second in first...count { gaps.append([first, second]) }
    }
    return removals.flatMap { removing in
      gaps.map { gaps in
        RowEdit(
          removing: removing,
          inserting: gaps.enumerated().map { .init(gap: $1, item: 100 + $0) })
      }
    }
  }

  private func ranges(of count: Int) -> [Range<Int>] {
    (0...count).flatMap { start in (start...count).map { start..<$0 } }
  }

  @Test func everyRangeBeforeAndAfterEveryShortEditIsLedToTheOther() {
    for count in 0...3 {
      let array = Array(0..<count)
      for edit in edits(of: count) {
        let after = RowsTests.applied(edit, to: array)
        for old in ranges(of: count) {
          for new in ranges(of: after.count) {
            let seen = edit.seen(of: Rows(array), from: old, to: new)
            let shown = RowsTests.applied(seen, to: Array(array[old]))
            if shown != Array(after[new]) {
              Issue.record("\(edit) from \(old) to \(new): \(shown)")
            }
          }
        }
      }
    }
  }

  @Test func rowsThatStayShownAreNotTouched() {
    let edit = RowEdit(removing: [2], inserting: [.init(gap: 0, item: 9)])
    let seen = edit.seen(of: Rows(0..<1000), from: 0..<100, to: 0..<100)
    #expect(seen.removing == [2])
    #expect(seen.inserting.map(\.item) == [9])
  }
}

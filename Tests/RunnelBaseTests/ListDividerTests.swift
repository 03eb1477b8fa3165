import Testing

@testable import RunnelBase

/// The line among the rows that is none of them.
@Suite struct ListDividerTests {
  private let rows = ListBatches.content(["a": ["1", "2", "3"], "b": ["4"]])

  private func kinds(_ content: ListContent, _ state: ListState, height: Int = 9) -> [String] {
    state.lines(in: content, height: height).map { line in
      switch line.kind {
      case .header, .stickyHeader: "+"
      case .row(let id): id
      case .emptyText: "none"
      case .divider: "--"
      }
    }
  }

  @Test func itStandsBeforeTheRowAtItsPathOrAfterTheLast() {
    let state = ListState()
    let before = rows.divided(at: ListIndexPath(section: 0, row: 1))
    #expect(kinds(before, state) == ["+", "1", "--", "2", "3", "+", "4"])
    let after = rows.divided(at: ListIndexPath(section: 0, row: 3))
    #expect(kinds(after, state) == ["+", "1", "2", "3", "--", "+", "4"])
  }

  @Test(arguments: [
    ListIndexPath(section: 0, row: 4), ListIndexPath(section: 2, row: 0),
    ListIndexPath(section: 0, row: -1),
  ])
  func aPlaceThatIsNoneShowsNone(place: ListIndexPath) {
    #expect(!kinds(rows.divided(at: place), ListState()).contains("--"))
  }

  @Test func foldedSectionsHideIt() {
    let content = rows.divided(at: ListIndexPath(section: 0, row: 1))
    var state = ListState()
    state.fold("a", in: content, height: 9)
    #expect(kinds(content, state) == ["+", "+", "4"])
  }

  @Test func theCursorPassesOverItAndAClickFindsNothing() {
    let content = rows.divided(at: ListIndexPath(section: 0, row: 1))
    var state = ListState()
    state.moveTo(.row("1"), in: content, height: 9)
    state.move(by: 1, in: content, height: 9)
    #expect(state.cursor == .row("2"))
    #expect(state.item(atLine: 2, in: content, height: 9) == nil)
    #expect(state.item(atLine: 3, in: content, height: 9) == .row("2"))
  }

  @Test func copiesWithAnotherDividerShareTheIndex() {
    _ = rows.indexPath(ofRow: "4")
    #expect(rows.divided(at: ListIndexPath(section: 0, row: 1)).isIndexBuilt)
  }

  @Test func rowsAreFoundNearWhereTheyWereWithoutTheIndex() {
    let content = ListBatches.content(["a": ListBatches.rows("r", 0..<100), "b": ["x"]])
    let hint = ListIndexPath(section: 0, row: 50)
    #expect(content.indexPath(ofRow: "r47", near: hint) == ListIndexPath(section: 0, row: 47))
    #expect(content.indexPath(ofRow: "r99", near: hint) == ListIndexPath(section: 0, row: 99))
    #expect(!content.isIndexBuilt)
    #expect(content.indexPath(ofRow: "x", near: hint) == ListIndexPath(section: 1, row: 0))
    #expect(content.indexPath(ofRow: "none", near: ListIndexPath(section: 7, row: 0)) == nil)
  }
}

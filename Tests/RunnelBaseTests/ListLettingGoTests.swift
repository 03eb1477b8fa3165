import Testing

@testable import RunnelBase

/// Lists that let go of rows which are still there.
@Suite struct ListLettingGoTests {
  private let height = 4

  /// A list of ten rows with the cursor on the first, and five new ones below.
  private func listWithNewRows() -> (state: ListState, content: ListContent) {
    let old = ListBatches.content(["a": ListBatches.rows("r", 0..<10)])
    let new = ListBatches.content(["a": ListBatches.rows("r", 0..<15)])
    var state = ListState()
    state.apply(.reload, from: ListContent(), to: old, height: height)
    state.apply(
      ListBatches.update(from: old, to: new), from: old, to: new, height: height,
      newRows: ListBatches.newRows(from: old, to: new))
    return (state, new)
  }

  @Test func newRowsThatAreLetGoOfGoOnCounting() {
    var (state, content) = listWithNewRows()
    #expect(state.newBelowCount == 5)
    let next = ListBatches.content(["a": ListBatches.rows("r", 0..<12)])
    state.apply(
      ListBatches.update(from: content, to: next), from: content, to: next, height: height,
      isLettingGo: true)
    content = next
    #expect(state.newBelow == ["r10", "r11"] && state.unloadedNewBelow == 3)
    #expect(state.newBelowCount == 5 && state.newAboveCount == 0)
    state.move(by: 20, in: content, height: height)
    #expect(state.newBelowCount == 3)
    state.loadAgain(above: 0, below: 2)
    #expect(state.newBelowCount == 1)
    state.clearNewRows()
    #expect(state.newBelowCount == 0)
  }

  @Test func rowsOfASectionThatIsLetGoOfGoOnCounting() {
    let old = ListBatches.content(["a": ListBatches.rows("r", 0..<10), "b": ["x"]])
    let new = ListBatches.content(["a": ListBatches.rows("r", 0..<10), "b": ["x", "y"]])
    var state = ListState()
    state.apply(.reload, from: ListContent(), to: old, height: height)
    state.apply(
      ListBatches.update(from: old, to: new), from: old, to: new, height: height, newRows: ["y"])
    let next = ListBatches.content(["a": ListBatches.rows("r", 0..<10)])
    state.apply(
      ListBatches.update(from: new, to: next), from: new, to: next, height: height,
      isLettingGo: true)
    #expect(state.newBelow.isEmpty && state.newBelowCount == 1)
    state.checkInvariants(in: next, height: height)
  }

  @Test func rowsThatAreGoneCountNoMore() {
    var (state, content) = listWithNewRows()
    let next = ListBatches.content(["a": ListBatches.rows("r", 0..<12)])
    state.apply(
      ListBatches.update(from: content, to: next), from: content, to: next, height: height)
    content = next
    #expect(state.newBelowCount == 2)
  }

  @Test func rowsAroundTheCursorAreToldInTheirOrder() {
    let content = ListBatches.content(["a": ["1", "2", "3"], "b": [], "c": ["4", "5"]])
    var state = ListState()
    state.apply(.reload, from: ListContent(), to: content, height: height)
    state.moveTo(.row("3"), in: content, height: height)
    #expect(state.rows(within: 1, in: content) == ["2", "3"])
    #expect(state.rows(within: 5, in: content) == ["1", "2", "3", "4", "5"])
    #expect(state.rows(within: 0, in: content) == ["3"])
    #expect(state.cursorPath(in: content) == ListIndexPath(section: 0, row: 2))
    #expect(ListState().rows(within: 5, in: ListContent()).isEmpty)
  }
}

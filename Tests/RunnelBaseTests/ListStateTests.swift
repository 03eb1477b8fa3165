import Testing

@testable import RunnelBase

/// A list, its state, and a height, moved together.
private struct Bench {
  var content: ListContent
  var state = ListState()
  var height: Int

  init(_ content: ListContent, height: Int, at item: ListItem? = nil) {
    self.content = content
    self.height = height
    state.apply(.reload, from: ListContent(), to: content, height: height)
    if let item { state.moveTo(item, in: content, height: height) }
  }

  /// Changes the list by the batch between the two contents.
  mutating func become(_ new: ListContent, newRows: Bool = true) {
    state.apply(
      ListBatches.update(from: content, to: new), from: content, to: new, height: height,
      newRows: newRows ? ListBatches.newRows(from: content, to: new) : [])
    content = new
    state.checkInvariants(in: content, height: height)
  }

  /// The screen: `+` before headers, `=` before the sticky one, `>` before the cursor.
  var screen: [String] {
    state.lines(in: content, height: height).map { line in
      let mark = line.isCursor ? ">" : ""
      switch line.kind {
      case .header: return mark + "+" + content.sections[line.section].id
      case .stickyHeader: return mark + "=" + content.sections[line.section].id
      case .row(let id): return mark + id
      case .divider: return mark + "--"
      case .emptyText: return mark + (content.sections[line.section].emptyText ?? "")
      }
    }
  }
}

private let ten = ListBatches.content(["a": ListBatches.rows("r", 0..<10)])

@Suite struct ListStateTests {
  // MARK: - Batches

  @Test func rowInsertedAboveTheScreenLeavesItUnchanged() {
    var bench = Bench(ten, height: 4, at: .row("r6"))
    let before = bench.screen
    bench.become(ListBatches.content(["a": ["r0", "x"] + ListBatches.rows("r", 1..<10)]))
    #expect(bench.screen == before)
    #expect(bench.state.newAbove == ["x"])
    #expect(bench.state.newBelow.isEmpty)
  }

  @Test func rowInsertedBelowTheScreenLeavesItUnchanged() {
    var bench = Bench(ten, height: 4, at: .row("r6"))
    let before = bench.screen
    bench.become(ListBatches.content(["a": ListBatches.rows("r", 0..<10) + ["x"]]))
    #expect(bench.screen == before)
    #expect(bench.state.newBelow == ["x"])
  }

  @Test func rowInsertedInSightJustAppears() {
    var bench = Bench(ten, height: 4, at: .row("r6"))
    #expect(bench.screen == ["=a", "r4", "r5", ">r6"])
    bench.become(
      ListBatches.content([
        "a": ListBatches.rows("r", 0..<6) + ["x"] + ListBatches.rows("r", 6..<10)
      ]))
    #expect(bench.screen == ["=a", "r5", "x", ">r6"])
    #expect(bench.state.newAbove.isEmpty)
  }

  @Test func onlyRowsToldToBeNewAreCounted() {
    var bench = Bench(ten, height: 4)
    bench.become(ListBatches.content(["a": ListBatches.rows("r", 0..<20)]), newRows: false)
    #expect(bench.state.newBelow.isEmpty)
  }

  @Test func newRowsOfAnInsertedSectionAreCounted() {
    var bench = Bench(ten, height: 4)
    bench.become(ListBatches.content(["a": ListBatches.rows("r", 0..<10), "b": ["x", "y"]]))
    #expect(bench.state.newBelow == ["x", "y"])
  }

  @Test func deletedCursorRowGivesItsPlaceToTheNextRow() {
    var bench = Bench(ten, height: 4, at: .row("r6"))
    bench.become(
      ListBatches.content(["a": ListBatches.rows("r", 0..<6) + ListBatches.rows("r", 7..<10)]))
    #expect(bench.screen == ["=a", "r4", "r5", ">r7"])
  }

  @Test func deletedLastRowGivesTheCursorToThePreviousOne() {
    var bench = Bench(ten, height: 4, at: .row("r9"))
    bench.become(ListBatches.content(["a": ListBatches.rows("r", 0..<9)]))
    #expect(bench.screen == ["=a", "r6", "r7", ">r8"])
  }

  @Test func emptiedSectionGivesTheCursorToItsHeader() {
    var bench = Bench(ListBatches.content(["a": ["x"], "b": ["y"]]), height: 4, at: .row("x"))
    bench.become(ListBatches.content(["a": [], "b": ["y"]]))
    #expect(bench.screen == [">+a", "nothing", "+b", "y"])
  }

  @Test func deletedSectionGivesTheCursorToTheNextHeaderElseThePreviousEnd() {
    let three = ListBatches.content(["a": ["x"], "b": ["y"], "c": ["z"]])
    var bench = Bench(three, height: 6, at: .row("y"))
    bench.become(ListBatches.content(["a": ["x"], "c": ["z"]]))
    #expect(bench.state.cursor == .header("c"))
    bench.become(ListBatches.content(["a": ["x"]]))
    #expect(bench.state.cursor == .row("x"))
  }

  @Test func cursorFollowsItsRowIntoAnotherSectionWhileOthersStayPut() {
    let old = ListBatches.content(["a": ["x", "y", "z"], "b": ListBatches.rows("r", 0..<5)])
    var bench = Bench(old, height: 5, at: .row("y"))
    bench.become(
      ListBatches.content(["a": ["x", "z"], "b": ["r0", "y"] + ListBatches.rows("r", 1..<5)]))
    #expect(bench.screen == ["=a", "z", "+b", "r0", ">y"])
  }

  @Test func rowThatMovesIntoAFoldedSectionIsLeftAlone() {
    var bench = Bench(ListBatches.content(["a": ["x", "y"], "b": []]), height: 5, at: .row("x"))
    bench.state.fold("b", in: bench.content, height: 5)
    bench.become(ListBatches.content(["a": ["y"], "b": ["x"]]))
    #expect(bench.state.cursor == .row("y"))
  }

  @Test func movedRowsAreNoAnchor() {
    var bench = Bench(ten, height: 5, at: .row("r5"))
    #expect(bench.screen == ["=a", "r2", "r3", "r4", ">r5"])
    // r4 goes to the end; the rows around the cursor keep their lines.
    bench.become(
      ListBatches.content([
        "a": ListBatches.rows("r", 0..<4) + ListBatches.rows("r", 5..<10) + ["r4"]
      ]))
    #expect(bench.screen == ["=a", "r1", "r2", "r3", ">r5"])
  }

  @Test func shortListStaysAtItsTop() {
    var bench = Bench(ListBatches.content(["a": ["x", "y"]]), height: 5, at: .row("y"))
    bench.become(ListBatches.content(["a": ["w", "x", "y", "z", "zz"]]))
    #expect(bench.screen == ["+a", "w", "x", ">y", "z"])
  }

  @Test func listThatShrinksFillsTheScreen() {
    var bench = Bench(ten, height: 4, at: .row("r9"))
    bench.become(ListBatches.content(["a": ["r0", "r9"]]))
    #expect(bench.screen == ["+a", "r0", ">r9"])
  }

  @Test func followingCursorGoesToTheNewLastItem() {
    var bench = Bench(ten, height: 4, at: .row("r9"))
    bench.state.isFollowing = true
    bench.become(ListBatches.content(["a": ListBatches.rows("r", 0..<12)]))
    #expect(bench.screen == ["=a", "r9", "r10", ">r11"])
    #expect(bench.state.newBelow.isEmpty)
  }

  @Test func followingLeavesACursorThatIsElsewhere() {
    var bench = Bench(ten, height: 4, at: .row("r8"))
    bench.state.isFollowing = true
    bench.become(ListBatches.content(["a": ListBatches.rows("r", 0..<12)]))
    #expect(bench.state.cursor == .row("r8"))
  }

  @Test func reloadKeepsTheCursorAndItsLine() {
    var bench = Bench(ten, height: 4, at: .row("r6"))
    bench.state.moveToScreen(.middle, in: ten, height: 4)
    #expect(bench.screen == ["=a", "r4", ">r5", "r6"])
    let new = ListBatches.content(["b": ["y"], "a": ["n"] + ListBatches.rows("r", 4..<20)])
    bench.state.apply(.reload, from: ten, to: new, height: 4, newRows: ["n", "gone"])
    bench.content = new
    #expect(bench.screen == ["=a", "r4", ">r5", "r6"])
    #expect(bench.state.newAbove == ["n"])
  }

  @Test func reloadWithoutTheCursorTakesTheNearestRowOfTheSection() {
    var bench = Bench(ten, height: 4, at: .row("r6"))
    let new = ListBatches.content(["a": ["r1", "r8"]])
    bench.state.apply(.reload, from: ten, to: new, height: 4)
    #expect(bench.state.cursor == .row("r8"))
    bench.state.apply(.reload, from: new, to: ListBatches.content(["z": ["q"]]), height: 4)
    #expect(bench.state.cursor == .row("q"))
  }

  @Test func contradictoryBatchIsSurvived() {
    var bench = Bench(ten, height: 4, at: .row("r6"))
    var update = BatchUpdate()
    update.deletedRows = [ListIndexPath(section: 0, row: 3), ListIndexPath(section: 7, row: 99)]
    update.insertedRows = [ListIndexPath(section: 5, row: 2), ListIndexPath(section: 9, row: -1)]
    update.movedRows = [
      .init(from: ListIndexPath(section: 0, row: 6), to: ListIndexPath(section: 3, row: 3))
    ]
    update.deletedSections = [12]
    update.insertedSections = [15]
    let new = ListBatches.content(["a": ["q"]])
    bench.state.apply(update, from: ten, to: new, height: 4, newRows: ["q", "x"])
    bench.state.checkInvariants(in: new, height: 4)
  }

  @Test func listMayBecomeEmptyAndFullAgain() {
    var bench = Bench(ten, height: 4, at: .row("r6"))
    bench.become(ListContent())
    #expect(bench.state.cursor == nil)
    #expect(bench.screen.isEmpty)
    bench.become(ten)
    #expect(bench.state.cursor == .row("r0"))
  }

  // MARK: - New rows off-screen

  @Test func newRowsAreForgottenWhenTheyComeInSight() {
    var bench = Bench(ten, height: 4)
    bench.become(ListBatches.content(["a": ListBatches.rows("r", 0..<13)]))
    #expect(bench.state.newBelow == ["r10", "r11", "r12"])
    bench.state.moveTo(.row("r10"), in: bench.content, height: 4)
    #expect(bench.state.newBelow == ["r11", "r12"])
    bench.state.clearNewRows()
    #expect(bench.state.newBelow.isEmpty)
  }

  @Test func newRowsThatAreJumpedOverChangeTheirSide() {
    var bench = Bench(ListBatches.content(["a": ListBatches.rows("r", 0..<300)]), height: 4)
    let rows = ListBatches.rows("r", 0..<150) + ["x"] + ListBatches.rows("r", 150..<300)
    bench.become(ListBatches.content(["a": rows]))
    bench.state.moveToLast(in: bench.content, height: 4)
    #expect(bench.state.newAbove == ["x"])
    bench.state.moveToFirst(in: bench.content, height: 4)
    #expect(bench.state.newBelow == ["x"])
    bench.state.checkInvariants(in: bench.content, height: 4)
  }

  @Test func newRowsThatVanishAreForgotten() {
    var bench = Bench(ten, height: 4)
    bench.become(ListBatches.content(["a": ListBatches.rows("r", 0..<13), "b": ["y"]]))
    bench.become(ListBatches.content(["a": ListBatches.rows("r", 0..<12)]))
    #expect(bench.state.newBelow == ["r10", "r11"])
  }

  // MARK: - Movement

  @Test func movingClampsAtTheEndsForAnyCount() {
    var bench = Bench(ten, height: 4)
    bench.state.move(by: .max, in: ten, height: 4)
    #expect(bench.state.cursor == .row("r9"))
    bench.state.move(by: .min, in: ten, height: 4)
    #expect(bench.screen == [">+a", "r0", "r1", "r2"])
  }

  @Test func movingSkipsTheTextOfEmptySections() {
    let content = ListBatches.content(["a": [], "b": [], "c": ["x"]])
    var bench = Bench(content, height: 3, at: .header("a"))
    bench.state.move(by: 1, in: content, height: 3)
    #expect(bench.screen == ["+a", "nothing", ">+b"])
    bench.state.move(by: 2, in: content, height: 3)
    #expect(bench.state.cursor == .row("x"))
  }

  @Test func rowUnderTheStickyHeaderIsNeverTheCursor() {
    var bench = Bench(ten, height: 4, at: .row("r6"))
    bench.state.move(by: -2, in: ten, height: 4)
    #expect(bench.screen == ["=a", ">r4", "r5", "r6"])
    bench.state.move(by: -1, in: ten, height: 4)
    #expect(bench.screen == ["=a", ">r3", "r4", "r5"])
  }

  @Test func screenOfOneLineHasNoStickyHeader() {
    let bench = Bench(ten, height: 1, at: .row("r6"))
    #expect(bench.screen == [">r6"])
  }

  @Test func halfPageKeepsTheCursorsLine() {
    var bench = Bench(ten, height: 6, at: .row("r2"))
    bench.state.movePage(by: 0.5, in: ten, height: 6)
    #expect(bench.screen == ["=a", "r3", "r4", ">r5", "r6", "r7"])
    bench.state.movePage(by: -0.5, in: ten, height: 6)
    #expect(bench.screen == ["+a", "r0", "r1", ">r2", "r3", "r4"])
  }

  @Test func wholePagesShowEveryRow() {
    var bench = Bench(ten, height: 4, at: .header("a"))
    var seen: Set<String> = []
    for _ in 0..<5 {
      seen.formUnion(bench.screen.map { $0.hasPrefix(">") ? String($0.dropFirst()) : $0 })
      bench.state.movePage(by: 1, in: ten, height: 4)
    }
    #expect(seen.isSuperset(of: ListBatches.rows("r", 0..<10)))
    #expect(bench.state.cursor == .row("r9"))
  }

  @Test func absurdPagesOnlyReachTheEnds() {
    var bench = Bench(ten, height: 4)
    bench.state.movePage(by: .infinity, in: ten, height: 4)
    #expect(bench.state.cursor == .row("r9"))
    bench.state.movePage(by: .nan, in: ten, height: 4)
    #expect(bench.state.cursor == .row("r9"))
    bench.state.movePage(by: -.infinity, in: ten, height: 4)
    #expect(bench.state.cursor == .header("a"))
  }

  @Test func scrollingMovesTheCursorOnlyWhenItWouldGoOutOfSight() {
    var bench = Bench(ten, height: 4, at: .row("r2"))
    bench.state.scroll(by: 1, in: ten, height: 4)
    #expect(bench.screen == ["=a", "r1", ">r2", "r3"])
    bench.state.scroll(by: 2, in: ten, height: 4)
    #expect(bench.screen == ["=a", ">r3", "r4", "r5"])
    bench.state.scroll(by: -100, in: ten, height: 4)
    #expect(bench.screen == ["+a", "r0", "r1", ">r2"])
  }

  @Test func cursorCanBePlacedOnTheScreen() {
    var bench = Bench(ten, height: 5, at: .row("r5"))
    bench.state.placeCursor(.top, in: ten, height: 5)
    #expect(bench.screen == ["=a", ">r5", "r6", "r7", "r8"])
    bench.state.placeCursor(.middle, in: ten, height: 5)
    #expect(bench.screen == ["=a", "r4", ">r5", "r6", "r7"])
    bench.state.placeCursor(.bottom, in: ten, height: 5)
    #expect(bench.screen == ["=a", "r2", "r3", "r4", ">r5"])
  }

  @Test func cursorCanGoToPartsOfTheScreen() {
    var bench = Bench(ten, height: 5, at: .row("r5"))
    bench.state.moveToScreen(.top, in: ten, height: 5)
    #expect(bench.screen == ["=a", ">r2", "r3", "r4", "r5"])
    bench.state.moveToScreen(.bottom, in: ten, height: 5)
    #expect(bench.state.cursor == .row("r5"))
    bench.state.moveToScreen(.middle, in: ten, height: 5)
    #expect(bench.state.cursor == .row("r3"))
  }

  @Test func sectionJumpsGoToHeaders() {
    let content = ListBatches.content(["a": ["x"], "b": ["y"], "c": ["z"]])
    var bench = Bench(content, height: 3, at: .row("y"))
    bench.state.moveToPreviousSection(in: content, height: 3)
    #expect(bench.state.cursor == .header("b"))
    bench.state.moveToPreviousSection(in: content, height: 3)
    #expect(bench.state.cursor == .header("a"))
    bench.state.moveToPreviousSection(in: content, height: 3)
    #expect(bench.state.cursor == .header("a"))
    for _ in 0..<3 { bench.state.moveToNextSection(in: content, height: 3) }
    #expect(bench.state.cursor == .header("c"))
  }

  @Test func rowsHaveNumbersOverAllSections() {
    let content = ListBatches.content(["a": ["x"], "b": [], "c": ["y", "z"]])
    var bench = Bench(content, height: 3)
    bench.state.moveToRow(number: 3, in: content, height: 3)
    #expect(bench.state.cursor == .row("z"))
    #expect(bench.state.rowNumber(in: content) == 3)
    bench.state.moveToRow(number: .max, in: content, height: 3)
    #expect(bench.state.cursor == .row("z"))
    bench.state.moveToRow(number: .min, in: content, height: 3)
    #expect(bench.state.cursor == .row("x"))
    bench.state.fold("c", in: content, height: 3)
    bench.state.moveToRow(number: 2, in: content, height: 3)
    #expect(bench.state.cursor == .header("c"))
    #expect(bench.state.rowNumber(in: content) == nil)
  }

  @Test func linesOfTheScreenAnswerToClicks() {
    let bench = Bench(
      ListBatches.content(["a": ["x", "y"], "b": []]), height: 4, at: .header("b"))
    let items = (-1..<5).map { bench.state.item(atLine: $0, in: bench.content, height: 4) }
    #expect(items == [nil, .header("a"), .row("x"), .row("y"), .header("b"), nil])
    let scrolled = Bench(ten, height: 3, at: .row("r9"))
    #expect(scrolled.state.item(atLine: 0, in: ten, height: 3) == .header("a"))
  }

  @Test func goingToWhatIsNotThereIsRefused() {
    var bench = Bench(ten, height: 4)
    let foundNobody = bench.state.moveTo(.row("nobody"), in: ten, height: 4)
    bench.state.fold("a", in: ten, height: 4)
    let foundFolded = bench.state.moveTo(.row("r1"), in: ten, height: 4)
    #expect(!foundNobody && !foundFolded)
    #expect(bench.state.cursor == .header("a"))
  }

  @Test func shrinkingKeepsTheCursorInSight() {
    var bench = Bench(ten, height: 9, at: .row("r7"))
    for height in [5, 2, 1, 0, 3, 20] {
      bench.state.resize(toHeight: height, in: ten)
      bench.state.checkInvariants(in: ten, height: height)
      #expect(bench.state.cursor == .row("r7"))
    }
  }

  @Test func everythingIsLegalWithoutContentOrLines() {
    for content in [ListContent(), ten] {
      for height in [0, 1] {
        var state = ListState()
        state.move(by: 1, in: content, height: height)
        state.moveToFirst(in: content, height: height)
        state.moveToLast(in: content, height: height)
        state.movePage(by: 1, in: content, height: height)
        state.scroll(by: 1, in: content, height: height)
        state.moveToNextSection(in: content, height: height)
        state.moveToPreviousSection(in: content, height: height)
        state.moveToRow(number: 1, in: content, height: height)
        for part in ListState.ScreenPart.allCases {
          state.placeCursor(part, in: content, height: height)
          state.moveToScreen(part, in: content, height: height)
        }
        state.foldAll(in: content, height: height)
        state.unfoldAll(in: content, height: height)
        state.checkInvariants(in: content, height: height)
        #expect(state.lines(in: content, height: height).count <= height)
      }
    }
  }

  @Test func horizontalOffsetIsLimited() {
    var state = ListState()
    state.scrollHorizontally(by: .max)
    #expect(state.horizontalOffset == ListState.horizontalOffsetMax)
    state.scrollHorizontally(by: .min)
    #expect(state.horizontalOffset == 0)
  }

  // MARK: - Folds

  @Test func foldingTheCursorsSectionPutsItOnTheHeader() {
    let content = ListBatches.content(["a": ListBatches.rows("r", 0..<5), "b": ["x", "y", "z"]])
    var bench = Bench(content, height: 4, at: .row("r3"))
    #expect(bench.screen == ["=a", "r1", "r2", ">r3"])
    bench.state.toggleFold("a", in: content, height: 4)
    #expect(bench.screen == [">+a", "+b", "x", "y"])
    bench.state.toggleFold("a", in: content, height: 4)
    #expect(bench.screen == [">+a", "r0", "r1", "r2"])
  }

  @Test func foldingKeepsTheHeadersLine() {
    let content = ListBatches.content([
      "a": ListBatches.rows("r", 0..<5), "b": ["x", "y"], "c": ListBatches.rows("q", 0..<9),
    ])
    var bench = Bench(content, height: 5, at: .row("y"))
    #expect(bench.screen == ["=a", "r4", "+b", "x", ">y"])
    bench.state.fold("b", in: content, height: 5)
    #expect(bench.screen == ["=a", "r4", ">+b", "+c", "q0"])
  }

  @Test func foldingEverythingLeavesHeaders() {
    let content = ListBatches.content(["a": ["x"], "b": ["y"], "c": ["z"]])
    var bench = Bench(content, height: 4, at: .row("y"))
    bench.state.foldAll(in: content, height: 4)
    #expect(bench.screen == ["+a", ">+b", "+c"])
    bench.state.unfoldAll(in: content, height: 4)
    #expect(bench.state.folded.isEmpty)
    #expect(bench.state.cursor == .header("b"))
  }

  @Test func rowsOfAFoldedSectionAreNotCountedAsNew() {
    var bench = Bench(ten, height: 4)
    bench.become(ListBatches.content(["a": ListBatches.rows("r", 0..<12)]))
    bench.state.fold("a", in: bench.content, height: 4)
    #expect(bench.state.newBelow.isEmpty)
    bench.become(ListBatches.content(["a": ListBatches.rows("r", 0..<14)]))
    #expect(bench.state.newBelow.isEmpty)
  }

  // MARK: - Cost

  @Test func neitherBatchesNorMovementNeedTheIndexOfTheRows() {
    var rows = ListBatches.rows("r", 0..<100_000)
    var content = ListBatches.content(["a": rows, "b": ["x"]])
    var state = ListState()
    state.apply(.reload, from: ListContent(), to: content, height: 40)
    for step in 0..<200 {
      state.movePage(by: step.isMultiple(of: 3) ? -0.5 : 40, in: content, height: 40)
      let place = step * 400
      rows.insert("n\(step)", at: place)
      var update = BatchUpdate()
      update.insertedRows = [ListIndexPath(section: 0, row: place)]
      let next = ListBatches.content(["a": rows, "b": ["x"]])
      state.apply(update, from: content, to: next, height: 40)
      content = next
      #expect(!content.isIndexBuilt)
    }
    state.checkInvariants(in: content, height: 40)
    #expect(content.isIndexBuilt)
  }
}

import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct MovingTests {
  private func chat() throws -> AppDriver { try AppDriver(Fixture.views(), json: Fixture.small) }

  private func history() throws -> AppDriver {
    try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
  }

  private func number(_ app: AppDriver) -> Int? {
    app.state.tabs.lists[0].list.rowNumber(in: app.list.content)
  }

  @Test func lettersAndArrowsStepOverHeadersAndRows() throws {
    let app = try chat()
    app.press("k")
    #expect(app.cursorLine.contains("Good morning"))
    app.press("Up")
    #expect(app.cursorLine.contains("Today"))
    app.press("C-p")
    #expect(app.cursorLine.contains("renders wide"))
    app.press("j Down C-n")
    #expect(app.cursorLine.contains("ladder"))
    app.press("j")
    #expect(app.cursorLine.contains("ladder"))
  }

  @Test func countsRepeatAMovement() throws {
    let app = try chat()
    app.press("3 k")
    #expect(app.cursorLine.contains("renders wide"))
    app.press("2 j")
    #expect(app.cursorLine.contains("Good morning"))
    app.press("1 0 0 k")
    #expect(app.cursorLine.contains("Pinned"))
  }

  @Test func pendingCountIsShownAndTakenBackByEscape() throws {
    let app = try chat()
    app.press("1 2 g")
    #expect(app.status.hasPrefix(" 12g"))
    app.press("Esc")
    #expect(!app.status.contains("12g"))
    app.press("k")
    #expect(app.cursorLine.contains("Good morning"))
  }

  @Test func keysThatLeadNowhereAreForgotten() throws {
    let app = try chat()
    app.press("g y")
    #expect(!app.state.input.matcher.isPending)
    #expect(app.cursorLine.contains("ladder"))
  }

  @Test func hugeCountsEndAtTheEnds() throws {
    let app = try chat()
    app.press("gg 9 9 9 9 9 9 9 9 ]]")
    #expect(app.cursorLine.contains("Today"))
    app.press("9 9 9 9 9 9 9 9 [[")
    #expect(app.cursorLine.contains("Pinned"))
    app.press("9 9 9 9 9 9 9 9 C-f")
    #expect(app.cursorLine.contains("ladder"))
    app.press("9 9 9 9 9 9 9 9 C-y 9 9 9 9 9 9 9 9 C-e 9 9 9 9 9 9 9 9 gt")
    #expect(app.state.tabs.names.indices.contains(app.state.tabs.position))
  }

  @Test func firstLastAndNumberedRows() throws {
    let app = try chat()
    app.press("gg")
    #expect(app.cursorLine.contains("Pinned"))
    app.press("G")
    #expect(app.cursorLine.contains("ladder"))
    app.press("4 G")
    #expect(app.cursorLine.contains("Rain tomorrow"))
    app.press("1 gg")
    #expect(app.cursorLine.contains("gate code"))
    app.press("Home")
    #expect(app.cursorLine.contains("Pinned"))
    app.press("End")
    #expect(app.cursorLine.contains("ladder"))
  }

  @Test func pagesKeepOneLineInSight() throws {
    let app = try history()
    app.press("gg")
    app.press("PgDn")
    let below = app.body
    app.press("C-f C-b")
    #expect(app.body == below)
    let line = try #require(app.body.firstIndex { $0.hasPrefix(">") })
    app.press("C-d")
    #expect(app.body.firstIndex { $0.hasPrefix(">") } == line)
    app.press("C-u")
    #expect(app.body == below)
  }

  @Test func screenPartsAreReachedWithoutScrolling() throws {
    let app = try history()
    let top = app.body[1].dropFirst()
    app.press("H")
    #expect(app.cursorLine.dropFirst() == top)
    app.press("L")
    #expect(app.body.last?.hasPrefix(">") == true)
    app.press("M")
    #expect(app.body[8...10].contains { $0.hasPrefix(">") })
  }

  @Test func scrollingLeavesTheCursorOnItsRow() throws {
    let app = try history()
    app.press("4 0 k")
    let number = number(app)
    app.press("3 C-y")
    #expect(self.number(app) == number)
    app.press("zt")
    #expect(app.body[1].hasPrefix(">"))
    app.press("zz")
    #expect(app.body[8...9].contains { $0.hasPrefix(">") })
    app.press("zb")
    #expect(app.body.last?.hasPrefix(">") == true)
    #expect(self.number(app) == number)
  }

  @Test func rowsScrollSideways() throws {
    let app = try chat()
    app.press("zl")
    #expect(app.cursorLine.hasPrefix("> ana      Who"))
    app.press("S-Left")
    #expect(app.cursorLine.contains("18:15 ana"))
  }

  @Test func sectionsAreJumpedTo() throws {
    let app = try chat()
    app.press("[[")
    #expect(app.cursorLine.contains("Today"))
    app.press("[[")
    #expect(app.cursorLine.contains("Yesterday"))
    app.press("2 {")
    #expect(app.cursorLine.contains("Pinned"))
    app.press("] ]")
    #expect(app.cursorLine.contains("Sat 22"))
    app.press("}")
    #expect(app.cursorLine.contains("Yesterday"))
  }

  @Test func foldKeysHideAndShowTheRowsOfASectionOrOfAll() throws {
    let app = try chat()
    app.press("za")
    #expect(
      app.cursorLine == ">▸ Today · Mon 24 Aug 2026" + String(repeating: " ", count: 53) + "2")
    #expect(app.line(of: "ladder") == nil)
    app.press("za")
    #expect(app.line(of: "ladder") != nil)
    app.press("zc")
    #expect(app.line(of: "ladder") == nil)
    app.press("zo")
    #expect(app.line(of: "ladder") != nil)
    app.press("zM")
    #expect(app.body.prefix(5).map { $0.contains("▸") } == [true, true, true, true, false])
    app.press("zR")
    #expect(app.line(of: "gate code") != nil)
  }

  @Test func enterAndHorizontalKeysFoldOnAHeader() throws {
    let app = try chat()
    app.press("[[ Enter")
    #expect(app.line(of: "ladder") == nil)
    app.press("l")
    #expect(app.line(of: "ladder") != nil)
    app.press("h")
    #expect(app.line(of: "ladder") == nil)
    app.press("Enter j h")
    #expect(app.cursorLine.contains("Today"))
  }

  @Test func viewsAreChangedByNumberAndInTurn() throws {
    let app = try chat()
    app.press("g2")
    #expect(app.state.tabs.front == .view(1))
    app.press("M-3")
    #expect(app.state.tabs.front == .tree)
    app.press("Tab")
    #expect(app.state.tabs.front == .view(0))
    app.press("gT")
    #expect(app.state.tabs.front == .tree)
    app.press("2 gT")
    #expect(app.state.tabs.front == .view(0))
    app.press("g7")
    #expect(app.state.tabs.front == .view(0))
    #expect(app.toast == "there is no view 7")
  }

  @Test func leavingAsksForNothing() throws {
    let app = try chat()
    app.press("Enter q")
    #expect(!app.state.session.isLeaving)
    app.press("q")
    #expect(app.state.session.isLeaving)
  }

  @Test func interruptLeavesOnlyWhenStruckTwiceWithinASecond() throws {
    let app = try chat()
    app.press("C-c")
    app.wait(milliseconds: 1000)
    app.press("C-c")
    #expect(!app.state.session.isLeaving)
    app.wait(milliseconds: 999)
    app.press("C-c")
    #expect(app.state.session.isLeaving)
  }

  @Test func crashKeyWorksOnlyWhereItIsAllowed() throws {
    let app = try chat()
    app.press("C-x !")
    #expect(app.screenEffects.isEmpty)
  }

  // MARK: Sizes

  @Test func cursorSurvivesAResizeToASmallScreenAndBack() throws {
    let app = try history()
    app.press("1 2 k")
    let cursor = app.list.list.cursor
    for (columns, rows) in [(40, 10), (20, 5), (19, 4), (1, 1), (120, 40), (80, 24)] {
      app.resize(columns: columns, rows: rows)
      #expect(app.list.list.cursor == cursor)
      if columns >= 20, rows >= 5 { #expect(app.cursorLine != "") }
    }
  }

  @Test func viewsInTheBackgroundFitTheirNewSizeToo() throws {
    let app = try history()
    app.press("g3")
    app.resize(columns: 40, rows: 10)
    app.press("g1")
    #expect(app.cursorLine.contains("message number 437") || app.cursorLine.contains("message num"))
    #expect(app.list.list.violations(in: app.list.content, height: app.state.height) == [])
  }
}

/// From one line to the next that stands as deep.
@Suite struct SiblingTests {
  @Test func inAListTheNextRowIsInTheNextSectionToo() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j J")
    #expect(app.cursorLine.contains("Dan"))
    app.press("J")
    #expect(app.cursorLine.contains("Bo"), "the header is passed over")
    app.press("2 K")
    #expect(app.cursorLine.contains("Ana"))
    app.press("K")
    #expect(app.toast == "this is the first one here")
    app.press("gg J")
    #expect(app.cursorLine.contains("Participants"), "from a header to the next one")
    app.press("9 J J")
    #expect(app.toast == "this is the last one here")
  }

  @Test func inARecordWhatIsDeeperIsPassedOver() throws {
    let app = try AppDriver(
      Fixture.views(),
      json: ["room": ["-M1": ["a": 1, "meta": ["x": 1, "y": 2], "z": 3]]])
    app.press("G Enter")
    app.go(to: "a ")
    app.press("J")
    #expect(app.cursorLine.contains("z "))
    app.press("k")
    #expect(app.cursorLine.contains("meta/y"))
    app.press("K")
    #expect(app.cursorLine.contains("meta/x"))
    app.press("K")
    #expect(app.toast == "this is the first one here")
  }

  @Test func inAHistoryWhatIsOpenIsPassedOver() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    try app.set("/user/ana/plot", 9)
    app.press("gH Enter J")
    #expect(!app.cursorLine.contains("plot"))
    #expect(app.cursorLine.contains("18:20"))
    app.press("K")
    #expect(app.cursorLine.contains("plot"))
  }

  @Test func theViewsPaneHasSiblingsToo() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: 120)
    let before = app.list.list.cursor
    app.press("S-Tab gg j J")
    #expect(app.state.panes.views.cursor == .row(ViewsPane.Row.tab(1).id))
    #expect(app.list.list.cursor == before)
  }
}

import Foundation
import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Views, list and detail beside each other.
@Suite struct PaneTests {
  private func app(columns: Int = 120, rows: Int = 40) throws -> AppDriver {
    try AppDriver(Fixture.views(), json: Fixture.small, columns: columns, rows: rows)
  }

  private func click(_ app: AppDriver, row: Int, column: Int, _ kind: MouseEvent.Kind = .press) {
    let position = Position(row: row, column: column)
    app.send(.mouse(MouseEvent(position: position, kind: kind, button: .left)))
    app.pump()
  }

  @Test(arguments: ["list normal -9223372036854775808 0", "list normal 99999999999999999999 -3"])
  func widthsThatNoScreenHasAreNone(text: String) throws {
    let choice = try #require(PaneChoice(text: text))
    #expect(choice.viewsColumns == nil)
    #expect(choice.detailColumns == nil)
  }

  @Test func panesHaveTheirWidths() {
    var panes = PaneArrangement(showsViews: true, detailShare: 30)
    #expect(panes.panes == [.views, .list, .detail])
    #expect(panes.widths(of: 120) == (20, 36))
    #expect(panes.widths(of: 160) == (26, 48))
    panes.size = .full
    #expect(panes.widths(of: 120) == (0, 0))
    panes.focus = .detail
    #expect(panes.widths(of: 120) == (0, 120))
    panes.size = .half
    #expect(panes.widths(of: 120) == (20, 60))
    panes.focus = .views
    #expect(panes.widths(of: 120) == (60, 30))
  }

  @Test(arguments: Pane.allCases, [PaneSize.normal, .half, .full])
  func panesNeverTakeMoreThanTheScreen(focus: Pane, size: PaneSize) {
    for columns in 0...200 {
      for (showsViews, share) in [(true, 30), (true, 0), (false, 30), (false, 45)] {
        let panes = PaneArrangement(
          showsViews: showsViews, detailShare: share, focus: focus, size: size)
        let widths = panes.widths(of: columns)
        #expect(widths.views >= 0 && widths.detail >= 0)
        #expect(widths.views + widths.detail <= columns)
      }
    }
  }

  @Test func aListThatIsGrownHasAtLeastHalfOfTheScreen() {
    for columns in 120...200 {
      let panes = PaneArrangement(showsViews: true, detailShare: 30, focus: .list, size: .half)
      let widths = panes.widths(of: columns)
      #expect(widths.views + widths.detail <= (columns + 1) / 2)
    }
  }

  @Test func tabGoesFromPaneToPaneAndOnANarrowScreenToTheNextView() throws {
    let app = try app()
    #expect(app.state.pane == .list)
    app.press("Tab")
    #expect(app.state.pane == .detail)
    app.press("Tab")
    #expect(app.state.pane == .views)
    app.resize(columns: 80, rows: 24)
    #expect(app.state.pane == .list)
    app.press("Tab")
    #expect(app.state.tabs.front == .view(1))
  }

  @Test func viewsTellWhatIsUnreadAndAreClicked() throws {
    let app = try app()
    app.press("gt")
    try app.set("/room/-M7", Fixture.message("news", from: "eve", at: Fixture.now))
    let row = try #require(app.screen.firstIndex { $0.contains(" Chat      ") })
    #expect(app.screen[row].prefix(20).hasSuffix("• 1 │"))
    click(app, row: row, column: 4)
    #expect(app.state.tabs.front == .view(0))
    #expect(app.state.pane == .list)
  }

  /// The lines of the views pane.
  private func viewsPane(_ app: AppDriver) -> [String] {
    app.screen.dropFirst(3).dropLast(3).compactMap { line in
      line.split(separator: "│", omittingEmptySubsequences: false).first.map {
        $0.trimmingCharacters(in: CharacterSet(charactersIn: " >"))
      }
    }
  }

  @Test func sectionsStandBesideTheirListWithCountsAndMoveWithIt() throws {
    let app = try app(columns: 160)
    app.press("g2")
    #expect(viewsPane(app).contains { $0.hasPrefix("Organizers") && $0.hasSuffix("2") })
    #expect(viewsPane(app).contains { $0.hasPrefix("Participants") && $0.hasSuffix("3") })
    app.press("gg j")
    let first = try #require(Panes.section(app.state))
    // From the pane, the list goes with the section under the cursor.
    app.press("S-Tab")
    #expect(app.state.panes.views.cursor == .row(ViewsPane.Row.section(first).id))
    app.press("j")
    #expect(app.list.cursorRecord?.row.key.text == "bo")
    #expect(Panes.section(app.state) != first)
    app.press("Enter")
    #expect(app.state.pane == .list && app.cursorLine.contains("Bo"))
    // In the list, the pane goes with it.
    app.press("gg j S-Tab")
    #expect(app.state.panes.views.cursor == .row(ViewsPane.Row.section(first).id))
    // A section that comes by a write is counted at once.
    try app.set("/user/eve/role", "guest")
    #expect(viewsPane(app).contains { $0.hasPrefix("guest") && $0.hasSuffix("1") })
    #expect(viewsPane(app).contains { $0.hasPrefix("Participants") && $0.hasSuffix("2") })
  }

  @Test func sectionThatGoesLeavesTheCursorOfThePaneOnWhatIsShown() throws {
    let app = try app(columns: 160)
    try app.set("/user/eve/role", "guest")
    app.press("g2 gg j S-Tab j j")
    #expect(app.list.cursorRecord?.row.key.text == "eve")
    try app.remove("/user/eve")
    app.press("j k")
    #expect(viewsPane(app).contains { $0.hasPrefix("Participants") })
    #expect(app.state.layers.isEmpty)
  }

  @Test func listWithoutSectionsHasNoneInThePane() throws {
    let app = try app(columns: 160)
    app.press("g2")
    app.type(":group none")
    app.press("Enter")
    #expect(Panes.sections(app.state).isEmpty)
    #expect(!viewsPane(app).contains { $0.hasPrefix("Organizers") })
  }

  @Test func clicksGiveTheKeysToAPane() throws {
    let app = try app()
    click(app, row: 10, column: 100)
    #expect(app.state.pane == .detail)
    click(app, row: 10, column: 60)
    #expect(app.state.pane == .list)
    click(app, row: 30, column: 4)
    #expect(app.state.pane == .views)
    app.press("Esc")
    #expect(app.state.pane == .list)
  }

  @Test func longDetailIsScrolledByKeysAndByTheWheelAndBeginsAnewAtAnotherRecord() throws {
    let app = try app(rows: 14)
    let text = (1...60).map { "word\($0)" }.joined(separator: " ")
    try app.set("/room/-M6/text", .string(text))
    #expect(app.screen.contains { $0.contains("more lines") })
    app.press("Tab j j")
    #expect(Panes.detailTop(app.state) == 2)
    app.press("G")
    #expect(app.screen.contains { $0.contains("word60") })
    #expect(!app.screen.contains { $0.contains("more lines") })
    click(app, row: 6, column: 100, .wheelUp)
    #expect(app.screen.contains { $0.contains("more lines") })
    app.press("h k")
    #expect(Panes.detailTop(app.state) == 0)
  }

  @Test func keysOfTheListAreNotForTheViews() throws {
    let app = try app()
    app.press("S-Tab d")
    #expect(app.toast.contains("move to a bookmark"))
    app.press("e")
    #expect(app.state.layers.isEmpty)
  }

  @Test func asciiScreensJoinPanesWithSignsOfTheirOwn() throws {
    let app = try AppDriver(
      Fixture.views(), json: Fixture.small, columns: 120, rows: 40, glyphs: .ascii)
    #expect(app.screen[2].contains("-+-"))
    #expect(app.screen.allSatisfy { !$0.contains("┬") })
  }

  /// Columns that are for wide screens, beside one that takes what is left.
  private func columns(_ text: String) throws -> [ViewDefinition] {
    let yaml = """
      views:
        - name: People
          path: /user
          columns: [{ field: plot, width: 3, screen: 60 }, { field: name, width: 8 }, \(text)]
      """
    return try ViewFile(yaml: yaml, name: "columns.views.yaml").views
  }

  @Test func columnsGoByTheWidthOfTheScreenNotOfThePane() throws {
    let app = try AppDriver(
      columns("{ field: email }"), json: ["user": ["dan": Fixture.user("Dan", "x", plot: 777)]])
    for width in 60...160 {
      app.resize(columns: width, rows: 24)
      #expect(app.body.contains { $0.contains("777") }, "\(width) columns")
    }
    app.resize(columns: 80, rows: 24)
    app.press("p")
    #expect(app.body.contains { $0.contains("777") })
    app.resize(columns: 59, rows: 24)
    #expect(!app.body.contains { $0.contains("777") })
  }

  @Test func aPaneWithoutRoomShowsTheColumnsForNarrowScreensOnly() throws {
    let app = try AppDriver(
      columns("{ field: email, width: 20 }, { field: role }"),
      json: ["user": ["dan": Fixture.user("Dan", "x", plot: 777)]], columns: 120)
    app.press("gg j")
    #expect(app.cursorLine.contains("777"))
    app.resize(columns: 90, rows: 24)
    app.press("p Tab +")
    #expect(app.state.layout.body.width < 48)
    #expect(!app.cursorLine.contains("777"))
    #expect(app.cursorLine.contains("dan@"))
  }

  @Test func theDemoKeepsItsSignsOnWideScreens() throws {
    let demo = try Fixture.demoViews()
    let app = try AppDriver(
      demo.views, copying: Fixture.demoFile.get(), columns: 120, rows: 40, now: Fixture.demoNow)
    app.press("gg")
    #expect(app.body.contains { $0.contains("★") })
  }
}

/// The value beside the tree.
@Suite struct TreePreviewTests {
  private func app(_ json: JSONValue) throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: json, columns: 120, rows: 40)
    app.press("g3")
    return app
  }

  @Test func oneValueIsReadAtATimeAndTheLastOneIsShown() throws {
    let app = try app(Fixture.small)
    app.press("gg j l")
    app.strike("j j j k j")
    #expect(app.backend.requests.count == 1)
    app.pump()
    #expect(app.screen.contains { $0.contains("\"text\": \"Rain tomorrow\"") })
  }

  @Test func aLargeValueIsShownInItsBeginning() throws {
    let items = (0..<20_000).map { JSONMember("k\($0)", .string("value \($0)")) }
    let app = try app(["large": .object(items)])
    app.press("gg j")
    #expect(app.screen.contains { $0.contains("first 64 KiB of") } == false)
    #expect(app.state.tabs.tree.preview.value?.size.hasPrefix("first 64 KiB of ") == true)
    #expect(app.state.tabs.tree.preview.value?.lines.first == "{")
    #expect(app.screen.contains { $0.contains("more lines") })
    app.press("Tab G")
    #expect(app.screen.contains { $0.contains("first 64 KiB of") })
  }

  @Test func aLongTextIsCutWithItsSizeInTheTreeAndWrappedBeside() throws {
    let text = String(repeating: "word ", count: 100)
    let app = try app(["a": .string(text)])
    app.press("gg j")
    #expect(app.cursorLine.contains("…  500 bytes"))
    #expect(app.screen.filter { $0.contains("│ word word") }.count > 8)
    #expect(app.screen.contains { $0.contains("string · 500 bytes") })
  }

  @Test func whatIsReadIsReadAgainWhenTheTreeTellsAChange() throws {
    let app = try app(["a": ["x": 1]])
    app.press("gg j l k j")
    #expect(app.screen.contains { $0.contains("\"x\": 1") })
    try app.set("/a/x", 2)
    #expect(app.screen.contains { $0.contains("\"x\": 2") })
  }

  @Test(arguments: [
    (0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1024, "1 KiB"), (1536, "1.5 KiB"),
    (65_536, "64 KiB"), (3_250_586, "3.1 MiB"), (1 << 40, "1 TiB"),
  ])
  func sizesAreReadable(count: Int, text: String) {
    #expect(ByteCount.text(count) == text)
  }

  @Test func linesOfJSONHaveTheRolesOfTheirParts() {
    let line = JSONLine.styled("  \"a\\\"b: c\": \"x, y\",")
    #expect(line.text == "  \"a\\\"b: c\": \"x, y\",")
    #expect(line.runs.map(\.role) == [.text, .jsonKey, .muted, .jsonString, .muted])
    #expect(JSONLine.styled("  \"n\": 12").runs.last?.role == .jsonNumber)
    #expect(JSONLine.styled("}").text == "}")
    #expect(JSONLine.moment(in: "  \"t\": 1756015752000,") == 1_756_015_752_000)
    #expect(JSONLine.moment(in: "  \"t\": \"1756015752000\"") == nil)
    #expect(JSONLine.moment(in: "  \"t\": -1756015752000") == nil)
  }
}

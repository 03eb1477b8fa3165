import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct PagingTests {
  private func history(rows: Int = 24) throws -> AppDriver {
    try AppDriver(Fixture.views(), copying: Fixture.historyFile.get(), rows: rows)
  }

  /// The numbers of the messages below the pinned ones, in the order of the list.
  private func numbers(_ app: AppDriver) -> [Int] {
    app.list.content.sections.flatMap(\.rows).compactMap { id in
      guard let record = app.list.records[id],
        case .string(let text)? = record.row.node?.json["text"]
      else { return nil }
      return text.split(separator: " ").last.flatMap { Int($0) }
    }
  }

  private static let pinned = (1...437).filter { $0 % 40 == 8 }

  @Test func sectionWhoseRowsAreNotLoadedIsNotCalledEmpty() throws {
    let yaml = """
      views:
        - name: Jobs
          path: /jobs
          page: 3
          sections:
            - { field: kind, titles: { urgent: Urgent, other: Others } }
          columns: [{ field: text }]
      """
    let jobs = (0..<9).map {
      JSONMember("j\($0)", ["text": "Job", "kind": $0 > 6 ? "urgent" : "other"])
    }
    let app = try AppDriver(
      ViewFile(yaml: yaml, name: "jobs.views.yaml").views, json: ["jobs": .object(jobs)])
    #expect(app.body.contains { $0.contains("none of the loaded rows") }, "\(app.body)")
    #expect(!app.body.contains { $0.contains("nothing here yet") })
    app.press("gm gm gm")
    #expect(!app.body.contains { $0.contains("none of the loaded rows") })
  }

  @Test func pageLeavesTheRowBelowAHeadingInItsPlace() throws {
    let yaml = """
      views:
        - name: Jobs
          path: /jobs
          order: $key
          anchor: last
          page: 30
          sections:
            - { field: kind, titles: { urgent: Urgent, other: Others } }
          columns: [{ field: text }]
      """
    // Three of the thirty older jobs stand directly below the heading.
    let jobs = (10..<70).map { number in
      let isOther = number < 40 ? number % 10 == 0 : number % 2 == 1
      return JSONMember(
        "j\(number)",
        ["text": .string("Job \(number)."), "kind": isOther ? "other" : "urgent"])
    }
    let app = try AppDriver(
      ViewFile(yaml: yaml, name: "jobs.views.yaml").views, json: ["jobs": .object(jobs)],
      rows: 30)
    app.press("h")
    #expect(app.cursorLine.contains("Others"), "\(app.body)")
    let line = try #require(app.line(of: "Job 41."))
    app.press("gm")
    #expect(app.list.reach.loadedCount == 60)
    #expect(app.line(of: "Job 41.") == line, "\(app.body)")
    #expect(app.line(of: "Job 30.") == line - 1, "\(app.body)")
    #expect(app.cursorLine.contains("Others"))
  }

  @Test func aCountFetchesSoManyPages() throws {
    let app = try history()
    app.press("4 gm")
    #expect(app.list.reach.loadedCount == 250)
    app.press("2 0 0 0 0 gm")
    #expect(app.list.reach.loadedCount == 437)
    #expect(app.list.reach.paging == .exhausted)
  }

  @Test func enterGoesOnFetchingUntilAnotherKey() throws {
    let app = try history()
    app.press("gg")
    for _ in 0..<60 where app.list.list.cursor != .row(ListScreen.fetchMoreRow) { app.press("j") }
    app.press("Enter")
    #expect(app.list.reach.loadedCount == 100)
    #expect(app.screen.contains { $0.contains("Enter fetch on") })
    app.press("Enter")
    #expect(app.list.reach.loadedCount == 150)
    repeat { app.press("k") } while app.list.cursorRecord == nil
    app.press("Enter")
    #expect(app.list.reach.loadedCount == 150)
    #expect(app.record != nil, "after another key Enter opens")
  }

  @Test func whatWasLoadedStaysLoadedWhenTheListIsSorted() throws {
    let app = try history()
    app.press("gm gm")
    let count = app.list.reach.loadedCount
    #expect(count == 150)
    app.press(":")
    app.type("sort from")
    app.press("Enter")
    #expect(app.list.arrangement.order?.text == "from")
    #expect(app.list.reach.loadedCount == count)
    #expect(app.list.reach.paging == .more)
    app.press("gm")
    #expect(app.list.reach.loadedCount == count + 50, "pages are as large as before")
  }

  @Test func sortedListReadsNoMoreThanItKeeps() throws {
    var views = try Fixture.views()
    views[0].source.keep = 100
    let app = try AppDriver(views, copying: Fixture.historyFile.get())
    app.press("gm gm")
    #expect(app.list.reach.loadedCount == 150)
    app.press(":")
    app.type("sort from")
    app.press("Enter")
    #expect(app.list.reach.loadedCount == 100)
  }

  @Test func viewThatFetchesAheadPagesWithTheCursor() throws {
    var views = try Fixture.views()
    views[0].source.prefetch = 5
    let app = try AppDriver(views, copying: Fixture.historyFile.get())
    let first = app.list.reach.loadedCount
    app.press("k")
    #expect(app.list.reach.loadedCount == first)
    var presses = 0
    while app.list.reach.paging != .exhausted, presses < 900 {
      app.press("k")
      presses += 1
      #expect(app.list.list.cursor != .row(ListScreen.fetchMoreRow))
    }
    #expect(numbers(app).sorted() == Array(1...437))
  }

  @Test func viewThatFetchesAheadSearchesNoOlderRowsByItself() throws {
    var views = try Fixture.views()
    views[0].source.prefetch = 5
    let app = try AppDriver(views, copying: Fixture.historyFile.get())
    app.press("f")
    app.type("text~number")
    app.press("Enter k k gg G")
    #expect(app.list.reach.paging != .exhausted)
    #expect(app.list.reach.loadedCount < 437)
  }

  @Test(arguments: [true, false])
  func pagesToTheStartMissNothingAndRepeatNothing(byEnter: Bool) throws {
    let app = try history()
    var pageCount = 0
    while app.list.reach.paging != .exhausted, pageCount < 20 {
      if byEnter, !app.list.list.isOnFetchMoreRow { app.moveToFetchMoreRow() }
      app.press(byEnter ? "Enter" : "gm")
      pageCount += 1
    }
    #expect(pageCount == 8)
    #expect(numbers(app).sorted() == Array(1...437))
    let history = numbers(app).dropFirst(Self.pinned.count)
    #expect(Array(history) == (1...437).filter { $0 % 40 != 8 })
    #expect(Array(numbers(app).prefix(Self.pinned.count)) == Self.pinned)
  }

  @Test func pageDoesNotMoveTheScreen() throws {
    let app = try history()
    app.press("1 0 k")
    let before = app.body
    app.press("gm")
    #expect(app.body == before)
    #expect(numbers(app).count > 100)
  }

  @Test func everyPageLeavesTheRowsBelowTheFetchMoreRowInTheirLines() throws {
    let app = try history()
    var pageCount = 0
    app.moveToFetchMoreRow()
    while app.list.reach.paging != .exhausted, pageCount < 20 {
      app.moveToFetchMoreRow()
      let line = try #require(app.body.firstIndex { $0.hasPrefix(">") })
      let below = Array(app.body[(line + 1)...])
      app.press("Enter")
      pageCount += 1
      #expect(app.body.firstIndex { $0.hasPrefix(">") } == line, "page \(pageCount)")
      #expect(Array(app.body[(line + 1)...]) == below, "page \(pageCount)")
      #expect(app.list.list.cursor != .row(ListScreen.fetchMoreRow))
    }
  }

  @Test func rowsAreBeingFetchedUntilTheyAreThere() throws {
    let app = try history()
    app.moveToFetchMoreRow()
    #expect(app.cursorLine.hasPrefix(">  ⋯ older rows not loaded - Enter fetches 50"))
    #expect(app.cursorLine.hasSuffix("gm"))
    app.strike("Enter")
    #expect(app.cursorLine == ">  ◐ fetching older rows…")
    app.strike("Enter")
    #expect(app.backend.requests.count == 1, "a page that is on its way is not asked for again")
    app.pump()
    #expect(app.line(of: "fetching") == nil)
  }

  @Test func listThatIsSortedDownwardsHasItsEndBelow() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.type(":sort created desc")
    app.press("Enter")
    #expect(app.line(of: "── end ──") != nil, "\(app.body)")
    #expect(app.line(of: "── start ──") == nil)
  }

  @Test func listThatNoServerHasAnsweredIsUnknown() throws {
    let app = try AppDriver(Fixture.views(), origin: "home")
    app.take(.origin(OriginFacts(.waiting, since: app.state.now)))
    #expect(app.line(of: "nothing is known here yet") != nil, "\(app.body)")
    #expect(app.line(of: "not loaded") == nil, "\(app.body)")
    #expect(app.screen[1].contains("nothing known yet"), "\(app.screen[1])")
    #expect(!app.screen[1].contains("loaded"), "\(app.screen[1])")
  }

  /// The server may have more rows than were read.
  @Test func endOfTheCacheIsNoEndOfTheList() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.type(":sort created desc")
    app.press("Enter")
    app.take(.origin(OriginFacts(.waiting, since: app.state.now)))
    #expect(app.line(of: "── end of what is kept here ──") != nil, "\(app.body)")
    app.press("gm")
    #expect(app.toast == "all that is kept here is loaded: the server may have more rows")
    app.take(.origin(OriginFacts(.live)))
    #expect(app.line(of: "── end ──") != nil, "\(app.body)")
  }

  /// The first page is not full, and nobody knows whether the server has more.
  @Test func theHeaderOfACacheThatIsAllShownPromisesNoMoreRows() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.type(":sort created desc")
    app.press("Enter")
    app.take(.origin(OriginFacts(.waiting, since: app.state.now)))
    var state = app.state
    let view = try #require(state.tabs.front.view)
    state.tabs.lists[view].reach.paging = .more
    let screen = AppScreen(state, glyphs: .unicode).draw().textLines()
    #expect(screen.contains { $0.contains("── end of what is kept here ──") }, "\(screen)")
    #expect(screen[1].contains(" kept here"), "\(screen)")
    #expect(!screen[1].contains("more below"), "\(screen)")
  }

  @Test func startOfTheHistoryIsSaid() throws {
    let app = try history()
    for _ in 0..<10 { app.press("gm") }
    #expect(app.toast == "everything is loaded: there are no more rows")
    app.moveToFetchMoreRow()
    #expect(app.cursorLine == ">  ── start ──")
    app.press("j")
    #expect(app.cursorLine.contains("message number 1 "))
  }

  @Test func pageThatCannotBeFetchedSaysSoInItsRowAndIsFetchedOnEnter() throws {
    let app = try history()
    app.moveToFetchMoreRow()
    app.backend.listenRefusal = DatabaseError(.locked, "the file is locked")
    app.press("Enter")
    #expect(app.cursorLine.contains("the file is locked"))
    app.backend.listenRefusal = nil
    app.press("Enter")
    #expect(app.line(of: "locked") == nil)
    #expect(numbers(app).count > 100)
  }

  @Test func countsSayWhatIsLoadedUntilAllIs() throws {
    let app = try history()
    #expect(app.screen[1].hasSuffix("60 of 437 rows"))
    for _ in 0..<10 { app.press("gm") }
    #expect(app.screen[1].hasSuffix("437 rows"))
    app.press("gg")
    #expect(app.body[0].hasSuffix(" 11"))
  }

  @Test func fetchMoreRowStandsInTheHistoryEvenIfTheOldestLoadedRowIsPinned() throws {
    let app = try history()
    app.press("gm gm")
    // 150 of 437 are loaded: 288 is the oldest of them.
    #expect(Self.pinned.contains(288))
    let section = app.list.content.sections.first { $0.rows.contains(ListScreen.fetchMoreRow) }
    let heading = app.list.headings.all[try #require(section).id]
    #expect(heading?.title.text.contains("2026") == true)
    #expect(section?.rows.first == ListScreen.fetchMoreRow)
  }

  @Test func pinnedRowsAreNotMarkedAsChangedWhenTheirPageComes() throws {
    let app = try history()
    for _ in 0..<4 { app.press("gm") }
    #expect(app.list.news.changed.isEmpty)
  }

  @Test func pagesAtTheBottomLeaveTheCursorInItsLine() throws {
    var views = try Fixture.views()
    views[0].source.anchor = .first
    views[0].also = []
    views[0].sections = []
    let app = try AppDriver(views, copying: Fixture.historyFile.get())
    app.press("5 1 G")
    #expect(app.cursorLine.hasPrefix(">  ⋯ more rows"))
    let before = app.body
    app.press("Enter")
    #expect(app.body.dropFirst().dropLast() == before.dropFirst().dropLast())
    #expect(app.cursorLine.contains("message number 51 "))
  }

  @Test func descendingHistoriesArePagedAtTheBottom() throws {
    var views = try Fixture.views()
    views[0].source.isDescending = true
    views[0].also = []
    views[0].sections = []
    let app = try AppDriver(views, copying: Fixture.historyFile.get())
    #expect(app.body[1].contains("message number 437 "))
    app.press("5 1 G")
    let before = app.body
    app.press("Enter")
    #expect(app.body.dropFirst().dropLast() == before.dropFirst().dropLast())
    #expect(app.cursorLine.contains("message number 387 "))
  }
}

extension AppDriver {
  /// Moves the cursor to the row that stands for rows not loaded.
  func moveToFetchMoreRow() {
    let content = list.content
    guard let path = content.indexPath(ofRow: ListScreen.fetchMoreRow) else {
      Issue.record("there is no fetch-more row")
      return
    }
    let number = content.sections[..<path.section].reduce(path.row + 1) { $0 + $1.rows.count }
    press("\(number)".map(String.init).joined(separator: " ") + " gg")
  }
}

extension ListState {
  /// Whether the cursor is on the row that stands for rows not loaded.
  fileprivate var isOnFetchMoreRow: Bool { cursor == .row(ListScreen.fetchMoreRow) }
}

import RunnelBase
import RunnelStreams
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Filters in a list that has more rows than it keeps loaded.
@Suite struct FarSearchTests {
  private static let count = 3600

  /// A list with the keys 0 to 3599, of which some hold the word that is looked for.
  private func app(
    needles: Set<Int>, anchor: String = "first", condition: String = "", reach: FindReach? = nil
  ) throws -> AppDriver {
    let views = try ViewFile(
      yaml: """
        views:
          - name: Hay
            path: /hay
            page: 20
            anchor: \(anchor)
            \(condition.isEmpty ? "" : "where: '\(condition)'")
            columns: [{ field: word, width: 12 }, { field: $key }]
        """, name: "hay.views.yaml"
    ).views
    let records = (0..<Self.count).map { number in
      JSONMember(String(number), ["word": needles.contains(number) ? "needle" : "straw"])
    }
    return try AppDriver(views, json: ["hay": .object(records)], reach: reach)
  }

  private func find(_ app: AppDriver) {
    app.press("f")
    app.type("word:needle")
    app.press("Enter")
  }

  private func rows(_ app: AppDriver) -> [String] {
    app.list.content.sections.flatMap(\.rows).compactMap { app.list.records[$0]?.row.key.text }
  }

  @Test func allRowsAreSearchedAndFewAreLoaded() throws {
    let app = try app(needles: [7, 2900, 3300, 3599])
    find(app)
    #expect(rows(app) == ["7", "2900", "3300", "3599"])
    #expect(app.list.reach.loadedCount < 2600)
    #expect(app.screen[1].contains("4 of 3600 rows"))
    #expect(app.list.reach.paging == .exhausted)
  }

  /// The further query has rows that the search goes through, too.
  @Test func rowsOfFurtherQueriesAreCountedOnceAfterASearch() throws {
    let views = try ViewFile(
      yaml: """
        views:
          - name: Hay
            path: /hay
            page: 20
            anchor: first
            also: [{ order: word, equal-to: needle }]
            columns: [{ field: word, width: 12 }, { field: $key }]
        """, name: "hay.views.yaml"
    ).views
    let needles: Set = [7, 2900, 3300]
    let records = (0..<Self.count).map { number in
      JSONMember(String(number), ["word": needles.contains(number) ? "needle" : "straw"])
    }
    let app = try AppDriver(views, json: ["hay": .object(records)])
    find(app)
    #expect(app.list.reach.paging == .exhausted)
    #expect(app.screen[1].contains("3 of 3600 rows"), "\(app.screen[1])")
  }

  @Test func allRowsThatFitAreMarkedAfterASearch() throws {
    let app = try app(needles: [7, 2900, 3300, 3599])
    find(app)
    app.press("*")
    #expect(app.list.markCount == 4)
    #expect(!app.toast.contains("not loaded"), "\(app.toast)")
  }

  @Test func whatASearchWentThroughIsNoNews() throws {
    let app = try app(needles: [])
    find(app)
    #expect(app.screen[1].contains("0 of 3600 rows"))
    app.press("Esc")
    #expect(app.list.arrivedUnloaded == 0 && !app.screen[1].contains("new"))
  }

  @Test func olderRowsAreSearchedFromTheLiveEnd() throws {
    let app = try app(needles: [3, 1500, 3590], anchor: "last")
    find(app)
    #expect(rows(app) == ["3", "1500", "3590"])
    #expect(app.screen[1].contains("3 of 3600 rows"))
  }

  @Test(arguments: [1, 2, 1000])
  func whatAFilterReadIsLetGoWhenItEnds(answers: Int) throws {
    let app = try app(needles: [])
    let before = (app.list.reach.loadedCount, app.cursorLine)
    app.press("f")
    app.type("word:needle")
    app.strike("Enter")
    app.answer(answers)
    app.press("Esc")
    #expect(app.list.filtering.filter == nil && app.list.reach.paging == .more)
    #expect(app.list.reach.loadedCount <= max(before.0, 100), "\(app.list.reach.loadedCount)")
    #expect(app.cursorLine == before.1)
    #expect(app.list.arrivedUnloaded == 0)
    // What the user fetches then stays.
    app.press("1 0 gm")
    #expect(app.list.reach.loadedCount >= before.0 + 200)
  }

  @Test func filterThatNoRowFitsSearchesThemAll() throws {
    let app = try app(needles: [])
    find(app)
    #expect(rows(app).isEmpty)
    #expect(app.screen[1].contains("0 of 3600 rows"))
    #expect(app.body.contains { $0.contains("no row fits the filter") }, "\(app.body)")
  }

  @Test func foundRowsStayLive() throws {
    let app = try app(needles: [2900, 3300, 3599])
    find(app)
    try app.set("/hay/3300/word", "straw")
    #expect(rows(app) == ["2900", "3599"])
    try app.set("/hay/3300/word", "needle")
    #expect(rows(app) == ["2900", "3300", "3599"])
    try app.remove("/hay/3599")
    #expect(rows(app) == ["2900", "3300"])
  }

  @Test func searchEndsWithAPageAndGoesOnWhenAsked() throws {
    let needles = stride(from: 2040, to: Self.count, by: 30).map { $0 }
    let app = try app(needles: Set(needles))
    find(app)
    let found = rows(app)
    #expect(found.count >= 20)
    while app.list.reach.paging == .more {
      let before = rows(app).count
      app.press("gm")
      try #require(rows(app).count > before || app.list.reach.paging == .exhausted)
    }
    #expect(rows(app) == needles.map { String($0) })
  }

  @Test func clearedFilterShowsTheFoundRowAmongItsNeighbors() throws {
    let app = try app(needles: [2900, 3300])
    find(app)
    app.press("gg j")
    #expect(app.list.cursorRecord?.row.key.text == "2900")
    app.press("Esc")
    #expect(app.list.filtering.filter == nil)
    #expect(app.list.cursorRecord?.row.key.text == "2900")
    #expect(rows(app).contains("2899") && rows(app).contains("2901"))
  }

  @Test func anotherFilterForgetsWhatWasFound() throws {
    let app = try app(needles: [2900, 3300])
    find(app)
    app.press("f")
    app.type("word:straw")
    #expect(!rows(app).contains("2900") && rows(app).contains("0"))
    #expect(app.list.filtering.searchedCount == 0)
  }

  // MARK: On the services of a server

  @Test(arguments: ["first", "last"]) func serverFindsWhatFits(anchor: String) throws {
    let needles: Set = [7, 2900, 3300, 3599]
    let app = try app(needles: needles, anchor: anchor, reach: FindReach())
    app.press("f")
    app.type("word:needle")
    #expect(app.screen[1].contains("here, of 20 loaded"), "\(app.screen[1])")
    app.press("Enter")
    #expect(rows(app) == ["7", "2900", "3300", "3599"])
    #expect(app.screen[1].contains("4 rows by the server"), "\(app.screen[1])")
    #expect(app.list.reach.loadedCount == 20 && app.list.filtering.searchedCount < 20)
    try app.set("/hay/2900/word", "straw")
    #expect(rows(app) == ["7", "3300", "3599"])
    // Without the filter the list is as before: the rows up to those found are not read.
    app.press("G")
    app.press("Esc")
    #expect(
      app.list.filtering.filter == nil && rows(app).count == 20 && app.list.reach.loadedCount == 20)
  }

  /// All records may be known already.
  @Test func listSaysThatTheServerSearchedOnlyIfItWasAsked() throws {
    let reach = FindReach()
    reach.noteConnection(isTextual: false)
    let app = try app(needles: [7, 2900, 3300, 3599], reach: reach)
    find(app)
    #expect(app.screen[1].contains("4 rows here"), "\(app.screen[1])")
    let filter = try #require(app.list.filtering.filter)
    let part = try #require(FilterPredicate.part(of: filter, in: app.list)).predicate
    let condition = try #require(reach.condition(part, at: Path("/hay")))
    let asked = ChildPredicate.all([try ChildPredicate(parsing: "exists a"), part])
    #expect(try reach.filterPlace(condition, isWhole: true, at: Path("/hay")) == .here)
    reach.note(asked: asked, of: "hay")
    #expect(try reach.filterPlace(condition, isWhole: true, at: Path("/hay")) == .server)
    #expect(try reach.filterPlace(condition, isWhole: true, at: Path("/straw")) == .here)
    reach.noteConnection(isTextual: false)
    #expect(try reach.filterPlace(condition, isWhole: true, at: Path("/hay")) == .here)
  }

  @Test func serverIsAskedForMoreAsThePagesAreFetched() throws {
    let needles = stride(from: 100, to: Self.count, by: 20).map { $0 }
    let app = try app(needles: Set(needles), reach: FindReach())
    find(app)
    #expect(app.screen[1].contains("+ rows by the server"), "\(app.screen[1])")
    #expect(!app.body.contains { $0.contains("only loaded rows") })
    while app.list.reach.paging == .more {
      let before = rows(app).count
      app.press("gm")
      try #require(rows(app).count > before || app.list.reach.paging == .exhausted)
    }
    #expect(rows(app) == needles.map { String($0) })
    #expect(app.list.reach.loadedCount == 20)
  }

  @Test func listSaysWhatPartOfItsFilterTheServerChecks() throws {
    let app = try app(needles: [7, 2900, 3300], reach: FindReach())
    app.press("f")
    app.type("word:needle $key~3")
    app.press("Enter")
    #expect(rows(app) == ["3300"])
    #expect(app.screen[1].contains("1 row by the server and here"), "\(app.screen[1])")
    app.press("f")
    app.press("C-u")
    app.type("word~needl")
    app.press("Enter")
    #expect(rows(app) == ["7", "2900", "3300"])
    #expect(app.screen[1].contains("3 rows here, of all"), "\(app.screen[1])")
  }

  @Test func listSaysWhereTheConditionOfItsViewIsChecked() throws {
    let needles: Set = [7, 2900, 3300]
    for (condition, words) in [
      ("word == \"needle\"", "3 rows, by the server"),
      ("word contains \"needle\"", "3 rows, filtered here"),
    ] {
      let app = try app(needles: needles, condition: condition, reach: FindReach())
      #expect(rows(app) == ["7", "2900", "3300"])
      #expect(app.screen[1].contains(words), "\(app.screen[1])")
    }
    let reach = FindReach()
    reach.note(declined: try ChildPredicate(parsing: "word == \"needle\""), by: "hay")
    let app = try app(needles: needles, condition: "word == \"needle\"", reach: reach)
    #expect(app.screen[1].contains("3 rows, filtered here"), "\(app.screen[1])")
  }

  // MARK: On a replica

  /// A tree that only notes what it is asked.
  private final class SilentSource: TreeSource {
    private(set) var listened: [(id: ListenerID, request: ListenRequest)] = []
    private(set) var ended: [ListenerID] = []

    func listen(_ request: ListenRequest) -> ListenerID {
      listened.append((ListenerID(listened.count + 1), request))
      return ListenerID(listened.count)
    }

    func unlisten(_ listener: ListenerID) { ended.append(listener) }
    func extend(_ listener: ListenerID, by count: Int) {}
  }

  private func events(_ keys: Range<Int>) throws -> [TreeEvent] {
    try keys.map { number in
      let node = try Node(json: ["word": "needle"])
      let child = Child(key: try Key("\(number)"), node: node)
      return .childAdded(TreeRow(child, index: .key, detail: .full), previous: nil)
    }
  }

  private func search(
    _ source: SilentSource, awaitsOrigin: @escaping () -> Bool
  ) throws -> FarSearch {
    let search = FarSearch(
      beyond: IndexPosition(value: .null, key: .key(try Key("900"))), at: .start,
      of: SourceDefinition(path: try Path("/hay"), page: 20), source: source,
      asking: try ChildPredicate(parsing: "word == \"needle\""), awaitsOrigin: awaitsOrigin)
    search.wantedCount = 30
    try search.read()
    return search
  }

  /// After G the first page and the last one are known: there is a gap between, however many rows are known.
  @Test func knownRowsAreNoPartBeforeTheOriginHasAnswered() throws {
    let source = SilentSource()
    let search = try search(source) { true }
    let listener = try #require(source.listened.first?.id)
    #expect(search.take(try events(0..<30) + [.page(hasMore: true)], from: listener) == nil)
    #expect(search.state == .fetching)
    let gone = try events(0..<30).compactMap(\.row).map { TreeEvent.childRemoved($0) }
    let part = try #require(
      search.take(gone + (try events(870..<900)) + [.page(hasMore: true)], from: listener))
    #expect(part.rows.map(\.key.text).sorted() == (870..<900).map { "\($0)" })
    #expect(!part.isLast && source.ended == [listener])
  }

  @Test func answerWithoutAChangeMakesThePartWhole() throws {
    let source = SilentSource()
    let search = try search(source) { true }
    let listener = try #require(source.listened.first?.id)
    #expect(search.take(try events(0..<30) + [.page(hasMore: true)], from: listener) == nil)
    #expect(search.take([.answered], from: listener)?.rows.count == 30)
  }

  @Test func withoutAnOriginWhatIsKnownIsSearched() throws {
    let source = SilentSource()
    let offline = try search(source) { false }
    let listener = try #require(source.listened.last?.id)
    #expect(
      offline.take(try events(0..<9) + [.page(hasMore: true)], from: listener)?.rows.count == 9)
    // The connection is lost during the search.
    let lost = try search(source) { true }
    let second = try #require(source.listened.last?.id)
    #expect(lost.takeKnown() == nil)
    #expect(lost.take(try events(0..<9) + [.page(hasMore: true)], from: second) == nil)
    #expect(lost.takeKnown()?.rows.count == 9)
    #expect(lost.takeKnown() == nil)
  }

  /// A server of services reads from one end on: all rows, if it is asked for those after the last one.
  @Test(arguments: ["first", "last"]) func farEndIsReadFromThatEnd(anchor: String) throws {
    let app = try app(needles: [], anchor: anchor)
    app.press(anchor == "first" ? "gg G" : "gg gg")
    #expect(rows(app).count == 20)
    if anchor == "first" {
      #expect(app.list.cursorRecord?.row.key.text == "\(Self.count - 1)")
    } else {
      // The cursor may be on the section's header above the first row.
      #expect(rows(app).first == "0")
    }
    #expect(app.list.reach.paging == .exhausted && app.list.reach.newer == .more)
    // What is fetched then joins, and what arrives at that end shows.
    app.press("gm")
    try app.set(anchor == "first" ? "/hay/99999" : "/hay/-5", ["word": "straw"])
    #expect(rows(app).contains(anchor == "first" ? "99999" : "-5"))
  }
}

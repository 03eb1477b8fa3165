import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// What arrived since the user was there last: the line, the signs and the counts.
@Suite struct UnreadTests {
  private func message(_ text: String, from: String = "eve") -> JSONValue {
    Fixture.message(text, from: from, at: Fixture.now)
  }

  private func chat(_ columns: Int = 80, _ rows: Int = 24) throws -> AppDriver {
    try AppDriver(Fixture.views(), json: Fixture.small, columns: columns, rows: rows)
  }

  private func line(_ app: AppDriver) -> Int? { app.line(of: " new since ") }

  @Test func nothingIsUnreadDuringTheFirstVisit() throws {
    let app = try chat()
    try app.set("/room/-M7", message("seen at once"))
    #expect(app.list.news.unread.rows.isEmpty)
    #expect(line(app) == nil)
  }

  @Test func ownRowsAreNewInNoView() throws {
    var views = try Fixture.views()
    views.append(views[0])
    views[2].name = "Again"
    views[2].template = []
    let app = try AppDriver(views, json: Fixture.small)
    app.press("g3 g1 a")
    app.type("mine")
    app.press("Enter Esc")
    #expect(app.state.tabs.lists[2].unreadCount == 0)
    app.press("G k D")
    #expect(app.state.tabs.lists[2].unreadCount == 0)
    #expect(app.state.tabs.lists[2].news.arrived.isEmpty)
    try app.set("/room/-Mz", message("by others"))
    #expect(app.state.tabs.lists[2].unreadCount == 1)
  }

  @Test func ownRowLeavesTheLineWithTheRowsOfOthers() throws {
    var views = try Fixture.views()
    views[0].template = []
    views[0].compose = nil
    let app = try AppDriver(views, json: Fixture.small)
    app.send(.focus(false))
    try app.set("/room/-M7", message("first"))
    app.press("G D")
    try app.set("/room/-z", message("last"))
    let place = try #require(line(app))
    #expect(app.body[place].contains("2 new since"))
    #expect(app.body[place + 1].contains("first"))
  }

  @Test func theLineStandsBeforeTheFirstUnreadRow() throws {
    let app = try chat()
    app.send(.focus(false))
    try app.set("/room/-M8", message("second"))
    try app.set("/room/-M7", message("first"))
    let place = try #require(line(app))
    #expect(app.body[place].contains("2 new since 18:20"))
    #expect(app.body[place + 1].contains("• 18:20 eve      first"))
    #expect(app.body[place + 2].contains("• 18:20 eve      second"))
  }

  @Test func theLineGoesOnToTheNextRowWhenItsRowIsDeleted() throws {
    let app = try chat()
    app.send(.focus(false))
    for number in 7...9 { try app.set("/room/-M\(number)", message("news \(number)")) }
    try app.remove("/room/-M7")
    let place = try #require(line(app))
    #expect(app.body[place].contains("2 new"))
    #expect(app.body[place + 1].contains("news 8"))
    try app.remove("/room/-M8")
    try app.remove("/room/-M9")
    #expect(line(app) == nil)
    #expect(app.list.news.unread.rows.isEmpty)
  }

  @Test func whereTheNewestIsOnTopTheLineStandsBelowWhatIsNew() throws {
    var views = try Fixture.views()
    views[0].source.isDescending = true
    views[0].sections = []
    let app = try AppDriver(views, json: Fixture.small)
    app.send(.focus(false))
    try app.set("/room/-M7", message("first"))
    try app.set("/room/-M8", message("second"))
    let place = try #require(line(app))
    #expect(app.body[place - 1].contains("first"))
    #expect(app.body[place - 2].contains("second"))
    #expect(app.body[place + 1].contains("ladder"))
  }

  @Test func aListThatIsNotInTheOrderOfTimeHasSignsOnly() throws {
    let app = try chat()
    app.press("gt")
    app.send(.focus(false))
    try app.set("/user/bea", Fixture.user("Bea", "organizer"))
    #expect(line(app) == nil)
    #expect(app.body.contains { $0.contains("• Bea") })
  }

  @Test func theCursorPassesOverTheLine() throws {
    let app = try chat()
    app.send(.focus(false))
    try app.set("/room/-M7", message("first"))
    #expect(app.cursorLine.contains("ladder"))
    app.press("j")
    #expect(app.cursorLine.contains("first"))
    app.press("k")
    #expect(app.cursorLine.contains("ladder"))
  }

  @Test func whatAFilterHidesIsCountedUntilItIsGone() throws {
    let app = try chat()
    app.send(.focus(false))
    try app.set("/room/-M7", message("first"))
    try app.set("/room/-M8", message("second", from: "bo"))
    app.press("f")
    app.type("from:bo")
    app.press("Enter")
    #expect(try #require(line(app)) + 1 == app.line(of: "second"))
    try app.remove("/room/-M7")
    app.press("Esc")
    #expect(app.list.unreadCount == 1)
    #expect(try #require(line(app)) + 1 == app.line(of: "second"))
  }

  @Test func theTabOfAViewInTheBackgroundTellsItsCountAndIsClickedAsDrawn() throws {
    let app = try chat()
    app.press("gt")
    try app.set("/room/-M7", message("first"))
    #expect(app.screen[1].hasPrefix(" 1 Chat •1  2 People  3 Tree"))
    let column = try #require(app.screen[1].firstIndex(of: "T"))
    let place = Position(
      row: 1, column: app.screen[1].distance(from: app.screen[1].startIndex, to: column))
    app.send(.mouse(MouseEvent(position: place, kind: .press, button: .left)))
    #expect(app.state.tabs.front == .tree)
  }

  @Test func narrowScreensShowStatesBeforeTheRows() throws {
    let app = try chat(40, 10)
    app.send(.focus(false))
    try app.set("/room/-M7", message("first"))
    try app.set("/room/-M6/text", "changed")
    app.press("G")
    #expect(app.body.contains { $0.hasPrefix("Δ18:15 ana      changed") })
    #expect(app.body.contains { $0.hasPrefix("── 1 new ──") })
    #expect(app.cursorLine.hasPrefix(">18:20 eve      first"))
    #expect(app.cursorLine.hasSuffix(" •"))
    #expect(app.screen[0].hasSuffix("● 1 new"))
  }

  @Test func headersSayHowManyRowsThereAre() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.history(120))
    #expect(app.screen[1].contains(" of 120 rows"))
    try app.set("/room/-N1", message("one more"))
    #expect(app.screen[1].contains(" of 121 rows"))
    #expect(app.list.reach.total == 121)
  }

  @Test func whatIsNotKnownIsNotCounted() throws {
    var views = try Fixture.views()
    views[0].also = []
    views[0].source.filter = .exists(.child(try Path("text")))
    let app = try AppDriver(views, json: Fixture.history(120))
    #expect(app.screen[1].contains("50 loaded, more above"))
  }
}

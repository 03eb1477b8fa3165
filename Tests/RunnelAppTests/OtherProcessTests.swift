import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct OtherProcessTests {
  private func history() throws -> AppDriver {
    try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
  }

  private func post(_ app: AppDriver, _ numbers: ClosedRange<Int>) throws {
    for number in numbers {
      try app.set(
        "/room/\(Fixture.historyKey(1000 + number))",
        Fixture.message("news \(number)", at: Fixture.now))
    }
  }

  @Test func rowsThatArriveOffScreenRaiseACounterAndMoveNothing() throws {
    let app = try history()
    app.press("3 0 k")
    let before = app.body
    try post(app, 1...3)
    #expect(app.body == before)
    #expect(app.screen[1].hasSuffix("63 of 440 rows · 3 new"))
    #expect(app.status.hasPrefix(" ↓3 new · gn goes there"))
  }

  @Test func newestKeyGoesThereAndClearsTheCounter() throws {
    let app = try history()
    app.press("3 0 k")
    try post(app, 1...3)
    app.press("gn")
    #expect(app.cursorLine.contains("news 3"))
    #expect(app.screen[1].hasSuffix("63 of 440 rows"))
    #expect(!app.status.contains("new"))
  }

  @Test func reachingTheNewRowsClearsTheCounterToo() throws {
    let app = try history()
    app.press("3 0 k")
    try post(app, 1...3)
    app.press("G")
    #expect(!app.status.contains("new"))
  }

  @Test func newestKeyFindsTheNewRowOfAListInAnotherOrder() throws {
    var views = try Fixture.views()
    views[1].sections = []
    let users = (10...60).map { number in
      JSONMember("u\(number)", Fixture.user("User \(number)", "participant"))
    }
    let app = try AppDriver(views, json: .object([JSONMember("user", .object(users))]))
    app.press("g2 gm")
    try app.set("/user/new", Fixture.user("User 44b", "participant"))
    #expect(app.status.hasPrefix(" ↓1 new"))
    app.press("gn")
    #expect(app.cursorLine.contains("User 44b"))
  }

  @Test func newRowsAtTheOtherEndStayNewUntilTheyAreSeen() throws {
    var views = try Fixture.views()
    views[1].sections = []
    let users = (10...60).map { number in
      JSONMember("u\(number)", Fixture.user("User \(number)", "participant"))
    }
    let app = try AppDriver(views, json: .object([JSONMember("user", .object(users))]))
    app.press("g2 gm 3 0 j")
    try app.set("/user/first", Fixture.user("User 10b", "participant"))
    try app.set("/user/last", Fixture.user("User 59b", "participant"))
    #expect(app.status.hasPrefix(" ↑1 new · ↓1 new"))
    app.press("gn")
    let reached = app.cursorLine
    #expect(reached.contains("User 10b") || reached.contains("User 59b"))
    #expect(app.status.contains("1 new"))
    app.press("gn")
    #expect(app.cursorLine.contains(reached.contains("User 10b") ? "User 59b" : "User 10b"))
    #expect(!app.status.contains("new"))
  }

  @Test func rowsInSightAppearWithoutACounter() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    try app.set("/room/-M7", Fixture.message("I have it", at: Fixture.now))
    #expect(app.line(of: "I have it") != nil)
    #expect(!app.status.contains("new"))
    #expect(app.cursorLine.contains("ladder"))
  }

  @Test func followingListGoesWithTheNewestRow() throws {
    let app = try history()
    app.press("F")
    #expect(app.status.contains("F following"))
    try post(app, 1...3)
    #expect(app.cursorLine.contains("news 3"))
    app.press("F")
    try post(app, 4...4)
    #expect(app.cursorLine.contains("news 3"))
  }

  @Test func listInTheOrderOfWordsIsNotFollowed() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 F")
    #expect(app.toast.contains("new rows come anywhere"), "\(app.toast)")
    #expect(!app.list.list.isFollowing)
    app.press("g1 F")
    #expect(app.list.list.isFollowing)
  }

  @Test func followingBeginsAtTheLiveEndAlsoAfterUnseenRows() throws {
    let app = try history()
    app.press("gg")
    try post(app, 1...60)
    // The rows that were jumped over stay new; the last of them is not the newest row.
    app.press("G")
    #expect(app.status.contains("↑"))
    app.press("F")
    #expect(app.cursorLine.contains("news 60"))
    try post(app, 61...62)
    #expect(app.cursorLine.contains("news 62"))
    #expect(app.status.contains("F following"))
  }

  @Test func statusSaysWhereAListFollowsAgain() throws {
    let app = try history()
    app.press("F 2 k")
    #expect(!app.status.contains("following"))
    #expect(app.status.contains("G follows"))
    try post(app, 1...1)
    #expect(!app.cursorLine.contains("news"))
    app.press("G")
    #expect(app.status.contains("F following"))
    try post(app, 2...2)
    #expect(app.cursorLine.contains("news 2"))
  }

  /// As a view that was found, which begins at the top.
  @Test func listThatBeginsAtItsFirstRowFollowsAtItsEnd() throws {
    var views = try Fixture.views()
    views[0].source.anchor = .first
    views[0].source.order = .key
    views[0].sections = []
    let app = try AppDriver(views, json: Fixture.small)
    app.press("gg F")
    try app.set("/room/-M8", Fixture.message("news 1", at: Fixture.now))
    try app.set("/room/-M9", Fixture.message("news 2", at: Fixture.now))
    #expect(app.cursorLine.contains("news 2"), "\(app.body)")
    #expect(app.status.contains("F following"), "\(app.status)")
    app.press("k")
    #expect(app.status.contains("G follows"), "\(app.status)")
  }

  /// The pinned rows stand above the newest one.
  @Test func listWhoseRowsArriveAtTheTopFollowsThere() throws {
    var views = try Fixture.views()
    let room = try #require(views.firstIndex { $0.source.anchor == .last })
    views[room].source.isDescending = true
    let app = try AppDriver(views, copying: Fixture.historyFile.get())
    app.press("F")
    try post(app, 1...2)
    #expect(app.cursorLine.contains("news 2"))
    app.press("j")
    #expect(app.status.contains("follows at the top"))
    try post(app, 3...3)
    #expect(!app.cursorLine.contains("news 3"))
  }

  @Test func changedRowsAreMarkedForAWhile() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    try app.set("/room/-M5/text", "Good morning all")
    let line = try #require(app.line(of: "Good morning all"))
    #expect(app.body[line].hasPrefix("  Δ "))
    #expect(StateReducer.deadline(app.state) == Fixture.now + 3000)
    app.wait(milliseconds: 2999)
    #expect(app.body[line].hasPrefix("  Δ "))
    app.wait(milliseconds: 1)
    #expect(!app.body[line].contains("Δ"))
  }

  @Test func rowUnderTheCursorKeepsItsLineWhileOthersGo() throws {
    let app = try history()
    app.press("9 k")
    let line = app.body.firstIndex { $0.hasPrefix(">") }
    let row = app.cursorLine
    for number in stride(from: 390, to: 427, by: 3) {
      try app.remove("/room/\(Fixture.historyKey(number))")
    }
    try post(app, 1...5)
    #expect(app.cursorLine == row)
    #expect(app.body.firstIndex { $0.hasPrefix(">") } == line)
  }

  @Test func cursorRowThatIsDeletedGivesWayToTheNext() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("k")
    try app.remove("/room/-M5")
    #expect(app.cursorLine.contains("ladder"))
  }

  @Test func pinningMovesTheMessageUpAndUnpinningBack() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    try app.set("/room/-M6/pinned", true)
    #expect(app.line(of: "ladder") == 2)
    #expect(app.cursorLine.contains("ladder"))
    try app.remove("/room/-M6/pinned")
    #expect(app.line(of: "ladder") == 10)
  }

  @Test func writesOfOthersDoNotDisturbWhatIsTyped() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("a")
    app.type("typing")
    try app.set("/room/-M7", Fixture.message("I have it", at: Fixture.now))
    #expect(app.cursorLine.hasPrefix("> ~ 18:20 zoe      typing"))
    #expect(app.line(of: "I have it") != nil)
  }

  @Test func wholeCollectionMayVanishAndComeBack() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    try app.remove("/")
    #expect(app.body[1].contains("nothing here yet"))
    app.press("j k Enter d e gm gn za")
    try app.set("/", Fixture.small)
    #expect(app.line(of: "ladder") != nil)
    #expect(app.cursorLine != "")
  }

  @Test func demoKeepsRunningUnderAHundredForeignWrites() throws {
    let app = try AppDriver(
      Fixture.demoViews().views, copying: Fixture.demoFile.get(), now: Fixture.demoNow)
    app.press("2 0 k")
    let before = app.body
    try app.elsewhere { session in
      for number in 0..<100 {
        let message = Fixture.message("burst \(number)", at: Fixture.demoNow)
        _ = try session.push(message, to: Path("/group_message/allotment"))
      }
    }
    #expect(app.body.dropFirst() == before.dropFirst())
    #expect(app.status.contains("↓100 new"))
  }
}

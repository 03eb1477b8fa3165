import Foundation
import RunnelBase
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct SessionStateTests {
  private func sample() -> SessionState {
    var session = SessionState()
    session.tab = "People"
    session.showsDetail = true
    session.timeStyle = .clock
    session.filters = ["from:bo", "text~漢"]
    session.searches = ["rain"]
    session.bookmarks = ["a": "Chat\n/room/-M1\n"]
    session.views["Chat"] = SessionState.View(
      cursor: "/room/-M3", folded: ["1|3|"], filter: "from:bo", isFollowing: true,
      seen: "/room/-M6", left: 5, order: "created:desc", hidden: ["from"], isWide: true,
      draft: "half a thought")
    session.panes = ["Chat": "detail half"]
    session.drafts = [
      Draft(
        Draft.Subject(.line, Fixture.path("/user/ana"), field: Fixture.path("/name")),
        [Draft.Text("name", "Anna", .string, base: "Ana")])
    ]
    session.unfinished.search = "rai"
    session.tree = KeptTree(["expanded": ["/room", "/room/-M1"], "cursor": "/room/-M1/from"])
    session.views["Gone"] = SessionState.View()
    return session
  }

  @Test func jsonKeepsAll() throws {
    let session = sample()
    #expect(SessionState(session.json) == session)
    #expect(SessionState(try JSONValue(parsing: session.json.jsonText(pretty: true))) == session)
    #expect(SessionState(SessionState().json) == SessionState())
  }

  @Test func whatIsNotUnderstoodIsPassedOver() throws {
    let json: JSONValue = [
      "version": 1, "tab": 5, "time": "sundial", "filters": ["a", 1], "views": ["Chat": 3],
      "more": [:],
    ]
    let session = try #require(SessionState(json))
    #expect(session.tab == nil)
    #expect(session.timeStyle == .age)
    #expect(session.filters == ["a"])
    #expect(session.views["Chat"] == SessionState.View())
  }

  @Test(arguments: [JSONValue.null, [:], ["version": 99], ["version": "1"], [1]])
  func whatIsNoSessionIsNone(json: JSONValue) { #expect(SessionState(json) == nil) }

  private func driver(_ session: SessionState) throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, restoring: session)
    return app
  }

  @Test func workspaceIsAsItWasLeft() throws {
    let app = try driver(SessionState())
    app.press("k k z c g t f")
    app.type("role:organizer")
    app.press("Enter g T t")
    let left = SessionState.session(app.state)
    let again = try driver(left)
    #expect(again.state.tabs.front == .view(0))
    #expect(again.state.settings.timeStyle == .clock)
    #expect(again.list.list.folded == app.list.list.folded)
    again.press("g t")
    #expect(again.list.filtering.filter?.text == "role:organizer")
    #expect(
      again.body
        == {
          app.press("g t"); return app.body
        }())
    #expect(SessionState.session(again.state) == SessionState.session(app.state))
  }

  @Test func treeComesBackWithWhatWasExpandedAndItsCursor() throws {
    let app = try driver(SessionState())
    app.press("g3 j l j l j j")
    let left = SessionState.session(app.state)
    #expect(left.tree?.expanded.count == 2 && left.tree?.cursor?.keys.count == 3)
    let again = try driver(try #require(SessionState(left.json)))
    #expect(again.state.tabs.front == .tree)
    #expect(again.body == app.body)
    #expect(again.cursorLine == app.cursorLine)
    #expect(again.state.tabs.tree.kept == nil)
    #expect(SessionState.session(again.state) == left)
    // Once it is restored, the tree is the user's: what is collapsed stays so.
    again.press("zM")
    #expect(again.state.tabs.tree.expanded.count == 1)
    again.press("gg zc")
    let folded = try driver(SessionState.session(again.state))
    #expect(folded.body == again.body)
  }

  @Test func treeIsRestoredAsFarAsItStillStands() throws {
    var session = SessionState()
    session.tab = "Tree"
    session.tree = KeptTree([
      "expanded": ["/none", "/none/a", "/user", "/user/ana", "/user/ana/name"],
      "cursor": "/user/ana/none/deep",
    ])
    let app = try driver(session)
    #expect(
      Set(app.state.tabs.tree.expanded.keys.map(\.description)) == ["/", "/user", "/user/ana"])
    #expect(app.cursorLine.contains("ana"), "\(app.body)")
    #expect(app.state.tabs.tree.kept == nil)
    // A place that was named for this start comes before the cursor of the last one.
    session.place = Fixture.path("/room")
    session.tree?.cursor = Fixture.path("/user")
    let named = try AppDriver([], json: Fixture.small, restoring: session)
    #expect(named.cursorLine.contains("room"), "\(named.body)")
  }

  @Test func placeThatTheAddressNamesIsShownFirstAndNotRemembered() throws {
    var session = SessionState()
    session.tab = "Chat"
    session.place = Fixture.path("/user")
    let list = try driver(session)
    #expect(list.list.definition.name == "People")
    #expect(SessionState.session(list.state).place == nil)
    session.place = Fixture.path("/user/ana")
    let tree = try driver(session)
    #expect(tree.state.tabs.front == .tree)
    #expect(PlaceHistory.pathAtHand(tree.state) == session.place)
    #expect(SessionState(session.json)?.place == session.place)
  }

  @Test func draftComesBackWhetherItsLineIsOpenOrNot() throws {
    let app = try driver(SessionState())
    app.press("a")
    app.type("half a thought")
    let isOpen = SessionState.session(app.state)
    app.press("Esc")
    let isClosed = SessionState.session(app.state)
    for session in [isOpen, isClosed] {
      let again = try driver(session)
      #expect(again.screen[1].contains("1 Chat ~  2 People"))
      again.press("a")
      #expect(again.screen[1].contains("1 Chat  2 People"))
      again.press("Enter")
      #expect(try again.stored("/room").jsonText().contains("half a thought"))
      #expect(SessionState.session(again.state).views["Chat"]?.draft == nil)
    }
  }

  @Test func draftThatWasStoredAfterItWasKeptIsNoDraft() throws {
    let app = try driver(SessionState())
    app.press("a")
    app.type("half a thought")
    // The program is killed right after Enter: the session is that from before.
    let kept = try #require(SessionState(SessionState.session(app.state).json))
    app.press("Enter")
    let stored = try app.stored("/")
    let again = try AppDriver(Fixture.views(), json: stored, restoring: kept)
    #expect(again.list.line.draft.isEmpty)
    #expect(!again.screen[1].contains("1 Chat ~"))
    again.press("a Enter")
    #expect(try again.stored("/") == stored)
    // The same text, typed again after the first was stored, is a draft.
    var later = kept
    later.views["Chat"]?.draftTime = Fixture.now + 1
    let third = try AppDriver(Fixture.views(), json: stored, restoring: later)
    #expect(third.list.line.draft == "half a thought")
    // Another text is a draft, whenever it was typed.
    var other = kept
    other.views["Chat"]?.draft = "half a though"
    let fourth = try AppDriver(Fixture.views(), json: stored, restoring: other)
    #expect(fourth.list.line.draft == "half a though")
  }

  @Test func sameTextTypedAgainAfterEnterIsADraft() throws {
    let app = try driver(SessionState())
    app.press("a")
    app.strike("h i Enter h i")
    // The program is killed while the first text is being stored, or after that.
    let during = try #require(SessionState(SessionState.session(app.state).json))
    app.pump()
    let after = try #require(SessionState(SessionState.session(app.state).json))
    let one = try app.stored("/")
    app.press("Enter")
    let two = try app.stored("/")
    for session in [during, after] {
      #expect(session.views["Chat"]?.draft == "hi")
      let again = try AppDriver(Fixture.views(), json: one, restoring: session)
      #expect(again.list.line.draft == "hi", "the first was stored, the second was not")
      let last = try AppDriver(Fixture.views(), json: two, restoring: session)
      #expect(last.list.line.draft.isEmpty, "both were stored")
    }
  }

  @Test func draftsBeyondTheLimitAreNotKept() throws {
    var state = try driver(SessionState()).state
    state.tabs.lists[0].line.type(String(repeating: "a", count: 200_000), now: 0)
    state.tabs.lists[1].line.type(String(repeating: "b", count: 100_000), now: 0)
    #expect(SessionState.keptDrafts(state) == [0])
    #expect(SessionState.session(state).views["People"]?.draft == nil)
  }

  @Test func cursorComesBackToItsRow() throws {
    let app = try driver(SessionState())
    app.press("3 k")
    let row = app.cursorLine
    let again = try driver(SessionState.session(app.state))
    #expect(again.cursorLine == row)
    // Once moved, it stays where it was moved to.
    again.press("j")
    try again.set("/room/-M7", Fixture.message("new", at: Fixture.now))
    #expect(again.cursorLine != row)
  }

  @Test func whoWasAtTheEndIsAtTheNewEnd() throws {
    let app = try driver(SessionState())
    let session = SessionState.session(app.state)
    #expect(session.views["Chat"]?.cursor == nil)
    let again = try driver(session)
    #expect(again.cursorLine.contains("ladder"))
  }

  @Test func viewsThatWereNotOpenedKeepTheirs() throws {
    let session = sample()
    let app = try driver(session)
    let left = SessionState.session(app.state)
    #expect(left.views["Gone"] == session.views["Gone"])
    #expect(left.views["Chat"]?.seen == "/room/-M6")
    #expect(left.bookmarks == session.bookmarks)
  }

  @Test func whatCameSinceTheLastTimeIsUnread() throws {
    let app = try driver(SessionState())
    let left = SessionState.session(app.state)
    #expect(left.views["Chat"]?.seen == "/room/-M6")
    var json = Fixture.small
    for (key, from) in [("-M7", "bo"), ("-M8", "zoe"), ("-M9", "eve")] {
      json = try RunnelTree.Node(json: json).replacing(
        Path("/room/\(key)"),
        with: Node(json: Fixture.message("late \(key)", from: from, at: Fixture.now))
      ).json
    }
    let again = try AppDriver(
      Fixture.views(), json: json, now: Fixture.now + Fixture.hour, restoring: left)
    let line = try #require(again.line(of: "2 new since 18:20"))
    #expect(again.body[line + 1].contains("late -M7"), "what the user wrote is not counted")
    #expect(
      SessionState.session(again.state).views["Chat"]?.seen == "/room/-M9", "they are seen now")
    again.press("g2 g1")
    #expect(again.line(of: "new since") == nil)
  }

  @Test func whatIsUnreadInAViewThatWasLeftIsUnreadTheNextTime() throws {
    let app = try driver(SessionState())
    app.press("g2")
    try app.set("/room/-M7", Fixture.message("late", from: "bo", at: Fixture.now))
    let left = SessionState.session(app.state)
    #expect(left.views["Chat"]?.seen == "/room/-M6")
    #expect(left.views["Chat"]?.left == Fixture.now)
  }

  @Test func whereNothingCameThereIsNoLine() throws {
    let app = try driver(SessionState.session(try driver(SessionState()).state))
    try app.set("/room/-M7", Fixture.message("now", from: "bo", at: Fixture.now))
    #expect(app.line(of: "new since") == nil)
  }

  @Test func pagesOfWhatCameAreUnreadToo() throws {
    var session = SessionState()
    session.views["Chat"] = SessionState.View(
      seen: "/room/\(Fixture.historyKey(370))", left: Fixture.now - Fixture.day)
    let app = try AppDriver(
      Fixture.views(), copying: Fixture.historyFile.get(), restoring: session)
    #expect(app.list.unreadCount == 50)
    app.press("gm")
    #expect(app.list.unreadCount == 67)
  }

  @Test func columnsAndPanesComeBack() throws {
    let app = try AppDriver(
      Fixture.views(), json: Fixture.small, columns: 120, restoring: SessionState())
    app.press("z w Down Enter Esc W Tab +")
    #expect(app.list.look.hiddenColumns == [1])
    let again = try AppDriver(
      Fixture.views(), json: Fixture.small, columns: 120, restoring: SessionState.session(app.state)
    )
    #expect(again.list.look.hiddenColumns == [1])
    #expect(again.list.look.isWide)
    #expect(again.state.pane == .detail)
    #expect(again.state.paneSize == .half)
    #expect(again.screen.dropLast() == app.screen.dropLast())
    again.press("g2")
    #expect(again.state.pane == .list, "each view has its own")
  }

  @Test func whereNoPaneHasAnotherSizeTheListHasTheKeys() throws {
    let app = try AppDriver(
      Fixture.views(), json: Fixture.small, columns: 120, restoring: SessionState())
    app.press("Tab")
    #expect(app.state.pane == .detail)
    let again = try AppDriver(
      Fixture.views(), json: Fixture.small, columns: 120, restoring: SessionState.session(app.state)
    )
    #expect(again.state.pane == .list)
  }

  @Test func columnsThatAreGoneHideNothing() throws {
    var session = SessionState()
    session.views["People"] = SessionState.View(hidden: ["name", "plot", "active", "email", "x"])
    session.panes = ["People": "roof half", "Chat": "detail"]
    let app = try driver(session)
    app.press("g2")
    #expect(app.list.look.hiddenColumns.isEmpty)
    #expect(app.state.paneSize == .normal)
  }

  @Test func unknownRowsAndTabsChangeNothing() throws {
    var session = SessionState()
    session.tab = "Nowhere"
    session.views["Chat"] = SessionState.View(cursor: "/room/-Gone", filter: "text~(")
    let app = try driver(session)
    #expect(app.state.tabs.front == .view(0))
    #expect(app.list.filtering.filter == nil)
    #expect(app.cursorLine.contains("ladder"))
  }

  @Test func recordingHasTheSession() throws {
    let action = AppAction.restored(sample())
    guard case .restored(let session) = try AppAction(json: action.json()) else {
      Issue.record("it is another action")
      return
    }
    #expect(session == sample())
  }

  // MARK: The file

  private func file() -> SessionFile {
    SessionFile(
      database: "/some/where/chat.db",
      folder: NSTemporaryDirectory() + "runnel-state-\(UUID().uuidString)")
  }

  @Test func fileKeepsASession() throws {
    let file = file()
    #expect(file.read().session == nil)
    #expect(file.read().problem == nil)
    #expect(file.write(sample()) == nil)
    #expect(file.read().session == sample())
    let folder = URL(fileURLWithPath: file.path).deletingLastPathComponent()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(Set(names.map { folder.path + "/" + $0 }) == [file.path, file.lockPath])
    try FileManager.default.removeItem(at: folder.deletingLastPathComponent())
  }

  @Test func brokenFileIsPutAside() throws {
    let file = file()
    #expect(file.write(sample()) == nil)
    try Data("{\"vers".utf8).write(to: URL(fileURLWithPath: file.path))
    let found = file.read()
    #expect(found.session == nil)
    #expect(found.problem?.contains("put aside") == true)
    #expect(FileManager.default.fileExists(atPath: file.path + ".broken"))
    #expect(file.read().problem == nil)
  }

  @Test func databasesOfOneNameHaveFilesOfTheirOwn() {
    let one = SessionFile(database: "/a/chat.db", folder: "/s").path
    let other = SessionFile(database: "/b/chat.db", folder: "/s").path
    #expect(one != other)
    #expect(one.hasPrefix("/s/sessions/chat.db-"))
  }

  @Test func keeperWritesASecondAfterAKeyAndOnlyWhatIsNew() throws {
    let file = file()
    var keeper = SessionKeeper(file)
    _ = keeper.read()
    #expect(keeper.begin(sample(), now: 0) == nil)
    keeper.touch(now: 1000)
    keeper.touch(now: 1500)
    #expect(keeper.due == 2000)
    #expect(keeper.begin(sample(), now: 1999) == nil)
    try write(keeper.begin(sample(), now: 2000), &keeper)
    #expect(kept(file) == sample())
    #expect(keeper.due == nil)
    keeper.touch(now: 7000)
    #expect(keeper.begin(sample(), now: 20_000) == nil)
  }

  @Test func sessionIsWrittenAtOnceWhenTypedTextWasStored() throws {
    let file = file()
    var keeper = SessionKeeper(file)
    keeper.touch(now: 1000)
    #expect(keeper.deadline == 2000)
    keeper.hasten(now: 1100)
    #expect(keeper.deadline == 1100)
    let task = keeper.begin(sample(), now: 1100)
    keeper.hasten(now: 1200)
    #expect(keeper.deadline == nil, "The end of the write under way is waited for.")
    try write(task, &keeper)
    #expect(kept(file) == sample())
    #expect(keeper.deadline == 1200)
  }

  /// What a file keeps, without who wrote it.
  private func kept(_ file: SessionFile) -> SessionState? {
    var session = file.read().session
    session?.writer = nil
    return session
  }

  /// Does the task, and tells the keeper what came of it.
  private func write(_ task: FileTask?, _ keeper: inout SessionKeeper) throws {
    var problems: [String?] = []
    try #require(task != nil)
    task?.run { report in
      if case .kept(let problem) = report { problems.append(problem) }
    }
    for problem in problems {
      #expect(problem == nil)
      keeper.end(problem, now: 0)
    }
  }

  @Test func keeperWritesOneSessionAtATime() throws {
    var keeper = SessionKeeper(file())
    keeper.touch(now: 0)
    let task = keeper.begin(sample(), now: 10_000)
    keeper.touch(now: 10_000)
    var next = sample()
    next.tab = "Other"
    #expect(keeper.begin(next, now: 20_000) == nil)
    try write(task, &keeper)
    #expect(keeper.begin(next, now: 20_000) != nil)
  }

  @Test func keeperTriesAgainAfterAFailure() {
    let file = SessionFile(database: "/a/chat.db", folder: "/dev/null/none")
    var keeper = SessionKeeper(file)
    keeper.touch(now: 0)
    var problem: String?
    let task = keeper.begin(sample(), now: 10_000)
    task?.run { report in
      if case .kept(let reason) = report { problem = reason }
    }
    #expect(problem != nil)
    // No key is needed for that, and it is done from time to time.
    var now: Int64 = 10_000
    for delay: Int64 in [2000, 4000, 5000, 5000] {
      keeper.end(problem, now: now)
      #expect(keeper.deadline == now + delay)
      #expect(keeper.begin(sample(), now: now + delay - 1) == nil)
      now += delay
      #expect(keeper.begin(sample(), now: now) != nil)
    }
    keeper.end(nil, now: now)
    #expect(keeper.deadline == nil)
    #expect(keeper.writeLast(sample()) == nil, "What was written needs no other write.")
  }

  @Test func aSessionThatIsAsItWasIsWrittenOnceThereIsRoom() {
    var keeper = SessionKeeper(SessionFile(database: "/a/chat.db", folder: "/dev/null/none"))
    keeper.touch(now: 0)
    #expect(keeper.begin(sample(), now: 1000) != nil)
    keeper.end(nil, now: 1000)
    keeper.touch(now: 1000)
    var other = sample()
    other.tab = "Other"
    #expect(keeper.begin(other, now: 2000) != nil)
    keeper.end("no room", now: 2000)
    // What cannot be kept is taken back meanwhile; only a write tells that there is room again.
    #expect(keeper.begin(sample(), now: 4000) != nil)
    keeper.end(nil, now: 4000)
    #expect(keeper.deadline == nil)
  }

  @Test func aSessionThatCannotBeKeptIsShownUntilItCan() throws {
    let app = try driver(SessionState())
    #expect(!app.screen[0].contains("drafts are not kept"))
    app.take(.sessionKept(problem: "the session cannot be kept in /s: no room"))
    app.press("Esc j")
    app.wait(milliseconds: 60_000)
    #expect(app.toast.isEmpty)
    #expect(app.screen[0].contains("drafts are not kept"))
    app.take(.sessionKept(problem: nil))
    #expect(app.toast == "the session is kept again, with its drafts")
    #expect(!app.screen[0].contains("drafts are not kept"))
  }

  @Test func aSessionThatCannotBeWrittenAtTheEndIsTold() {
    var keeper = SessionKeeper(SessionFile(database: "/a/chat.db", folder: "/dev/null/none"))
    #expect(keeper.writeLast(sample()) != nil)
  }
}

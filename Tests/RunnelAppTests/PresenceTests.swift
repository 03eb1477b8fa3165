import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Who is here.
@Suite struct PresenceTests {
  private func chat(columns: Int = 80) throws -> AppDriver {
    try AppDriver(Fixture.views(), json: Fixture.small, columns: columns)
  }

  private func row(_ app: AppDriver, _ text: String) throws -> String {
    try #require(app.body.first { $0.contains(text) })
  }

  @Test func nobodyIsNamedUntilItIsKnownWhoIsHere() throws {
    let app = try chat()
    #expect(!app.screen[0].contains("with"))
    app.press("g P")
    #expect(app.screen.joined().contains("profiles with `presence`"))
    app.take(.present([]))
    app.press("g P")
    #expect(app.screen.joined().contains("nobody else is here"))
  }

  @Test func userIsShownByTheNameOfTheAccount() throws {
    let app = try chat()
    #expect(Presence.own(app.state, id: "x").name == "zoe")
    var account = AccountFacts.Account(id: "k3x9vq27", email: "ana@x.org", name: "Ana Lima")
    app.take(.accounts(AccountFacts([account], current: account, .signedIn)))
    #expect(Presence.own(app.state, id: "x").name == "Ana Lima")
    account.name = nil
    app.take(.accounts(AccountFacts([account], current: account, .signedIn)))
    #expect(Presence.own(app.state, id: "x").name == "zoe", "the address is for nobody else")
  }

  @Test func peopleStandInTheHeaderAndAtTheirRows() throws {
    let app = try chat()
    let rain = try #require(
      app.list.records.values.first { record in
        record.row.node?.json["text"]?.string == "Rain tomorrow"
      })
    let before = try row(app, "Rain")
    app.take(
      .present([
        Present(id: "1", name: "ana", view: "Chat", row: rain.path),
        Present(id: "2", name: "ana", view: "People"),
        Present(id: "3", name: "bo", view: "Chat", row: rain.path, isTyping: true),
        Present(id: "4", name: "eve"),
      ]))
    #expect(app.screen[0].contains("with ana bo +1"))
    #expect(try row(app, "Rain").hasSuffix("1d ▸ana +1"))
    #expect(app.screen.last?.contains("bo is typing") == true)
    app.press("g P")
    #expect(app.screen.joined().contains("ana in Chat · ana in People · bo in Chat, typing"))
    app.take(.present([]))
    #expect(try row(app, "Rain") == before)
  }

  @Test func otherWindowsAndDevicesOfTheUserAreNoOtherPeople() throws {
    let app = try chat()
    let rain = try #require(app.list.records.values.first { $0.row.node?.json["text"] != nil })
    app.take(.present([]))
    let before = app.screen
    app.take(
      .present([Present(id: "1", name: "zoe", view: "Chat", row: rain.path, isTyping: true)]))
    #expect(app.screen == before)
    app.press("g P")
    #expect(app.screen.joined().contains("nobody else is here · you are also in Chat"))
    app.take(
      .present([
        Present(id: "1", name: "zoe", view: "Chat"), Present(id: "2", name: "ana"),
        Present(id: "3", name: "zoe"),
      ]))
    #expect(app.screen[0].contains("with ana") && !app.screen[0].contains("+1"))
    app.press("g P")
    #expect(app.screen.joined().contains("ana in the tree · you are also in Chat and 1 more"))
  }

  @Test func nobodyIsShownAsHereWithoutAConnection() throws {
    let app = try chat()
    app.take(.present([Present(id: "1", name: "ana", view: "Chat", isTyping: true)]))
    app.take(.origin(OriginFacts(.waiting, since: app.state.now)))
    #expect(!app.screen[0].contains("with ana"))
    #expect(app.screen.last?.contains("is typing") == false)
    app.press("g P")
    #expect(app.screen.joined().contains("who is here is not known without a connection"))
    app.take(.origin(OriginFacts(.live)))
    #expect(app.screen[0].contains("with ana"))
  }

  @Test func ownEntryTellsViewRowAndTyping() throws {
    let app = try chat()
    let own = Presence.own(app.state, id: "x")
    #expect(own.view == "Chat" && own.row == app.list.cursorRecord?.path)
    #expect(!own.isTyping)
    app.press("a h i")
    #expect(Presence.own(app.state, id: "x").isTyping)
    app.press("Esc g3")
    #expect(Presence.own(app.state, id: "x").view == nil)
  }

  /// The line of the list with the row of another who is typing; nil if there is none.
  private func typing(_ app: AppDriver) -> String? {
    app.body.first { $0.contains("is typing") }
  }

  @Test func whoIsTypingIsARowThatMovesNoCursor() throws {
    let app = try chat()
    app.press("G")
    let (cursor, line) = (app.cursorLine, app.body.firstIndex { $0.hasPrefix(">") })
    let count = app.screen[0]
    app.take(.present([Present(id: "1", name: "bo", view: "Chat", isTyping: true)]))
    #expect(try #require(typing(app)).contains("bo"))
    #expect(app.cursorLine == cursor)
    #expect(app.body.firstIndex { $0.hasPrefix(">") } == line)
    #expect(app.list.list.newBelowCount == 0 && app.list.unreadCount == 0)
    #expect(app.screen[0].contains("with bo"))
    app.take(.present([Present(id: "1", name: "bo", view: "Chat")]))
    #expect(typing(app) == nil)
    #expect(app.cursorLine == cursor)
    app.take(.present([]))
    #expect(app.screen[0] == count)
  }

  @Test func whoIsTypingIsNamedWhereNoColumnShowsTheUser() throws {
    var views = try Fixture.views()
    views[0].columns.removeAll { $0.field == .path(Fixture.path("from")) }
    let app = try AppDriver(views, json: Fixture.small)
    app.take(.present([Present(id: "1", name: "k3x9vq27", view: "Chat", isTyping: true)]))
    #expect(try #require(typing(app)).contains("k3x9vq27 is typing"))
  }

  @Test func listThatFollowsGoesOnToFollowWhatIsStored() throws {
    let app = try chat()
    app.press("F")
    try #require(app.list.list.isFollowing)
    app.take(.present([Present(id: "1", name: "bo", view: "Chat", isTyping: true)]))
    #expect(!app.cursorLine.contains("is typing"))
    try app.set("/room/-zzz", Fixture.message("the newest", from: "bo", at: Fixture.now))
    #expect(app.cursorLine.contains("the newest"))
    #expect(typing(app) != nil)
  }

  @Test func nobodyIsShownAsTypingElsewhereOrWithoutAConnection() throws {
    let app = try chat()
    app.take(.present([Present(id: "1", name: "bo", view: "People", isTyping: true)]))
    #expect(typing(app) == nil)
    app.take(.present([Present(id: "1", name: "bo", view: "Chat", isTyping: true)]))
    #expect(typing(app) != nil)
    app.take(.origin(OriginFacts(.waiting, since: app.state.now)))
    #expect(typing(app) == nil)
    app.take(.origin(OriginFacts(.live)))
    #expect(typing(app) != nil)
  }

  @Test func whoIsTypingIsShownInAListThatIsOpenedOrReadLater() throws {
    // A list is made for a view at its first look.
    let app = try AppDriver(Fixture.views().reversed(), json: Fixture.small)
    app.take(.present([Present(id: "1", name: "bo", view: "Chat", isTyping: true)]))
    #expect(typing(app) == nil)
    let tab = try #require(app.state.tabs.names.firstIndex(of: "Chat"))
    app.press("g\(tab + 1)")
    #expect(typing(app) != nil)
    app.press("R")
    #expect(typing(app) != nil)
    app.type(":sort created desc")
    app.press("Enter")
    #expect(app.list.arrangement.order != nil)
    #expect(typing(app) != nil)
  }

  @Test func whoIsIdleTypesNoLonger() throws {
    let app = try chat()
    app.take(.present([]))
    app.press("a h i")
    #expect(Presence.own(app.state, id: "x").isTyping)
    let due = try #require(Presence.idleDue(app.state))
    #expect(due == app.state.now + 10_000)
    app.wait(milliseconds: 10_000)
    #expect(!Presence.own(app.state, id: "x").isTyping)
    #expect(Presence.idleDue(app.state) == nil)
    app.type("!")
    #expect(Presence.own(app.state, id: "x").isTyping)
    var settings = Settings()
    settings.typingSeconds = 2
    app.configure(settings, problem: nil)
    app.wait(milliseconds: 2000)
    #expect(!Presence.own(app.state, id: "x").isTyping)
    app.type("?")
    app.press("Enter")
    #expect(!Presence.own(app.state, id: "x").isTyping)
  }

  @Test func whoseEntryDoesNotChangeTypesNoLonger() throws {
    let app = try chat()
    func tell(at time: Int64, isTyping: Bool = true) {
      app.take(
        .present([
          Present(id: "1", name: "bo", view: "Chat", isTyping: isTyping, time: time),
          Present(id: "2", name: "eve", view: "Chat", time: app.state.now),
        ]))
    }
    tell(at: 1)
    #expect(typing(app) != nil)
    #expect(StateReducer.deadline(app.state) ?? .max <= app.state.now + 8000)
    app.wait(milliseconds: 5000)
    // News of another are none of this one.
    tell(at: 1)
    app.wait(milliseconds: 2999)
    #expect(typing(app) != nil)
    app.wait(milliseconds: 1)
    #expect(typing(app) == nil && app.screen.last?.contains("is typing") == false)
    #expect(app.screen[0].contains("with bo"), "The line is silent, but the server has the entry.")
    tell(at: 1)
    #expect(typing(app) == nil)
    #expect(Presence.typingDue(app.state) == nil)
    // The line is back.
    tell(at: 2)
    #expect(typing(app) != nil)
    app.wait(milliseconds: 7000)
    tell(at: 3)
    app.wait(milliseconds: 7000)
    #expect(typing(app) != nil)
    tell(at: 4, isTyping: false)
    #expect(typing(app) == nil)
  }

  @Test func whoTypesIsShownNoLongerIfTheClockIsSetBack() throws {
    let app = try chat()
    app.take(.present([Present(id: "1", name: "bo", view: "Chat", isTyping: true, time: 1)]))
    app.wait(milliseconds: -60_000)
    #expect(typing(app) == nil)
  }

  @Test func whoTypesRenewsTheEntryInTime() throws {
    #expect(Presence.renewalMilliseconds * 2 < Presence.typingMilliseconds)
    let app = try chat()
    app.take(.present([]))
    app.press("a h i")
    var own = Presence.own(app.state, id: "x")
    for _ in 0..<3 {
      let due = try #require(Presence.typingDue(app.state))
      #expect(due > app.state.now && due <= app.state.now + Presence.renewalMilliseconds)
      app.wait(milliseconds: due - app.state.now)
      let next = Presence.own(app.state, id: "x")
      #expect(next.isTyping && next != own)
      own = next
    }
    app.wait(milliseconds: 10_000)
    own = Presence.own(app.state, id: "x")
    #expect(!own.isTyping && own.time == nil && Presence.typingDue(app.state) == nil)
  }

  /// An entry as the server stores it.
  private func stored(_ entry: JSONValue) -> JSONValue {
    .object((entry.object ?? []).map { $0.name == "at" ? JSONMember("at", 5) : $0 })
  }

  @Test func entriesAreReadAsTheyAreWritten() throws {
    let ana = Present(id: "k1", name: "ana", view: "Chat", row: try Path("a/b"), isTyping: true)
    let entries: JSONValue = [
      "k1": stored(ana.entry), "k2": ["name": "me"], "k3": ["view": "nameless"], "k4": "no entry",
      "k5": ["name": .string(String(repeating: "x", count: 99)), "row": "a/$b"],
    ]
    let list = Present.list(try Node(json: entries), besides: "k2")
    #expect(list.map(\.id) == ["k1", "k5"])
    #expect(list[0].time == 5)
    var told = list[0]
    told.time = nil
    #expect(told == ana)
    #expect(list[1].name.count == 40 && list[1].row == nil)
    #expect(Present(list[0].json) == list[0])
  }

  @Test func entriesBeyondTheLimitAreLeftOut() throws {
    let members = (0..<300).map { JSONMember("k\(1000 + $0)", ["name": .string("n\($0)")]) }
    let list = Present.list(try Node(json: .object(members)), besides: "")
    #expect(list.count == Present.countMax)
  }
}

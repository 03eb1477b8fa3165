import RunnelBase
import RunnelStreams
import RunnelTerminal
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The header tells the state of the link to the server whose database is shown.
@Suite struct OriginHeaderTests {
  private let app: AppDriver

  init() throws {
    app = try AppDriver(
      Fixture.views(), json: Fixture.small, origin: "home", isRecording: true)
  }

  private func take(_ facts: OriginFacts) -> String {
    app.take(.origin(facts))
    return app.screen[0]
  }

  @Test func aLinkThatIsLiveIsWhatTheListSays() {
    let before = app.screen[0]
    #expect(take(OriginFacts(.live)) == before)
    #expect(take(shared(.live)) == before)
    #expect(before.contains("● live"))
  }

  @Test func messageOfALostConnectionEndsWithTheNextOne() {
    _ = take(OriginFacts(.waiting, reason: "The server is gone.", since: app.state.now))
    #expect(app.toast == "The server is gone.")
    _ = take(OriginFacts(.catchingUp))
    #expect(app.toast == "The server is gone.")
    _ = take(OriginFacts(.live))
    #expect(app.toast.isEmpty)
    // Another message stays.
    _ = take(OriginFacts(.waiting, reason: "The server is gone again.", since: app.state.now))
    app.press("gL")
    #expect(app.toast == "connecting")
    app.take(.trouble("something else"))
    _ = take(OriginFacts(.live))
    #expect(app.toast == "something else")
  }

  /// What the user did names the key that takes it back: the header tells of the connection meanwhile.
  @Test func messageOfALostConnectionWaitsForWhatTheUserDid() {
    _ = take(OriginFacts(.live))
    app.take(.trouble("deleted"))
    let until = app.state.toast?.until
    let header = take(OriginFacts(.waiting, reason: "The server is gone.", since: app.state.now))
    #expect(header.contains("offline since "))
    #expect(app.toast == "deleted")
    #expect(app.state.toast?.until == until)
    app.wait(milliseconds: 8000)
    #expect(app.toast == "The server is gone.")
    app.wait(milliseconds: 8000)
    #expect(app.toast.isEmpty)
  }

  @Test func messageOfAConnectionThatIsBackIsNotSaidAnyMore() {
    _ = take(OriginFacts(.live))
    app.take(.trouble("deleted"))
    _ = take(OriginFacts(.waiting, reason: "The server is gone.", since: app.state.now))
    _ = take(OriginFacts(.live))
    #expect(app.toast == "deleted")
    app.wait(milliseconds: 8000)
    #expect(app.toast.isEmpty)
  }

  @Test func whatGivesTheAccessIsInTheHeader() throws {
    #expect(take(OriginFacts(.live)).contains(" zoe"))
    var facts = OriginFacts(.live)
    facts.credential = "service account ci"
    let line = take(facts)
    #expect(line.contains(" service account ci") && !line.contains("zoe"), "\(line)")
    #expect(try OriginFacts(JSONValue(parsing: facts.json.jsonText())) == facts)
  }

  /// The server refused the list to a session that had ended; another connection may read it.
  @Test func listThatWasRefusedIsReadAgainUponTheNextConnection() {
    _ = take(OriginFacts(.live))
    app.take(
      .list(
        view: 0,
        ListChange(
          content: .sections([]), update: .reload, phase: .failed("Permission denied"),
          paging: .exhausted, loadedCount: 0)))
    #expect(app.line(of: "Permission denied") != nil, "\(app.body)")
    _ = take(OriginFacts(.live))
    #expect(app.line(of: "Permission denied") != nil, "The connection is the same.")
    _ = take(OriginFacts(.waiting, since: app.state.now))
    _ = take(OriginFacts(.live))
    #expect(app.line(of: "Permission denied") == nil, "\(app.body)")
    #expect(app.line(of: "ladder") != nil, "\(app.body)")
  }

  /// The rules may allow it again: it is asked about after a pause, and at once if it comes to the front later.
  @Test func listThatWasRefusedIsReadAgainAfterAPause() {
    _ = take(OriginFacts(.live))
    func refuse() {
      app.take(
        .list(
          view: 0,
          ListChange(
            content: .sections([]), update: .reload, phase: .failed("Permission denied."),
            paging: .exhausted, loadedCount: 0)))
    }
    refuse()
    #expect(app.line(of: "Permission denied. R reads it again") != nil, "\(app.body)")
    #expect(StateReducer.deadline(app.state).map { $0 <= app.state.now + 2000 } == true)
    pass(milliseconds: 1999)
    #expect(app.line(of: "Permission denied") != nil, "\(app.body)")
    pass(milliseconds: 1)
    #expect(app.line(of: "Permission denied") == nil, "\(app.body)")
    #expect(app.line(of: "ladder") != nil, "\(app.body)")
    refuse()
    _ = take(OriginFacts(.waiting, since: app.state.now))
    pass(milliseconds: 60_000)
    #expect(app.line(of: "Permission denied") != nil, "Without a connection nobody is asked.")
  }

  /// The question for a list makes the link catch up: that is no other connection, after which the list would be
  /// asked for again and again.
  @Test func listThatAServiceRefusesStaysFailedUntilTheNextConnection() {
    func take(_ link: OriginFacts.Link, isOther: Bool = false) {
      var facts = OriginFacts(link, since: link == .live ? nil : app.state.now)
      (facts.hasServices, facts.isOtherConnection) = (true, isOther)
      _ = self.take(facts)
    }
    func refuse() {
      app.take(
        .list(
          view: 0,
          ListChange(
            content: .sections([]), update: .reload, phase: .failed("Not authenticated"),
            paging: .exhausted, loadedCount: 0)))
    }
    for link in [.connecting, .catchingUp] as [OriginFacts.Link] { take(link) }
    refuse()
    take(.live)
    #expect(app.line(of: "✗ Not authenticated") != nil, "\(app.body)")
    for link in [.catchingUp, .live, .notAnswering, .live] as [OriginFacts.Link] { take(link) }
    pass(milliseconds: 60_000)
    #expect(app.line(of: "✗ Not authenticated") != nil, "\(app.body)")
    for link in [.waiting, .connecting, .catchingUp] as [OriginFacts.Link] { take(link) }
    #expect(app.line(of: "Not authenticated") == nil, "\(app.body)")
    take(.live)
    #expect(app.line(of: "ladder") != nil, "\(app.body)")
    refuse()
    // The loss was over before it was shown.
    take(.catchingUp, isOther: true)
    #expect(app.line(of: "Not authenticated") == nil, "\(app.body)")
  }

  /// Lets time pass, and answers what is asked then.
  private func pass(milliseconds: Int64) {
    app.wait(milliseconds: milliseconds)
    app.take(.tick(app.state.now))
  }

  @Test func pauseBetweenAttemptsGrowsToHalfAMinute() {
    var (reach, pauses) = (ListReach(), [Int64]())
    for _ in 0..<7 {
      reach.phase = .failed("Permission denied")
      reach.noteAnswer(now: 100)
      reach.noteAnswer(now: 900)
      pauses.append((reach.askAgainTime ?? 0) - 100)
      reach.noteAsking()
    }
    #expect(pauses == [2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
    reach.phase = .loaded
    reach.noteAnswer(now: 100)
    reach.phase = .failed("Permission denied")
    reach.noteAnswer(now: 100)
    #expect(reach.askAgainTime == 2100)
  }

  private func shared(_ link: OriginFacts.Link, reason: String? = nil) -> OriginFacts {
    var facts = OriginFacts(link, reason: reason, since: link == .live ? nil : app.state.now)
    facts.isShared = true
    return facts
  }

  @Test func aWindowThatDoesNotConnectShowsTheStateOfTheOneThatDoes() throws {
    #expect(take(shared(.waiting, reason: "The server is gone.")).contains("◌ offline since "))
    #expect(app.toast == "The server is gone.")
    #expect(app.screen[1].hasSuffix(" · cached"))
    app.press("gL")
    #expect(app.toast.contains("another program holds the connection"))
    #expect(take(shared(.catchingUp)).contains("◌ catching up"))
    #expect(take(shared(.live)).contains("● live"))
    // A program of an earlier version does not tell its state.
    let unknown = take(shared(.shared))
    #expect(!unknown.contains("live") && unknown.contains("◌ in another window"))
    #expect(!take(shared(.refused, reason: "Not you.")).contains("live"))
    let replay = try SessionReplay(parsing: app.recording, file: "recording")
    #expect(replay.state.database.origin == app.state.database.origin)
  }

  @Test func whatIsNotLiveIsSaidWithItsReason() {
    #expect(take(OriginFacts(.connecting)).contains("◌ connecting"))
    #expect(take(OriginFacts(.catchingUp)).contains("◌ catching up"))
    var long = OriginFacts(.catchingUp)
    long.receivedBytes = 12 << 20
    #expect(take(long).contains("◌ catching up 12 MB"))
    let silent = take(OriginFacts(.notAnswering, since: app.state.now))
    #expect(silent.contains("◌ not answering since "))
    let line = take(OriginFacts(.waiting, reason: "The server is gone.", since: app.state.now))
    #expect(line.contains("◌ offline since "))
    #expect(app.toast == "The server is gone.")
    #expect(take(OriginFacts(.connecting)).contains("◌ offline since "))
    let days = OriginFacts(.waiting, since: app.state.now - 3 * 86_400_000)
    #expect(take(days).contains("offline for 3 d"))
    #expect(take(OriginFacts(.refused, reason: "Not you.")).contains("✗ refused"))
    #expect(app.toast == "Not you.")
    #expect(take(OriginFacts(.shutDown, reason: "Go.")).contains("✗ shut down"))
    #expect(take(OriginFacts(.offline)).contains("◌ offline"))
  }

  @Test func withoutEventsOfTheServerItIsNotCalledLive() {
    let line = take(OriginFacts(.read))
    #expect(line.contains("◌ over REST") && !line.contains("live"))
    #expect(app.toast.contains("tells of no changes of others"))
    #expect(!app.screen[1].contains("cached"))
  }

  @Test func whatTheServerDoesNotSendIsSaidAsLongAsItIsSo() throws {
    var facts = OriginFacts(.live)
    facts.limits = "notes: the service ignores $skip: 10 of 100 can be read"
    _ = take(facts)
    #expect(app.screen.contains { $0.contains("10 of 100 can be read") })
    #expect(try OriginFacts(JSONValue(parsing: facts.json.jsonText())) == facts)
    _ = take(OriginFacts(.live))
    #expect(!app.screen.contains { $0.contains("10 of 100 can be read") })
  }

  @Test func rowsFromTheCacheAreMarkedWithTheirAge() {
    let now = app.state.now
    let tabs = { app.screen[1] }
    _ = take(OriginFacts(.live))
    #expect(!tabs().contains("cached"))
    _ = take(shared(.live))
    #expect(!tabs().contains("cached"))
    _ = take(OriginFacts(.catchingUp))
    #expect(tabs().hasSuffix(" · cached"))
    _ = take(OriginFacts(.waiting, since: now - 30_000))
    #expect(tabs().hasSuffix(" · cached"))
    #expect(StateReducer.deadline(app.state).map { $0 <= now + 30_000 } == true)
    app.wait(milliseconds: 30_000)
    #expect(tabs().hasSuffix(" · cached 1m"))
    _ = take(OriginFacts(.refused, reason: "Not you.", since: now - 3 * 86_400_000))
    #expect(tabs().hasSuffix(" · cached 3d"))
    app.press("g3")
    #expect(tabs().contains("cached 3d"))
    _ = take(OriginFacts(.live))
    #expect(!tabs().contains("cached"))
  }

  @Test func aRefusalStaysOnTheScreenAndIsTriedAgainOnRequest() {
    _ = take(OriginFacts(.live))
    app.press("gL")
    #expect(app.screenEffects.contains(.measureLatency))
    var facts = OriginFacts(.live)
    facts.latency = 3
    _ = take(facts)
    #expect(app.toast == "the server answered in 3 ms")
    _ = take(shared(.live))
    app.press("gL")
    #expect(app.toast.contains("another program holds the connection"))
    _ = take(OriginFacts(.refused, reason: "The token has expired."))
    app.press("j k")
    // The message of before has its time, and then that of the refusal.
    app.wait(milliseconds: 5_000)
    app.wait(milliseconds: 30_000)
    #expect(
      app.screen.contains { $0.contains("The token has expired: gL tries again") }, "\(app.screen)")
    app.press("gL")
    #expect(app.screenEffects.contains(.reconnect))
    _ = take(OriginFacts(.live))
    #expect(!app.screen.contains { $0.contains("The token has expired") })
  }

  @Test func readingAgainAsksAServerOfServices() {
    var facts = OriginFacts(.live)
    _ = take(facts)
    app.press("R")
    #expect(!app.screenEffects.contains(.readOrigin))
    facts.hasServices = true
    _ = take(facts)
    app.press("R")
    #expect(app.screenEffects.contains(.readOrigin))
  }

  @Test func aNarrowScreenShowsTheSign() {
    app.resize(columns: 40, rows: 12)
    #expect(take(OriginFacts(.waiting, since: app.state.now)).contains("◌"))
  }

  @Test func aRecordedSessionHasIt() throws {
    let facts = OriginFacts(.waiting, reason: "why", since: 5, unknownWrites: [2, 7])
    _ = take(facts)
    let replay = try SessionReplay(parsing: app.recording, file: "recording")
    #expect(replay.state.database.origin == facts)
    #expect(OriginFacts(.null) == nil)
  }
}

/// The header tells the user's name for a server's database, and a careful one asks for it.
@Suite struct ProfileMarkTests {
  private func open(_ profile: ProfileMark, columns: Int = 80) throws -> AppDriver {
    try AppDriver(
      Fixture.views(), json: Fixture.small, origin: "home", columns: columns, profile: profile,
      isRecording: true)
  }

  @Test(arguments: ProfileMark.Color.allCases)
  func placeStandsInTheColorOfTheProfile(color: ProfileMark.Color) throws {
    let app = try open(ProfileMark("prod", color: color))
    #expect(app.screen[0].contains(" prod ▸ /"))
    #expect(color.role != .text)
    let narrow = try open(ProfileMark("prod", color: color), columns: 40)
    #expect(narrow.screen[0].contains(" prod ▸ /"))
  }

  @Test func deletionWantsTheNameOfACarefulProfileTyped() throws {
    let app = try open(ProfileMark("prod", confirms: true))
    app.press("d")
    #expect(app.line(of: "type prod") != nil)
    let usual = try open(ProfileMark("prod"))
    usual.press("d")
    #expect(usual.line(of: "type prod") == nil)
  }

  @Test func readOnlyProfileIsNamedAsTheReasonAgainstWriting() throws {
    let app = try open(ProfileMark("prod", isReadOnly: true))
    app.press("!")
    #expect(app.toast.contains("the profile prod is read-only in the configuration"))
  }

  @Test func recordedSessionHasIt() throws {
    let mark = ProfileMark("prod", color: .red, confirms: true, isReadOnly: true)
    let app = try open(mark)
    let replay = try SessionReplay(parsing: app.recording, file: "recording")
    #expect(replay.state.database.profile == mark)
    #expect(ProfileMark(.null) == nil)
  }
}

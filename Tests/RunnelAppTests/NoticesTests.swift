import RunnelBase
import RunnelTerminal
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// New rows of views that ask for it are told outside of the screen.
@Suite struct NoticesTests {
  private func open(
    _ notices: ViewNotices = .usual, settings: String = "", isChatInFront: Bool = false
  ) throws -> AppDriver {
    var views = try Fixture.views()
    views[0].notices = notices
    // The view that asks for notices is not looked at.
    if !isChatInFront { views = Array(views[1...]) + [views[0]] }
    let app = try AppDriver(views, json: Fixture.small, isRecording: true)
    if !settings.isEmpty { configure(app, settings) }
    return app
  }

  private func configure(_ app: AppDriver, _ text: String) {
    let file = ConfigurationFile(yaml: text, name: "config.yaml")
    #expect(file.problems.isEmpty, "\(file.problems)")
    app.configure(file.settings, problem: nil)
  }

  private func notices(_ app: AppDriver) -> [TerminalNotice] {
    app.screenEffects.compactMap { if case .notify(let notice) = $0 { notice } else { nil } }
  }

  private func add(_ app: AppDriver, _ key: String, _ text: String, from: String = "bo") throws {
    try app.set("/room/\(key)", Fixture.message(text, from: from, at: app.state.now))
  }

  /// Lets the time pass in which rows are gathered.
  private func gather(_ app: AppDriver) { wait(app, Notices.gatherMilliseconds) }

  /// Lets time pass, and carries out what is due then.
  private func wait(_ app: AppDriver, _ milliseconds: Int64) {
    app.wait(milliseconds: milliseconds)
    app.pump()
  }

  @Test func newRowIsToldWithTheNameOfItsView() throws {
    let app = try open()
    #expect(notices(app).isEmpty)
    try add(app, "-M7", "Who is at the gate?")
    #expect(notices(app).isEmpty)
    gather(app)
    let told = notices(app)
    #expect(told.count == 1 && told[0].title == "Chat" && told[0].ways == [.bell])
    #expect(told.first?.text.contains("Who is at the gate?") == true)
    wait(app, 60_000)
    #expect(notices(app).count == 1)
  }

  @Test func rowsThatArriveTogetherAreToldTogetherAndThereIsAPause() throws {
    let app = try open(.by([.osc9, .notifySend]))
    try add(app, "-M7", "one")
    try add(app, "-M8", "two")
    gather(app)
    try #require(notices(app).count == 1)
    #expect(notices(app)[0].text.hasPrefix("2 new: ") && notices(app)[0].text.contains("two"))
    #expect(notices(app)[0].ways == [.osc9, .notifySend])
    try add(app, "-M9", "three")
    gather(app)
    #expect(notices(app).count == 1)
    wait(app, Notices.pauseMilliseconds)
    #expect(notices(app).count == 2)
  }

  @Test func viewThatIsLookedAtIsNotTold() throws {
    let app = try open(isChatInFront: true)
    try add(app, "-M7", "one")
    gather(app)
    #expect(notices(app).isEmpty)
    app.send(.focus(false))
    try add(app, "-M8", "two")
    gather(app)
    #expect(notices(app).count == 1)
    app.send(.focus(true))
    wait(app, Notices.pauseMilliseconds)
    try add(app, "-M9", "three")
    gather(app)
    #expect(notices(app).count == 1)
  }

  @Test func ownRowsAndChangesAndViewsThatDoNotAskAreNotTold() throws {
    let app = try open()
    try add(app, "-M7", "mine", from: "zoe")
    try app.set("/room/-M1/text", "changed")
    gather(app)
    #expect(notices(app).isEmpty)
    let silent = try open(.none)
    try add(silent, "-M7", "one")
    gather(silent)
    #expect(notices(silent).isEmpty)
  }

  @Test func rowThatIsGoneByThenIsNotTold() throws {
    let app = try open()
    try add(app, "-M7", "oops")
    try app.remove("/room/-M7")
    gather(app)
    #expect(notices(app).isEmpty)
  }

  @Test func nothingIsToldInQuietHours() throws {
    let time = LocalTime.utc.civil(Fixture.now)
    let hour = { (offset: Int) in "\((time.hour + 24 + offset) % 24):00" }
    let quiet = try open(settings: "notify: { quiet: \"\(hour(-1))-\(hour(1))\" }")
    try add(quiet, "-M7", "one")
    gather(quiet)
    #expect(notices(quiet).isEmpty)
    let later = try open(
      settings: "notify: { by: [bell, osc777], quiet: \"\(hour(1))-\(hour(2))\" }")
    try add(later, "-M7", "one")
    gather(later)
    #expect(notices(later).map(\.ways) == [[.bell, .osc777]])
  }

  @Test func quietHoursMayGoOverMidnight() throws {
    let night = try #require(QuietHours("22:00-07:00"))
    #expect(night.contains(minute: 22 * 60) && night.contains(minute: 0))
    #expect(night.contains(minute: 7 * 60 - 1) && !night.contains(minute: 7 * 60))
    let noon = try #require(QuietHours("12:00-13:30"))
    #expect(noon.contains(minute: 13 * 60 + 29) && !noon.contains(minute: 13 * 60 + 30))
    for text in ["", "22:00", "24:00-07:00", "22:60-07:00", "7:00-7:00", "a-b", "1:2:3-4:00"] {
      #expect(QuietHours(text) == nil, "\(text)")
    }
  }

  @Test func viewsFileNamesTheWays() throws {
    func notices(_ text: String) throws -> ViewNotices {
      try ViewFile(
        yaml: "views: [{ name: A, path: /a, columns: [{ field: b }]\(text) }]", name: "a.yaml"
      ).views[0].notices
    }
    #expect(try notices("") == .none)
    #expect(try notices(", notify: false") == .none)
    #expect(try notices(", notify: true") == .usual)
    #expect(try notices(", notify: osc9") == .by([.osc9]))
    #expect(try notices(", notify: [bell, notify-send]") == .by([.bell, .notifySend]))
    #expect(throws: ConfigurationError.self) { try notices(", notify: [bel]") }
    for wanted in [ViewNotices.usual, .by([.bell, .osc777])] {
      var views = try Fixture.views()
      views[0].notices = wanted
      let text = ViewFile(me: nil, views: views).json.jsonText()
      #expect(try ViewFile(yaml: text, name: "again").views == views)
    }
  }

  @Test func mistakesInTheConfigurationAreTold() {
    for text in ["{ quiet: 25:00-1:00 }", "{ by: horn }", "{ loud: true }", "bell"] {
      let file = ConfigurationFile(yaml: "notify: \(text)", name: "config.yaml")
      #expect(file.problems.count == 1, "\(text)")
      #expect(file.settings.notices == NoticeSettings(), "\(text)")
    }
  }

  @Test func recordedSessionTellsTheSame() throws {
    let app = try open()
    try add(app, "-M7", "one")
    gather(app)
    let replay = try SessionReplay(parsing: app.recording, file: "recording")
    #expect(replay.state.session.notices == app.state.session.notices)
  }
}

import RunnelBase
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
    #expect(take(OriginFacts(.shared, since: app.state.now)) == before)
    #expect(before.contains("● live"))
  }

  @Test func whatIsNotLiveIsSaidWithItsReason() {
    #expect(take(OriginFacts(.connecting)).contains("◌ connecting"))
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

  @Test func aNarrowScreenShowsTheSign() {
    app.resize(columns: 40, rows: 12)
    #expect(take(OriginFacts(.waiting, since: app.state.now)).contains("◌"))
  }

  @Test func aRecordedSessionHasIt() throws {
    let facts = OriginFacts(.waiting, reason: "why", since: 5, unknownCount: 2)
    _ = take(facts)
    let replay = try SessionReplay(parsing: app.recording, file: "recording")
    #expect(replay.state.database.origin == facts)
    #expect(OriginFacts(.null) == nil)
  }
}

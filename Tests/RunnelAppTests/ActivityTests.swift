import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The view of the action log.
@Suite struct ActivityTests {
  /// The garden after a message was changed and one was added.
  private func app() throws -> AppDriver {
    let app = try Fixture.gardenApp()
    app.press("e C-u")
    app.type("Moon")
    app.press("Enter Esc a")
    app.type("hello")
    app.press("Enter Esc g5")
    return app
  }

  @Test func entriesTellWhoDidWhatWithOldAndNewValues() throws {
    let app = try app()
    #expect(app.screen[1].contains("5 Activity"))
    let lines = app.body.filter { $0.contains("18:20 zoe") }
    try #require(lines.count == 2)
    #expect(lines[0].contains("added message"), "the newest entry is the first")
    #expect(lines[0].contains("\"hello\"") || lines[0].contains("created:"))
    #expect(lines[1].contains("changed message -M2  text: \"Sun\" -> \"Moon\""))
    #expect(lines[1].hasSuffix("now"))
  }

  @Test func anEmptyLogSaysSo() throws {
    let app = try Fixture.gardenApp()
    app.press("g5")
    #expect(app.body[1] == "  nothing was done yet")
    app.press("a")
    #expect(app.form == nil)
    #expect(app.toast.contains("is the log of what was done"))
  }

  @Test func anEntryIsTakenBackAndThatIsLoggedToo() throws {
    let app = try app()
    app.go(to: "changed message")
    #expect(app.screen.contains { $0.contains("u take back") })
    app.press("u")
    #expect(app.toast == "taken back: /group_message/g/-M2 is as it was")
    #expect(try app.stored("/group_message/g/-M2/text") == "Sun")
    #expect(app.body.count { $0.contains("18:20 zoe") } == 3)
    #expect(app.line(of: "text: \"Moon\" -> \"Sun\"") != nil)
  }

  @Test func aCreationAndADestructionAreTakenBackWithTheirCounters() throws {
    let app = try app()
    app.go(to: "added message")
    app.press("u")
    #expect(try app.stored("/group/g/message_count") == 2)
    app.go(to: "deleted message")
    app.press("u")
    #expect(app.toast.hasSuffix("is there again"))
    #expect(try app.stored("/group/g/message_count") == 3)
    #expect(try app.report().isInStep)
  }

  @Test func whatWasChangedSinceIsNotTakenBackAndTheReasonIsSaid() throws {
    let app = try app()
    try app.elsewhere { session in
      let group = ResourceObject("group", key: try Key("g"))
      let message = ResourceObject("message", key: try Key("-M2"), value: ["text": "Stars"])
      _ = try session.perform(
        ResourceOperation(.update, message, in: ["group": group]),
        in: app.state.database.resources.registry)
    }
    app.go(to: "\"Sun\" ->")
    app.press("u")
    #expect(
      app.toast == "This cannot be taken back: `text` was changed since, to \"Stars\".")
    #expect(try app.stored("/group_message/g/-M2/text") == "Stars")
  }

  @Test func nothingIsTakenBackInADatabaseThatIsOpenReadOnly() throws {
    let writable = try app()
    let entries = try writable.stored("/action")
    let app = try AppDriver(
      Fixture.gardenViews(), resources: Fixture.gardenBook(),
      copying: Fixture.template("garden") { session in
        _ = try session.write(.set(.root, Fixture.garden))
        _ = try session.write(.set(Path("/action"), entries))
      }, isReadOnly: true)
    app.press("g5")
    app.go(to: "changed message")
    app.press("u")
    #expect(app.toast.contains("read-only"))
  }

  @Test func aLongLogIsPagedAtItsOlderEnd() throws {
    let app = try Fixture.gardenApp()
    try app.elsewhere { session in
      for number in 0..<60 {
        let user = ResourceObject(
          "user", key: try Key("u\(number)"), value: ["name": .string("U\(number)")])
        _ = try session.perform(
          ResourceOperation(.create, user), in: app.state.database.resources.registry)
      }
    }
    app.press("g5")
    #expect(app.screen[1].contains("50 of 60 rows"))
    app.press("gm")
    #expect(app.screen[1].contains("60 rows"))
    app.press("G")
    #expect(app.body.contains { $0.contains("added user u0 ") })
  }

  @Test func entriesArriveWhileTheViewIsOpen() throws {
    let app = try app()
    app.go(to: "changed message")
    let before = app.cursorLine
    try app.elsewhere { session in
      let user = ResourceObject("user", key: try Key("cleo"), value: ["name": "Cleo"])
      _ = try session.perform(
        ResourceOperation(.create, user), in: app.state.database.resources.registry)
    }
    #expect(app.cursorLine == before, "the cursor stays")
    #expect(app.body.contains { $0.contains("added user cleo") } || app.screen[1].contains("1 new"))
  }
}

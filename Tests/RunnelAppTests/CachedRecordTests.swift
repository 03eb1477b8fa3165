import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// A replica tells the value of a record only when it knows all of it.
///
/// Until then an open record is shown as the row of its list has it.
@Suite struct CachedRecordTests {
  /// The people, with the cursor on Ana.
  private func app(_ link: OriginFacts.Link) throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j")
    app.take(.origin(OriginFacts(link, since: app.state.now)))
    return app
  }

  @Test(arguments: [OriginFacts.Link.waiting, .offline, .refused, .catchingUp])
  func rowIsOpenedBeforeItsValueIsTold(link: OriginFacts.Link) throws {
    let app = try app(link)
    app.strike("Enter")
    #expect(app.record?.node?[Fixture.path("name")].leaf == .string("Ana"))
    #expect(app.line(of: "ana@example.org") != nil)
    #expect(app.body[0].hasSuffix("5 fields · cached"), "\(app.body)")
    app.strike("j")
    #expect(app.cursorLine.contains("plot"))
    #expect(app.state.input.typeAhead.isEmpty)
  }

  @Test func fieldIsEditedBeforeItsValueIsTold() throws {
    let app = try app(.waiting)
    app.strike("e")
    #expect(app.record?.edit != nil)
    #expect(app.state.input.typeAhead.isEmpty)
    app.pump()
    #expect(app.record?.edit != nil)
  }

  @Test func markOfTheCacheGoesWithTheConnection() throws {
    let app = try app(.waiting)
    app.strike("Enter")
    #expect(app.body[0].contains("cached"))
    app.pump()
    #expect(app.record?.fields.count == 5)
    app.take(.origin(OriginFacts(.live, since: app.state.now)))
    #expect(!app.body[0].contains("cached"), "\(app.body)")
  }

  @Test func liveRecordIsAwaited() throws {
    let app = try app(.live)
    app.strike("Enter")
    #expect(app.record != nil && app.record?.node == nil)
    app.pump()
    #expect(app.body[0].hasSuffix("5 fields"))
  }
}

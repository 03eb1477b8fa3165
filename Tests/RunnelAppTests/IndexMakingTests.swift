import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelDatabase
@testable import RunnelWorkspace

/// An index for the order of a list is offered, and made by one key.
@Suite struct IndexMakingTests {
  private static let made = "made an index of from in /room"

  private func sorted() throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    // The menu says which orders have an index.
    app.press("s")
    #expect(app.line(of: "no index: reads all rows") != nil)
    app.press("Esc")
    app.press(":")
    app.type("sort from")
    app.press("Enter")
    return app
  }

  @Test func orderWithoutAnIndexOffersOne() throws {
    let app = try sorted()
    #expect(app.toast == "from has no index: all rows are read: gI makes one")
    app.press("gI")
    #expect(app.toast.hasPrefix(IndexMakingTests.made))
    let room = try Path("/room")
    #expect(try app.backend.session.presentOrders(of: room).contains(.child(try Path("from"))))
    app.press("gI")
    #expect(app.toast.contains("there is an index for this order"))
  }

  @Test func onAServerTheLineForItsRulesIsCopied() throws {
    let child = QueryIndex.child(try Path("/created/at"))
    #expect(IndexMaking.ruleLine(of: child) == #"".indexOn": ["created/at"]"#)
    #expect(IndexMaking.ruleLine(of: .value) == #"".indexOn": [".value"]"#)
    #expect(IndexMaking.ruleLine(of: .key) == nil)
    let app = try sorted()
    app.take(.origin(OriginFacts(.live)))
    app.press("gI")
    let what = "line \".indexOn\": [\"from\"] for the rules of /room at the server"
    #expect(app.screenEffects.contains(.copy("\".indexOn\": [\"from\"]", what: what)))
  }

  @Test func keysNeedNone() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("gI")
    #expect(app.toast.contains("keys need no index"))
  }

  @Test func makingCanBeStopped() throws {
    let app = try sorted()
    app.strike("gI")
    app.strike("C-c")
    app.pump()
    // So few rows may all be in the index before it is stopped.
    #expect(app.toast == "no index was made" || app.toast.hasPrefix(IndexMakingTests.made))
    #expect(app.state.files.indexing == nil)
  }

  @Test(arguments: [
    IndexMaking.Report.progress(rows: 3), .done, .stopped, .failed("full"),
  ]) func reportIsRecorded(report: IndexMaking.Report) {
    #expect(IndexMaking.Report(report.json) == report)
    #expect(IndexMaking.Report("else") == nil)
  }
}

import RunnelBase
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelClient
@testable import RunnelWorkspace

/// Going to a place in a level of a server's tree that is too large to be loaded.
@Suite struct SoughtPlaceTests {
  /// A level of 5,000 values, and one of nodes below a node.
  private static func served() -> JSONValue {
    let values = (0..<5000).map { JSONMember("n\(10_000 + $0)", .number(JSONNumber(Int64($0)))) }
    let nodes = (0..<5000).map { JSONMember("b\(10_000 + $0)", ["x": ["deep": 1]]) }
    return ["breit": .object(values), "archiv": ["jahr": .object(nodes)]]
  }

  private func open(_ levels: FakeLevels, at place: String? = nil) throws -> AppDriver {
    var session = SessionState()
    session.place = try place.map { try Path($0) }
    let app = try AppDriver(
      [], json: .null, origin: "http://localhost/?ns=test", restoring: session, levels: levels)
    app.take(.origin(OriginFacts(.live)))
    return app
  }

  private func cursor(_ app: AppDriver) -> String? {
    guard case .node(let path, _, _)? = app.state.tabs.tree.cursorLine else { return nil }
    return path.description
  }

  private func go(_ app: AppDriver, _ place: String) {
    app.press(":")
    app.type(place)
    app.press("Enter")
    app.pump()
  }

  @Test func valueBeyondTheLoadedKeysIsShownBesideThem() throws {
    let levels = FakeLevels(Self.served())
    let app = try open(levels)
    go(app, "/breit/n14567")
    #expect(cursor(app) == "/breit/n14567", "\(app.toast)")
    #expect(app.cursorLine.contains("4567"))
    let page = app.state.settings.pageSize
    #expect(app.state.tabs.tree.expanded[Fixture.path("/breit")]?.rows.count == page + 1)
    #expect(levels.limitMax == page)
    // The pages go on where they ended.
    app.press("j Enter")
    let rows = app.state.tabs.tree.expanded[Fixture.path("/breit")]?.rows.map(\.row.key.text) ?? []
    #expect(rows.count == 2 * page + 1 && rows == rows.sorted())
    #expect(rows.contains("n\(10_000 + page)") && rows.last == "n14567")
  }

  @Test func placeOfTheAddressIsOpenedBelowALargeLevel() throws {
    let app = try open(FakeLevels(Self.served()), at: "/archiv/jahr/b14567/x")
    app.pump()
    #expect(cursor(app) == "/archiv/jahr/b14567/x", "\(app.toast)")
  }

  @Test func placeThatDoesNotExistIsToldAsThat() throws {
    let levels = FakeLevels(Self.served())
    let app = try open(levels)
    go(app, "/breit/zzz")
    #expect(app.toast == "there is nothing at /breit/zzz")
    #expect(app.line(of: "zzz") == nil)
    // It is asked for again, as it may have come since.
    levels.tree = levels.tree.replacing(Fixture.path("/breit/zzz"), with: try Node(json: 1))
    go(app, "/breit/zzz")
    #expect(cursor(app) == "/breit/zzz", "\(app.toast)")
  }

  @Test func placeThatCannotBeReadIsToldAsThat() throws {
    let levels = FakeLevels(Self.served())
    let app = try open(levels)
    levels.forbidden = [Fixture.path("/breit/n14567")]
    go(app, "/breit/n14567")
    #expect(app.toast.contains("/breit/n14567 cannot be read: Permission denied."))
  }

  @Test func rowThatWasLookedUpStaysWhenTheKeysAreReadAgain() throws {
    let app = try open(FakeLevels(Self.served()))
    go(app, "/breit/n14567")
    app.press("R")
    app.pump()
    #expect(app.line(of: "n14567") != nil)
    #expect(cursor(app) == "/breit/n14567")
  }
}

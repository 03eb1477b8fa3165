import RunnelBase
import RunnelStreams
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Going to services by their paths, and the tree of a server that does not tell which services it has.
@Suite struct ServicePlacesTests {
  private let app: AppDriver

  init() throws {
    let views = try ViewFile(
      yaml: """
        views:
          - { name: Tools, path: /tools, columns: [{ field: name }] }
          - { name: Orders, path: /shop%2Forders, columns: [{ field: name }] }
        """, name: "shop.views.yaml"
    ).views
    app = try AppDriver(
      views,
      json: ["tools": ["3": ["name": "axe"]], "shop%2Forders": ["7": ["name": "nails"]]],
      reach: FindReach())
    var facts = OriginFacts(.live)
    facts.hasServices = true
    app.take(.origin(facts))
  }

  private func go(_ path: String) {
    app.type(":\(path)")
    app.press("Enter")
  }

  @Test func pathOfAServiceOpensItsList() {
    go("/shop/orders")
    #expect(app.state.tabs.front == .view(1) && app.cursorLine.contains("nails"), "\(app.body)")
    go("/tools")
    #expect(app.state.tabs.front == .view(0) && app.cursorLine.contains("axe"), "\(app.body)")
  }

  @Test func pathOfARecordOfANestedServiceOpensIt() {
    go("/shop/orders/7")
    #expect(app.record?.path.description == "/shop%2Forders/7", "\(app.body)")
  }

  private func fail(_ path: Path, code: String) {
    let failure = StreamFailure("the server lists no services", code: code)
    app.runtime.send(
      .tree(
        path,
        TreeChange(
          content: .rows([], came: []), update: .reload, phase: .failed(failure),
          paging: .exhausted)))
  }

  @Test func treeShowsTheServicesThatHaveLists() {
    app.press("g3")
    fail(.root, code: "UNAVAILABLE")
    let rows = app.state.tabs.tree.content.sections.flatMap(\.rows)
    #expect(rows == ["/shop%2Forders", "/tools", "failed:/"], "\(rows)")
    #expect(app.line(of: "the server lists no services") != nil, "\(app.body)")
  }

  /// A service without a list is found by asking: the server says that there is none with the first name.
  @Test(arguments: [
    ("NOT_FOUND", "/verein%2Fprotokolle"), ("PERMISSION_DENIED", "/verein/protokolle"),
  ])
  func pathOfANestedServiceWithoutAListIsSought(code: String, found: String) throws {
    app.press("g3")
    fail(.root, code: "UNAVAILABLE")
    app.type(":/verein/protokolle")
    app.strike("Enter")
    #expect(app.state.tabs.tree.wanted?.path.description == "/verein/protokolle")
    fail(try Path("/verein"), code: code)
    #expect(app.state.tabs.tree.list.cursor == .row(found) && app.state.tabs.tree.wanted == nil)
  }
}

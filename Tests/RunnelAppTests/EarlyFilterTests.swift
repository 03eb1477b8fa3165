import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// A filter that is set before the server has answered with the first page.
@Suite struct EarlyFilterTests {
  /// The keys 100 to 159; one of the later ones, or none, has the word that is looked for.
  private func served(needle: Int?) throws -> Node {
    Node(
      children: try (100..<160).map { number in
        let word: JSONValue = number == needle ? "needle" : "straw"
        return Child(
          key: try Key("\(number)"),
          node: try Node(json: ["title": .string("t\(number)"), "word": word]))
      })
  }

  /// The process with the connection asks what the workspace needs, and the server answers.
  private func answer(_ app: AppDriver, from served: Node) throws {
    for _ in 0..<8 {
      try app.elsewhere { other in
        _ = try other.catchUp()
        for command in other.takeOriginOutput().commands {
          guard case .listen(let id, let query, let tag, _) = command else { continue }
          var node = served
          if let key = query.path.keys.dropFirst().first {
            node = node[key]
          } else if !query.loadsAllData {
            let rows = RowSlice(query).rows(among: node.children, detail: .full)
            node = Node(
              children: rows.compactMap { row in row.node.map { Child(key: row.key, node: $0) } })
          }
          _ = try other.receive(.push(.set(node), query.path, tag: tag))
          _ = try other.receive(.listenComplete(id))
        }
      }
    }
  }

  private func loading(order: String) throws -> AppDriver {
    let views = try ViewFile(
      yaml: """
        views:
          - name: T
            path: /tickets
            order: \(order)
            page: 20
            columns: [{ field: title }, { field: word }]
        """, name: "t.views.yaml"
    ).views
    let app = try AppDriver(views, origin: "home")
    try app.elsewhere { _ = try $0.connectOrigin() }
    app.take(.origin(OriginFacts(.shared)))
    try #require(app.list.reach.phase == .loading)
    return app
  }

  private func keys(_ app: AppDriver) -> [String] {
    app.list.content.sections.flatMap(\.rows).compactMap { app.list.records[$0]?.row.key.text }
  }

  @Test(arguments: ["title", "$key"]) func rowsBeyondTheFirstPageAreSearched(order: String) throws {
    let app = try loading(order: order)
    app.press("f")
    app.type("word:needle")
    app.press("Enter")
    try answer(app, from: try served(needle: 150))
    #expect(app.list.reach.phase == .loaded)
    #expect(keys(app) == ["150"], "\(app.screen)")
  }

  @Test(arguments: ["title", "$key"]) func listSaysThatNoRowFits(order: String) throws {
    let app = try loading(order: order)
    app.press("f")
    app.type("word:needle")
    app.press("Enter")
    try answer(app, from: try served(needle: nil))
    #expect(app.list.reach.phase == .loaded && app.list.reach.paging == .exhausted)
    #expect(app.body.contains { $0.contains("no row fits the filter") }, "\(app.body)")
  }

  /// While the filter is being typed nothing is searched.
  @Test func listOffersToFetchMoreWhileTheFilterIsTyped() throws {
    let app = try loading(order: "$key")
    app.press("f")
    app.type("word:needle")
    try answer(app, from: try served(needle: 150))
    #expect(app.list.reach.phase == .loaded && app.list.reach.paging == .more)
    #expect(keys(app).isEmpty)
    app.press("Enter")
    try answer(app, from: try served(needle: 150))
    #expect(keys(app) == ["150"], "\(app.screen)")
  }
}

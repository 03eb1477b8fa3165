import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Marked records that others take out of a list with a `where`, also after it has unloaded their rows.
@Suite struct LeftRowsTests {
  private static let view = """
    views:
      - name: Tickets
        path: /tickets
        where: status == "open"
        page: 20
        keep: 80
        columns:
          - { field: $key, width: 6 }
          - { field: title }
          - { field: team, width: 8 }
    """

  private func list(_ count: Int) throws -> AppDriver {
    let tickets = (0..<count).map { number in
      JSONMember("t\(1000 + number)", ["title": "Ticket", "team": "red", "status": "open"])
    }
    return try AppDriver(
      try ViewFile(yaml: Self.view, name: "test.views.yaml").views,
      json: ["tickets": .object(tickets)])
  }

  /// All 1,000 rows are loaded, and three are marked: the first two, and the last one.
  ///
  /// While a form or a question about them is open, so many others arrive that the first two are unloaded.
  private func unloading(_ keys: String) throws -> AppDriver {
    let app = try list(1000)
    app.press("gg j Space Space 5 0 gm G")
    #expect(app.list.reach.loadedCount == 1000)
    app.press("Space \(keys)")
    #expect(app.list.markCount == 3)
    for round in 0..<3 {
      try app.elsewhere { session in
        let new = (0..<20).map { number in
          JSONMember("u\(100 * round + 100 + number)", ["title": "New", "status": "open"])
        }
        _ = try session.write(.update(Path("/tickets"), new))
      }
    }
    #expect(!app.list.hasRow("/tickets/t1000") && app.list.markCount == 3)
    return app
  }

  private func team(_ key: String, _ app: AppDriver) throws -> JSONValue? {
    try app.stored("/tickets/\(key)")["team"]
  }

  @Test func unloadedRowsThatOthersTookOutAreNotWritten() throws {
    let app = try unloading("| l l e")
    #expect(app.screen.contains { $0.contains("Set team of 3 marked records") }, "\(app.screen)")
    #expect(!app.screen.contains { $0.contains("not shown stay") }, "\(app.screen)")
    try app.set("/tickets/t1000/status", "closed")
    app.press("C-u")
    app.type("blue")
    app.press("C-s")
    #expect(app.toast.hasPrefix("others changed t1000 meanwhile: left out"), "\(app.toast)")
    #expect(app.screen.contains { $0.contains("Set team of 2 marked records") }, "\(app.screen)")
    #expect(try team("t1001", app) == "red", "nothing is written at first")
    app.press("C-s")
    #expect(app.toast == "changed 2 records · others changed t1000: still marked")
    #expect(try team("t1000", app) == "red")
    #expect(try team("t1001", app) == "blue" && team("t1999", app) == "blue")
  }

  @Test func allThatOthersChangedAreAskedAboutAtOnce() throws {
    let app = try unloading("| l l e")
    try app.set("/tickets/t1000/team", "theirs")
    try app.set("/tickets/t1001/status", "closed")
    app.press("C-u")
    app.type("blue")
    app.press("C-s")
    #expect(app.toast.hasPrefix("others changed t1000, t1001 meanwhile"), "\(app.toast)")
    app.press("C-s")
    #expect(app.toast == "changed 1 record · others changed t1000, t1001: still marked")
    #expect(app.state.layers.isEmpty)
  }

  @Test func unloadedRowsThatOthersTookOutAreNotDeleted() throws {
    let app = try unloading("d")
    try app.set("/tickets/t1000/status", "closed")
    app.wait(milliseconds: 500)
    app.press("y")
    #expect(app.toast == "deleted 2 records · others changed t1000: still marked")
    #expect(try app.stored("/tickets/t1000/status") == "closed")
    #expect(try app.stored("/tickets/t1001") == .null)
    app.press("u")
    #expect(try app.stored("/tickets/t1001/title") == "Ticket")
  }

  @Test func whatOnlyLeftTheListIsNotCalledRemoved() throws {
    let app = try list(5)
    app.press("gg j Space Space Space gg j | l l e C-u")
    try app.set("/tickets/t1001/status", "closed")
    app.type("blue")
    app.press("C-s")
    #expect(app.toast == "changed 2 records · no longer in this list: t1001")
    app.press("Esc gg j Space Space d")
    app.wait(milliseconds: 500)
    try app.set("/tickets/t1002/status", "closed")
    app.press("y")
    #expect(app.toast == "deleted 1 record · no longer in this list: t1002")
    #expect(try app.stored("/tickets/t1002/status") == "closed")
  }
}

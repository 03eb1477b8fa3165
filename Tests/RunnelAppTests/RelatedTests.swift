import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The page of a record lists what belongs to it: its lists, its members, and what refers to it.
@Suite struct RelatedTests {
  private static let viewsText = """
    views:
      - name: Groups
        path: /group
        columns:
          - { field: name }
      - name: Talk
        path: /group_message/$group
        columns:
          - { field: from, width: 8 }
          - { field: text }
      - name: People
        path: /user
        columns:
          - { field: name }
    """

  private func app() throws -> AppDriver {
    try AppDriver(
      ViewFile(yaml: Self.viewsText, name: "x").views, resources: Fixture.gardenBook(),
      json: Fixture.garden)
  }

  private func lines(_ app: AppDriver) -> [String] {
    Array(app.body.drop { !$0.contains("Lists and references") }.dropFirst())
      .filter { !$0.isEmpty }
  }

  @Test func recordListsItsListsWithTheirNumbers() throws {
    let app = try app()
    app.press("l")
    let lines = lines(app)
    #expect(lines.count == 1, "the collection of the messages is the list of the view")
    #expect(lines[0].contains("▸ Talk"))
    #expect(lines[0].contains("/group_message/g"))
    #expect(lines[0].hasSuffix(" 2"))
  }

  @Test func enterOpensTheListAndGoingBackLeadsToTheRecord() throws {
    let app = try app()
    app.press("l G Enter")
    #expect(app.list.definition.source.path == Fixture.path("/group_message/g"))
    #expect(app.state.layers.isEmpty)
    app.press("gb")
    #expect(app.record?.path == Fixture.path("/group/g"))
  }

  @Test func membersWithoutAViewAreFoundByTheirPath() throws {
    let app = try app()
    app.press("Enter gg j l")
    #expect(app.record?.path == Fixture.path("/group_message/g/-M1"))
    let lines = lines(app)
    #expect(lines.count == 1)
    #expect(lines[0].contains("▸ like"))
    #expect(lines[0].contains("/message_like/g/-M1"))
    #expect(lines[0].hasSuffix(" 1"))
    app.press("G l")
    #expect(app.state.tabs.isTree, "no list shows them")
  }

  @Test func referencesAreCountedWhenAskedAndOpenTheirListFiltered() throws {
    let app = try app()
    app.press("Enter g2")
    let ana = try #require(app.list.records.values.first { $0.row.key.text == "ana" })
    app.press("gg")
    for _ in 0..<5 where app.list.cursorRecord?.path != ana.path { app.press("j") }
    app.press("l G")
    #expect(app.cursorLine.contains("message by from"))
    #expect(app.cursorLine.hasSuffix("/group_message/g"), "it is not counted yet")
    app.press("gm")
    #expect(app.cursorLine.hasSuffix(" 1"))
    app.press("Enter")
    #expect(app.list.definition.source.path == Fixture.path("/group_message/g"))
    #expect(app.list.filter?.text == "from:ana")
    #expect(app.line(of: "Rain") != nil)
    #expect(app.line(of: "Sun") == nil)
  }

  @Test func whatCannotBeCountedIsTold() throws {
    let app = try app()
    app.backend.listenRefusal = DatabaseError(.locked, "locked by another")
    app.press("l")
    #expect(app.record?.related.first?.count == .failed("locked by another"))
  }

  @Test func keysOfFieldsSayWhyTheyDoNothingThere() throws {
    let app = try app()
    app.press("l G e")
    #expect(app.toast == "move to a field to edit it")
    app.press("gg j gm")
    #expect(app.toast == "move to what refers to this record to count it")
  }

  @Test func recordWithoutAnythingHasNoSuchSection() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j Enter")
    #expect(app.line(of: "Lists and references") == nil)
  }

  @Test func numberIsThatOfTheChildrenOrOfTheRows() throws {
    let all = Counting(path: Fixture.path("/a/b"))
    #expect(try all.request().query.path == Fixture.path("/a"))
    #expect(all.number(in: []) == 0)
    let key = try RunnelTree.Key("x")
    let some = Counting(path: Fixture.path("/a"), field: Fixture.path("/from"), key: key)
    #expect(try some.request().paging?.count == Counting.rowsMax)
    #expect(throws: TreeError.self) { try Counting(path: .root).request() }
  }
}

import RunnelBase
import RunnelDatabase
import RunnelStreams
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
    #expect(app.state.tabs.front == .tree, "no list shows them")
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
    #expect(app.list.filtering.filter?.text == "from:ana")
    #expect(app.line(of: "Rain") != nil)
    #expect(app.line(of: "Sun") == nil)
  }

  // MARK: The list of a reference

  /// A chat with pages of five, in which the only message of Ana is far from the first page.
  private func longChat() throws -> AppDriver {
    let views = try ViewFile(
      yaml: """
        views:
          - name: People
            path: /user
            order: $key
            columns:
              - { field: name }
          - name: Talk
            path: /group_message/g
            order: $key
            anchor: last
            page: 5
            columns:
              - { field: from, width: 8 }
              - { field: text }
        """, name: "x"
    ).views
    let app = try AppDriver(views, resources: Fixture.gardenBook(), json: Fixture.garden)
    try app.elsewhere { session in
      for number in 10..<50 {
        let path = Fixture.path("/group_message/g/-M\(number)")
        _ = try session.write(.set(path, ["from": "bo", "text": .string("message \(number)")]))
      }
    }
    return app
  }

  /// Opens the record of Ana, and in it the messages that refer to her.
  private func openMessagesOfAna(_ app: AppDriver) {
    app.press("g1")
    app.go(to: "Ana")
    app.press("l G")
    #expect(app.cursorLine.contains("message by from"), "\(app.body)")
    app.press("Enter")
  }

  @Test(arguments: [false, true])
  func listOfAReferenceReadsOn(isOpenBefore: Bool) throws {
    let app = try longChat()
    if isOpenBefore { app.press("g2") }
    openMessagesOfAna(app)
    #expect(app.list.definition.name == "Talk")
    #expect(app.line(of: "Rain") != nil, "\(app.screen)")
    #expect(app.screen[1].contains("1 of 42 rows"), "\(app.screen[1])")
    #expect(!app.toast.contains("searching"))
  }

  @Test func goingBackFromAReferenceGivesTheFilterBack() throws {
    let app = try longChat()
    app.press("g2 f")
    app.type("from:bo")
    app.press("Enter")
    openMessagesOfAna(app)
    #expect(app.list.filtering.filter?.text == "from:ana")
    app.press("gb")
    #expect(app.record?.path == Fixture.path("/user/ana"))
    #expect(app.cursorLine.contains("message by from"), "\(app.body)")
    app.press("Esc g2")
    #expect(app.list.filtering.filter?.text == "from:bo")
  }

  @Test func goingForwardShowsTheReferenceAgain() throws {
    let app = try longChat()
    openMessagesOfAna(app)
    app.press("gb gB")
    #expect(app.list.filtering.filter?.text == "from:ana")
  }

  @Test func filterThatTheUserChangedInAReferenceStays() throws {
    let app = try longChat()
    openMessagesOfAna(app)
    app.press("f C-u")
    app.type("text:Sun")
    app.press("Enter gb Esc g2")
    #expect(app.list.filtering.filter?.text == "text:Sun")
  }

  @Test func lastRowOfARecordIsItsLastReference() throws {
    let app = try app()
    app.press("l gg G")
    #expect(app.record?.cursorRelated == 0)
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
    #expect(app.toast == "move to a list or a reference to count it")
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

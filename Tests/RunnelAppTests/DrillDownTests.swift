import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Views with parameters: a row opens the list that is its own, and `-` goes back up to it.
@Suite struct DrillDownTests {
  private static let viewsText = """
    views:
      - name: Groups
        path: /group
        columns:
          - { field: name, width: 12 }
          - { field: message_count }
      - name: Talk
        path: /group_message/$group
        anchor: last
        columns:
          - { field: from, width: 8 }
          - { field: text }
        compose: text
        new:
          from: $me
      - name: Likes
        path: /message_like/$group/$message
        from: Talk
        columns:
          - { field: $key, width: 8 }
          - { field: created }
      - name: People
        path: /user
        columns:
          - { field: name }
    """

  private static func views(_ text: String = viewsText) throws -> [ViewDefinition] {
    try ViewFile(yaml: text, name: "test.views.yaml").views
  }

  private func app(_ session: SessionState? = nil, isRecording: Bool = false) throws -> AppDriver {
    try AppDriver(
      Self.views(), json: Fixture.garden, isRecording: isRecording, restoring: session)
  }

  private func path(_ app: AppDriver) -> String { app.list.definition.source.path.description }

  // MARK: Down and up

  @Test func enterOpensTheListOfTheRowBelowItsTab() throws {
    let app = try app()
    app.press("Enter")
    #expect(path(app) == "/group_message/g")
    #expect(app.screen[0].contains("Groups ▸ Garden ▸ /group_message/g"))
    #expect(app.screen[1].hasPrefix(" 1 Groups  2 People  3 Tree"), "it has no tab")
    #expect(app.line(of: "Rain") != nil)
    #expect(app.cursorLine.contains("Sun"), "it opens at its live end")
  }

  @Test func titleOfANarrowScreenTellsThePlace() throws {
    let app = try app()
    app.press("Enter k Enter")
    app.resize(columns: 50, rows: 14)
    #expect(app.screen[0].contains("/message_like/g/-M1"), "\(app.screen[0])")
  }

  @Test func minusGoesUpToTheRow() throws {
    let app = try app()
    app.press("Enter k Enter")
    #expect(path(app) == "/message_like/g/-M1")
    #expect(app.screen[0].contains("Groups ▸ Garden ▸ Rain ▸ /message_like/g/-M1"))
    #expect(app.cursorLine.contains("bo"))
    app.press("-")
    #expect(path(app) == "/group_message/g")
    #expect(app.cursorLine.contains("Rain"))
    app.press("-")
    #expect(path(app) == "/group")
    #expect(app.cursorLine.contains("Garden"))
    app.press("-")
    #expect(app.toast == "this list was opened from no row")
  }

  @Test func recordOfTheRowIsStillThere() throws {
    let app = try app()
    app.press("l")
    #expect(app.record?.path.description == "/group/g")
  }

  @Test func goingBackAndForwardKnowsTheLists() throws {
    let app = try app()
    app.press("Enter k Enter gb")
    #expect(path(app) == "/group_message/g")
    app.press("gb")
    #expect(path(app) == "/group")
    app.press("gB gB")
    #expect(path(app) == "/message_like/g/-M1")
    #expect(app.state.tabs.lists.count == 4, "each list is opened once")
  }

  @Test func tabsGoRoundTheListsThatHaveNone() throws {
    let app = try app()
    app.press("Enter gt")
    #expect(path(app) == "/user")
    app.press("gt")
    #expect(app.state.tabs.front == .tree)
    app.press("gt")
    #expect(path(app) == "/group", "the tab is its own list again")
    app.press("Enter g3")
    #expect(app.state.tabs.front == .tree)
    app.press("g1 Enter g1")
    #expect(path(app) == "/group")
  }

  @Test func recordsAreAddedToTheListOfTheRow() throws {
    let app = try app()
    app.press("Enter a")
    app.type("Wind")
    app.press("Enter Esc")
    #expect(app.cursorLine.contains("Wind"))
    let stored = try app.stored("/group_message/g")
    #expect(stored.object?.last?.value == ["from": "zoe", "text": "Wind"])
  }

  @Test func changesArriveInListsThatAreNotInFront() throws {
    let app = try app()
    app.press("Enter -")
    try app.set("/group_message/g/-M3", ["from": "bo", "text": "Hail"])
    app.press("Enter")
    #expect(app.line(of: "Hail") != nil)
  }

  // MARK: Sessions

  @Test func sessionComesBackToTheListInFrontAndItsDraft() throws {
    let app = try app()
    app.press("Enter k m a a")
    app.type("half a thought")
    app.press("Esc")
    #expect(app.screen[1].contains("1 Groups ~"))
    let session = SessionState.session(app.state)
    #expect(SessionState(session.json) == session)
    let again = try self.app(session)
    #expect(path(again) == "/group_message/g")
    again.press("a")
    #expect(again.composeLine.contains("half a thought"))
    again.press("Esc g2 ' a")
    #expect(path(again) == "/group_message/g")
    #expect(again.cursorLine.contains("Rain"))
  }

  @Test func listOfAViewThatIsGoneIsNotOpened() throws {
    var session = SessionState()
    session.list = "Gone\n/gone/g"
    let app = try app(session)
    #expect(path(app) == "/group")
    app.take(.tick(Fixture.now))
    #expect(Place(text: "Talk\n/group_message/g/-M1\n\n/group_message/g")?.list != nil)
    #expect(Place(text: "Talk\n\n\nno path $#") == nil)
  }

  @Test func oldListsMakeRoomButNotOnesWithADraft() throws {
    var members: [JSONMember] = []
    for number in 0..<30 {
      members.append(
        JSONMember("g\(number + 10)", ["name": .string("Group \(number)")]))
    }
    let app = try AppDriver(
      Self.views(), json: .object([JSONMember("group", .object(members))]), rows: 50)
    app.press("gg j Enter a")
    app.type("kept")
    app.press("Esc -")
    for _ in 1..<30 { app.press("j Enter -") }
    #expect(app.state.tabs.lists.count == app.state.tabs.fixedCount + DrillDown.listsMax)
    #expect(app.state.tabs.lists.contains { $0.line.draft == "kept" })
    #expect(app.cursorLine.contains("Group 29"))
    app.press("Enter")
    #expect(path(app) == "/group_message/g39")
    app.press("g3")
    #expect(app.state.tabs.front == .tree)
  }

  @Test func recordedSessionHasTheLists() throws {
    let app = try app(isRecording: true)
    app.press("Enter k Enter -")
    let replay = try SessionReplay(parsing: app.recording, file: "x")
    #expect(
      replay.state.tabs.frontList?.definition.source.path.description
        == "/group_message/g")
  }

  // MARK: Definitions

  @Test func savedViewsChangeTheListsOfRowsToo() throws {
    let app = try app()
    app.press("Enter")
    let text = Self.viewsText.replacing("from, width: 8", with: "from, width: 20")
    app.take(.redefined(file: "test.views.yaml", problem: nil, views: SavedViews(text: text)))
    #expect(app.list.definition.columns[0].width == 20)
    #expect(path(app) == "/group_message/g")
    #expect(app.line(of: "Rain") != nil)
    app.press("-")
    #expect(app.cursorLine.contains("Garden"))
  }

  @Test func savedViewKeepsItsParameter() throws {
    let app = try AppDriver(Self.views(), json: Fixture.garden)
    app.press("Enter")
    var state = app.state
    state.files.viewsFile = "/tmp/x.views.yaml"
    #expect(PaletteCommand.saveView.run(&state, "") == nil)
    guard case .saveView(let saving)? = state.effects.last else {
      Issue.record("nothing is saved")
      return
    }
    #expect(saving.view.source.path.description == "/group_message/$group")
    #expect(saving.all.map(\.name) == ["Groups", "People", "Talk", "Likes"])
    #expect(try ViewFile(yaml: ViewText.file(saving.all), name: "x").views == saving.all)
  }

  @Test func definitionsComeBackFromTheirJSON() throws {
    let file = ViewFile(me: nil, views: try Self.views())
    #expect(try ViewFile(yaml: file.json.jsonText(), name: "x").views == file.views)
  }

  private static func text(_ first: String, _ second: String, from: String = "") -> String {
    """
    views:
      - { name: A, path: \(first), columns: [{ field: name }] }
      - { name: B, path: \(second), columns: [{ field: name }]\(from) }
    """
  }

  @Test(arguments: [
    (text("/a", "/b/$c"), "`from` names the view from whose rows"),
    (text("/a", "/b/$a/$c", from: ", from: A"), "gives one parameter its key"),
    (text("/a", "/b/$a", from: ", from: C"), "There is no view `C`"),
    (text("/a", "/b", from: ", from: A"), "`from` belongs to a view with a parameter"),
    (text("/a/$b", "/b/$c/$b", from: ", from: A"), "`from` names the view"),
    (text("/a", "/b/$"), "wrong"),
  ])
  func wrongParametersAreTold(text: String, words: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try Self.views(text) }
    #expect("\(try #require(error))".contains(words))
  }

  @Test func viewsThatOpenEachOtherAreTold() throws {
    let text = """
      views:
        - { name: A, path: /a/$x, from: B, columns: [{ field: name }] }
        - { name: B, path: /b/$y, from: A, columns: [{ field: name }] }
      """
    let error = #expect(throws: ConfigurationError.self) { try Self.views(text) }
    #expect("\(try #require(error))".contains("is opened from no view with a tab"))
  }

  @Test func pathsBindAndGiveTheirKeysBack() throws {
    let template = try Self.views()[2].source.path
    let place = Fixture.path("/message_like/g/-M1")
    let keys = try #require(template.keys(in: place))
    #expect(template.bound(to: keys) == place)
    #expect(template.keys(in: Fixture.path("/message_like/g")) == nil)
    #expect(template.keys(in: Fixture.path("/other/g/-M1")) == nil)
    #expect(place.parameters.isEmpty)
    #expect(template.parameters == ["group", "message"])
  }
}

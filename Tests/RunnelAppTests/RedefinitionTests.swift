import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// What a views or resources file does that is saved while the workspace is open.
@Suite struct RedefinitionTests {
  private let app: AppDriver

  init() throws { app = try AppDriver(Fixture.views(), json: Fixture.small) }

  /// Saves the views with one text replaced by another.
  private func save(_ old: String, as new: String) throws {
    try #require(Fixture.viewsText.contains(old))
    save(Fixture.viewsText.replacing(old, with: new))
  }

  private func save(_ yaml: String) {
    app.take(.redefined(file: "/data/chat.views.yaml", problem: nil, views: SavedViews(text: yaml)))
  }

  @Test func savedColumnsShowAtOnce() throws {
    #expect(app.cursorLine.contains("Who has the ladder?"))
    #expect(app.cursorLine.contains("ana"))
    try save("      - { field: from, width: 8, screen: 40 }\n", as: "")
    #expect(app.toast == "chat.views.yaml was read again")
    #expect(app.cursorLine.contains("Who has the ladder?"))
    #expect(!app.cursorLine.contains("ana"))
  }

  @Test func whereTheUserIsAndWhatTheyChoseStays() throws {
    app.press("k Space")
    #expect(!app.state.tabs.lists[0].marks.isEmpty)
    app.press("f")
    app.type("from:ana")
    app.press("Enter")
    let before = (
      app.cursorLine, app.state.tabs.lists[0].marks, app.state.tabs.lists[0].list.folded
    )
    #expect(!before.1.isEmpty)
    try save("width: 5 }\n      - { field: from", as: "width: 6 }\n      - { field: from")
    #expect(app.state.tabs.lists[0].filtering.filter?.text == "from:ana")
    #expect(app.state.tabs.lists[0].marks == before.1)
    #expect(app.state.tabs.lists[0].list.folded == before.2)
    #expect(app.state.tabs.lists[0].content.storedRowCount == 3)
  }

  @Test func listWhoseViewWasSavedKeepsItsPlaceAndItsRows() throws {
    app.press("| l x Esc k k")
    let before = (app.cursorLine, app.backend.requests.count)
    #expect(!app.list.look.hiddenColumns.isEmpty)
    var views = try Fixture.views()
    views[0] = app.list.shownDefinition
    save(ViewText.file(views))
    #expect(app.list.look.hiddenColumns.isEmpty)
    #expect(app.cursorLine == before.0)
    #expect(app.backend.requests.count == before.1)
    #expect(app.toast == "chat.views.yaml was read again")
  }

  @Test func foundViewThatIsSavedKeepsItsFilterItsRowsAndItsPlace() throws {
    let records = try (0..<90).map {
      try Node(json: ["note": .string("note \($0 % 9) of some words"), "n": .int($0)])
    }
    let keys = try (0..<90).map { try Key("k\(10 + $0)") }
    let sample = CollectionSample(
      path: try Path("log"), keys: Array(keys.prefix(5)), records: Array(records.prefix(5)))
    let json = zip(keys, records).map { JSONMember($0.text, $1.json) }
    let other = ViewInference.view(of: sample, named: "Other", pageSize: 50)
    let app = try AppDriver(
      [ViewInference.view(of: sample, named: "Log", pageSize: 50), other],
      json: ["log": .object(json)], columns: 140)
    app.press("G f")
    app.type("note~\"note 4\"")
    app.press("Enter G k")
    let before = (app.cursorLine, app.list.reach.loadedCount, app.backend.requests.count)
    #expect(app.list.content.storedRowCount == 10, "\(app.body)")
    let text = ViewText.file([app.list.shownDefinition, other])
    app.take(.redefined(file: "/log.views.yaml", problem: nil, views: SavedViews(text: text)))
    #expect(app.list.filtering.filter?.text == "note~\"note 4\"")
    #expect(app.list.content.storedRowCount == 10, "\(app.body)")
    #expect((app.cursorLine, app.list.reach.loadedCount, app.backend.requests.count) == before)
  }

  @Test func otherRowsAreAskedForWhereTheSourceChanged() throws {
    try save("path: /room\n    order: $key", as: "path: /user\n    order: $key")
    #expect(app.state.tabs.lists[0].content.storedRowCount == 5)
    try save("order: $key", as: "order: created")
    #expect(app.toast.hasSuffix("from the next start on: the index of its new order"))
    #expect(app.cursorLine.contains("Who has the ladder?"))
    #expect(app.state.tabs.lists[0].content.storedRowCount == 6)
  }

  @Test func viewThatWasNotOpenedYetIsTheNewOne() throws {
    try save("- { field: email }", as: "- { field: role }")
    app.press("g t")
    #expect(app.body.contains { $0.contains("Ana") && $0.contains("organizer") })
    #expect(!app.body.contains { $0.contains("example.org") })
  }

  @Test func whatIsOpenOverAViewIsNotDisturbed() throws {
    app.press("a")
    app.type("half a thought")
    try save("      - { field: from, width: 8, screen: 40 }\n", as: "")
    #expect(app.toast == "chat.views.yaml was changed; the views follow when this is closed")
    #expect(app.state.tabs.lists[0].definition.columns.count == 4)
    app.press("Esc")
    #expect(app.state.tabs.lists[0].definition.columns.count == 3)
    app.press("a")
    #expect(app.composeLine.contains("half a thought"))
  }

  @Test func viewsThatAreNewOrGoneAndTheirUserWaitForTheNextStart() throws {
    let more = "  - { name: More, path: /more, columns: [{ field: a }] }\n"
    save("me: eve\n" + Fixture.viewsText + "\n" + more)
    #expect(
      app.toast
        == "chat.views.yaml was read again; from the next start on: which views there are, me")
    #expect(app.state.tabs.names == ["Chat", "People", "Tree"])
  }

  @Test func savingWithoutAChangeReadsNoRowAgain() throws {
    app.press("k")
    let before = app.state.tabs.lists[0]
    save(Fixture.viewsText + "\n# a remark\n")
    #expect(app.state.tabs.lists[0] == before)
  }

  @Test func mistakesAreSaidAndChangeNothing() throws {
    let before = app.state.tabs.lists
    app.runtime.send(
      .redefined(
        file: "/data/chat.views.yaml", problem: "chat.views.yaml:3: no",
        views: SavedViews(text: "views")))
    #expect(app.toast.hasPrefix("chat.views.yaml:3: no - until it is mended"))
    #expect(app.state.tabs.lists == before)
  }

  @Test func savedResourcesHoldFromTheNextStartOn() {
    app.runtime.send(.redefined(file: "/data/chat.resources.yaml", problem: nil, views: nil))
    #expect(
      app.toast == "chat.resources.yaml was changed; what it says holds from the next start on")
  }

  @Test func viewThatWasSavedHereIsSaidToBeSaved() throws {
    var state = app.state
    state.files.viewsFile = "/data/chat.views.yaml"
    #expect(PaletteCommand.saveView.run(&state, "Cheap") == nil)
    guard case .saveView(let saving)? = state.effects.last else {
      Issue.record("nothing is saved")
      return
    }
    let text = ViewText.file(saving.all)
    let action = AppAction.redefined(
      file: "/data/chat.views.yaml", problem: nil, views: SavedViews(text: text))
    AppState.reduce(&state, action)
    #expect(
      state.toast?.toast.text
        == "the view Cheap is saved in /data/chat.views.yaml; its tab comes at the next start")
    AppState.reduce(&state, action)
    #expect(
      state.toast?.toast.text
        == "chat.views.yaml was read again; from the next start on: which views there are")
  }
}

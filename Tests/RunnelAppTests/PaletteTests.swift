import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The palette: what it offers where, and what comes of it.
@Suite struct PaletteTests {
  private func app(
    _ keys: String = "", columns: Int = 80, rows: Int = 24, isReadOnly: Bool = false
  ) throws -> AppDriver {
    let app = try AppDriver(
      Fixture.views(), json: Fixture.small, columns: columns, rows: rows, isReadOnly: isReadOnly)
    if !keys.isEmpty { app.press(keys) }
    return app
  }

  private func palette(of app: AppDriver) throws -> PaletteScreen {
    for case .palette(let screen) in app.state.layers { return screen }
    throw NothingOpen()
  }

  private struct NothingOpen: Error {}

  @Test func paletteOffersEachActionOfThePlaceOnce() throws {
    for place in ["", "g3", "g2 gg j Enter"] {
      let app = try app(place)
      let wanted = Set(app.state.settings.keymap.bindings(for: app.state.contexts).map(\.action))
      app.press(":")
      let offered = try palette(of: app).menu.shown.compactMap { item -> ActionID? in
        if case .action(let action)? = item.deed { action } else { nil }
      }
      #expect(Set(offered) == wanted.subtracting([.paletteOpen]), "after \(place)")
      #expect(Set(offered).count == offered.count)
    }
  }

  @Test func paletteDoesWhatTheKeyWouldDo() throws {
    let byKey = try app("g2 gg j d")
    let byName = try app("g2 gg j :")
    byName.type("record.delete")
    byName.press("Enter")
    #expect(byName.screen == byKey.screen)
  }

  @Test func reasonIsTheSameInThePaletteAndAtTheKey() throws {
    let app = try app("g2 gg", isReadOnly: false)
    app.press("e")
    #expect(app.toast == "move to a record to edit it")
    app.press(":")
    app.type("record.edit")
    #expect(try palette(of: app).menu.selected?.refusal == "move to a record to edit it")
    app.press("Enter")
    #expect(try palette(of: app).problem == "move to a record to edit it")
  }

  @Test func reasonThatItsRowCutsIsWholeAboveTheItems() throws {
    let app = try app("g2 gg j :", columns: 60, rows: 18, isReadOnly: true)
    app.type("record.delete")
    let reason = try #require(try palette(of: app).menu.selected?.refusal)
    #expect(try palette(of: app).menu.cutReason(width: 60) == reason)
    #expect(app.screen.contains { $0.contains(reason) }, "\(app.screen)")
    app.press("C-u")
    app.type("row.down")
    #expect(try palette(of: app).menu.selected?.refusal == nil)
    #expect(!app.screen.contains { $0.contains(reason) })
  }

  @Test func reasonsInThePaletteNameNoKeys() throws {
    let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
    app.press("gg")
    for _ in 0..<60 where app.list.list.cursor != .row(ListScreen.fetchMoreRow) { app.press("j") }
    let key = "these rows are not loaded: Enter fetches them"
    #expect(ListCommands.reasonRowNotOpened(app.state, isGoingIn: true) == key)
    app.press(":")
    let reasons = try palette(of: app).menu.shown.compactMap(\.refusal)
    #expect(reasons.contains("these rows are not loaded"), "\(reasons)")
    #expect(!reasons.contains { $0.contains("Enter") }, "\(reasons)")
  }

  @Test(arguments: ["data.export", "export json x.json"])
  func reasonOfWorkUnderWayNamesNoKeyAndGoesWithTheWork(line: String) throws {
    var tasks: [FileTask] = []
    let busy = try AppDriver(
      Fixture.views(), json: Fixture.small, startFileTask: { tasks.append($0) })
    busy.type(":export json /tmp/never-written.json")
    busy.strike("Enter :")
    for character in line { busy.send(.key(KeyStroke(.character(character)))) }
    busy.strike("Enter")
    let reason = "an export is under way: wait, or stop that first"
    #expect(try palette(of: busy).problem == reason)
    #expect(try palette(of: busy).menu.selected?.refusal == reason)
    busy.runtime.send(.exported(.failed("the disk is full")))
    #expect(try palette(of: busy).problem == nil)
    #expect(try palette(of: busy).menu.shown.allSatisfy { $0.refusal != reason })
    #expect(try palette(of: busy).editor.text == line)
  }

  @Test func wordsOfTheUserStayInTheLineWhenTheyAreRefused() throws {
    let app = try app(":")
    app.type("filter from:\"e")
    app.press("Enter")
    let screen = try palette(of: app)
    #expect(screen.problem != nil)
    #expect(screen.editor.text == "filter from:\"e")
    #expect(app.screen.contains { $0.contains("Command") && $0.contains("!") })
  }

  @Test func placeBelowAFoldedPathIsFoundInTheTree() throws {
    let app = try app(":")
    app.type("/user/bo/role")
    app.press("Enter")
    #expect(app.state.tabs.front == .tree)
    #expect(app.cursorLine.contains("role"))
    app.press(":")
    app.type("/")
    app.press("Enter")
    #expect(app.cursorLine.contains("/"))
  }

  @Test func goingToAPlaceUnfoldsTheTree() throws {
    let app = try AppDriver([], json: Fixture.small)
    app.press("g g h")
    #expect(app.cursorLine.contains("▸"))
    app.press(":")
    app.type("/user/bo")
    app.press("Enter")
    #expect(app.cursorLine.contains("bo"))
  }

  @Test func pathCompletesWithWhatIsLoaded() throws {
    let app = try app("g2 :")
    app.type("/us")
    #expect(try palette(of: app).menu.shown.map(\.title) == ["/us", "/user"])
    app.press("Down Tab")
    app.type("/b")
    #expect(try palette(of: app).menu.shown.map(\.title).contains("/user/bo"))
  }

  @Test func upGoesThroughWhatWasDoneOnlyWhereNothingIsTyped() throws {
    let app = try app(":")
    app.type("view people")
    app.press("Enter :")
    app.type("row")
    let first = try palette(of: app).menu.selected
    app.press("Down Up")
    #expect(try palette(of: app).menu.selected == first)
    app.press("C-u Up")
    #expect(try palette(of: app).editor.text == "view People")
    app.press("Down")
    #expect(try palette(of: app).editor.text == "")
  }

  @Test(arguments: [(80, 24), (40, 10), (20, 5), (20, 6), (120, 40)])
  func lineAndSelectionAreSeenAtEverySize(columns: Int, rows: Int) throws {
    let app = try app(":", columns: columns, rows: rows)
    app.type("down")
    #expect(app.body.last?.hasPrefix(": down") == true)
    if app.body.count > 1 { #expect(!app.cursorLine.isEmpty) }
    for _ in 0..<30 { app.press("C-n") }
    if app.body.count > 1 { #expect(!app.cursorLine.isEmpty) }
  }

  @Test func menuOfARowSaysWhyNot() throws {
    let app = try app("g2 gg j x", isReadOnly: true)
    #expect(app.screen.contains { $0.contains("delete the record") && $0.contains("read-only") })
    app.type("delete")
    app.press("Enter")
    #expect(app.toast.contains("read-only"))
    #expect(app.screen.contains { $0.contains("With this row") })
  }

  @Test func aPathWhereNothingStandsLeavesTheUserWhereTheyAre() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j j")
    let before = app.cursorLine
    app.press(":")
    app.type("/nonexist/x")
    #expect(!app.screen.contains { $0.contains("in the tree") && !$0.contains("looked for") })
    app.press("Enter")
    #expect(app.toast == "nothing stands at /nonexist/x")
    #expect(app.state.tabs.front == .view(1))
    #expect(app.cursorLine == before)
    app.press("g3 l j")
    let node = app.cursorLine
    app.press(":")
    app.type("/nonexist/x")
    app.press("Enter")
    #expect(app.cursorLine == node)
  }

  @Test func aPathThatIsFoundIsComeBackFrom() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j j")
    let before = app.cursorLine
    app.press(":")
    app.type("/user/eve/email")
    app.press("Enter")
    #expect(app.state.tabs.front == .tree)
    #expect(app.cursorLine.contains("email"))
    app.press("gb")
    #expect(app.cursorLine == before)
  }

  @Test(arguments: [
    "price", "price €", "\"price €\"", "\"price €\" desc", "price € desc", "by price €",
    "by price € desc",
  ])
  func listIsSortedByAFieldWhoseNameHasABlank(words: String) throws {
    let views = try ViewFile(
      yaml: """
        views:
          - { name: Parts, path: /parts, columns: [{ field: name }, { field: price € }] }
        """, name: "parts.views.yaml"
    ).views
    let parts: JSONValue = [
      "a": ["name": "Nut", "price €": 3], "b": ["name": "Bolt", "price €": 2],
    ]
    let app = try AppDriver(views, json: ["parts": parts])
    app.type(":sort \(words)")
    app.press("Enter")
    #expect(app.state.layers.isEmpty, "\(app.screen)")
    #expect(app.list.arrangement.order?.field == .child(Fixture.path("price €")))
    #expect(app.list.arrangement.order?.isDescending == words.hasSuffix("desc"))
    let rows = app.list.content.sections.flatMap(\.rows)
    #expect(rows.first == (words.hasSuffix("desc") ? "/parts/a" : "/parts/b"))
  }
}

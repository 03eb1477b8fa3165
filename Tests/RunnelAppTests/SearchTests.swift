import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Looking for a text with `/`, `n` and `N`.
@Suite struct SearchTests {
  private func chat() throws -> AppDriver { try AppDriver(Fixture.views(), json: Fixture.small) }

  @Test func cursorJumpsWhileOneTypesAndComesBack() throws {
    let app = try chat()
    app.press("gg j")
    let start = app.cursorLine
    app.press("/")
    app.type("mor")
    #expect(app.cursorLine.contains("tomorrow"))
    app.type("n")
    #expect(app.cursorLine.contains("Good morning"))
    app.press("Backspace")
    #expect(app.cursorLine.contains("tomorrow"))
    app.press("Esc")
    #expect(app.cursorLine == start)
    #expect(app.state.trail.search == nil)
  }

  @Test func nextAndPreviousGoAroundTheList() throws {
    let app = try chat()
    app.press("gg /")
    app.type("THE")
    app.press("Enter")
    var found: [String] = []
    for _ in 0..<4 {
      found.append(app.cursorLine)
      app.press("n")
    }
    #expect(found[0].contains("The gate code"))
    #expect(found[1].contains("Where is the key"))
    #expect(found[2].contains("Who has the ladder"))
    #expect(found[3] == found[0])
    app.press("N N")
    #expect(app.cursorLine == found[2] || app.cursorLine == found[0])
    app.press("3 n")
    #expect(found.contains(app.cursorLine))
  }

  @Test func matchesAreMarkedUntilOneStepBack() throws {
    let app = try chat()
    app.press("gg /")
    app.type("the")
    app.press("Enter")
    let current = StyleRole.searchCurrent.letter
    let other = StyleRole.searchMatch.letter
    #expect(app.roles.contains { $0.contains("\(current)\(current)\(current)") })
    #expect(app.roles.contains { $0.contains("\(other)\(other)\(other)") })
    app.press("Esc")
    #expect(!app.roles.contains { $0.contains(current) || $0.contains(other) })
  }

  @Test func whatIsNotThereIsSaid() throws {
    let app = try chat()
    let start = app.cursorLine
    app.press("/")
    app.type("nowhere")
    #expect(app.toast == "nowhere is not in the rows here", "all rows are loaded")
    #expect(app.cursorLine == start)
  }

  @Test func textInAFieldThatIsNoColumnIsFound() throws {
    let app = try AppDriver(
      [
        try ViewDefinition(
          name: "Bikes", source: SourceDefinition(path: Path("bike"), order: .key),
          columns: [ColumnDefinition(field: FieldPath("name"), width: 12)])
      ],
      json: [
        "bike": [
          "a": ["name": "One", "maker": "Pegasus"], "b": ["name": "Two", "maker": "Kalkhoff"],
        ]
      ])
    app.press("/")
    app.type("kalk")
    #expect(app.cursorLine.contains("Two"))
    app.press("Enter")
    #expect(app.toast == "in maker: Kalkhoff")
  }

  @Test func whereRowsAreNotLoadedTheWaysToThemAreNamed() throws {
    let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
    app.press("/")
    app.type("nowhere")
    #expect(
      app.toast
        == "nowhere is not in the rows that are loaded: f searches all · :go KEY goes to one")
  }

  @Test func nextWithoutASearchSaysHowToSearch() throws {
    let app = try chat()
    app.press("n")
    #expect(app.toast.contains("/ searches"))
  }

  @Test func emptySearchRepeatsTheLast() throws {
    let app = try chat()
    app.press("gg /")
    app.type("the")
    app.press("Enter Esc gg / Enter")
    #expect(app.cursorLine.contains("The gate code"))
  }

  @Test func foldedRowsArePassedOver() throws {
    let app = try chat()
    app.press("gg zM /")
    app.type("the")
    #expect(app.toast.contains("is not in the rows"))
  }

  @Test func treeIsSearchedByNameAndValue() throws {
    let app = try chat()
    app.press("g3 gg /")
    app.type("user")
    app.press("Enter l /")
    app.type("cleo")
    app.press("Enter")
    #expect(app.cursorLine.contains("cleo"))
    app.press("l /")
    app.type("cleo@ex")
    #expect(app.cursorLine.contains("email"))
  }

  @Test func theOnlyMatchIsSaid() throws {
    let app = try chat()
    app.press("/")
    app.type("ladder")
    app.press("Enter n")
    #expect(app.toast == "this is the only row with ladder")
    #expect(app.cursorLine.contains("ladder"))
  }

  @Test func aSearchThatGoesOnAtTheOtherEndSaysSo() throws {
    let app = try chat()
    app.press("gg /")
    app.type("the")
    app.press("Enter n n")
    #expect(app.toast.isEmpty)
    app.press("n")
    #expect(app.toast == "the search went on at the top")
    app.press("N")
    #expect(app.toast == "the search went on at the bottom")
  }

  @Test func aMatchThatIsCutOffIsSaid() throws {
    let app = try chat()
    let text = String(repeating: "tea and cake, ", count: 12) + "then the harvest of all plums"
    try app.set("/room/-M5/text", .string(text))
    app.press("gg /")
    app.type("harvest")
    app.press("Enter")
    #expect(app.toast.contains("in text: ... cake, then the harvest of all plums"))
    let tree = try chat()
    try tree.set("/note", .string(text))
    tree.press("g3 /")
    tree.type("harvest")
    tree.press("Enter")
    #expect(tree.toast.contains("the harvest of"))
  }

  @Test func matchInTheDetailPaneIsInSight() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: 120)
    let text = String(repeating: "tea and cake, ", count: 12) + "then the harvest of all plums"
    try app.set("/room/-M5/text", .string(text))
    app.press("gg /")
    app.type("harvest")
    app.press("Enter")
    #expect(app.screen.contains { $0.contains("harvest") }, "\(app.screen)")
    #expect(app.toast.isEmpty)
  }

  @Test func theQueueIsSearched() throws {
    let app = try chat()
    app.backend.refusal = DatabaseError(.refused, "the disk is full")
    for name in ["Xan", "Yan"] {
      app.press("g2 a")
      app.type(name)
      app.press("C-s C-g")
    }
    app.press("S Enter gg /")
    app.type("yan")
    #expect(app.cursorLine.contains("Yan"))
    app.press("Esc Esc")
    #expect(app.state.layers.isEmpty)
  }

  @Test func theHistoryIsSearched() throws {
    let app = try chat()
    app.press("g2 gg j e C-u")
    app.type("plum@example.org")
    app.press("Enter Esc j e C-u")
    app.type("pear@example.org")
    app.press("Enter Esc gH")
    app.press("j Enter k Enter gg /")
    app.type("plum@")
    app.press("Enter")
    #expect(app.cursorLine.contains("plum@example.org"))
    app.press("/")
    app.type("pear@")
    #expect(app.cursorLine.contains("pear@example.org"))
  }
}

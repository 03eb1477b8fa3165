import RunnelBase
import RunnelTerminal
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct MouseTests {
  private func chat() throws -> AppDriver { try AppDriver(Fixture.views(), json: Fixture.small) }

  private func send(
    _ kind: MouseEvent.Kind, row: Int, column: Int = 9, button: MouseEvent.Button = .left,
    to app: AppDriver
  ) {
    let position = Position(row: row, column: column)
    app.send(.mouse(MouseEvent(position: position, kind: kind, button: button)))
    app.pump()
  }

  private func row(of text: String, in app: AppDriver) throws -> Int {
    try #require(app.screen.firstIndex { $0.contains(text) })
  }

  @Test func clickMovesTheCursorAndDoubleClickOpens() throws {
    let app = try chat()
    let row = try row(of: "Rain", in: app)
    send(.press, row: row, to: app)
    send(.release, row: row, to: app)
    #expect(app.cursorLine.contains("Rain"))
    #expect(app.record == nil)
    app.wait(milliseconds: 400)
    send(.press, row: row, to: app)
    #expect(app.record != nil)
  }

  @Test func slowSecondClickOpensNothing() throws {
    let app = try chat()
    let row = try row(of: "Rain", in: app)
    send(.press, row: row, to: app)
    app.wait(milliseconds: 600)
    send(.press, row: row, to: app)
    #expect(app.record == nil)
  }

  @Test func clickOnAHeaderFolds() throws {
    let app = try chat()
    let row = try row(of: "Today", in: app)
    send(.press, row: row, to: app)
    #expect(app.screen[row].contains("▸ Today"))
    app.wait(milliseconds: 600)
    send(.press, row: try self.row(of: "Today", in: app), to: app)
    #expect(app.body.contains { $0.contains("▾ Today") })
  }

  @Test(arguments: [("y delete", true), ("n keep", false)])
  func clickOnAHintOfAQuestionAnswersIt(hint: String, deletes: Bool) throws {
    let app = try chat()
    app.press("d")
    app.wait(milliseconds: 500)
    let row = try row(of: hint, in: app)
    let line = Array(app.screen[row])
    let column = try #require(
      line.indices.first { line[$0...].starts(with: hint) }, "the hint is in the line")
    send(.press, row: row - 1, column: column, to: app)
    #expect(app.state.layers.count == 1, "a click beside it answers nothing")
    send(.press, row: row, column: column + 3, to: app)
    #expect(app.state.layers.isEmpty)
    #expect(try (app.stored("/room/-M6") == .null) == deletes)
  }

  @Test func clickInAMenuSelectsAndTwoChoose() throws {
    let app = try chat()
    app.press("g2 gg j x")
    app.type("path")
    let row = try row(of: "copy the path", in: app)
    send(.press, row: row, column: 10, to: app)
    #expect(app.screen[row].contains(">  copy the path"))
    send(.press, row: row, column: 10, to: app)
    #expect(app.clipboard == "/user/ana")
    app.press(":")
    app.type("view")
    let place = try self.row(of: "view People", in: app)
    send(.press, row: place, column: 10, to: app)
    #expect(app.screen[place].hasPrefix(">"))
    send(.press, row: 0, column: 1, to: app)
    #expect(app.screen[place].hasPrefix(">"))
  }

  @Test func clickOnATabShowsIt() throws {
    let app = try chat()
    send(.press, row: 1, column: 15, to: app)
    #expect(app.state.tabs.front == .view(1))
  }

  @Test func otherButtonsAndPlacesDoNothing() throws {
    let app = try chat()
    let before = app.screen
    send(.press, row: 99, column: 99, to: app)
    send(.press, row: 5, button: .right, to: app)
    send(.drag, row: 5, to: app)
    #expect(app.screen == before)
  }

  @Test func wheelScrollsAndTheCursorStaysInSight() throws {
    let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
    let before = app.body
    send(.wheelUp, row: 9, to: app)
    #expect(app.body[5].dropFirst() == before[2].dropFirst())
    #expect(!app.cursorLine.isEmpty)
    send(.wheelDown, row: 9, to: app)
    #expect(app.body.map { $0.dropFirst() } == before.map { $0.dropFirst() })
  }

  @Test func wheelWorksInTheHelpAndWhileARecordIsComposed() throws {
    let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
    app.press("?")
    var before = app.body
    send(.wheelDown, row: 9, to: app)
    #expect(app.body != before)
    app.press("Esc a")
    before = app.body
    send(.wheelUp, row: 9, to: app)
    #expect(app.body != before)
  }

  @Test func nothingIsClickedBehindAFormOrAQuestion() throws {
    let app = try chat()
    app.press("d")
    let before = app.screen
    send(.press, row: try row(of: "key?", in: app), column: 3, to: app)
    send(.press, row: 1, column: 15, to: app)
    send(.wheelUp, row: 9, to: app)
    #expect(app.screen == before)
  }

  @Test func doubleClickInARecordEditsTheField() throws {
    let app = try chat()
    app.press("Enter")
    let row = try row(of: "text", in: app)
    send(.press, row: row, to: app)
    send(.press, row: row, to: app)
    #expect(app.record?.edit != nil)
  }

  @Test func aDragMarksTheRowsThatItPasses() throws {
    let app = try chat()
    let (first, last) = (try row(of: "Rain", in: app), try row(of: "Good morning", in: app))
    send(.press, row: first, to: app)
    #expect(app.list.markCount == 0)
    send(.drag, row: last, to: app)
    #expect(app.list.markCount == 3)
    send(.drag, row: last - 2, to: app)
    #expect(app.list.markCount == 2)
    send(.release, row: last - 2, to: app)
    #expect(app.list.marks.count == 2)
    #expect(app.list.rangeStart == nil)
    app.press("j j")
    #expect(app.list.markCount == 2)
  }

  @Test func aDragBeyondTheEdgeScrolls() throws {
    let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
    app.press("G")
    let top = app.body[1]
    let row = try row(of: app.cursorLine.dropFirst().description, in: app)
    send(.press, row: row, to: app)
    for _ in 0..<12 { send(.drag, row: 1, to: app) }
    let count = app.list.markCount
    #expect(count > 20)
    #expect(app.body[1] != top)
    send(.release, row: 1, to: app)
    #expect(app.list.marks.count == count)
  }

  @Test func aDragMarksNodesOfTheTree() throws {
    let app = try chat()
    app.press("g3 gg l")
    send(.press, row: 4, to: app)
    send(.drag, row: 5, to: app)
    send(.release, row: 5, to: app)
    #expect(app.state.tabs.tree.marks == ["/room", "/user"])
  }

  @Test func aPressWithoutADragMarksNothing() throws {
    let app = try chat()
    let row = try row(of: "Rain", in: app)
    send(.press, row: row, to: app)
    send(.release, row: row, to: app)
    send(.drag, row: row + 1, to: app)
    #expect(app.list.markCount == 0)
  }

  @Test func theLineBetweenPanesIsDragged() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: 120, rows: 24)
    let (views, detail) = (app.state.layout.views, app.state.layout.detail)
    send(.press, row: 9, column: views.endColumn - 1, to: app)
    send(.drag, row: 9, column: views.endColumn + 5, to: app)
    send(.release, row: 9, column: views.endColumn + 5, to: app)
    #expect(app.state.layout.views.width == views.width + 6)
    #expect(app.state.pane == .list, "it is no click")
    send(.press, row: 9, column: detail.column, to: app)
    send(.drag, row: 9, column: detail.column - 4, to: app)
    #expect(app.state.layout.detail.width == detail.width + 4)
    send(.drag, row: 9, column: 0, to: app)
    #expect(app.state.layout.body.width == PaneArrangement.listColumnsMin)
    send(.drag, row: 9, column: 119, to: app)
    #expect(app.state.layout.detail.width == PaneArrangement.detailColumnsMin)
    send(.release, row: 9, column: 119, to: app)
    app.resize(columns: 80, rows: 24)
    #expect(app.state.layout.detail.isEmpty)
    let choice = try #require(app.state.panes.choices[.view(0)])
    #expect(PaneChoice(text: choice.text) == choice)
  }
}

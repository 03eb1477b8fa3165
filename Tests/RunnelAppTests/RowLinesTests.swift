import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Rows that take several lines.
@Suite struct RowLinesTests {
  private static let long =
    "The ladder is behind the shed, but the third step is loose, so please "
    + "do not climb it alone until Bo has looked at it, which may take until Friday because he is away."

  private func app(_ texts: [String], columns: Int = 50, rows: Int = 16) throws -> AppDriver {
    let members = texts.enumerated().map { index, text in
      JSONMember(
        "m\(10 + index)",
        Fixture.message(text, from: "ana", at: Fixture.now - Int64(90 - index) * 60_000))
    }
    return try AppDriver(
      Fixture.views(), json: .object([JSONMember("room", .object(members))]), columns: columns,
      rows: rows)
  }

  @Test func keyShowsRowsInUpToThreeLinesThenWholeThenInOne() throws {
    let app = try app(["first", Self.long, "last"])
    let one = app.body
    app.press("w")
    let three = app.body
    #expect(three.filter { $0.contains("ladder") }.count == 1)
    #expect(three.contains { $0.contains("…") })
    #expect(!three.contains { $0.contains("Friday") })
    app.press("w")
    #expect(app.body.joined(separator: " ").contains("away."))
    app.press("w")
    #expect(app.body == one)
  }

  @Test func cursorStaysInSightWhereverItGoes() throws {
    let app = try app((0..<30).map { "\($0): " + ($0.isMultiple(of: 3) ? Self.long : "short") })
    for lines in ["w", "w"] {
      app.press(lines)
      for key in [
        "gg", "j", "j", "j", "C-d", "C-d", "k", "C-u", "G", "k", "k", "k", "k", "zt", "zb",
      ] {
        app.press(key)
        #expect(app.body.contains { $0.hasPrefix(">") }, "after \(lines) \(key)")
      }
    }
  }

  @Test func clickOnALaterLineOfARowGoesToTheRow() throws {
    let app = try app(["first", Self.long, "last"])
    app.press("w gg")
    let line = try #require(app.screen.firstIndex { $0.contains("ladder") })
    let position = Position(row: line + 1, column: 20)
    app.send(.mouse(MouseEvent(position: position, kind: .press, button: .left)))
    app.pump()
    #expect(app.list.list.cursor == .row("/room/m11"))
  }

  @Test func linesOfRowsComeBackWithTheSession() throws {
    let app = try app(["first", Self.long])
    app.press("w w")
    let session = SessionState.session(app.state)
    let again = try #require(SessionState(session.json))
    #expect(again.views.values.contains { $0.rowLines == .all })
  }

  @Test func textThatIsCutEndsWithTheSignOfIt() throws {
    let rows = RowText(
      definition: ViewDefinition(
        name: "A", source: SourceDefinition(path: .root),
        columns: [ColumnDefinition(field: .path(try Path("text")))]), now: 0, local: .utc,
      glyphs: .unicode, screenWidth: 20, listWidth: 20, timeStyle: .age, linesMax: 3)
    #expect(rows.pieces(of: "one two", width: 20) == ["one two"])
    #expect(rows.pieces(of: "", width: 20) == [""])
    let pieces = rows.pieces(of: String(repeating: "word ", count: 500), width: 20)
    #expect(pieces.count == 3)
    #expect(CellText.fitted(pieces[2], to: 20, isRight: false, glyphs: .unicode).hasSuffix("…"))
  }
}

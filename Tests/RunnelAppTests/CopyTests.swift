import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct CopyTests {
  private func people() throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2")
    return app
  }

  @Test func valuesOfMarkedRowsAreAnArray() throws {
    let app = try people()
    app.press("gg j Space Space yy")
    let json = try JSONValue(parsing: app.clipboard)
    let expected: JSONValue = [try app.stored("/user/ana"), try app.stored("/user/dan")]
    #expect(json == expected)
    app.press("yv")
    #expect(app.clipboard.split(separator: "\n").count == 2)
  }

  @Test func rangeIsCopiedAsIfItWereMarked() throws {
    let app = try people()
    app.press("gg j v j yk")
    #expect(app.clipboard == "ana\ndan")
  }

  @Test func rowsThatAFilterHidesAreLeftOut() throws {
    let app = try people()
    app.press("gg j Space Space f")
    app.type("name:Dan")
    app.press("Enter yk")
    #expect(app.clipboard == "dan")
    app.press("f C-u")
    app.type("name:Bo")
    app.press("Enter yp")
    #expect(app.clipboard == "dan")
    #expect(app.toast == "the filter hides what is marked: Esc shows all")
  }

  @Test func fieldOfARecordIsCopiedByItself() throws {
    let app = try people()
    app.press("gg j Enter gg j yp")
    #expect(app.clipboard == "/user/ana/name")
    app.press("ys")
    #expect(app.clipboard == "Ana")
    app.press("gg yv")
    #expect(try JSONValue(parsing: app.clipboard) == app.stored("/user/ana"))
  }

  @Test func headersHaveNothingToCopy() throws {
    let app = try people()
    app.press("gg yy")
    #expect(app.clipboard == "")
    #expect(app.toast == "move to a record to copy it")
    app.press("g3 gg yy")
    #expect(app.toast == "move to a node to copy it")
  }

  @Test func objectIsNoText() throws {
    let app = try AppDriver(
      ViewFileFixture.plain(), json: ["note": ["a": ["text": ["deep": 1]]]])
    app.press("gg j ys")
    #expect(app.toast == "/note/a/text is no text: yy copies it as JSON")
  }

  @Test func eachWayOfTheClipboardIsNamed() throws {
    let app = try people()
    let said: [(Clipboard.Outcome, String)] = [
      (.copied(by: "wl-copy", byteCount: 1), "copied the key of /a: 1 byte by wl-copy"),
      (.sent(byteCount: 20), "copied the key of /a: 20 bytes through the terminal"),
      (.failed("it is full"), "the key of /a was not copied: it is full"),
    ]
    for (outcome, words) in said {
      app.runtime.send(.copied(what: "key of /a", outcome))
      #expect(app.toast == words)
    }
  }

  @Test func nodeOfTheTreeIsReadWhole() throws {
    let app = try people()
    app.press("g3 gg j yy")
    #expect(try JSONValue(parsing: app.clipboard) == app.stored("/room"))
    app.press("yk")
    #expect(app.clipboard == "room")
  }
}

private enum ViewFileFixture {
  static func plain() throws -> [ViewDefinition] {
    try ViewFile(
      yaml: """
        views:
          - name: Notes
            path: /note
            columns:
              - { field: text }
        """, name: "notes.views.yaml"
    ).views
  }
}

import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct ChatScreenTests {
  private func chat(
    columns: Int = 80, rows: Int = 24, glyphs: Glyphs = .unicode
  ) throws -> AppDriver {
    try AppDriver(
      Fixture.views(), json: Fixture.small, columns: columns, rows: rows, glyphs: glyphs)
  }

  @Test func listFillsAStandardScreen() throws {
    let expected = """
       runnel  test ▸ /room                                               ● live  zoe
       1 Chat  2 People  3 Tree                                                6 rows
      ────────────────────────────────────────────────────────────────────────────────
      ▾ Pinned                                                                       1
          19:20 bo       The gate code is 4711                                      1d
      ▾ Sat 22 Aug 2026                                                              1
         ── start ──
          18:20 ana      Where is the key?                                          2d
      ▾ Yesterday · Sun 23 Aug 2026                                                  2
          18:20 ana      Rain tomorrow                                              1d
          19:20 eve      漢字テスト renders wide                                   23h
      ▾ Today · Mon 24 Aug 2026                                                      2
          09:20 bo       Good morning                                               9h
      >   18:15 ana      Who has the ladder?                                        5m







      ────────────────────────────────────────────────────────────────────────────────
       Enter open  e edit  a add  d delete  Space mark  f filter  / search  ? help
                                                                           row 6 of 6
      """
    #expect(try chat().screen.joined(separator: "\n") == expected)
  }

  @Test func asciiTerminalsGetTheSameList() throws {
    let expected = """
       runnel  test > /room                                              on live  zoe
       1 Chat  2 People  3 Tree                                                6 rows
      --------------------------------------------------------------------------------
       v Pinned                                                                      1
          19:20 bo       The gate code is 4711                                      1d
       v Sat 22 Aug 2026                                                             1
         -- start --
          18:20 ana      Where is the key?                                          2d
      """
    let screen = try chat(glyphs: .ascii).screen
    #expect(screen.prefix(8).joined(separator: "\n") == expected)
  }

  @Test func compactScreenHasOneHeaderAndOneStatusLine() throws {
    let expected = """
      /room                                  ●
      ────────────────────────────────────────
      ▾ Yesterday · Sun 23 Aug 2026          2
       18:20 ana      Rain tomorrow
       19:20 eve      漢字テスト renders wide
      ▾ Today · Mon 24 Aug 2026              2
       09:20 bo       Good morning
      >18:15 ana      Who has the ladder?
      ────────────────────────────────────────
       ? help                             6/6
      """
    let screen = try chat(columns: 40, rows: 10).screen.joined(separator: "\n")
    #expect(screen == expected)
  }

  @Test func smallestScreenShowsTheCursorRowAndThePlace() throws {
    let expected = """
      /room              ●
      ────────────────────
      >18:15 Who has the …
      ────────────────────
       ? help         6/6
      """
    let screen = try chat(columns: 20, rows: 5).screen.joined(separator: "\n")
    #expect(screen == expected)
  }

  @Test func belowTheSmallestSizeTheScreenSaysWhatItNeedsAndKeysWork() throws {
    let app = try chat(columns: 19, rows: 4)
    #expect(app.screen == ["20x5 needed", "", "", ""])
    app.press("k k")
    app.resize(columns: 80, rows: 24)
    #expect(app.cursorLine.contains("Rain") == false)
    #expect(app.cursorLine.contains("Today"))
  }

  @Test func largeScreenHasRoomForEverything() throws {
    let app = try chat(columns: 120, rows: 40)
    #expect(app.screen.count == 40)
    app.press("p")
    #expect(app.line(of: "Pinned") == 0)
    #expect(app.line(of: "Who has the ladder?") == 10)
    let line = try #require(app.body.first { $0.contains("Rain") })
    #expect(line.hasSuffix("1d"))
    #expect(StyledLine(line).width == 120)
  }

  @Test func demoOpensAtItsNewestMessage() throws {
    let app = try AppDriver(
      Fixture.demoViews().views, copying: Fixture.demoFile.get(), now: Fixture.demoNow)
    let expected = """
       runnel  test ▸ /group_message/allotment                            ● live  zoe
       1 Messages  2 Roster  3 Groups  4 Tree                         57 of 2400 rows
      ────────────────────────────────────────────────────────────────────────────────
      ▾ Today · Sun 30 Aug 2026                                                     44
            13:49 chidi      Where's your plot again?                               3h
            13:54 agnieszka  31, by the brook.                                      3h
            13:59 chidi      Then yes, likely. It was warm and wet for two ni…      3h
      """
    #expect(app.screen.prefix(7).joined(separator: "\n") == expected)
    #expect(
      app.cursorLine
        == ">     17:45 lukasz     Yes, I have it, sorry! I'll put it back by the b…     now")
  }

  @Test func rolesTellHeadersAgesAndTheLivingStateApart() throws {
    let roles = try chat().roles
    #expect(roles[0].hasPrefix("TTTTTTTTT"))
    #expect(roles[2] == String(repeating: "f", count: 80))
    #expect(roles[3].hasPrefix("SSSSSSSS") || roles[3].hasPrefix("HHHHHHHH"))
    #expect(roles[4].hasSuffix("..mm"))
  }

  @Test func emptyDatabaseSaysHowToBegin() throws {
    let app = try AppDriver(Fixture.views())
    #expect(app.body[1] == "  nothing here yet · a adds a first record")
    app.press("gt")
    #expect(
      app.body.prefix(4) == [
        ">▾ Organizers                                                                  0",
        "  nothing here yet · a adds",
        "▾ Participants                                                                 0",
        "  nothing here yet · a adds",
      ])
  }

  @Test func listSaysThatItIsLoadingUntilItsRowsAreThere() throws {
    let app = try chat()
    app.strike("gt")
    #expect(app.body[1] == "  loading")
    app.pump()
    #expect(app.body[1].contains("Ana"))
  }

  @Test func listThatCannotBeReadSaysWhyAndIsReadAgainOnEnter() throws {
    let app = try chat()
    app.backend.listenRefusal = DatabaseError(.locked, "the file is locked")
    app.press("gt")
    #expect(app.body[1].contains("the file is locked"))
    app.backend.listenRefusal = nil
    app.press("Enter")
    #expect(app.body[1].contains("Ana"))
  }

  // MARK: Time

  @Test func agesGoByOnAScreenThatNobodyTouches() throws {
    let app = try chat()
    let deadline = try #require(StateReducer.deadline(app.state))
    #expect(deadline == Fixture.now + Fixture.minute)
    app.wait(milliseconds: deadline - Fixture.now)
    #expect(app.cursorLine.hasSuffix("6m"))
  }

  @Test func headersOfDaysChangeAtMidnight() throws {
    let app = try chat()
    app.wait(milliseconds: 6 * Fixture.hour)
    #expect(app.line(of: "Yesterday · Mon 24 Aug 2026") != nil)
    #expect(app.line(of: "Today") == nil)
  }

  @Test func numbersThatAreNoTimeAreShownAllTheSame() throws {
    let extremes: [Int64] = [.min, .max, 0, -1, 1 << 53]
    let rooms = extremes.enumerated().map { index, time in
      JSONMember("x\(index)", Fixture.message("extreme \(index)", at: time))
    }
    let app = try AppDriver(Fixture.views(), json: .object([JSONMember("room", .object(rooms))]))
    for index in extremes.indices { #expect(app.line(of: "extreme \(index)") != nil) }
    #expect(StateReducer.deadline(app.state).map { $0 > Fixture.now } ?? true)
  }
}

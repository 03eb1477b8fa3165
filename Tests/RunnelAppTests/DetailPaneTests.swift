import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The record under the cursor beside the list.
@Suite struct DetailPaneTests {
  private func people(columns: Int, rows: Int = 24) throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: columns, rows: rows)
    app.press("g2 gg j")
    return app
  }

  @Test func wideScreenShowsTheRecordBesideTheList() throws {
    let app = try people(columns: 120)
    #expect(app.body[0].contains("│ ana"))
    #expect(app.body.contains { $0.contains("│ email  ana@example.org") })
    app.press("j")
    #expect(app.body[0].contains("│ dan"))
  }

  @Test func fieldsStandInTheOrderOfTheColumns() throws {
    let app = try people(columns: 120)
    let pane = app.body.compactMap { $0.split(separator: "│").last?.split(separator: " ").first }
    #expect(pane.dropFirst(2).prefix(5) == ["name", "plot", "active", "email", "role"], "\(pane)")
  }

  @Test func valuesStandOneBelowTheOtherBesideLongNames() throws {
    let app = try people(columns: 160)
    try app.set("/user/ana/contact", ["phone": "+43 1"])
    let places = ["│ email", "│ contact/phone"].map { name -> Int? in
      guard let line = app.body.first(where: { $0.contains(name) }),
        let start = line.firstRange(of: name)
      else { return nil }
      let rest = line[start.upperBound...]
      let value = rest.firstIndex { $0 != " " } ?? rest.endIndex
      return line.distance(from: line.startIndex, to: value)
    }
    #expect(places[0] != nil)
    #expect(places[0] == places[1], "\(app.body)")
  }

  @Test func nameWithoutRoomStandsAboveItsValue() throws {
    let app = try people(columns: 120)
    let name = "question that the whole society was asked"
    try app.set("/user/ana/\(name)", "yes")
    let pane = app.body.map { $0.split(separator: "│").last.map(String.init) ?? "" }
    let email = try #require(pane.first { $0.contains("email") })
    let value = try #require(pane.first { $0.contains("yes") })
    let places = zip([email, value], ["ana@", "yes"]).map { line, word in
      line.firstRange(of: word).map { line.distance(from: line.startIndex, to: $0.lowerBound) }
    }
    #expect(places[0] == places[1], "\(pane)")
    #expect(!value.contains("asked"))
    #expect(pane.contains { $0.contains("question that the whole") })
  }

  @Test func narrowScreenShowsItWhenAsked() throws {
    let app = try people(columns: 80)
    #expect(!app.body[0].contains("│"))
    app.press("p")
    #expect(app.body[0].contains("│ ana"))
    app.press("p")
    #expect(!app.body[0].contains("│"))
    app.resize(columns: 40, rows: 10)
    app.press("p")
    #expect(app.toast.contains("takes 70 columns"))
  }

  @Test func paneFollowsTheRecordLive() throws {
    let app = try people(columns: 120)
    try app.set("/user/ana/plot", 77)
    #expect(app.body.contains { $0.contains("│ plot   77") })
    try app.remove("/user/ana")
    #expect(!app.body[0].contains("│ ana"))
  }

  @Test func longTextIsWrappedAndDatesAreRead() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: 120)
    let text = "one two three four five six seven eight nine ten eleven twelve"
    try app.set("/room/-M6/text", .string(text))
    let pane = app.body.map { $0.split(separator: "│").last.map(String.init) ?? "" }
    #expect(pane.contains { $0.contains("created 2026-08-24 18:15") })
    #expect(pane.contains { $0.contains("one two three") && !$0.contains("twelve") })
    #expect(pane.contains { $0.contains("twelve") })
  }

  @Test func openRecordTakesTheWholeWidth() throws {
    let app = try people(columns: 120)
    app.press("Enter")
    #expect(!app.body.contains { $0.contains("│") })
    app.press("Esc")
    #expect(app.body[0].contains("│ ana"))
  }
}

/// What stands below the fields of a record in the detail pane.
@Suite struct DetailBelowTests {
  private func pane(_ app: AppDriver) -> [String] {
    app.body.map { $0.split(separator: "│").last.map(String.init) ?? "" }
  }

  @Test func newestChangesAreShownWhenTheCursorRests() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: 120)
    app.press("g2 gg j")
    try app.set("/user/ana/plot", 4)
    try app.set("/user/ana/email", "a@example.org")
    #expect(!pane(app).contains { $0.contains("Changes") })
    app.wait(milliseconds: DetailHistory.restMilliseconds)
    app.pump()
    let lines = pane(app)
    let start = try #require(lines.firstIndex { $0.contains("Changes") })
    #expect(lines[start + 1].contains("18:20 zoe"))
    #expect(lines[start + 2].contains("- email \"ana@example.org\""))
    #expect(lines[start + 3].contains("+ email \"a@example.org\""))
    #expect(lines[start + 5].contains("- plot 3"))
    app.press("j")
    #expect(!pane(app).contains { $0.contains("Changes") })
  }

  @Test func whoMovesOnReadsNothing() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: 120)
    app.press("g2 gg")
    for _ in 0..<2 {
      app.strike("j")
      app.wait(milliseconds: DetailHistory.restMilliseconds - 10)
      #expect(app.backend.requests.allSatisfy { if case .history = $0 { false } else { true } })
    }
    app.wait(milliseconds: 10)
    #expect(StateReducer.deadline(app.state) ?? .max > app.state.now)
    #expect(app.backend.requests.contains { if case .history = $0 { true } else { false } })
  }

  @Test func changesOfOthersArrive() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: 120)
    app.press("g2 gg j")
    app.wait(milliseconds: 300)
    app.pump()
    try app.set("/user/ana/plot", 77)
    app.wait(milliseconds: 300)
    app.pump()
    #expect(pane(app).contains { $0.contains("+ plot 77") })
  }

  @Test func aHistoryThatCannotBeReadIsLeftOut() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: 120)
    app.backend.historyRefusal = DatabaseError(.locked, "locked by another")
    app.press("g2 gg j")
    app.wait(milliseconds: 300)
    app.pump()
    #expect(app.toast.isEmpty)
    #expect(!pane(app).contains { $0.contains("Changes") })
  }

  @Test func linksAreListedOnce() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: 120)
    app.press("g2 gg j")
    try app.set(
      "/user/ana/page", "see https://a.example/x and https://b.example, https://a.example/x")
    try app.set("/user/ana/friend", "/user/bo")
    let lines = pane(app)
    let start = try #require(lines.firstIndex { $0.contains("Links") })
    #expect(lines[start + 1].contains("▸ /user/bo"))
    #expect(lines[start + 2].contains("▸ https://a.example/x"))
    #expect(lines[start + 3].contains("▸ https://b.example"))
    #expect(!lines[start + 4].contains("▸"))
  }

  @Test func whatIsLookedForIsMarkedThereToo() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: 120)
    app.press("g2 gg j / o r g Enter")
    let line = try #require(app.body.firstIndex { $0.contains("│ role   organizer") })
    let roles = Array(app.roles[app.state.layout.body.row + line])
    let column = app.state.layout.detail.column + 2 + 7
    let other = try #require(app.body.firstIndex { $0.contains("│ name   Ana") })
    let plain = Array(app.roles[app.state.layout.body.row + other])
    #expect(roles[column] != plain[column])
  }
}

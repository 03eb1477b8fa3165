import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The form for a field of all marked rows knows what the field holds, as the form of one record does.
@Suite struct BulkFormTests {
  private func app(_ values: [JSONValue]) throws -> AppDriver {
    let views = try ViewFile(
      yaml: "views:\n  - { name: f, path: /f, columns: [{ field: am }, { field: name }] }",
      name: "test.views.yaml"
    ).views
    let rows = values.enumerated().map { index, value in
      JSONMember("r\(index)", ["am": value, "name": .string("Row \(index)")] as JSONValue)
    }
    return try AppDriver(views, json: ["f": .object(rows)])
  }

  /// What a field of marked rows holds, what is typed over it, and what all of them hold then.
  @Test(
    arguments: [
      (["1.3.2025", "2.3.2025", "3.3.2025"], "tomorrow", "25.8.2026"),
      (["2025-03-01", "2025-03-02", "2025-03-03"], "tomorrow", "2026-08-25"),
      (["2025-03-01", "2025-03-01", "2025-03-01"], "-2d", "2026-08-22"),
      (["soon", "2025-03-01", "2025-03-02"], "\"today\"", "today"),
      (["soon", "2025-03-01", "2025-03-02"], "later", "later"),
      (["2025-03-01", "2025-03-02", "2025-03-03"], "\"later\"", "later"),
      (["soon", "late", "later"], "tomorrow", "tomorrow"),
    ] as [([String], String, String)])
  func dateWordsAreTakenInMarkedRows(held: [String], typed: String, stored: String) throws {
    let app = try app(held.map(JSONValue.string))
    app.press("gg j * | e C-u")
    app.type(typed)
    app.press("Enter")
    #expect(app.toast.hasPrefix("changed 3 records"), "\(app.toast)")
    for row in 0..<3 { #expect(try app.stored("/f/r\(row)/am") == .string(stored)) }
  }

  @Test func wordIsTakenAsATimeInMarkedRows() throws {
    let app = try app([.number(1_787_562_000_000), .number(1_787_562_000_001)])
    app.press("gg j * | e")
    app.type("tomorrow 9:00")
    app.press("Enter")
    let reader = MomentReader(now: app.state.now, local: app.state.settings.local)
    let moment = try #require(reader.moment("tomorrow 9:00"))
    #expect(try app.stored("/f/r0/am") == .number(JSONNumber(moment)))
  }

  @Test func timeOfDayIsRefusedWhereMarkedRowsHoldDays() throws {
    let app = try app(["1.3.2025", "2.3.2025"])
    app.press("gg j * | e")
    app.type("tomorrow 9:00")
    app.press("Enter")
    #expect(app.form?.fields[0].input.error?.hasPrefix("this field holds days") == true)
    #expect(try app.stored("/f/r0/am") == "1.3.2025")
  }

  @Test func aWordThatIsNoDateIsRefusedWhereMarkedRowsHoldDays() throws {
    let app = try app(["1.3.2025", "2.3.2025"])
    app.press("gg j * | e")
    app.type("later")
    app.press("Enter")
    #expect(app.form?.fields[0].input.error?.hasPrefix("not a date") == true)
    #expect(try app.stored("/f/r0/am") == "1.3.2025")
  }

  // MARK: With a resource

  @Test func mistakesAreSaidWhileTheyAreTyped() throws {
    let app = try Fixture.gardenApp()
    app.press("g3 gg j * | l e")
    #expect(app.form?.fields.map(\.input.label) == ["integer"])
    app.type("41")
    #expect(app.form?.fields[0].input.error == "must be a whole number from 1 to 40.")
    app.press("Backspace Enter")
    #expect(app.toast.hasPrefix("changed 3 records"), "\(app.toast)")
    #expect(try app.stored("/user/zoe/plot") == 4)
  }

  @Test func emptiedFieldIsRemovedUnlessItIsRequired() throws {
    let app = try Fixture.gardenApp()
    app.press("g3 gg j * | l e C-u Enter")
    #expect(app.toast.hasPrefix("changed 3 records"), "\(app.toast)")
    #expect(try app.stored("/user/zoe/plot") == .null)
    let other = try Fixture.gardenApp()
    other.press("g3 gg j * | e C-u Enter")
    #expect(other.form?.fields[0].input.error == "is missing.")
  }

  @Test func computedFieldIsNotOpened() throws {
    let app = try Fixture.gardenApp()
    app.press("* | l l e")
    #expect(app.form == nil)
    #expect(app.toast.contains("counted"), "\(app.toast)")
  }

  @Test func referenceIsChosen() throws {
    let app = try Fixture.gardenApp()
    app.press("gg j * | e")
    #expect(app.screen.contains { $0.contains("ana Ana · bo Bo · zoe Zoe") }, "\(app.screen)")
    app.type("Zo")
    app.press("F2")
    #expect(app.form?.fields[0].input.editor.text == "zoe")
    app.press("Enter")
    #expect(try app.stored("/group_message/g/-M1/from") == "zoe")
    #expect(try app.stored("/group_message/g/-M2/from") == "zoe")
  }

  @Test func refusedWritesAreOneTry() throws {
    let app = try Fixture.gardenApp()
    app.press("gg j * | e")
    app.type("nobody")
    app.press("Enter")
    let refused = app.state.writes.queue.refused
    #expect(refused.map(\.tries) == [1])
    #expect(refused.map { $0.title(.tree) } == ["set from of 2 records: 2 refused"])
    #expect(refused.map(\.others.count) == [1])
    // All of them are tried again, not the last one alone.
    app.press("Esc S")
    try app.set("/user/nobody", ["name": "No"])
    app.press("r")
    #expect(try app.stored("/group_message/g/-M1/from") == "nobody")
    #expect(try app.stored("/group_message/g/-M2/from") == "nobody")
    #expect(app.state.writes.queue.refused.isEmpty)
  }

  // MARK: On a replica

  private func replica(_ count: Int) throws -> AppDriver {
    let views = try ViewFile(
      yaml: "views:\n  - { name: f, path: /f, columns: [{ field: am }, { field: name }] }",
      name: "test.views.yaml"
    ).views
    let rows = (0..<count).map { index in
      JSONMember("r\(index)", ["am": "old", "name": .string("Row \(index)")] as JSONValue)
    }
    let app = try AppDriver(views, json: ["f": .object(rows)], origin: "home")
    app.take(.origin(OriginFacts(.live)))
    return app
  }

  /// The link lags: others changed one of the rows, which has not arrived.
  @Test func rowsThatTheOriginRefusesAreNamedAndMarkedAgain() throws {
    let app = try replica(3)
    app.press("gg j * | e C-u")
    app.type("new")
    app.press("Enter Esc")
    let sent = app.state.writes.queue.pending.filter {
      $0.parts.count == 1 && !$0.parts[0].path.isRoot
    }
    #expect(sent.map(\.parts[0].path.description) == ["/f/r0/am", "/f/r1/am", "/f/r2/am"])
    #expect(app.list.marks.isEmpty)
    try app.reject(sent[1].id, "/f/r1/am was changed meanwhile. Nothing was written.")
    #expect(app.toast.contains("others changed r1 meanwhile: left as they are, and still marked"))
    #expect(app.list.marks == ["/f/r1"])
    #expect(app.state.writes.queue.pending.map(\.id).contains(sent[0].id))
    #expect(app.state.writes.queue.pending.map(\.id).contains(sent[2].id))
    try app.reject(sent[2].id, "/f/r2/am was changed meanwhile. Nothing was written.")
    #expect(app.toast.contains("others changed r1, r2 meanwhile"), "\(app.toast)")
    #expect(app.list.marks == ["/f/r1", "/f/r2"])
    // Each of them can be compared by itself.
    let refused = app.state.writes.queue.refused
    #expect(refused.count == 2)
    for item in refused { #expect(QueueScreen.comparison(app.state, item) != nil) }
  }

  @Test func rowsThatTheRulesRefuseAreNamedAndMarkedAgain() throws {
    let app = try replica(2)
    app.press("gg j * | e C-u")
    app.type("new")
    app.press("Enter Esc")
    let last = try #require(app.state.writes.queue.pending.last)
    try app.reject(last.id, "no")
    #expect(app.toast.contains("not set, and still marked: r1"), "\(app.toast)")
    #expect(app.list.marks == ["/f/r1"])
  }

  /// It is one step of undo all the same.
  @Test func theRowsOfAReplicaAreUndoneAsOne() throws {
    let app = try replica(3)
    app.press("gg j * | e C-u")
    app.type("new")
    app.press("Enter")
    for row in 0..<3 { #expect(try app.stored("/f/r\(row)/am") == "new") }
    app.press("Esc u")
    for row in 0..<3 { #expect(try app.stored("/f/r\(row)/am") == "old") }
  }

  @Test func manyRowsAreSentInABoundedNumberOfWrites() throws {
    let place = try Path("/f")
    let values = try (0..<1001).map {
      (record: try place.child(Key("r\($0)")), value: 1 as JSONValue)
    }
    func count(atOnce: Int) throws -> Int {
      try BulkEdit.requests(ResourceBook(), values, field: Path("am"), atOnce: atOnce).count
    }
    #expect(try count(atOnce: 1) == 1001)
    #expect(try count(atOnce: 3) == 334)
    #expect(try count(atOnce: .max) == 1)
  }
}

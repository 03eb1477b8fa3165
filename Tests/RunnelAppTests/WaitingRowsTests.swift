import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// New records that wait for the server of a service, in lists by a time that the server sets.
@Suite struct WaitingRowsTests {
  private static let views = """
    views:
      - { name: Notes, path: /notes, order: createdAt, anchor: last, page: 5, compose: text, columns: [{ field: text }] }
      - { name: Others, path: /notes, order: createdAt, anchor: last, page: 5, columns: [{ field: text }] }
      - { name: Red, path: /notes, order: createdAt, anchor: last, page: 5, where: 'color == "red"', columns: [{ field: text }] }
    """
  private let app: AppDriver

  init() throws {
    let records = (10..<30).map { number in
      JSONMember(
        "\(number)",
        ["text": .string("t\(number)"), "createdAt": .number(JSONNumber(Int64(number)))])
    }
    let views = try ViewFile(yaml: WaitingRowsTests.views, name: "notes.views.yaml").views
    app = try AppDriver(
      views, json: ["notes": .object(records)], origin: "home", reach: FindReach())
    WaitingRowsTests.showServices(app)
    try app.elsewhere {
      _ = try $0.connectOrigin()
      _ = try $0.receive(.acknowledged(id: 0))
      _ = try $0.disconnectOrigin()
    }
    try #require(rows.last == "/notes/29" && !rows.contains("/notes/10"), "\(rows)")
  }

  private static func showServices(_ app: AppDriver) {
    var facts = OriginFacts(.live)
    facts.hasServices = true
    app.take(.origin(facts))
  }

  private var rows: [String] { app.list.content.sections.flatMap(\.rows) }

  /// The rows that show a text, on the screen.
  private func lines(_ text: String, _ app: AppDriver? = nil) -> [String] {
    (app ?? self.app).body.filter { $0.contains(text) }
  }

  private func send(_ text: String) {
    app.press("a")
    app.type(text)
    app.press("Enter")
  }

  /// Another window, or an earlier run, writes new records.
  private func writeElsewhere(_ texts: [String], color: String = "blue") throws {
    for (number, text) in texts.enumerated() {
      let key = "-O" + String(repeating: "x", count: 16) + String(10 + number)
      try app.elsewhere {
        _ = try $0.write(
          .set(Path("/notes/\(key)"), ["text": .string(text), "color": .string(color)]))
      }
    }
  }

  @Test func whatOthersWroteStandsAtTheEnd() throws {
    try writeElsewhere(["first", "second"])
    let texts = rows.suffix(3).map { app.list.records[$0]?.row.node?.json["text"] }
    #expect(texts == ["t29", "first", "second"], "\(rows)")
    for text in ["first", "second"] {
      #expect(lines(text).count == 1 && lines(text).first?.contains("↑") == true, "\(app.body)")
    }
    #expect(app.list.list.newBelow.isEmpty)
    app.press("g g G")
    #expect(app.cursorLine.contains("second"))
  }

  /// As after a restart.
  @Test func listThatIsOpenedLaterHasThem() throws {
    try writeElsewhere(["first"])
    app.press("g 2")
    #expect(app.list.definition.name == "Others" && lines("first").count == 1, "\(app.body)")
    #expect(rows.last.flatMap { app.list.records[$0]?.row.node?.json["text"] } == "first")
    let again = try AppDriver(
      ViewFile(yaml: WaitingRowsTests.views, name: "notes.views.yaml").views, beside: app,
      reach: FindReach())
    WaitingRowsTests.showServices(again)
    #expect(
      lines("first", again).count == 1 && lines("first", again)[0].contains("↑"), "\(again.body)")
  }

  @Test func onlyTheRecordsOfTheListAreShown() throws {
    try writeElsewhere(["first"])
    app.press("g 3")
    #expect(app.list.definition.name == "Red" && lines("first").isEmpty, "\(app.body)")
    try writeElsewhere(["first"], color: "red")
    #expect(lines("first").count == 1, "\(app.body)")
  }

  @Test func lineThatWasSentStandsThereOnce() throws {
    send("hello")
    #expect(lines("hello").count == 1 && lines("hello")[0].contains("↑"), "\(app.body)")
    #expect(app.list.sentRecord == nil && app.list.cursorRecord?.row.node?.json["text"] == "hello")
    app.type("again")
    app.press("Enter Esc")
    let texts = rows.suffix(2).map { app.list.records[$0]?.row.node?.json["text"] }
    #expect(texts == ["hello", "again"], "\(rows)")
    // What waits can be changed.
    let path = try #require(app.list.cursorRecord?.path)
    try app.elsewhere { _ = try $0.write(.set(path.appending(Path("text")), "anew")) }
    #expect(lines("anew").count == 1 && lines("again").isEmpty, "\(app.body)")
  }

  @Test func filterShowsThoseThatFit() throws {
    send("hello")
    app.press("Esc f")
    app.type("t2")
    app.press("Enter")
    #expect(!lines("t29").isEmpty && lines("hello").isEmpty, "\(app.body)")
    app.press("Esc")
    #expect(lines("hello").count == 1, "\(app.body)")
    app.press("f")
    app.type("hel")
    app.press("Enter")
    #expect(lines("hello").count(where: { $0.contains("↑") }) == 1, "\(app.body)")
  }

  @Test func filterWithoutAConnectionEndsWhereNoMoreIsKnown() {
    var facts = OriginFacts(.waiting, since: app.state.now)
    facts.hasServices = true
    app.take(.origin(facts))
    app.press("f")
    app.type("t2")
    app.press("Enter")
    #expect(app.list.reach.paging == .more && app.list.reach.loadedCount == 20, "\(app.body)")
  }

  /// The server would be asked for these rows: without a connection the search never ended.
  @Test func filterThatNothingFitsWaitsForTheConnection() {
    var facts = OriginFacts(.waiting, since: app.state.now)
    facts.hasServices = true
    app.take(.origin(facts))
    app.press("f")
    app.type("text:nothing")
    app.press("Enter")
    #expect(app.list.content.storedRowCount == 0 && app.list.reach.paging == .more, "\(app.body)")
    #expect(!app.body.contains { $0.contains("searching older rows") }, "\(app.body)")
    #expect(!app.screen[1].contains("by the server"))
    WaitingRowsTests.showServices(app)
    #expect(app.screen[1].contains("by the server"), "\(app.screen[1])")
  }

  @Test func searchThatWasStoppedIsNotBegunByTheConnection() {
    var facts = OriginFacts(.waiting, since: app.state.now)
    facts.hasServices = true
    app.take(.origin(facts))
    app.press("f")
    app.type("text:nothing")
    app.press("Enter")
    app.press("f C-u")
    app.press("Enter")
    WaitingRowsTests.showServices(app)
    #expect(app.list.reach.paging != .fetching, "\(app.body)")
  }

  /// Once, the list offered to fetch rows that were not there: after another account was chosen, and the first one
  /// again, without a connection.
  @Test func listThatIsOpenedWithoutAConnectionEndsWithWhatIsKept() throws {
    let views = try ViewFile(yaml: WaitingRowsTests.views, name: "notes.views.yaml").views
    let few: JSONValue = ["notes": ["a": ["text": "one", "createdAt": 1]]]
    let app = try AppDriver(views, json: few, origin: "home", reach: FindReach())
    WaitingRowsTests.showServices(app)
    try app.elsewhere {
      _ = try $0.connectOrigin()
      _ = try $0.receive(.acknowledged(id: 0))
      _ = try $0.disconnectOrigin()
    }
    var facts = OriginFacts(.waiting, since: app.state.now)
    facts.hasServices = true
    app.take(.origin(facts))
    #expect(app.list.reach.paging == .more && app.list.reach.loadedCount == 1, "\(app.body)")
    #expect(app.line(of: "── start of what is kept here ──") != nil, "\(app.body)")
    #expect(app.line(of: "not loaded") == nil)
  }

  @Test func rowGoesWithTheWrite() throws {
    send("hello")
    app.press("Esc")
    let id = try #require(app.state.writes.queue.pending.last?.id)
    let key = try #require(app.list.cursorRecord?.path.lastKey)
    let place = try Path("/notes").appending(Path(unchecked: [key]))
    try app.elsewhere {
      _ = try $0.connectOrigin()
      _ = try $0.receive([.push(.set(.empty), place, tag: nil), .acknowledged(id: id)])
    }
    #expect(!rows.contains(place.description) && lines("hello").isEmpty, "\(app.body)")
    #expect(app.list.passing.awaited.isEmpty)
  }
}

import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// A service gives a new record its id when it answers: what the user has in hand follows the record from the
/// key that it had until then.
@Suite struct NewRecordTests {
  private static let made = "-Onew0000000000000ab"
  private let app: AppDriver

  init() throws {
    let views = try ViewFile(
      yaml: """
        views:
          - name: Tools
            path: /tools
            order: name
            columns: [{ field: name, width: 12 }, { field: plot, width: 5 }]
        """, name: "tools.views.yaml"
    ).views
    let records = [
      JSONMember("3", ["id": 3, "name": "axe", "plot": 1]),
      JSONMember("9", ["id": 9, "name": "saw", "plot": 2]),
      JSONMember(NewRecordTests.made, ["name": "new", "plot": 5]),
    ]
    app = try AppDriver(views, json: ["tools": .object(records)])
    var facts = OriginFacts(.live)
    facts.hasServices = true
    app.take(.origin(facts))
    app.press("gg")
    for _ in 0..<4 where !app.cursorLine.contains("new") { app.press("j") }
    try #require(app.list.cursorRecord?.row.key.text == NewRecordTests.made)
  }

  private func stored(_ place: String) throws -> JSONValue { try app.stored("/tools/\(place)") }

  /// The server answers the creation: first the workspace is told of the id, then the record comes under it.
  private func answer() throws {
    try tellOfID()
    try moveRecord()
  }

  private func tellOfID() throws {
    var facts = try #require(app.state.database.origin)
    facts.newPlaces = [try Path("/tools/\(NewRecordTests.made)"): try Path("/tools/7")]
    #expect(OriginFacts(facts.json) == facts)
    app.runtime.send(.origin(facts))
  }

  private var move: Write {
    get throws {
      let fields = try #require(try stored(NewRecordTests.made).object)
      let record = JSONValue.object([JSONMember("id", 7)] + fields)
      return .update(
        .root,
        [
          JSONMember("tools/\(NewRecordTests.made)", .null), JSONMember("tools/7", record),
        ])
    }
  }

  private func moveRecord() throws {
    let move = try move
    try app.elsewhere { _ = try $0.write(move) }
  }

  @Test func cursorStaysOnTheRecord() throws {
    try answer()
    #expect(app.list.cursorRecord?.path.description == "/tools/7")
    #expect(app.cursorLine.contains("new"))
  }

  /// In another order the record is elsewhere under its id.
  @Test func cursorGoesWithTheRecordToItsPlaceInTheOrder() throws {
    let views = try ViewFile(
      yaml: """
        views:
          - { name: Tools, path: /tools, columns: [{ field: name }] }
        """, name: "tools.views.yaml"
    ).views
    let made = NewRecordTests.made
    let app = try AppDriver(
      views, json: ["tools": ["3": ["name": "axe"], "9": ["name": "saw"]]])
    try app.set("/tools/\(made)", ["name": "new"])
    app.press("G")
    #expect(app.list.cursorRecord?.row.key.text == made)
    var facts = OriginFacts(.live)
    facts.newPlaces = [try Path("/tools/\(made)"): try Path("/tools/7")]
    app.runtime.send(.origin(facts))
    try app.elsewhere { other in
      _ = try other.write(
        .update(
          .root, [JSONMember("tools/\(made)", .null), JSONMember("tools/7", ["name": "new"])]))
    }
    #expect(app.list.cursorRecord?.row.key.text == "7")
  }

  @Test func marksStayAndTheRecordIsNoNews() throws {
    app.press("Space k v")
    let before = app.list.news.arrived
    try answer()
    #expect(app.list.marks == ["/tools/7"] && app.list.rangeStart == "/tools/7")
    #expect(app.list.news.arrived == before)
    #expect(app.list.list.newAbove.isEmpty && app.list.list.newBelow.isEmpty)
  }

  @Test func openQuestionIsAboutTheRecord() throws {
    app.press("d")
    try answer()
    #expect(app.screen.contains { $0.contains("/tools/7") }, "\(app.screen)")
    #expect(!app.screen.contains { $0.contains(NewRecordTests.made) }, "\(app.screen)")
    app.wait(milliseconds: 500)
    app.press("y")
    #expect(app.toast.hasPrefix("deleted"), "\(app.toast)")
    #expect(try stored("7") == .null)
    #expect(try stored("9/name") == "saw")
  }

  /// The list still shows the record under its former key.
  @Test func deletionThatIsAskedForAfterwardsIsOfTheRecord() throws {
    try tellOfID()
    let move = try move
    try app.elsewhereUnseen { _ = try $0.write(move) }
    app.press("d")
    app.wait(milliseconds: 500)
    app.press("y")
    #expect(try stored("7") == .null)
    #expect(try stored("9/name") == "saw")
  }

  @Test func openCellIsWrittenToTheRecord() throws {
    app.press("| e C-u")
    app.type("newer")
    try answer()
    app.press("Enter")
    #expect(app.toast == "saved")
    #expect(try stored("7") == ["id": 7, "name": "newer", "plot": 5])
    #expect(try stored(NewRecordTests.made) == .null)
    #expect(app.state.writes.queue.refused.isEmpty)
  }

  @Test func writeThatCameInTimeIsSaidToBeSaved() throws {
    app.press("| e C-u")
    app.type("newer")
    app.strike("Enter")
    try tellOfID()
    app.pump()
    #expect(app.toast == "saved")
    #expect(try stored("\(NewRecordTests.made)/name") == "newer")
  }

  @Test func writeThatComesTooLateIsMadeAtTheNewPlace() throws {
    app.press("| e C-u")
    app.type("newer")
    let move = try move
    try app.elsewhereUnseen { _ = try $0.write(move) }
    app.strike("Enter")
    try tellOfID()
    app.pump()
    #expect(app.toast == "saved")
    #expect(try stored("7/name") == "newer")
    #expect(try stored(NewRecordTests.made) == .null)
    #expect(app.state.writes.queue.refused.isEmpty && app.state.layers.isEmpty)
  }

  @Test func openRecordGoesOnUnderItsID() throws {
    app.press("Enter")
    try answer()
    #expect(app.record?.path.description == "/tools/7")
    #expect(app.body.contains { $0.contains("/tools/7") }, "\(app.body)")
    try app.set("/tools/7/plot", 77)
    #expect(app.body.contains { $0.contains("77") }, "\(app.body)")
    try app.remove("/tools/7")
    #expect(app.body.contains { $0.contains("this record is gone") }, "\(app.body)")
  }

  @Test func undoIsWrittenAtTheNewPlace() throws {
    app.press("| e C-u")
    app.type("newer")
    app.press("Enter Esc")
    try answer()
    let place = try Path("/tools/\(NewRecordTests.made)")
    app.backend.session.moves.note([place: try Path("/tools/7")])
    app.press("u")
    #expect(try stored("7/name") == "new", "\(app.toast)")
    #expect(try stored(NewRecordTests.made) == .null)
  }

  @Test func draftBelongsToTheNewPlace() throws {
    app.press("Enter e C-u")
    app.type("draft")
    app.press("Esc q")
    try answer()
    #expect(app.state.writes.drafts.all.map(\.subject.path.description) == ["/tools/7"])
  }

  @Test func refusedEditGoesOnAtTheNewPlace() throws {
    app.backend.refuse = { DatabaseError(.refused, "no") }
    app.press("| e C-u")
    app.type("newer")
    app.press("Enter")
    #expect(app.record?.edit?.input.editor.text == "newer")
    app.backend.refuse = { nil }
    try answer()
    #expect(app.record?.path.description == "/tools/7")
    app.press("Enter")
    #expect(try stored("7/name") == "newer")
    #expect(try stored(NewRecordTests.made) == .null)
    #expect(app.state.writes.queue.refused.isEmpty)
  }

  @Test func placesToGoBackToFollow() throws {
    var history = PlaceHistory()
    history.note(Place(view: "Tools", path: try Path("/tools/\(NewRecordTests.made)/name")))
    history.follow(RecordMoves([try Path("/tools/\(NewRecordTests.made)"): try Path("/tools/7")]))
    #expect(history.back.map(\.path) == [try Path("/tools/7/name")])
  }

  @Test func writesOfSeveralRecordsFollow() throws {
    let (old, new) = (try Path("/tools/a"), try Path("/tools/7"))
    let moves = RecordMoves([old: new])
    let (tools, keys) = (try Path("/tools"), [try Key("a"), try Key("b")])
    #expect(
      WriteRequest.removeAll(tools, keys).following(moves)
        == .removeAll(tools, [try Key("7"), try Key("b")]))
    #expect(
      WriteRequest.update(tools, [JSONMember("a/x", 1), JSONMember("b/x", 2)]).following(moves)
        == .update(tools, [JSONMember("7/x", 1), JSONMember("b/x", 2)]))
    let field = try old.appending(Path("x"))
    #expect(
      WriteRequest.guarded(.set(field, 1), [WriteCondition(field, 0)]).following(moves)
        == .guarded(
          .set(try Path("/tools/7/x"), 1), [WriteCondition(try Path("/tools/7/x"), 0)]))
    #expect(moves.place(tools) == tools && moves.place(.root) == .root)
  }
}

import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Lists of a service that are ordered by a time that the server sets: a new record has none before the server's
/// answer.
@Suite struct AwaitedRowTests {
  private let app: AppDriver

  init() throws {
    let views = try ViewFile(
      yaml: """
        views:
          - name: Notes
            path: /notes
            order: createdAt
            anchor: last
            page: 5
            compose: text
            columns: [{ field: text, width: 12 }]
        """, name: "notes.views.yaml"
    ).views
    let records = (10..<30).map { number in
      JSONMember(
        "\(number)",
        ["text": .string("t\(number)"), "createdAt": .number(JSONNumber(Int64(number)))])
    }
    app = try AppDriver(views, json: ["notes": .object(records)], reach: FindReach())
    var facts = OriginFacts(.live)
    facts.hasServices = true
    app.take(.origin(facts))
  }

  private var rows: [String] { app.list.content.sections.flatMap(\.rows) }

  private func send(_ text: String) {
    app.press("a")
    app.type(text)
    app.press("Enter")
  }

  /// The server gives the record its id, and the other fields that it sets.
  private func answer(_ text: String, id: Int64, time: Int64?) throws {
    let records = try #require(try app.stored("/notes").object)
    let key = try #require(records.first { $0.value["text"]?.string == text }?.name)
    var facts = try #require(app.state.database.origin)
    facts.newPlaces = [try Path("/notes/\(key)"): try Path("/notes/\(id)")]
    app.take(.origin(facts))
    var record = [
      JSONMember("text", .string(text)), JSONMember("id", .number(JSONNumber(id))),
    ]
    if let time { record.append(JSONMember("createdAt", .number(JSONNumber(time)))) }
    let move = Write.update(
      .root, [JSONMember("notes/\(key)", .null), JSONMember("notes/\(id)", .object(record))])
    try app.elsewhere { _ = try $0.write(move) }
  }

  /// No write waits any more.
  private func settle() { app.take(.pendingWrites([])) }

  @Test func cursorGoesToTheNewRowAtTheEnd() throws {
    app.press("a")
    app.type("hello")
    #expect(rows.last == app.list.composeRow, "\(rows)")
    app.press("Enter")
    #expect(app.toast == "added")
    #expect(app.list.sentRecord != nil && app.list.list.cursor == rows.last.map { .row($0) })
    try answer("hello", id: 99, time: 99)
    settle()
    #expect(app.list.cursorRecord?.path.description == "/notes/99")
    #expect(rows.last == "/notes/99" && rows.count { app.list.records[$0] != nil } == 6, "\(rows)")
    #expect(
      app.toast == "added" && app.list.list.newBelow.isEmpty && app.list.passing.awaited.isEmpty)
  }

  @Test func lateAnswerDoesNotPullTheCursor() throws {
    send("hello")
    app.press("Esc k k")
    let cursor = app.list.list.cursor
    try answer("hello", id: 99, time: 99)
    settle()
    #expect(app.list.list.cursor == cursor && rows.last == "/notes/99", "\(rows)")
    #expect(app.list.list.newBelow.isEmpty)
  }

  @Test func rowsOfSeveralRecordsStandInTheOrderInWhichTheyWereSent() throws {
    send("one")
    app.type("two")
    app.press("Enter")
    let texts = rows.suffix(2).map { app.list.records[$0]?.row.node?.json["text"] }
    #expect(texts == ["one", "two"])
    try answer("one", id: 98, time: 98)
    try answer("two", id: 99, time: 99)
    settle()
    #expect(rows.suffix(2) == ["/notes/98", "/notes/99"], "\(rows)")
    #expect(app.list.cursorRecord?.path.description == "/notes/99")
  }

  @Test func recordThatTheServerPutsElsewhereIsSaidToBeThere() throws {
    send("hello")
    try answer("hello", id: 99, time: nil)
    settle()
    #expect(
      app.toast
        == "added 99: ordered by createdAt, it stands beyond the loaded rows · :go 99 goes there")
    #expect(!rows.contains("/notes/99") && app.list.sentRecord == nil)
  }

  @Test func rowOfARefusedRecordGoes() throws {
    send("hello")
    settle()
    #expect(app.list.passing.awaited.isEmpty && app.list.sentRecord == nil && app.toast == "added")
  }
}

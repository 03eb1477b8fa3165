import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelDatabase
@testable import RunnelWorkspace

/// A server of services refused a record of an import: what was written before stays, and the refused record is
/// mended or left out before the rest goes on.
@Suite struct RefusedRecordTests {
  private let app: AppDriver
  /// The keys of the records that are left; the first one was refused.
  private static let keys = (2...4).map { "-Onew000000000000000\($0)" }

  init() throws {
    let views = try ViewFile(
      yaml: """
        views:
          - name: Tools
            path: /tools
            columns: [{ field: name, width: 12 }, { field: mail, width: 12 }]
        """, name: "tools.views.yaml"
    ).views
    app = try AppDriver(
      views, json: ["tools": ["-Oold0000000000000001": ["name": "axe", "mail": "a@b"]]],
      origin: "home")
    var facts = OriginFacts(.live)
    facts.hasServices = true
    app.take(.origin(facts))
    try importRecords(
      (1...4).map { number in
        let mail: JSONValue = number == 2 ? "wrong" : "m@b"
        return JSONMember(
          "-Onew000000000000000\(number)", ["name": .string("new\(number)"), "mail": mail])
      })
    try app.elsewhere { other in
      _ = try other.connectOrigin()
      _ = try other.receive(.acknowledged(id: 0))
      _ = try other.receive(
        .partlyDone(id: 1, [Path("/tools/-Onew0000000000000001")]))
    }
    try app.reject(1, "mail: is none · record 2 of 4 (new2) · 1 of 4 records were changed before")
    app.press("S gg j")
    try #require(app.state.writes.queue.refused.count == 1)
  }

  private func importRecords(_ members: [JSONMember]) throws {
    let write = Write.update(try Path("/tools"), members)
    try app.elsewhere { _ = try $0.write(write) }
  }

  /// The names and values that the last write sends.
  private var sent: [JSONMember] {
    guard case .update(_, let members)? = app.state.writes.queue.pending.last?.write else {
      return []
    }
    return members
  }

  @Test func refusedRecordIsMendedInItsFormAndTheRestGoesOn() throws {
    app.press("e")
    guard case .form(let form)? = app.state.layers.last else {
      Issue.record("there is no form: \(app.toast)")
      return
    }
    let index = try #require(form.fields.firstIndex { $0.label == "mail" })
    #expect(form.fields[index].input.editor.text == "wrong")
    app.press(Array(repeating: "Tab", count: index).joined(separator: " "))
    app.press("C-u")
    app.type("right@b")
    app.press("C-s")
    #expect(sent.map(\.name) == RefusedRecordTests.keys, "\(app.toast)")
    #expect(sent.first?.value["mail"] == "right@b" && sent.first?.value["name"] == "new2")
    #expect(sent.last?.value["name"] == "new4")
    #expect(app.state.writes.queue.pending.last?.doneCount == 1)
    #expect(app.state.writes.queue.refused.isEmpty)
    #expect(try app.keptRefusals().isEmpty)
  }

  @Test func refusedRecordIsLeftOutOnlyIfOneAgrees() throws {
    app.press("x")
    #expect(app.line(of: "Leave the record out") != nil)
    #expect(app.body.contains { $0.contains("new2") || $0.contains("wrong") }, "\(app.body)")
    #expect(app.line(of: "the 2 after it are sent") != nil)
    app.wait(milliseconds: 200)
    app.press("n")
    #expect(app.state.writes.queue.refused.count == 1 && app.state.writes.queue.pending.isEmpty)
    app.press("x")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(sent.map(\.name) == Array(RefusedRecordTests.keys.dropFirst()), "\(app.toast)")
    #expect(app.state.writes.queue.pending.last?.doneCount == 1)
    #expect(app.state.writes.queue.refused.isEmpty)
    #expect(try app.keptRefusals().isEmpty)
  }

  /// The rest is refused again: what was written stays told, and a record that is the last one is dropped.
  @Test func countOfWhatWasDoneIsKeptWhenTheRestIsSentAgain() throws {
    app.press("r")
    let again = try #require(app.state.writes.queue.pending.last)
    #expect(again.doneCount == 1 && again.parts.count == 3)
    try app.elsewhere { other in
      _ = try other.receive(
        .partlyDone(
          id: again.id, RefusedRecordTests.keys.dropLast().map { try Path("/tools/\($0)") }))
    }
    try app.reject(again.id, "no")
    app.press("gg j x")
    #expect(app.toast.contains("it has no other records"))
    app.press("d")
    #expect(app.body.contains { $0.contains("3 records of it were written before") }, "\(app.body)")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(app.toast == "dropped; 3 records of it were written before, and stay")
  }

  /// What others did to the records after it is compared when it is their turn.
  @Test func onlyTheRefusedRecordIsComparedBeforeTheRestIsTriedAgain() throws {
    let (first, second) = (try Path("/tools/a"), try Path("/tools/b"))
    let members = [JSONMember("a", .null), JSONMember("b", .null)]
    let write = PendingWrite(
      id: 9, write: .update(try Path("/tools"), members),
      parts: [first, second].map { Assignment(path: $0, target: .node(.empty)) },
      bases: [try Node(json: "x"), try Node(json: "y")])
    var queue = WriteQueue()
    queue.keep(write, as: AppRequestID(9), "no", at: 0)
    let again = queue.refused[0].requestAgain(RefusedRecord(write, app.state))
    #expect(
      try again
        == .guarded(.update(Path("/tools"), members), [WriteCondition(first, "x")]))
  }

  @Test func withoutAConnectionTheRestIsKeptAndNotWritten() throws {
    var facts = OriginFacts(.waiting)
    facts.hasServices = true
    app.take(.origin(facts))
    app.press("r")
    #expect(app.toast == "kept, and sent when the server is there")
  }

  /// Such a server does all of a write or nothing, so that none of its records is the refused one.
  @Test func writeToATreeIsNotSplit() throws {
    app.take(.origin(OriginFacts(.live)))
    app.press("x")
    #expect(app.toast.contains("it has no other records"))
  }

  @Test func manyPlacesAreCountedAndNotNamed() throws {
    try importRecords((0..<300).map { JSONMember("k\($0)", ["name": "x"]) })
    #expect(app.line(of: "update /tools  300 places") != nil)
  }

  @Test func deletionOfARecordIsUndoneByMakingItAgain() throws {
    app.press("Esc gg j d")
    #expect(
      app.body.contains { $0.contains("creates it again; the server may give another id") },
      "\(app.body)")
    #expect(!app.body.contains { $0.contains("cannot be taken back") })
  }

  @Test func serviceIsSortedByTheServer() throws {
    app.press("Esc s")
    #expect(!app.body.contains { $0.contains("no index") })
  }
}

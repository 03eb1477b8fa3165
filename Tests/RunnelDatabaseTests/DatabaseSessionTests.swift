import Foundation
import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

@Suite struct DatabaseSessionTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func aNewFileHoldsNothing() throws {
    let session = try folder.session()
    #expect(try session.node(at: .root) == .empty)
    #expect(try session.summary(at: Path("a/b")) == NodeSummary(.empty))
    #expect(try session.rows(Query(Path("a"))).isEmpty)
    #expect(try session.export() == "null")
  }

  @Test func everythingIsThereAfterReopening() throws {
    let json = #"{"big":\#(largeObject(80)),"n":9007199254740993,"p":{".value":1,".priority":"x"}}"#
    let session = try folder.session()
    try session.set("/", json)
    try session.declareIndexes([IndexDefinition(pattern: "/big", child: .root)])
    try session.close()
    let reopened = try folder.session()
    #expect(try reopened.node(at: .root) == node(json))
    #expect(reopened.declaredIndexes.count == 1)
    #expect(try FileInspector(folder.file()).report().faults == [])
  }

  @Test func aWriteIsOnDiskWhenItReturns() throws {
    let session = try folder.session()
    try session.set("/a", "1")
    // Another connection, while the first is still open.
    #expect(try folder.session(isReadOnly: true).export() == #"{"a":1}"#)
  }

  @Test func commitsAreFullySynchronousAndTheJournalIsALogAhead() throws {
    let session = try folder.session()
    try session.set("/a", "1")
    #expect(try session.synchronousMode() == 2)
    #expect(try FileInspector(folder.file()).text("PRAGMA journal_mode") == "wal")
    try session.close()
    let reopened = try folder.session()
    #expect(try reopened.synchronousMode() == 2)
  }

  @Test func aRefusedWriteChangesNothing() throws {
    let session = try folder.session()
    try session.set("/a", "1")
    _ = try session.listen(ListenerID(1), ListenRequest(query: Query(.root), events: .all))
    for write in [
      Write.update(.root, [JSONMember("a", 2), JSONMember("a/b", 3)]),
      .update(.root, [JSONMember("a", 2), JSONMember("b", ["c.d": 1])]),
      .set(.root, [".sv": "unknown"]),
    ] {
      let error = #expect(throws: DatabaseError.self) { try session.write(write) }
      #expect(error?.code == .refused)
    }
    #expect(try session.export() == #"{"a":1}"#)
    #expect(try session.catchUp().isEmpty)
    #expect(try session.set("/a", "2").count == 2)
  }

  @Test func keysThatAreAddedTogetherAscendAfterOthersWhateverTheClock() throws {
    let session = try folder.session()
    let path = try Path("l")
    // The last key is of a time to come.
    _ = try session.write(.set(try path.child(Key("-zzzzzzz00000000000a")), 0))
    _ = try session.push(all: [1, 2, 3], to: path)
    _ = try session.push(all: [4], to: path)
    let values = try session.node(at: path).children.map(\.node.json)
    #expect(values == [0, 1, 2, 3, 4])
    #expect(try session.history(count: 10).count == 3)
  }

  @Test func pushedKeysAscendAndAreAnswered() throws {
    let session = try folder.session()
    var keys: [Key] = []
    for index in 0..<20 {
      keys.append(try session.push(.number(JSONNumber(Int64(index))), to: Path("l")).key)
    }
    #expect(keys == keys.sorted())
    #expect(try session.rows(Query(Path("l"))).map(\.key) == keys)
    let error = #expect(throws: DatabaseError.self) {
      try session.push(["a.b": 1], to: Path("l"))
    }
    #expect(error?.code == .refused)
  }

  @Test func timestampsAreThoseOfTheEnvironment() throws {
    let session = try folder.session()
    try session.set("/at", #"{".sv":"timestamp"}"#)
    #expect(try session.export("/at") == "1700000000000")
    try session.set("/at", #"{".sv":{"increment":-1}}"#)
    #expect(try session.export("/at") == "1699999999999")
  }

  @Test func listenersAreToldInOrderWhatAWriteDid() throws {
    let session = try folder.session()
    let query = Query(try Path("l"))
    let initial = try session.listen(ListenerID(1), ListenRequest(query: query, events: .all))
    #expect(initial.map(\.event) == [.value(.empty)])
    let deliveries = try session.set("/l", #"{"a":1,"b":2}"#)
    #expect(
      deliveries.map(\.event.text) == ["added a(null)=1", "added b(a)=2", #"value={"a":1,"b":2}"#])
    session.unlisten(ListenerID(1))
    #expect(try session.set("/l", "3").isEmpty)
  }

  @Test func pagesOfALargeListAreReadFromStorage() throws {
    let session = try folder.session()
    try session.set("/l", largeObject(200))
    let request = ListenRequest(
      query: try Query(Path("l")).ordered(by: .key), paging: Paging(anchor: .last, count: 30),
      detail: .shallow)
    var events = try session.listen(ListenerID(1), request).map(\.event)
    var keys = events.compactMap(\.row?.key)
    while events.last == .page(hasMore: true) {
      events = try session.extend(ListenerID(1), by: 50).map(\.event)
      keys = events.compactMap(\.row?.key) + keys
    }
    #expect(keys == (try session.rows(Query(Path("l"))).map(\.key)))
    let error = #expect(throws: DatabaseError.self) { try session.extend(ListenerID(2), by: 1) }
    #expect(error?.code == .refused)
  }

  @Test func aSessionIsClosedOnlyOnce() throws {
    let session = try folder.session()
    try session.close()
    // What a second close did to the descriptor of the beacon would hit whoever has its number now.
    let handles = try (0..<20).map { _ in
      try #require(FileHandle(forReadingAtPath: folder.file()))
    }
    try session.close()
    for handle in handles { #expect(throws: Never.self) { try handle.read(upToCount: 1) } }
    #expect(throws: DatabaseError.self) { try session.set("/a", "1") }
  }

  @Test func indexesAreKeptThroughEveryKindOfChange() throws {
    let session = try folder.session()
    let inspector = try FileInspector(folder.file())
    try session.declareIndexes([
      IndexDefinition(pattern: "/l/$group", child: try Path("s")),
      IndexDefinition(pattern: "l/", child: .root),
    ])
    let padding = String(repeating: "x", count: 900)
    for index in 0..<8 {
      try session.set("/l/g/k\(index)", #"{"s":\#(index % 3),"t":"\#(padding)"}"#)
    }
    #expect(try inspector.report().indexEntries.count == 9)
    for write in [
      ("/l/g/k1/s", "9"), ("/l/g/k2/s", "null"), ("/l/g/k3", "null"), ("/l/g/k4", "7"),
      ("/l/g/k5/s/deep", "1"), ("/l/other", largeObject(60)), ("/l/g", "null"),
    ] {
      try session.set(write.0, write.1)
      #expect(try inspector.report().faults == [], "\(write)")
    }
    let byScore = try Query(Path("l/other")).ordered(by: .child(Path("s")))
    #expect(try session.rows(byScore).count == 60)
  }
}

extension TreeEvent {
  /// The event in short, as in the tests of the tree.
  var text: String {
    switch self {
    case .childAdded(let row, let previous):
      "added \(row.text)(\(previous?.text ?? "null"))=\(row.json)"
    case .childChanged(let row, let previous):
      "changed \(row.text)(\(previous?.text ?? "null"))=\(row.json)"
    case .childMoved(let row, let previous):
      "moved \(row.text)(\(previous?.text ?? "null"))=\(row.json)"
    case .childRemoved(let row): "removed \(row.text)=\(row.json)"
    case .value(let node): "value=\(node.exportJSON.jsonText())"
    case .page(let hasMore): hasMore ? "page more" : "page end"
    case .pending(let state): "pending \(state)"
    case .answered: "answered"
    }
  }
}

extension TreeRow {
  fileprivate var text: String { key.text }
  fileprivate var json: String { node?.exportJSON.jsonText() ?? "?" }
}

import RunnelBase
import TestSupport
import Testing

@testable import RunnelDatabase
@testable import RunnelTree

/// How the disconnect writes of a session on a tree of its own stand in the file.
@Suite struct DisconnectRowsTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession

  init() throws {
    folder = try TemporaryFolder()
    session = try folder.session()
  }

  /// What the file holds for the session; nil if nothing.
  private func stored() throws -> DisconnectWrites? {
    let number = try #require(session.context.beacon?.session)
    return try session.store.read { try $0.disconnect(of: number) }
  }

  /// Writes in a form that can be compared: the members of an object have no order.
  private func entries(_ writes: [Write]) throws -> Set<SparseTree.Entry> {
    var entries: Set<SparseTree.Entry> = []
    for write in writes {
      switch write {
      case .set(let path, let json):
        entries.insert(.init(path: path, target: .node(DeferredNode(accepted: json))))
      case .update(let path, let members):
        entries.insert(.init(path: path, target: .priority(try #require(members.first).value)))
      case .copy, .move: Issue.record("\(write) is no disconnect write.")
      }
    }
    return entries
  }

  private func randomRequest(_ random: inout RandomTree) throws -> DisconnectRequest {
    let path = try Path(random.pick(["", "a", "a", "a/b", "a/b/c", "a/1", "b", "b/a"]))
    let priority = random.priority()?.json ?? .null
    switch random.number(0..<9) {
    case 0, 1: return .cancel(path)
    case 2: return .update(path, [JSONMember(".priority", priority)])
    case 3:
      return .update(
        path,
        [
          JSONMember("b", try random.node(depth: 1).exportJSON), JSONMember("x/y", 1),
          JSONMember("a/.priority", priority), JSONMember(".priority", priority),
        ])
    case 4: return .set(path, .null)
    case 5: return .set(path, [".sv": "timestamp"])
    default: return .set(path, try random.node(depth: 2).exportJSON)
    }
  }

  @Test(arguments: Seeds.first(8))
  func theRowsAreWhatIsRegistered(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    var asked = OnDisconnect()
    for step in 0..<40 {
      let request = try randomRequest(&random)
      var next = asked
      do {
        try next.register(request)
      } catch {
        #expect(throws: DatabaseError.self) { try session.ask(request) }
        continue
      }
      _ = try session.ask(request)
      asked = next
      let expected = next.execute()
      let kept = try stored()
      #expect((kept == nil) == expected.isEmpty, "seed \(seed), step \(step)")
      let (found, wanted) = (try entries(kept?.writes ?? []), try entries(expected))
      try #require(found == wanted, "seed \(seed), step \(step): \(request)")
    }
  }

  @Test func eachRegisteredPlaceHasARowOfItsOwn() throws {
    for number in 0..<50 { _ = try session.ask(.set(Path("/online/\(number)"), true)) }
    let (count, length) = try #require(
      try session.store.read { transaction in
        let rows = try transaction.statement(
          """
          SELECT count(*), max(length(value)) FROM meta
          WHERE name >= 'disconnect.' AND name < 'disconnect/'
          """)
        return try rows.first { (try $0.integer(0, "count"), try $0.integer(1, "length")) }
      })
    #expect(count == 51, "and one for the session")
    #expect(length ?? 1000 < 100)
  }

  @Test func whatWasReplacedDoesNotCountForTheLimit() throws {
    let half = JSONValue.string(String(repeating: "x", count: DisconnectWrites.bytesMax / 2))
    let (a, b) = (try Path("/a"), try Path("/b"))
    for _ in 0..<5 { _ = try session.ask(.set(a, half)) }
    #expect(throws: DatabaseError.self) { try session.ask(.set(b, half)) }
    _ = try session.ask(.cancel(a))
    _ = try session.ask(.set(b, half))
    #expect(try stored()?.writes == [.set(b, half)])
  }

  @Test func aPriorityIsWrittenAfterWhatStandsBelow() throws {
    _ = try session.ask(.update(Path("/p"), [JSONMember(".priority", 5)]))
    _ = try session.ask(.set(Path("/p/z"), 1))
    try session.close()
    let next = try folder.session(seed: 2)
    #expect(try next.node(at: Path("/p")) == node(#"{"z":1,".priority":5}"#))
  }

  @Test func whatAnOlderProgramRegisteredIsDone() throws {
    let text =
      #"{"author":"ana","writes":[{"path":"/a","value":1},{"path":"/b","members":{".priority":2}}]}"#
    try session.set("/b", "1")
    try session.store.write { transaction in
      try transaction.statement("INSERT INTO meta (name, value) VALUES ('disconnect.7', ?)")
        .run(.utf8(Array(text.utf8)))
    }
    let next = try folder.session(seed: 2)
    #expect(
      try next.node(at: .root) == node(#"{"a":1,"b":{".value":1,".priority":2}}"#))
    #expect(try next.history(count: 1).first?.author == "ana")
    #expect(try next.store.read { try $0.sessionsWithDisconnects() }.isEmpty)
  }
}

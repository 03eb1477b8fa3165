import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

/// Texts that hold U+0000: what follows it is stored, and read, like the rest.
@Suite struct WholeTextTests {
  private static let authors = ["ana\u{0}", "\u{0}", "ana\u{0}ben", "ana"]
  private static let clients = ["till\u{0}7", "till\u{0}8", "till", "\u{0}"]

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func increment(
    _ session: DatabaseSession, _ client: String, _ number: Int64
  ) throws -> Bool {
    let id = try #require(WriteID(client: client, number: number))
    return try session.write(.set(Path("n"), [".sv": ["increment": 1]]), id: id).isApplied
  }

  @Test func clientsAreToldApartByWhatFollowsTheFirstZero() throws {
    let session = try folder.session()
    for client in Self.clients {
      for number in [Int64(3), 1, 2, 9] {
        #expect(try increment(session, client, number), "\(client.debugDescription), \(number)")
      }
    }
    #expect(try session.export("/n") == "16")
    try session.close()
    let again = try folder.session(seed: 2)
    for client in Self.clients {
      for number in [Int64(1), 2, 3, 9] { #expect(try !increment(again, client, number)) }
    }
    #expect(try again.export("/n") == "16")
    let inspector = try FileInspector(folder.file())
    #expect(try inspector.number("SELECT count(*) FROM applied_write") == 4)
    #expect(try inspector.number("SELECT min(applied) FROM write_client") == 3)
    #expect(try inspector.report().faults == [])
  }

  @Test(arguments: authors.indices) func theHistoryOfAnyAuthorIsReadAndUndone(index: Int) throws {
    let author = Self.authors[index]
    var environment = DatabaseEnvironment(
      now: { 1_700_000_000_000 }, random: SeededRandom(seed: 1))
    environment.author = author
    let session = try DatabaseSession(file: folder.file(), environment: environment)
    _ = try session.write(.set(Path("a"), 1))
    _ = try session.write(.set(Path("a"), 2))
    #expect(try session.history().map(\.author) == [author, author])
    #expect(try FileInspector(folder.file()).report().faults == [])
    _ = try session.undo(2)
    #expect(try session.export("/a") == "1")
  }

  @Test func anOriginIsKnownByItsWholeName() throws {
    let name = "ho\u{0}me"
    let session = try folder.session()
    try session.becomeReplica(ofOrigin: name)
    #expect(try session.originName() == name)
    try session.close()
    let again = try folder.session(seed: 2)
    try again.becomeReplica(ofOrigin: name)
    for other in ["ho", "ho\u{0}", "ho\u{0}mes"] {
      #expect(throws: DatabaseError.self) { try again.becomeReplica(ofOrigin: other) }
    }
    #expect(try again.originName() == name)
  }

  @Test func whatAServerKeepsIsKeptWhole() throws {
    let session = try folder.session()
    try session.context.store.write { transaction in
      try transaction.setServerValue("a\u{0}b", "ä\u{0}.x")
      try transaction.setServerValue("c", "ä")
    }
    let kept = try session.context.store.read { try $0.serverValues("ä\u{0}") }
    #expect(kept.map { [$0.name, $0.value] } == [["ä\u{0}.x", "a\u{0}b"]])
    try session.context.store.write { try $0.setServerValue(nil, "ä\u{0}.x") }
    let left = try session.context.store.read { try $0.serverValues("ä") }
    #expect(left.map { [$0.name, $0.value] } == [["ä", "c"]])
  }
}

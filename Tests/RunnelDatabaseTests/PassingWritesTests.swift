import Glibc
import RunnelBase
import Testing

@testable import RunnelDatabase
@testable import RunnelTree

/// A status that is true no longer than the connection never waits in a replica.
@Suite struct PassingWritesTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession
  private let place: Path

  init() throws {
    folder = try TemporaryFolder()
    place = try Path("/here/ana")
    session = try folder.session()
    try session.becomeReplica(ofOrigin: "home")
  }

  private func show(_ session: DatabaseSession, _ json: JSONValue = "typing") throws -> Int64 {
    _ = try session.writePassing(.set(place, json))
    return try #require(session.newestWriteID)
  }

  private func refusals(_ output: OriginOutput) -> [Int64: TreeError.Code] {
    var refusals: [Int64: TreeError.Code] = [:]
    for case .rejected(let id, let error) in output.completions { refusals[id] = error.code }
    return refusals
  }

  private func commands(_ session: DatabaseSession) -> Int {
    session.takeOriginOutput().commands.count { if case .write = $0 { true } else { false } }
  }

  @Test func withoutAConnectionNothingIsWritten() throws {
    let id = try show(session)
    #expect(session.pendingWrites.isEmpty)
    #expect(refusals(session.takeOriginOutput()) == [id: .disconnected])
    #expect(try session.node(at: place).isEmpty)
  }

  @Test func aStatusIsShownSentAndTaken() throws {
    _ = try session.connectOrigin()
    let id = try show(session)
    #expect(try session.node(at: place).exportJSON == "typing")
    #expect(commands(session) == 1)
    #expect(session.takePendingNews() == nil)
    #expect(try session.pendingWritesOfUser().isEmpty)
    _ = try session.receive(.acknowledged(id: id))
    #expect(session.takeOriginOutput().completions == [.acknowledged(id: id)])
    #expect(session.pendingWrites.isEmpty)
  }

  @Test func anUnansweredStatusEndsWithTheConnection() throws {
    _ = try session.connectOrigin()
    _ = try session.write(.set(Path("/n"), 1))
    let id = try show(session)
    _ = session.takeOriginOutput()
    _ = try session.disconnectOrigin()
    #expect(session.pendingWrites.map(\.id) == [0])
    #expect(refusals(session.takeOriginOutput()) == [id: .disconnected])
    #expect(try session.node(at: place).isEmpty)
    // The next connection sends what the user wrote, and no more.
    _ = try session.connectOrigin()
    #expect(commands(session) == 1)
    #expect(try session.refusedWrites().isEmpty)
  }

  @Test func anUnansweredStatusEndsWithItsSession() throws {
    _ = try session.connectOrigin()
    _ = try show(session)
    try session.close()
    let reader = try folder.session(isReadOnly: true)
    #expect(reader.pendingWrites.isEmpty)
    #expect(try reader.node(at: place).isEmpty)
  }

  @Test func aStatusOfAKilledProgramIsNeitherCountedNorSent() async throws {
    try session.close()
    let file = folder.file()
    await #expect(processExitsWith: .signal(SIGKILL)) { [file = file as String] in
      try PassingWritesTests.showAndDie(file)
    }
    let reader = try folder.session(isReadOnly: true)
    #expect(reader.pendingWrites.count == 1, "The program left it.")
    #expect(try reader.pendingWritesOfUser().isEmpty)
    try reader.close()
    let next = try folder.session(seed: 2)
    #expect(next.pendingWrites.isEmpty)
    _ = try next.connectOrigin()
    #expect(commands(next) == 0)
    #expect(try next.node(at: place).isEmpty)
  }

  private static func showAndDie(_ file: String) throws {
    let session = try DatabaseSession(
      file: file,
      environment: DatabaseEnvironment(
        now: { 1_700_000_000_000 }, random: SystemRandomNumberGenerator()))
    _ = try session.connectOrigin()
    _ = try session.writePassing(.set(Path("/here/ana"), "typing"))
    kill(getpid(), SIGKILL)
  }

  @Test func theSessionWithTheConnectionSendsTheStatusOfAnother() throws {
    let other = try folder.session(seed: 2)
    _ = try session.connectOrigin()
    _ = try other.catchUp()
    let id = try show(other)
    #expect(other.takeOriginOutput().completions.isEmpty)
    _ = try session.catchUp()
    #expect(commands(session) == 1)
    _ = try session.disconnectOrigin()
    #expect(session.takeOriginOutput().completions.isEmpty, "Nobody waits for it here.")
    _ = try other.catchUp()
    #expect(refusals(other.takeOriginOutput()) == [id: .disconnected])
    #expect(other.pendingWrites.isEmpty)
    // Nobody is connected now.
    let next = try show(other)
    #expect(refusals(other.takeOriginOutput()) == [next: .disconnected])
  }

  @Test func theStatusOfAnotherEndsWithThatOne() throws {
    let other = try folder.session(seed: 2)
    _ = try session.connectOrigin()
    _ = try show(other)
    _ = try session.catchUp()
    #expect(session.pendingWrites.count == 1)
    try other.close()
    _ = try session.catchUp()
    #expect(session.pendingWrites.isEmpty)
    #expect(try session.node(at: place).isEmpty)
  }

  @Test func theHistoryDoesNotListAStatus() throws {
    _ = try session.connectOrigin()
    _ = try show(session)
    #expect(try session.historyPage(count: 5).entries.isEmpty)
  }

  @Test func aTreeOfItsOwnKeepsAStatus() throws {
    let own = try folder.session("own.db")
    _ = try own.writePassing(.set(place, 1))
    #expect(try own.node(at: place).exportJSON == 1)
  }

  @Test func aStatusIsReadAsItWasStored() throws {
    for maker in [PendingWrite.Maker.passing(session: 7), .transaction(session: 7)] {
      let write = try PendingWrite(
        id: 3, write: .set(place, 1),
        parts: [Assignment(path: place, target: .node(Node(json: 1)))],
        maker: maker)
      #expect(PendingWrite(id: 3, json: write.json)?.maker == maker)
      #expect(!write.isDurable)
    }
  }
}

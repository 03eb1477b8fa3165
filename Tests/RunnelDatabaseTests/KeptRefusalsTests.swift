import Glibc
import RunnelBase
import Testing

@testable import RunnelDatabase
@testable import RunnelTree

/// The refused writes of a replica, with two sessions on its file.
@Suite struct KeptRefusalsTests {
  private static let refusal = TreeError(.permissionDenied, "no")

  private let folder: TemporaryFolder
  private let sessions: [DatabaseSession]
  /// The session with the connection.
  private var speaker: DatabaseSession { sessions[0] }

  init() throws {
    folder = try TemporaryFolder()
    let file = folder.file()
    sessions = try [1, 2].map { seed in try KeptRefusalsTests.open(file, seed: seed) }
    for session in sessions { try session.becomeReplica(ofOrigin: "home") }
    _ = try speaker.connectOrigin()
  }

  private static func open(_ file: String, seed: UInt64 = 3) throws -> DatabaseSession {
    var environment = DatabaseEnvironment(
      now: { 1_700_000_000_000 }, random: SeededRandom(seed: seed))
    environment.keepsRefusals = true
    return try DatabaseSession(file: file, environment: environment)
  }

  /// Writes, and has the origin refuse it; returns the id.
  private func refuse(_ path: String = "/n", _ json: JSONValue = 1) throws -> Int64 {
    _ = try speaker.write(.set(Path(path), json))
    let id = try #require(speaker.pendingWrites.last?.id)
    _ = try speaker.receive(.rejected(id: id, KeptRefusalsTests.refusal))
    return id
  }

  /// Sends a refused write again, if it is still there.
  private func again(
    _ session: DatabaseSession, _ id: Int64, _ write: Write
  ) -> [DatabaseMessage] {
    session.answer(.taking(RefusedTaking([id], isRequired: true), .write(7, write)))
  }

  private func code(_ messages: [DatabaseMessage]) -> DatabaseError.Code? {
    for case .refused(_, let error) in messages { return error.code }
    return nil
  }

  private func kept() throws -> [Int64] { try sessions[1].refusedWrites().map(\.write.id) }

  @Test func undoingWhatWasRefusedSaysSo() throws {
    _ = try refuse("/list/a", ["text": "new"])
    let entry = try #require(
      speaker.historyPage(count: 1).entries.first?.id)
    do {
      _ = try speaker.undoWhatStands(entry)
      Issue.record("It is undone.")
    } catch let error as DatabaseError {
      #expect(error.code == .refused && error.message.contains("was refused"), "\(error)")
    }
    // What others write there since is no part of it.
    _ = try speaker.write(.set(Path("/list/a"), 3))
    do {
      _ = try speaker.undoWhatStands(entry)
      Issue.record("It is undone.")
    } catch let error as DatabaseError {
      #expect(error.code == .changed, "\(error)")
    }
  }

  /// One of the records had the value before; another one was changed by others since.
  @Test func undoingWhatWasRefusedOfManyRecordsSaysSo() throws {
    let path = try Path("/list")
    _ = try speaker.listen(ListenerID(1), ListenRequest(query: Query(path)))
    var records: [String: JSONValue] = ["a": ["n": 1], "b": ["n": 2], "c": ["n": 3]]
    func json() -> JSONValue {
      .object(records.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value) })
    }
    for case .listen(let id, let query, let tag, _) in speaker.takeOriginOutput().commands {
      _ = try speaker.receive(.push(.set(try Node(json: json())), query.path, tag: tag))
      _ = try speaker.receive(.listenComplete(id))
    }
    _ = try speaker.write(
      .update(path, [JSONMember("a/n", 3), JSONMember("b/n", 3), JSONMember("c/n", 3)]))
    let entry = try #require(speaker.historyPage(count: 1).entries.first)
    #expect(entry.parts.map(\.path.description) == ["/list/a/n", "/list/b/n"])
    let write = try #require(speaker.pendingWrites.last)
    _ = try speaker.receive(.rejected(id: write.id, KeptRefusalsTests.refusal))
    records["b"] = ["n": 7]
    _ = try speaker.receive(.push(.set(try Node(json: json())), path, tag: nil))
    let error = #expect(throws: DatabaseError.self) { try speaker.undoWhatStands(entry.id) }
    #expect(error?.code == .refused, "\(String(describing: error))")
  }

  /// What stood before the second one was written by the first one.
  @Test func undoingTheSecondOfTwoThatWereRefusedSaysSo() throws {
    let path = try Path("/list/a")
    _ = try speaker.listen(ListenerID(1), ListenRequest(query: Query(path)))
    let asked = speaker.takeOriginOutput().commands
    for case .listen(let id, let query, let tag, _) in asked {
      let node = try Node(json: ["name": "old", "plz": "1"])
      _ = try speaker.receive(.push(.set(node), query.path, tag: tag))
      _ = try speaker.receive(.listenComplete(id))
    }
    _ = try speaker.write(.update(path, [JSONMember("name", "mine")]))
    _ = try speaker.write(.set(path, .null))
    let entry = try #require(speaker.historyPage(count: 1).entries.first?.id)
    for id in speaker.pendingWrites.map(\.id) {
      _ = try speaker.receive(.rejected(id: id, KeptRefusalsTests.refusal))
    }
    #expect(try speaker.node(at: path).exportJSON == ["name": "old", "plz": "1"])
    do {
      _ = try speaker.undoWhatStands(entry)
      Issue.record("It is undone.")
    } catch let error as DatabaseError {
      #expect(error.code == .refused && error.message.contains("was refused"), "\(error)")
    }
  }

  // MARK: What two do at the same time

  private enum Step: CaseIterable {
    case add, againHere, againThere, dropHere, dropThere, refuseAgain

    var session: Int { self == .againThere || self == .dropThere ? 1 : 0 }
  }

  /// What has to be: the tries of each write, by its id.
  private struct Model {
    var refused: [Int64: Int] = [:]
    var waiting: [(id: Int64, tries: Int)] = []
  }

  /// All orders of three steps after a refusal that both know; each session knows only what it saw when it did
  /// something last.
  @Test func nothingIsLostOrDoubledInAnyOrder() throws {
    for first in Step.allCases {
      for second in Step.allCases {
        for third in Step.allCases { try check([first, second, third]) }
      }
    }
  }

  private func check(_ steps: [Step]) throws {
    var model = Model(refused: [try refuse(): 1])
    _ = try sessions[1].catchUp()
    var seen = [model.refused.keys.sorted(), model.refused.keys.sorted()]
    for step in steps {
      let session = sessions[step.session]
      switch step {
      case .add: model.refused[try refuse()] = 1
      case .refuseAgain:
        guard !model.waiting.isEmpty else { continue }
        let (id, tries) = model.waiting.removeFirst()
        _ = try speaker.receive(.rejected(id: id, KeptRefusalsTests.refusal))
        model.refused[id] = tries + 1
      case .againHere, .againThere:
        guard let id = seen[step.session].first else { continue }
        let answer = code(again(session, id, .set(try Path("/n"), 2)))
        let tries = model.refused.removeValue(forKey: id)
        #expect(answer == (tries == nil ? .dealtWith : nil), "\(steps)")
        if let tries { model.waiting.append((try #require(session.pendingWrites.last?.id), tries)) }
      case .dropHere, .dropThere:
        guard let id = seen[step.session].first else { continue }
        let answer = code(session.answer(.dropRefused(7, id)))
        let tries = model.refused.removeValue(forKey: id)
        #expect(answer == (tries == nil ? .dealtWith : nil), "\(steps)")
      }
      seen[step.session] = try session.refusedWrites().map(\.write.id)
      #expect(try kept() == model.refused.keys.sorted(), "\(steps)")
    }
    let refusals = try sessions[1].refusedWrites()
    #expect(refusals.map(\.tries) == refusals.map { model.refused[$0.write.id] }, "\(steps)")
    for session in sessions {
      _ = try session.catchUp()
      #expect(session.pendingWrites.map(\.id) == model.waiting.map(\.id), "\(steps)")
    }
    // The next steps begin with nothing.
    for id in try kept() { _ = try speaker.dropRefusedWrite(id) }
    for (id, _) in model.waiting { _ = try speaker.receive(.acknowledged(id: id)) }
  }

  // MARK: What is told

  @Test func eachSessionIsToldOfEachChange() throws {
    let (here, there) = (sessions[0], sessions[1])
    func told(_ session: DatabaseSession) throws -> [Int64]? {
      _ = try session.catchUp()
      guard case .refusedWrites(let kept)? = session.takeRefusedNews() else { return nil }
      return kept.map(\.write.id)
    }
    let id = try refuse()
    #expect(try told(here) == [id] && told(there) == [id])
    #expect(try told(here) == nil && told(there) == nil)
    let later = try KeptRefusalsTests.open(folder.file())
    #expect(try told(later) == [id])
    _ = try there.dropRefusedWrite(id)
    #expect(try told(here) == [] && told(there) == [] && told(later) == [])
    // One that changes nothing is done at once.
    _ = try speaker.write(.set(Path("/n"), 2))
    let next = try refuse("/n", 3)
    #expect(try told(there) == [next])
    #expect(code(again(here, next, .set(try Path("/n"), 2))) == nil)
    #expect(try told(there) == [])
  }

  // MARK: What is kept

  @Test func refusalIsKeptInTheStepThatEndsTheWrite() async throws {
    _ = try sessions[1].write(.set(Path("/n"), 5))
    _ = try speaker.disconnectOrigin()
    let file = folder.file()
    await #expect(processExitsWith: .signal(SIGKILL)) { [file = file as String] in
      let session = try KeptRefusalsTests.open(file)
      _ = try session.connectOrigin()
      _ = try session.receive(.rejected(id: 0, KeptRefusalsTests.refusal))
      kill(getpid(), SIGKILL)
    }
    let refused = try sessions[1].refusedWrites()
    #expect(refused.map(\.write.write) == [.set(try Path("/n"), 5)])
    #expect(refused.map(\.reason) == [KeptRefusalsTests.refusal.description])
  }

  @Test func writeThatFailsLeavesTheRefusalWhereItIs() throws {
    let id = try refuse()
    #expect(code(again(sessions[1], id, .set(.info, 1))) != nil)
    #expect(try kept() == [id])
    _ = try sessions[1].catchUp()
    #expect(sessions[1].pendingWrites.isEmpty)
  }

  @Test func writeThatNeedNotFindTheRefusalIsDoneWithoutIt() throws {
    let id = try refuse()
    _ = try sessions[1].dropRefusedWrite(id)
    let taking = RefusedTaking([id], isRequired: false)
    #expect(code(speaker.answer(.taking(taking, .write(7, .set(try Path("/n"), 2))))) == nil)
    #expect(speaker.pendingWrites.count == 1)
  }

  /// When it was made, nothing was known there.
  @Test func refusedWriteIsKeptWithWhatIsKnownOfItsPlaceByThen() throws {
    let path = try Path("/n")
    _ = try speaker.write(.set(path, 2))
    let write = try #require(speaker.pendingWrites.last)
    #expect(write.bases == [nil])
    _ = try speaker.listen(ListenerID(1), ListenRequest(query: Query(path)))
    _ = try speaker.receive(.push(.set(Node(json: 1)), path, tag: nil))
    _ = try speaker.receive(.listenComplete(AskID(1)))
    _ = try speaker.receive(.rejected(id: write.id, KeptRefusalsTests.refusal))
    #expect(try sessions[1].refusedWrites().map(\.write.bases) == [[try Node(json: 1)]])
  }

  @Test func onlyTheNewestAreKept() throws {
    let path = try Path("/n")
    try speaker.store.write { transaction in
      for number in 0..<StoreTransaction.keptMax + 3 {
        let write = PendingWrite(id: Int64(number), write: .set(path, 1), parts: [])
        try transaction.keep(KeptRefusal(write: write, reason: "no", at: 0))
      }
    }
    let ids = try kept()
    #expect(ids.count == StoreTransaction.keptMax && ids.first == 3)
  }

  @Test func whatWasGivenUpIsNotKept() throws {
    _ = try speaker.write(.set(Path("/n"), 1))
    _ = try speaker.dropPendingWrite(0)
    #expect(try kept().isEmpty)
  }

  @Test func programThatDoesNotKeepThemLeavesNothing() throws {
    speaker.environment.keepsRefusals = false
    _ = try refuse()
    #expect(try kept().isEmpty && speaker.takeRefusedNews() == nil)
  }

  // MARK: The program's own writes

  @Test func writesOfTheProgramItselfAreNeitherCountedNorKept() throws {
    let place = try Path("/here")
    try speaker.noteOwnPlaces(OwnPlaces([place]))
    _ = try speaker.write(.set(Path("/here/me"), 1))
    _ = try speaker.write(.set(Path("/n"), 1))
    _ = try speaker.write(.update(.root, [JSONMember("here/me", 2), JSONMember("n", 2)]))
    _ = try sessions[1].catchUp()
    #expect(try sessions[1].pendingWritesOfUser().map(\.id) == [1, 2])
    for id in 0...2 {
      _ = try speaker.receive(.rejected(id: Int64(id), KeptRefusalsTests.refusal))
    }
    #expect(try kept() == [1, 2])
  }
}

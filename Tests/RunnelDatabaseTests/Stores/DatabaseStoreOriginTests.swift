import RunnelBase
import RunnelStore
import RunnelTree
import Testing

@testable import RunnelDatabase

private struct Word: CodableTreeObject { var text: String }

private struct State: Sendable {
  var actions: [any Action] = []
  var isConnected: Bool?
  var errors: [String] = []

  func has<Wanted: Action & Equatable>(_ action: Wanted) -> Bool {
    actions.contains { $0 as? Wanted == action }
  }
}

/// A store beside a replica, whose origin is played by the test.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct DatabaseStoreOriginTests {
  private let folder: TemporaryFolder
  private let database: Database
  private let store: DatabaseStore<State>

  init() async throws {
    folder = try TemporaryFolder()
    let session = try folder.session()
    try session.becomeReplica(ofOrigin: "home")
    try session.close()
    database = try await Database.open(file: folder.file())
    store = DatabaseStore(database, state: State()) { state, action in
      state.actions.append(action)
      if let change = action as? ConnectionChanged { state.isConnected = change.isConnected }
      if let failure = action as? RequestFailed<Word> {
        state.errors.append(failure.error.code.rawValue)
      }
    }
  }

  private func wait(
    _ isWanted: @escaping @Sendable (State) -> Bool
  ) async {
    for await isSo in await store.values(of: isWanted) where isSo { return }
  }

  private func request(_ id: RequestID) throws -> RequestSummary {
    RequestSummary(id: id, kind: .create, path: try Path("/word/a"))
  }

  private func create(_ id: RequestID) async throws {
    await store.dispatch(Word.createObject(Word(text: "x"), at: try Path("/word/a"), id: id))
  }

  @Test func aWriteAwaitsItsOriginAndIsAcknowledged() async throws {
    database.submit(.connectOrigin())
    let request = try request("w")
    try await create("w")
    await wait { $0.has(RequestSucceeded<Word>(request, answer: .written(awaitsOrigin: true))) }
    let before = await store.state
    #expect(!before.has(RequestAcknowledged<Word>(request)))
    database.submit(.receive(.acknowledged(id: 0)))
    await wait { $0.has(RequestAcknowledged<Word>(request)) }
  }

  @Test func aWriteThatTheOriginRefusesFails() async throws {
    database.submit(.connectOrigin())
    let request = try request("w")
    try await create("w")
    await wait { $0.has(RequestSucceeded<Word>(request, answer: .written(awaitsOrigin: true))) }
    database.submit(.receive(.rejected(id: 0, TreeError(.permissionDenied, "no"))))
    await wait { $0.errors == ["PERMISSION_DENIED"] }
  }

  @Test func aCancelledRequestIsToldNothingOfItsAnswer() async throws {
    database.submit(.connectOrigin())
    let (first, second) = (try request("a"), try request("b"))
    try await create("a")
    await wait { $0.has(RequestSucceeded<Word>(first, answer: .written(awaitsOrigin: true))) }
    await store.dispatch(CancelRequest("a"))
    try await create("b")
    await wait { $0.has(RequestSucceeded<Word>(second, answer: .written(awaitsOrigin: true))) }
    database.submit(.receive(.acknowledged(id: 0)))
    database.submit(.receive(.acknowledged(id: 1)))
    await wait { $0.has(RequestAcknowledged<Word>(second)) }
    let state = await store.state
    #expect(!state.has(RequestAcknowledged<Word>(first)))
  }

  @Test func theConnectionIsToldWhileSomebodyWatchesIt() async throws {
    await store.dispatch(MonitorConnection(as: "screen"))
    await wait { $0.isConnected == false }
    database.submit(.connectOrigin())
    await wait { $0.isConnected == true }
    database.submit(.disconnectOrigin)
    await wait { $0.isConnected == false }
    await store.dispatch(StopMonitoringConnection("screen"))
    #expect(await database.listeners().observations == 0)
  }

  @Test func aTreeOfItsOwnIsConnectedAndAwaitsNobody() async throws {
    let own = try await Database.open(file: folder.file("own.db"))
    let store = DatabaseStore(own, state: State()) { state, action in
      state.actions.append(action)
      if let change = action as? ConnectionChanged { state.isConnected = change.isConnected }
    }
    let request = try request("w")
    await store.dispatch(MonitorConnection(as: "screen"))
    await store.dispatch(Word.createObject(Word(text: "x"), at: try Path("/word/a"), id: "w"))
    for await isSo in await store.values(of: { state in
      state.isConnected == true
        && state.has(RequestSucceeded<Word>(request, answer: .written(awaitsOrigin: false)))
    }) where isSo { break }
    await store.close()
    own.close()
  }
}

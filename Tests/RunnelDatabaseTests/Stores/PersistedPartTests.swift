import RunnelBase
import RunnelDatabase
import RunnelStore
import RunnelTree
import Testing

private struct Settings: Codable, Equatable, Sendable {
  var theme = "light"
  var size = 12
}

private struct State: Sendable {
  var settings = Settings()
  var counter = 0
  var failures: [String] = []
}

private struct Grow: Action {}
private struct Count: Action {}

private func reduce(state: inout State, action: any Action) {
  switch action {
  case is Grow: state.settings.size += 1
  case is Count: state.counter += 1
  case let failure as any FailureAction: state.failures.append(failure.error.code.rawValue)
  default: break
  }
}

/// A part of a store's state that is kept for the next run of the program.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct PersistedPartTests {
  private let folder: TemporaryFolder
  private let database: Database
  private let kept: PersistedPart<State, Settings>

  init() async throws {
    folder = try TemporaryFolder()
    database = try await folder.open()
    kept = PersistedPart(\State.settings, at: try database.reference(withPath: "settings"))
  }

  @Test func thePartIsRestoredInTheNextRun() async throws {
    let first = try await kept.restored(in: State())
    #expect(first.settings == Settings())
    let store = DatabaseStore(database, state: first, reducer: reduce)
    _ = await store.persist(kept)
    for _ in 0..<20 {
      await store.dispatch(Grow())
      await store.dispatch(Count())
    }
    await store.persisted()
    database.close()
    let next = try await folder.open()
    let place = try next.reference(withPath: "settings")
    let state = try await PersistedPart(\State.settings, at: place).restored(in: State())
    #expect(state.settings == Settings(theme: "light", size: 32))
    #expect(state.counter == 0, "Only the part is kept.")
    next.close()
  }

  @Test func aValueThatDoesNotFitIsAnErrorWithItsPlace() async throws {
    try await kept.place.setValue(["theme": 5])
    let error = await #expect(throws: DataCodingError.self) { try await kept.restored(in: State()) }
    #expect(error?.path == "/settings/theme")
  }

  @Test func thePartIsPersistedUntilTheSubscriptionEnds() async throws {
    let store = DatabaseStore(database, state: State(), reducer: reduce)
    let token = await store.persist(kept)
    await store.dispatch(Grow())
    await store.persisted()
    await store.unsubscribe(token)
    await store.dispatch(Grow())
    await store.persisted()
    #expect(try await kept.place.child("size").get().value == 13)
  }

  @Test func aFailureIsDispatched() async throws {
    let store = DatabaseStore(database, state: State(), reducer: reduce)
    _ = await store.persist(kept)
    await store.persisted()
    database.close()
    await store.dispatch(Grow())
    await store.persisted()
    #expect(await store.state.failures == ["closed"])
  }
}

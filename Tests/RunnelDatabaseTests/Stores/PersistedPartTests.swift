import RunnelBase
import RunnelDatabase
import RunnelStore
import RunnelTree
import Testing

private struct Settings: Codable, Equatable, Sendable {
  var theme = "light"
  var size = 12
}

private struct Ratio: Codable, Equatable, Sendable {
  var value = 1.0
  var name = "r"
}

private struct State: Sendable {
  var settings = Settings()
  var ratio = Ratio()
  var counter = 0
  var failures: [String] = []
}

private struct Grow: Action {}
private struct Count: Action {}
private struct SetRatio: Action {
  var value: Double
  var name = "r"
}

private func reduce(state: inout State, action: any Action) {
  switch action {
  case is Grow: state.settings.size += 1
  case is Count: state.counter += 1
  case let ratio as SetRatio: state.ratio = Ratio(value: ratio.value, name: ratio.name)
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

  // MARK: Values that are not equal to themselves

  private func ratios() throws -> PersistedPart<State, Ratio> {
    PersistedPart(\State.ratio, at: try database.reference(withPath: "ratio"))
  }

  @Test func aNaNFailsOnceForEachChangeOfThePart() async throws {
    let store = DatabaseStore(database, state: State(), reducer: reduce)
    _ = await store.persist(try ratios())
    await store.dispatch(SetRatio(value: .nan))
    await store.persisted()
    #expect(await store.state.failures.count == 1)
    for _ in 0..<3 {
      await store.dispatch(Count())
      await store.persisted()
    }
    #expect(await store.state.failures.count == 1, "The part did not change.")
    await store.dispatch(SetRatio(value: .nan, name: "other"))
    await store.persisted()
    #expect(await store.state.failures.count == 2)
    await store.dispatch(SetRatio(value: 2))
    await store.persisted()
    #expect(try await ratios().restored(in: State()).ratio == Ratio(value: 2))
    await store.dispatch(SetRatio(value: .nan, name: "other"))
    await store.persisted()
    #expect(await store.state.failures.count == 3)
  }

  @Test func twoPartsWithANaNDoNotWakeEachOther() async throws {
    let store = DatabaseStore(database, state: State(), reducer: reduce)
    _ = await store.persist(try ratios())
    let second = PersistedPart(\State.ratio, at: try database.reference(withPath: "second"))
    _ = await store.persist(second)
    await store.dispatch(SetRatio(value: .nan))
    await store.persisted()
    #expect(await store.state.failures.count == 2)
  }
}

import RunnelBase
import RunnelStore
import RunnelTree
import Testing

@testable import RunnelDatabase

private struct Competitor: CodableTreeObject {
  var name: String
  var score: Int?
}

private struct Note: Action { var text: String }

/// What reducers saw, and the players.
private struct State: Sendable {
  var actions: [any Action] = []
  var players: ObjectsState<Competitor>
  var notes: [String] = []
}

/// A store on a database of its own.
///
/// Whoever waits here waits for states, never for a time.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct DatabaseStoreTests {
  private let folder: TemporaryFolder
  private let database: Database
  private let store: DatabaseStore<State>
  private let query: Query
  private let ana: Path

  init() async throws {
    folder = try TemporaryFolder()
    database = try await folder.open()
    query = try Query(Path("/players")).ordered(byChild: "score")
    ana = try Path("/players/ana")
    store = DatabaseStore(
      database, state: State(players: ObjectsState(of: query)),
      reducer: combineReducers(
        { (state: inout State, action: any Action) in
          state.actions.append(action)
          if let note = action as? Note { state.notes.append(note.text) }
        }, reducing(\State.players, by: ObjectsState.reduce)))
  }

  /// The first value of a part of the state that is wanted.
  @discardableResult
  private func wait<Part: Equatable & Sendable>(
    for part: @escaping @Sendable (State) -> Part, where isWanted: (Part) -> Bool
  ) async throws -> Part {
    for await value in await store.values(of: part) where isWanted(value) { return value }
    throw CancellationError()
  }

  /// Waits until a request was answered; returns the answer.
  private func answer(
    _ request: ObjectRequest<Competitor>
  ) async throws -> RequestSucceeded<Competitor>.Answer {
    await store.dispatch(request)
    let id = try #require(
      await store.state.actions.compactMap { ($0 as? RequestPending<Competitor>)?.request.id }.last)
    let done = try await wait(for: { state in
      state.actions.contains { action in
        (action as? RequestSucceeded<Competitor>)?.request.id == id
          || (action as? RequestFailed<Competitor>)?.request.id == id
      }
    }) { $0 }
    #expect(done)
    let actions = await store.state.actions
    let answer = actions.compactMap { $0 as? RequestSucceeded<Competitor> }.last {
      $0.request.id == id
    }
    return try #require(answer?.answer)
  }

  // MARK: Requests

  @Test func objectIsCreatedReadChangedFoundAndRemoved() async throws {
    let written = RequestSucceeded<Competitor>.Answer.written(awaitsOrigin: false)
    let player = Competitor(name: "Ana", score: 1)
    #expect(try await answer(Competitor.createObject(player, at: ana)) == written)
    #expect(try await answer(Competitor.getObject(at: ana)) == .object(player))
    #expect(try await answer(Competitor.updateObject(at: ana, ["score": 5])) == written)
    #expect(try await answer(Competitor.mergeObject(at: ana, ["a": ["b": 1]])) == written)
    let found = try await answer(
      Competitor.searchObjects(in: Path("/players"), where: "score", equals: .number(5)))
    let entry = ObjectEntry(id: try Key("ana"), object: Competitor(name: "Ana", score: 5))
    #expect(found == .objects([entry], malformed: []))
    #expect(try await database.reference(at: ana).child("a/b").get().value == 1)
    #expect(try await answer(Competitor.removeObject(at: ana)) == written)
    #expect(try await answer(Competitor.getObject(at: ana)) == .object(nil))
  }

  @Test func newObjectStandsUnderTheKeyThatIsTold() async throws {
    _ = try await answer(Competitor.createObject(Competitor(name: "Bo"), in: Path("/players")))
    let path = await store.state.actions.compactMap {
      ($0 as? RequestPending<Competitor>)?.request.path
    }.last
    let value = try await database.reference(at: #require(path)).child("name").get().value
    #expect(value == "Bo")
  }

  @Test func requestsAreCarriedOutInTheOrderOfTheirDispatch() async throws {
    for number in Int64(0)..<50 {
      await store.dispatch(Competitor.updateObject(at: ana, ["score": .number(JSONNumber(number))]))
    }
    _ = try await answer(Competitor.updateObject(at: ana, ["name": "Ana"]))
    let player = try await answer(Competitor.getObject(at: ana))
    #expect(player == .object(Competitor(name: "Ana", score: 49)))
  }

  @Test func refusedWriteIsAFailureWithTheReason() async throws {
    await store.dispatch(Competitor.updateObject(at: ana, ["a": 1, "a/b": 2], id: "r"))
    let failed = try await wait(for: { state in
      state.actions.compactMap { ($0 as? RequestFailed<Competitor>)?.error }.first
    }) { $0 != nil }
    #expect(failed?.code.rawValue == "refused")
  }

  // MARK: Subscriptions

  @Test func objectsAreLoadedAndFollowTheTree() async throws {
    try await database.reference(withPath: "players").setValue([
      "ana": ["name": "Ana", "score": 2], "bo": ["name": "Bo", "score": 1], "x": 5,
    ])
    await store.dispatch(Competitor.subscribeToObjects(query, as: "all"))
    let names = { @Sendable (state: State) in state.players.entries.map(\.object.name) }
    try await wait(for: names) { $0 == ["Bo", "Ana"] }
    #expect(await store.state.players.errors.keys.map(\.text) == ["x"])
    try await database.reference(withPath: "players/ana/score").setValue(0)
    try await wait(for: names) { $0 == ["Ana", "Bo"] }
    try await database.reference(withPath: "players/bo").removeValue()
    try await wait(for: names) { $0 == ["Ana"] }
    let loads = await store.state.actions.count { $0 is ObjectsLoaded<Competitor> }
    #expect(loads == 1)
  }

  @Test func childThatDoesNotFitIsReportedWithOnePath() async throws {
    try await database.reference(withPath: "players").setValue(["bo": ["score": 1], "x": 5])
    await store.dispatch(Competitor.subscribeToObjects(query, as: "all"))
    try await wait(for: \.players.isLoaded) { $0 }
    let errors = try await wait(for: { state in
      state.actions.compactMap { ($0 as? ObjectErrored<Competitor>)?.error.description }.sorted()
    }) { $0.count == 2 }
    #expect(errors.first == "/players/bo/name: expected String, but nothing is there.")
    #expect(errors.last?.hasPrefix("/players/x: expected ") == true)
  }

  @Test func emptyCollectionIsLoadedToo() async throws {
    await store.dispatch(Competitor.subscribeToObjects(query, as: "all"))
    try await wait(for: \.players.isLoaded) { $0 }
  }

  @Test func deliveriesOfAWriteComeBeforeItsAnswer() async throws {
    await store.dispatch(Competitor.subscribeToObjects(query, as: "all"))
    try await wait(for: \.players.isLoaded) { $0 }
    _ = try await answer(Competitor.createObject(Competitor(name: "Ana"), at: ana))
    #expect(await store.state.players.entries.map(\.object.name) == ["Ana"])
  }

  @Test func unsubscribingEndsTheObservation() async throws {
    await store.dispatch(Competitor.subscribeToObjects(query, as: "all"))
    await store.dispatch(Competitor.observeObject(at: ana, as: "ana"))
    #expect(await database.listeners().observations == 2)
    await store.dispatch(Unsubscribe("all"))
    #expect(await database.listeners().observations == 1)
    await store.close()
    #expect(await database.listeners().observations == 0)
  }

  @Test func closedDatabaseEndsSubscriptionsWithTheReason() async throws {
    await store.dispatch(Competitor.subscribeToObjects(query, as: "all"))
    try await wait(for: \.players.isLoaded) { $0 }
    database.close()
    let failure = try await wait(for: \.players.failure) { $0 != nil }
    #expect(failure?.code.rawValue == "closed")
    #expect(await !store.state.players.isSubscribed)
  }

  // MARK: Other threads

  @Test func postedActionsKeepTheirOrder() async throws {
    for number in 0..<100 { #expect(store.post(Note(text: "\(number)"))) }
    let notes = try await wait(for: \.notes) { $0.count == 100 }
    #expect(notes == (0..<100).map { "\($0)" })
  }

  // MARK: Thunks

  @Test func thunkWaitsAndDispatches() async throws {
    try await database.reference(at: ana).setValue(["name": "Ana"])
    await store.dispatch(
      AsyncThunk<State> { context in
        try await context.dispatch(Note(text: "reading"))
        let name = try await context.database.reference(withPath: "players/ana/name").get()
        try await context.dispatch(Note(text: "read \(try name.decode(String.self))"))
        let count = try await context.state().notes.count
        try await context.dispatch(Note(text: "\(count)"))
      })
    let notes = try await wait(for: \.notes) { $0.count == 3 }
    #expect(notes == ["reading", "read Ana", "2"])
  }

  @Test func thunkThatThrowsIsAFailure() async throws {
    await store.dispatch(
      AsyncThunk<State>("bad") { context in
        try await context.database.reference(withPath: "a").setValue([".priority": true])
      })
    let failed = try await wait(for: { state in
      state.actions.compactMap { $0 as? ThunkFailed }.first
    }) { $0 != nil }
    #expect(failed?.name == "bad")
    #expect(failed?.error.code.rawValue == "refused")
  }

  @Test func cancelledThunkReachesTheStoreNoMore() async throws {
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let (ends, end) = AsyncStream.makeStream(of: Bool.self)
    await store.dispatch(
      AsyncThunk<State>("slow") { context in
        // The gate of a cancelled task opens at once.
        for await _ in gate { break }
        do {
          try await context.dispatch(Note(text: "too late"))
          end.yield(false)
        } catch {
          end.yield(error is CancellationError)
        }
        throw CancellationError()
      })
    await store.dispatch(CancelThunk("slow"))
    open.yield()
    var iterator = ends.makeAsyncIterator()
    #expect(await iterator.next() == true)
    #expect(await store.state.actions.isEmpty)
  }

  @Test func newThunkOfANameCancelsTheOneBefore() async throws {
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    for text in ["first", "second"] {
      await store.dispatch(
        AsyncThunk<State>("search") { context in
          for await _ in gate { break }
          try await context.dispatch(Note(text: text))
        })
    }
    open.finish()
    try await wait(for: \.notes) { $0 == ["second"] }
  }

  @Test func cancelledRequestThatHasNotBegunIsNotCarriedOut() async throws {
    await store.dispatch(
      Thunk<State> { [ana] dispatch, _ in
        dispatch(Competitor.createObject(Competitor(name: "Ana"), at: ana, id: "r"))
        dispatch(CancelRequest("r"))
      })
    #expect(try await answer(Competitor.getObject(at: ana)) == .object(nil))
    #expect(await store.state.actions.contains { $0 is RequestCancelled<Competitor> })
  }
}

import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import TestSupport
import Testing

/// Waiting for the streams of a session: what ends a wait, and with which error.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct StreamWaitingTests {
  private struct Score: Codable, Sendable {
    var points: Int
  }

  private let folder: TemporaryFolder
  private let database: Database
  private let list: Reference

  init() async throws {
    folder = try TemporaryFolder()
    database = try await folder.open()
    list = try database.reference(withPath: "l")
    try await list.setValue(["a": ["points": 1], "b": ["points": 2]])
  }

  // MARK: Cancelling

  @Test func aLoopOfReceivesEndsWhenItsTaskIsCancelled() async throws {
    let list = list
    let task = Task { @MainActor in
      let session = StreamSession(list.database)
      let stream = session.stream(of: list)
      while stream.count < 3 { try await session.receive() }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func waitingForAConditionEndsWhenTheTaskIsCancelled() async throws {
    let list = list
    let task = Task { @MainActor in
      let session = StreamSession(list.database)
      let stream = session.stream(of: list)
      try await session.waitUntil { stream.count >= 3 }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func aConditionThatHoldsIsNotWaitedFor() async throws {
    let session = StreamSession(database)
    let stream = session.stream(of: list)
    try await session.waitUntil { stream.count == 2 }
    database.close()
    try await session.waitUntil { stream.count == 2 }
  }

  // MARK: Time

  @Test func aWaitWithALimitEndsWhenTheConditionHolds() async throws {
    let session = StreamSession(database, clock: ManualClock())
    let stream = session.stream(of: list)
    try await session.waitUntil(within: .seconds(5)) { stream.count == 2 }
    try await session.waitUntil(within: .zero) { stream.count == 2 }
    try await session.waitUntil(within: .seconds(Int64.max)) { stream.loadState == .loaded }
  }

  @Test func aWaitWithALimitGivesUpAndTheSessionGoesOn() async throws {
    let clock = ManualClock()
    let session = StreamSession(database, clock: clock)
    let stream = session.stream(of: list)
    try await session.waitUntil { stream.count == 2 }
    // Whether the wait has begun before, or begins later, its time comes.
    let ticking = Task {
      while !Task.isCancelled {
        clock.advance(by: .seconds(6))
        await Task.yield()
      }
    }
    defer { ticking.cancel() }
    do {
      try await session.waitUntil(within: .seconds(5)) { stream.count == 3 }
      Issue.record("There is no third record.")
    } catch let error as DatabaseError {
      #expect(error.code == .timedOut)
    }
    // A batched stream that is made now is told by the same clock.
    let calm = session.batched(stream, by: .standard)
    try await list.child("c/points").setValue(3)
    try await session.waitUntil { stream.count == 3 }
    try await session.waitUntil { calm.count == 3 }
  }

  // MARK: Beside others

  /// An actor that runs its session in one task and waits in others.
  private actor Board {
    private let session: StreamSession
    private let stream: QueryStream<Record>

    init(_ list: Reference) {
      session = StreamSession(list.database)
      stream = session.stream(of: list)
    }

    var count: Int { stream.count }

    func run() async throws { try await session.run() }

    func wait(for count: Int) async throws -> Int {
      try await session.waitUntil { stream.count >= count }
      return stream.count
    }
  }

  @Test func aConditionIsWaitedForBesideARun() async throws {
    let board = Board(list)
    let run = Task { try await board.run() }
    try await yieldUntil { await board.count >= 2 }
    let waits = [3, 4, 4].map { count in Task { try await board.wait(for: count) } }
    let cancelled = Task { try await board.wait(for: 9) }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    for key in ["c", "d"] { try await list.child(key).setValue(1) }
    for wait in waits { #expect(try await wait.value >= 3) }
    // Once the run has ended, whoever waits takes the events.
    let last = Task { try await board.wait(for: 5) }
    run.cancel()
    try await run.value
    try await list.child("e").setValue(1)
    #expect(try await last.value == 5)
  }

  @Test func aRunBeginsBesideAWaitAndFollowsIt() async throws {
    let board = Board(list)
    let wait = Task { try await board.wait(for: 3) }
    try await yieldUntil { await board.count >= 2 }
    let run = Task { try await board.run() }
    try await list.child("c").setValue(1)
    #expect(try await wait.value == 3)
    try await list.child("d").setValue(1)
    try await yieldUntil { await board.count >= 4 }
    database.close()
    let error = await #expect(throws: DatabaseError.self) { try await run.value }
    #expect(error?.code == .closed)
  }

  @Test func everyWaitEndsWhenTheDatabaseIsClosed() async throws {
    let board = Board(list)
    let waits = [3, 4].map { count in Task { try await board.wait(for: count) } }
    try await yieldUntil { await board.count >= 2 }
    database.close()
    for wait in waits {
      let error = await #expect(throws: DatabaseError.self) { _ = try await wait.value }
      #expect(error?.code == .closed)
    }
  }

  // MARK: Closing

  @Test func aSessionOfAClosedDatabaseThrows() async throws {
    database.close()
    let session = StreamSession(database)
    for _ in 0..<2 {
      let error = await #expect(throws: DatabaseError.self) { try await session.run() }
      #expect(error?.code == .closed)
      let drained = #expect(throws: DatabaseError.self) { try session.drain() }
      #expect(drained?.code == .closed)
    }
  }

  @Test func aSessionWithoutStreamsThrowsWhenTheDatabaseIsClosed() async throws {
    let database = database
    let running = Task { @MainActor in try await StreamSession(database).run() }
    database.close()
    let error = await #expect(throws: DatabaseError.self) { try await running.value }
    #expect(error?.code == .closed)
  }

  @Test func aFailedStreamThatIsStoppedFailsNoWait() async throws {
    let session = StreamSession(database)
    let good = session.stream(of: list)
    let bad = session.stream(
      of: try list.queryLimited(toLast: 4), paging: Paging(anchor: .last, count: 4))
    await #expect(throws: DatabaseError.self) {
      try await session.waitUntil { bad.loadState == .loaded && good.loadState == .loaded }
    }
    bad.stop()
    #expect(bad.isStopped)
    #expect(bad.loadState == .idle)
    try await list.child("later").setValue(3)
    try await session.waitUntil { good.items.contains { $0.key == "later" } }
  }

  @Test func everyWaitAfterTheEndOfTheDatabaseThrows() async throws {
    let session = StreamSession(database)
    let stream = session.stream(of: list)
    try await session.waitUntil { stream.loadState == .loaded }
    database.close()
    let first = await #expect(throws: DatabaseError.self) { try await session.run() }
    #expect(first?.code == .closed)
    guard case .failed(let failure) = stream.loadState else {
      Issue.record("\(stream.loadState)")
      return
    }
    #expect(failure.code == DatabaseError.Code.closed.rawValue)
    let second = await #expect(throws: DatabaseError.self) { try await session.receive() }
    #expect(second?.code == .closed)
    stream.start()
    let third = await #expect(throws: DatabaseError.self) {
      try await session.waitUntil { stream.loadState == .loaded }
    }
    #expect(third?.code == .closed)
  }

  @Test func streamsOfAClosedDatabaseFail() async throws {
    database.close()
    let session = StreamSession(database)
    let stream = session.stream(of: list)
    let error = await #expect(throws: DatabaseError.self) {
      try await session.waitUntil { stream.loadState == .loaded }
    }
    #expect(error?.code == .closed)
  }

  // MARK: Streams that fail

  @Test func waitingForAStreamThatFailsThrowsItsFailure() async throws {
    let session = StreamSession(database)
    let limited = session.stream(
      of: try list.queryLimited(toLast: 3), paging: Paging(anchor: .last, count: 2))
    for _ in 0..<2 {
      let error = await #expect(throws: DatabaseError.self) {
        try await session.waitUntil { limited.loadState == .loaded }
      }
      #expect(error?.code == .refused)
      #expect(error?.message.contains("has no limit of its own") == true)
    }
  }

  @Test func aPageWithoutRowsIsRefused() async throws {
    let session = StreamSession(database)
    let stream = session.stream(of: list, as: Score.self, paging: Paging(anchor: .first, count: 0))
    let error = await #expect(throws: DatabaseError.self) {
      try await session.waitUntil { stream.loadState == .loaded }
    }
    #expect(error?.code == .refused)
  }

  @Test func changesOfAPagedQueryWithALimitThrow() async throws {
    var changes = try list.queryLimited(toLast: 3).changes(paging: Paging(anchor: .last, count: 2))
      .makeAsyncIterator()
    let error = await #expect(throws: DatabaseError.self) { _ = try await changes.next() }
    #expect(error?.code == .refused)
  }

  @Test func aStreamAroundAPlaceRefusesALimitAtOnce() throws {
    let session = StreamSession(database)
    let query = try list.queryOrdered(byChild: "points")
    let limited = try query.queryLimited(toFirst: 1)
    let error = #expect(throws: TreeError.self) {
      _ = try session.stream(of: limited, around: 1, count: 2)
    }
    #expect(error?.code == .invalidQuery)
    let empty = #expect(throws: TreeError.self) {
      _ = try session.stream(of: query, as: Score.self, around: 1, count: 0)
    }
    #expect(empty?.code == .invalidQuery)
  }

  // MARK: Rows that are not stored

  @Test func aDraftIsATypedRowOfTheCollection() async throws {
    let draft = try DecodedRecord(key: "~draft", in: list.path, value: Score(points: 5))
    #expect(draft.key == "~draft" && draft.points == 5)
    #expect(draft.path == (try list.child("~draft").path))
    #expect(throws: TreeError.self) {
      _ = try DecodedRecord(key: "a.b", in: list.path, value: Score(points: 5))
    }
    // A stored row of the same place is the same row.
    try await list.child("~draft").setValue(Score(points: 6))
    let session = StreamSession(database)
    let stream = session.stream(of: list, as: Score.self)
    try await session.waitUntil { stream.item(forID: draft.id)?.points == 6 }
  }
}

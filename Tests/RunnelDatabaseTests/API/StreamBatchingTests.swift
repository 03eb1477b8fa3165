import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Testing

/// Streams that are told in batches by the clock of their session.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct StreamBatchingTests {
  private let folder: TemporaryFolder
  private let database: Database
  private let list: Reference
  private let clock = ManualClock()
  private let policy = BatchingPolicy(
    quietMilliseconds: 100, waitMillisecondsMax: 250, rowCountMax: 3)

  init() async throws {
    folder = try TemporaryFolder()
    database = try await folder.open()
    list = try database.reference(withPath: "l")
  }

  /// A list in batches beside the stream it follows, both loaded.
  private func lists(
    _ session: StreamSession
  ) async throws -> (source: QueryStream<Record>, batched: BatchedStream<Record>) {
    let source = session.stream(of: list)
    let batched = session.batched(source, by: policy)
    while batched.loadState != .loaded { try await session.receive() }
    return (source, batched)
  }

  private func keys(_ stream: any SectionedStream<Record>) -> [String] {
    stream.sections.flatMap(\.items).map(\.key)
  }

  @Test func changesWaitUntilTheClockOfTheSessionSaysSo() async throws {
    let session = StreamSession(database, clock: clock)
    let (source, batched) = try await lists(session)
    for key in ["a", "b"] { try await list.child(key).setValue(1) }
    while source.items.count < 2 { try await session.receive() }
    #expect(keys(batched) == [])
    clock.advance(by: .milliseconds(100))
    while keys(batched) == [] { try await session.receive() }
    #expect(keys(batched) == ["a", "b"])
  }

  @Test func typedRowsAreToldInBatchesAndFindTheirNeighbours() async throws {
    let session = StreamSession(database, clock: clock)
    let batched = session.stream(of: list, as: Int.self, batching: policy, isDescending: true)
    let source = session.stream(of: list, as: Int.self)
    while batched.loadState != .loaded { try await session.receive() }
    for key in ["a", "b"] { try await list.child(key).setValue(1) }
    while source.items.count < 2 { try await session.receive() }
    #expect(batched.sections.flatMap(\.items).isEmpty)
    clock.advance(by: .milliseconds(100))
    while batched.sections.flatMap(\.items).isEmpty { try await session.receive() }
    #expect(batched.sections.flatMap(\.items).map(\.key) == ["b", "a"])
    let first = try #require(source.items.first)
    #expect(source.firstIndexPath(after: first)?.row == 1)
    #expect(source.lastIndexPath(before: first) == nil)
  }

  @Test func aDrainTellsWhatIsDueByTheClockAtOnce() async throws {
    let session = StreamSession(database, clock: clock)
    let (source, batched) = try await lists(session)
    for key in ["a", "b"] { try await list.child(key).setValue(1) }
    while source.items.count < 2 { try session.drain() }
    clock.advance(by: .milliseconds(99))
    try session.drain()
    #expect(keys(batched) == [])
    // No task runs between the clock and the drain.
    clock.advance(by: .milliseconds(1))
    try session.drain()
    #expect(keys(batched) == ["a", "b"])
  }

  @Test func steadyChangesWaitNoLongerThanTheMaximum() async throws {
    let session = StreamSession(database, clock: clock)
    let (source, batched) = try await lists(session)
    // The quiet never comes: each change comes 90 ms after the one before.
    for round in 1...3 {
      try await list.child("a").setValue(round)
      while source.items.first?.row.node?.json.int != round {
        try await session.receive()
      }
      #expect(keys(batched) == [], "round \(round)")
      if round < 3 { clock.advance(by: .milliseconds(90)) }
    }
    clock.advance(by: .milliseconds(70))  // 250 ms after the first
    while keys(batched) == [] { try await session.receive() }
    #expect(batched.sections[0].items[0].row.node?.json.int == 3)
  }

  @Test func moreRowsThanMayWaitAreToldAtOnce() async throws {
    let session = StreamSession(database, clock: clock)
    let (source, batched) = try await lists(session)
    try await list.setValue(["a": 1, "b": 2, "c": 3, "d": 4])
    while source.items.count < 4 { try await session.receive() }
    #expect(keys(batched) == ["a", "b", "c", "d"])
  }

  @Test func oneParameterBatchesASequence() async throws {
    var changes = list.changes(batching: policy).makeAsyncIterator()
    #expect(try await changes.next()?.loadState == .loaded)
    try await list.child("a").setValue(1)
    let change = try #require(try await changes.next())
    #expect(change.sections.flatMap(\.items).map(\.key) == ["a"])
  }

  @Test func oneParameterBatchesAStream() async throws {
    let session = StreamSession(database, clock: clock)
    let stream = session.stream(of: list, batching: policy)
    while stream.loadState != .loaded { try session.drain() }
    try await list.child("a").setValue(1)
    while stream.waitingRowCount == 0 { try session.drain() }
    clock.advance(by: .milliseconds(100))
    while keys(stream) == [] { try session.drain() }
    #expect(stream.waitingRowCount == 0)
  }
}

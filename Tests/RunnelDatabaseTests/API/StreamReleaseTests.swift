import RunnelBase
import RunnelStreams
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// What a session and its database still know of streams that were released.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct StreamReleaseTests {
  private let folder: TemporaryFolder
  private let database: Database
  private let list: Reference

  init() async throws {
    folder = try TemporaryFolder()
    database = try await folder.open()
    list = try database.reference(withPath: "l")
    try await list.setValue(["a": 1, "b": 2])
  }

  /// Returns once the database has no listeners.
  private func awaitNoListeners() async throws {
    try await yieldUntil { await database.listeners() == (0, false) }
  }

  @Test func streamsThatWereReleasedAreForgotten() async throws {
    let session = StreamSession(database)
    var entriesMax = 0
    for round in 0..<3000 {
      let stream = session.stream(of: list)
      // Only now and then, since most of the time is spent on waiting.
      if round % 10 == 0 { try await session.waitUntil { stream.loadState == .loaded } }
      if round % 3 == 0 { stream.stop() }
      entriesMax = max(entriesMax, session.entryCount)
    }
    try await awaitNoListeners()
    #expect(entriesMax < 40)
    let last = session.stream(of: list)
    try await session.waitUntil { last.count == 2 }
    #expect(session.entryCount == 1)
    last.stop()
    try await awaitNoListeners()
  }

  @Test func aStreamThatIsReleasedListensNoMoreAndOthersGoOn() async throws {
    let session = StreamSession(database)
    let kept = session.stream(of: list)
    var dropped: QueryStream<Record>? = session.stream(of: list)
    try await session.waitUntil { kept.count == 2 && dropped?.count == 2 }
    #expect(await database.listeners().observations == 2)
    let isGone = { [weak dropped] in dropped == nil }
    dropped = nil
    #expect(isGone())
    #expect(await database.listeners().observations == 1)
    try await list.child("c").setValue(3)
    try await session.waitUntil { kept.count == 3 }
    #expect(session.entryCount == 1)
  }

  @Test func arraysAndDataSourcesEndWithWhoKeepsThem() async throws {
    let session = StreamSession(database)
    for _ in 0..<50 {
      let array = session.syncedArray(of: list)
      array.startSync()
      try await session.waitUntil { array.count == 2 }
      let source = session.dataSource(of: list)
      source.startSync()
      try await session.waitUntil { source.count == 2 }
    }
    try await awaitNoListeners()
    let last = session.stream(of: list)
    try await session.waitUntil { last.count == 2 }
    #expect(session.entryCount == 1)
  }

  @Test func whatIsMadeOfStreamsKeepsThem() async throws {
    try await database.reference(withPath: "m").setValue(["c": 3])
    let other = try database.reference(withPath: "m")
    let session = StreamSession(database)
    var told = 0
    var adapter: IndexPathAdapter<Record>?
    do {
      let union = UnionStream([session.stream(of: list), session.stream(of: other)]) {
        $0.key < $1.key
      }
      let sections = PartitionedStream(session.batched(union, by: .synchronous)) { $0.key }
      adapter = IndexPathAdapter(sections) { told = $0.sections.count }
      adapter?.start()
    }
    try await session.waitUntil { told == 3 }
    try await other.child("d").setValue(4)
    try await session.waitUntil { told == 4 }
    #expect(session.entryCount == 3)
    #expect(adapter?.sections.count == 4)
    adapter = nil
    try await awaitNoListeners()
  }

  @Test func anIndexKeepsItsEntriesAndEndsAllItsListeners() async throws {
    try await database.reference(withPath: "index").setValue(["a": true, "b": true])
    let session = StreamSession(database)
    var index: IndexStream? = session.stream(
      index: try database.reference(withPath: "index"), of: list)
    try await session.waitUntil { index?.loadState == .loaded }
    #expect(await database.listeners().observations == 3)
    index = nil
    try await awaitNoListeners()
  }

  @Test func batchedStreamsThatWereReleasedAreForgotten() async throws {
    let session = StreamSession(database, clock: ManualClock())
    for _ in 0..<200 {
      let stream = session.stream(of: list, batching: .standard)
      try await session.waitUntil { stream.loadState == .loaded }
    }
    let last = session.stream(of: list, batching: .standard)
    try await session.waitUntil { last.count == 2 }
    #expect(session.entryCount == 2)
  }

  @Test func changesThatWaitForFlushAloneNeedNoAlarm() async throws {
    let session = StreamSession(database)
    let policy = BatchingPolicy(
      quietMilliseconds: .max, waitMillisecondsMax: .max, rowCountMax: .max)
    let source = session.stream(of: list)
    let batched = session.batched(source, by: policy)
    try await session.waitUntil { batched.count == 2 }
    try await list.child("c").setValue(3)
    try await session.waitUntil { source.count == 3 }
    #expect(batched.count == 2)
    batched.flush()
    #expect(batched.count == 3)
  }

  // MARK: Batches

  @Test func whatOneWriteMakesForManyStreamsIsOneBatch() async throws {
    let session = StreamSession(database, batchesMax: 10)
    let streams = (0..<40).map { _ in session.stream(of: list) }
    try await session.waitUntil { streams.allSatisfy { $0.loadState == .loaded } }
    for number in 0..<10 { try await list.push(number) }
    #expect(try session.drain() == 10)
    #expect(streams.allSatisfy { $0.count == 12 })
    for number in 0..<11 { try await list.push(number) }
    #expect(try session.drain() == 10)
    let error = #expect(throws: DatabaseError.self) { try session.drain() }
    #expect(error?.code == .overflow)
    #expect(streams.allSatisfy { $0.count == 22 })
  }

  @Test func aUnionOfManyStreamsMayWaitForAsManyWritesAsOneStream() async throws {
    let list = list
    var changes = database.changes(batchesMax: 30) { session in
      let streams: [any SectionedStream<Record>] = (0..<20).map { _ in session.stream(of: list) }
      return UnionStream(streams) { $0.key < $1.key }
    }.makeAsyncIterator()
    var count = try await changes.next()?.items.count
    #expect(count == 2)
    for number in 0..<30 { try await list.push(number) }
    while count != 32 {
      guard let change = try await changes.next() else { break }
      count = change.items.count
    }
    #expect(count == 32)
  }

  @Test func closingWithMoreStreamsThanBatchesIsStillClosed() async throws {
    let session = StreamSession(database, batchesMax: 2)
    let streams = (0..<10).map { _ in session.stream(of: list) }
    try await session.waitUntil { streams.allSatisfy { $0.loadState == .loaded } }
    database.close()
    let error = await #expect(throws: DatabaseError.self) { try await session.run() }
    #expect(error?.code == .closed)
    for stream in streams {
      guard case .failed(let failure) = stream.loadState else {
        Issue.record("\(stream.loadState)")
        continue
      }
      #expect(failure.code == DatabaseError.Code.closed.rawValue)
    }
  }
}

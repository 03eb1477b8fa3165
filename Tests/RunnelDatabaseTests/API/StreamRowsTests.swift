import RunnelBase
import RunnelStreams
import RunnelTree
import Synchronization
import TestSupport
import Testing

@testable import RunnelDatabase

/// Pending writes, failures, pages at both ends, and untaken events of a session's streams.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct StreamRowsTests {
  private struct Item: Codable, Sendable {
    var at: Int
  }

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func replica() async throws -> Database {
    let database = try await folder.open()
    try await database.becomeReplica(ofOrigin: "home")
    database.submit(.connectOrigin())
    return database
  }

  // MARK: Pending

  @Test func rowIsPendingUntilTheOriginAnswers() async throws {
    let database = try await replica()
    let list = try database.reference(withPath: "l")
    let session = StreamSession(database)
    let records = session.stream(of: list)
    let items = session.stream(of: list, as: Item.self)
    let receipt = try await list.child("a").setValue(["at": 1])
    while records.items.isEmpty || items.items.isEmpty { try await session.receive() }
    #expect(records.items.map(\.hasPendingWrites) == [true])
    #expect(items.items.map(\.hasPendingWrites) == [true])
    #expect(items.items.first?.at == 1)
    database.submit(.receive(.acknowledged(id: 0)))
    try await receipt.acknowledgement()
    while records.items.first?.hasPendingWrites != false
      || items.items.first?.hasPendingWrites != false
    {
      try await session.receive()
    }
    #expect(items.items.first?.at == 1)
  }

  @Test func nothingIsPendingOnATreeOfItsOwn() async throws {
    let database = try await folder.open()
    let list = try database.reference(withPath: "l")
    let session = StreamSession(database)
    let stream = session.stream(of: list)
    try await list.child("a").setValue(1)
    while stream.items.isEmpty { try await session.receive() }
    #expect(stream.items.map(\.hasPendingWrites) == [false])
  }

  // MARK: Failures

  @Test func failureOfAStreamHasTheCodeOfTheError() async throws {
    let database = try await folder.open()
    let session = StreamSession(database)
    let stream = session.stream(of: try database.reference(withPath: "l"))
    while stream.loadState != .loaded { try await session.receive() }
    database.close()
    while stream.loadState == .loaded { try await session.receive() }
    guard case .failed(let failure) = stream.loadState else {
      Issue.record("\(stream.loadState)")
      return
    }
    #expect(failure.code == DatabaseError.Code.closed.rawValue)
    #expect(DatabaseError(failure).code == .closed)
    #expect("\(failure)" == session.lastFailure?.message)
  }

  @Test func aRefusedWriteOfAListHasACode() async throws {
    let database = try await folder.open()
    let session = StreamSession(database)
    let array = session.syncedArray(of: try database.reference(withPath: "l"))
    let sync = array.sync()
    defer { sync.end() }
    database.close()
    var outcome: WriteOutcome?
    array.append(1) { outcome = $0 }
    while outcome == nil { try await session.receive() }
    guard case .refused(let failure)? = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
    #expect(failure.code == DatabaseError.Code.closed.rawValue)
  }

  // MARK: Pages at both ends

  @Test func oneCallStartsInTheMiddleAndPagesBothWays() async throws {
    let database = try await folder.open()
    let list = try database.reference(withPath: "l")
    try await list.setValue(
      .object((0..<40).map { JSONMember("k\($0)", ["at": .number(JSONNumber(Int64($0)))]) }))
    let session = StreamSession(database)
    let query = try list.queryOrdered(byChild: "at")
    let stream = try session.stream(of: query, as: Item.self, around: 20, count: 3)
    while stream.loadState != .loaded { try await session.receive() }
    #expect(stream.items.compactMap(\.at) == Array(17..<23))
    #expect(Set(stream.pagedEnds) == [.start, .end])
    stream.fetchMore(5, at: .start)
    stream.fetchMore(2, at: .end)
    while stream.items.count < 13 { try await session.receive() }
    #expect(stream.items.compactMap(\.at) == Array(12..<25))
    // All rows are live.
    try await list.child("k12/at").setValue(21.5)
    while stream.items.first?.key == "k12" { try await session.receive() }
    #expect(stream.items.map(\.key).firstIndex(of: "k12") == 9)
  }

  @Test func middleMayBeAKeyAndTheOrderDescending() async throws {
    let database = try await folder.open()
    let list = try database.reference(withPath: "l")
    try await list.setValue(["a": 1, "b": 2, "c": 3, "d": 4, "e": 5])
    let session = StreamSession(database)
    let stream = try session.stream(
      of: try list.queryOrderedByKey(), around: "c", count: 1, isDescending: true)
    while stream.loadState != .loaded { try await session.receive() }
    #expect(stream.items.map(\.key) == ["c", "b"])
    #expect(throws: TreeError.self) {
      try session.stream(of: try list.queryOrderedByKey(), around: 7, count: 1)
    }
  }

  // MARK: Untaken events

  @Test func aForgottenRunIsReported() async throws {
    let database = try await folder.open()
    let clock = ManualClock()
    let told = Mutex<[String]>([])
    let session = StreamSession(database, batchesMax: 9, clock: clock) { text in
      told.withLock { $0.append(text) }
    }
    let stream = session.stream(of: try database.reference(withPath: "l"))
    try await yieldUntil {
      clock.advance(by: .seconds(3))
      return told.withLock { !$0.isEmpty }
    }
    #expect(told.withLock { $0 }.count == 1)
    #expect(told.withLock { $0 }.first?.contains("run()") == true)
    #expect(stream.loadState == .loading)
  }

  @Test func aSessionThatTakesEventsIsNotReported() async throws {
    let database = try await folder.open()
    let clock = ManualClock()
    let told = Mutex(0)
    let session = StreamSession(database, batchesMax: 9, clock: clock) { _ in
      told.withLock { $0 += 1 }
    }
    let stream = session.stream(of: try database.reference(withPath: "l"))
    while stream.loadState != .loaded { try session.drain() }
    clock.advance(by: .seconds(60))
    try await database.reference(withPath: "l").setValue(["a": 1])
    while stream.items.isEmpty { try session.drain() }
    clock.advance(by: .seconds(60))
    for _ in 0..<50 { await Task.yield() }
    #expect(told.withLock { $0 } == 0)
  }
}

import Foundation
import RunnelBase
import RunnelStreams
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// A database on a thread of its own says that its file is gone, without being asked.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct DatabaseLossTests {
  private let deep: DeepDatabase

  init() throws { deep = try DeepDatabase() }

  @Test(arguments: WayToLose.allCases, [false, true])
  func aDatabaseThatIsAskedNothingTellsOnceThatItsFileIsGone(
    way: WayToLose, isReadOnly: Bool
  ) async throws {
    let session = try deep.filledSession()
    let (wakes, continuation) = AsyncStream<Void>.makeStream()
    let inbox = Inbox<DatabaseMessage>(limit: 100) { continuation.yield() }
    let database = try Database(
      file: deep.file, isReadOnly: isReadOnly, inbox: inbox,
      environment: DatabaseEnvironment(now: { 1 }, random: SeededRandom(seed: 1)))
    // It is at rest once it answered.
    database.submit(.get(1, .root))
    var messages: [DatabaseMessage] = []
    for await _ in wakes {
      messages += inbox.drain()
      if !messages.isEmpty { break }
    }
    try way.lose(deep.file)
    for await _ in wakes {
      messages += inbox.drain()
      if messages.contains(where: \.isLoss) { break }
    }
    database.submit(.write(2, .set(.root, 1)))
    while !messages.contains(where: \.isRefusal) {
      for await _ in wakes {
        messages += inbox.drain()
        break
      }
    }
    database.close()
    messages += inbox.drain()
    #expect(messages.count(where: \.isLoss) == 1)
    // A session that asked nothing since then is told when it is closed.
    let error = #expect(throws: DatabaseError.self) { try session.close() }
    #expect(error?.code == .fileGone)
  }

  private func code(_ body: () async throws -> Void) async -> DatabaseError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? DatabaseError)?.code
    }
  }

  @Test(arguments: WayToLose.allCases)
  func everyListenerEndsWithTheErrorThatTheFileIsGone(way: WayToLose) async throws {
    let session = try deep.filledSession()
    let database = try await Database.open(file: deep.file)
    let place = try database.reference(withPath: "b")
    let (failures, continuation) = AsyncStream<DatabaseError>.makeStream()
    place.observe(.value, { _ in }, onFailure: { continuation.yield($0) })
    var values = place.values.makeAsyncIterator()
    #expect(try await values.next() != nil)
    var changes = place.changes().makeAsyncIterator()
    while try await changes.next()?.items.count != 1 {}
    let streams = StreamSession(database)
    let list = streams.stream(of: place)
    try await streams.waitUntil { list.loadState == .loaded }
    place.keepSynced(true)
    // The query is kept once this was answered.
    #expect(await database.listeners().observations == 5)

    try way.lose(deep.file)

    for await failure in failures {
      #expect(failure.code == .fileGone)
      break
    }
    #expect(await code { while try await values.next() != nil {} } == .fileGone)
    #expect(await code { while try await changes.next() != nil {} } == .fileGone)
    #expect(await code { try await streams.waitUntil { list.count == 2 } } == .fileGone)
    // Nor does anything begin.
    #expect(await code { _ = try await place.get() } == .fileGone)
    #expect(await code { for try await _ in place.values {} } == .fileGone)
    #expect(await code { for try await _ in place.changes() {} } == .fileGone)
    // Only the query that is kept is left.
    try await yieldUntil { await database.listeners().observations == 1 }
    database.close()
    // This session was asked nothing.
    _ = try? session.close()
  }

  @Test(arguments: [
    WayToLose.fileDeleted, .fileMovedAway, .fileReplaced, .folderMoved, .folderDeleted,
  ])
  func aReadLooksWhetherTheFileIsThere(way: WayToLose) async throws {
    try deep.filledSession().close()
    let database = try await Database.open(file: deep.file)
    let place = try database.reference(withPath: "b/c")
    #expect(try await place.get().value == 1)
    try way.lose(deep.file)
    // What is open can be saved as a whole.
    #expect(try await JSONValue(parsing: database.exportJSON(place.path)) == 1)
    #expect(try await !database.history().entries.isEmpty)
    // A new database at the same place is another one.
    try FileManager.default.createDirectory(
      atPath: (deep.file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    if way != .fileReplaced {
      let other = try await Database.open(file: deep.file)
      try await other.reference(withPath: "b/c").setValue(2)
      other.close()
    }
    #expect(await code { _ = try await place.get() } == .fileGone)
    #expect(await code { _ = try await place.get(from: .cache) } == .fileGone)
    database.close()
  }

  @Test func aFileThatIsAtItsPlaceAgainIsReadAndObserved() async throws {
    try deep.filledSession().close()
    let database = try await Database.open(file: deep.file)
    let place = try database.reference(withPath: "b/c")
    try await place.setValue(5)
    try WayToLose.fileMovedAway.lose(deep.file)
    #expect(await code { _ = try await place.get() } == .fileGone)
    try FileManager.default.moveItem(atPath: deep.file + ".old", toPath: deep.file)
    // The database looks when it is woken.
    try await yieldUntil(stepsMax: 1_000_000) {
      await code({ _ = try await place.get() }) != .fileGone
    }
    var values = place.values.makeAsyncIterator()
    #expect(try await values.next()?.value == 5)
    try await place.setValue(6)
    #expect(try await values.next()?.value == 6)
    database.close()
  }
}

extension DatabaseMessage {
  fileprivate var isLoss: Bool { if case .fileGone = self { true } else { false } }
  fileprivate var isRefusal: Bool {
    if case .refused(2, let error) = self {
      [.fileGone, .readOnly].contains(error.code)
    } else {
      false
    }
  }
}

import Foundation
import RunnelBase
import RunnelTree
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

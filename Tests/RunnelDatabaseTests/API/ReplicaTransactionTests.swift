import RunnelBase
import Synchronization
import TestSupport
import Testing

@testable import RunnelDatabase
@testable import RunnelTree

/// The ends of transactions on a replica that nobody wants any more.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct ReplicaTransactionTests {
  private let folder: TemporaryFolder
  private let database: Database
  private let place: Reference
  private let sent = SentCommands()
  /// How often the transaction's function was called.
  private let calls = Calls()

  private final class Calls: Sendable {
    private let number = Mutex(0)
    var count: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
  }

  init() async throws {
    folder = try TemporaryFolder()
    let session = try folder.session()
    try session.becomeReplica(ofOrigin: "home")
    try session.close()
    database = try await Database.open(file: folder.file())
    place = try database.reference(withPath: "n")
    await database.sendCommands { [sent] in sent.add($0) }
  }

  private func say(_ messages: OriginMessage...) {
    for message in messages { database.submit(.receive(message)) }
  }

  /// Begins to add one; `n` shows the sum at once.
  private func add() -> Task<Void, any Error> {
    Task { [place, calls] in
      _ = try await place.runTransaction { current in
        calls.add()
        return .success(.number(JSONNumber((try current.decode(Int64?.self) ?? 0) + 1)))
      }
    }
  }

  private func waitUntilShown(_ value: JSONValue) async throws {
    for try await event in place.events(.value) where event.snapshot.value == value { return }
  }

  private var shown: JSONValue {
    get async throws { try await place.get(from: .cache).value }
  }

  /// The origin has nothing at the places that it was asked for.
  private func answerListens() {
    for case .listen(let id, _, _, _) in sent.all { say(.listenComplete(id)) }
  }

  private func connectAndAnswerListens() async {
    database.submit(.connectOrigin())
    _ = await sent.first { if case .listen = $0 { true } else { false } }
    answerListens()
  }

  /// The id under which the next transaction is sent.
  private func sentID() async -> Int64? {
    let command = await sent.first { if case .compareAndSet = $0 { true } else { false } }
    guard case .compareAndSet(let id, _, _, _)? = command else { return nil }
    return id
  }

  private var sentCount: Int {
    sent.all.count { if case .compareAndSet = $0 { true } else { false } }
  }

  @Test func databaseThatIsClosedWhileATransactionWaitsGoesAway() async throws {
    weak var gone: Database?
    do {
      let other = try TemporaryFolder()
      let closing = try await other.open()
      try await closing.becomeReplica(ofOrigin: "home")
      gone = closing
      let counter = try closing.reference(withPath: "n")
      let waiting = Task { try await counter.runTransaction { _ in .success(1) } }
      for try await event in counter.events(.value) where event.snapshot.value == 1 { break }
      closing.close()
      await #expect(throws: DatabaseError.self) { try await waiting.value }
    }
    // What runs on its thread at the end may hold it a moment longer.
    try await yieldUntil { gone == nil }
  }

  @Test func resultThatWaitsInAnotherProgramIsNotComputedWith() async throws {
    let other = try await Database.open(file: folder.file())
    let theirs = Task {
      try await other.reference(withPath: "n").runTransaction { _ in .success(1000) }
    }
    try await waitUntilShown(1000)
    let mine = add()
    await connectAndAnswerListens()
    let command = await sent.first { if case .compareAndSet = $0 { true } else { false } }
    guard case .compareAndSet(let id, _, let json, _)? = command else {
      Issue.record("Nothing was sent.")
      return
    }
    #expect(json == 1)
    say(.acknowledged(id: id))
    try await mine.value
    theirs.cancel()
    _ = await theirs.result
    other.close()
  }

  @Test func cancellingTakesBackWhatWasNotSent() async throws {
    let ended = add()
    try await waitUntilShown(1)
    ended.cancel()
    await #expect(throws: CancellationError.self) { try await ended.value }
    #expect(try await database.pendingWrites().isEmpty)
    #expect(try await shown == .null)
    database.submit(.connectOrigin())
    _ = try await database.pendingWrites()
    answerListens()
    #expect(try await database.pendingWrites().isEmpty)
    #expect(sentCount == 0)
    #expect(calls.count == 1)
  }

  @Test func cancellingOneLeavesTheOthers() async throws {
    let first = add()
    try await waitUntilShown(1)
    let second = add()
    try await waitUntilShown(2)
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(try await shown == 1, "the second is computed again without the first")
    await connectAndAnswerListens()
    let id = try #require(await sentID())
    say(.push(.set(Node(.number(1))), place.path, tag: nil), .acknowledged(id: id))
    try await second.value
    #expect(try await database.pendingWrites().isEmpty)
    #expect(try await shown == 1)
  }

  @Test func whatWasSentMayBeDoneThoughItsTaskIsCancelled() async throws {
    database.submit(.connectOrigin())
    let ended = add()
    let id = try #require(await sentID())
    answerListens()
    ended.cancel()
    await #expect(throws: CancellationError.self) { try await ended.value }
    #expect(try await shown == 1, "it is shown until the origin answers")
    #expect(try await database.pendingWrites().count == 1)
    say(.push(.set(Node(.number(1))), place.path, tag: nil), .acknowledged(id: id))
    #expect(try await database.pendingWrites().isEmpty)
    #expect(try await shown == 1)
  }

  @Test func whatWasSentInVainIsNotComputedAgainForACancelledTask() async throws {
    database.submit(.connectOrigin())
    let ended = add()
    let id = try #require(await sentID())
    answerListens()
    ended.cancel()
    await #expect(throws: CancellationError.self) { try await ended.value }
    say(.push(.set(Node(.number(7))), place.path, tag: nil), .stale(id: id))
    #expect(try await database.pendingWrites().isEmpty)
    #expect(try await shown == 7)
    #expect(calls.count == 1 && sentCount == 1)
  }

  @Test func aTaskThatWasCancelledBeforeBeginsNoTransaction() async throws {
    let ended = Task { [place, calls] in
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await place.runTransaction { _ in
        calls.add()
        return .success(1)
      }
    }
    await #expect(throws: CancellationError.self) { try await ended.value }
    #expect(calls.count == 0)
    #expect(try await database.pendingWrites().isEmpty)
  }

  @Test(arguments: [false, true])
  func purgingGivesUpTransactions(isSent: Bool) async throws {
    if isSent { database.submit(.connectOrigin()) }
    let ended = add()
    let id = isSent ? await sentID() : nil
    #expect((id != nil) == isSent)
    try await waitUntilShown(1)
    let other = try await database.reference(withPath: "m").setValue(2)
    try await database.purgePendingWrites()
    let refused = await #expect(throws: DatabaseError.self) { try await ended.value }
    let given = await #expect(throws: DatabaseError.self) { try await other.acknowledgement() }
    #expect(refused?.code.rawValue == "WRITE_CANCELED")
    #expect(refused?.code == given?.code && refused?.message == given?.message)
    #expect(try await database.pendingWrites().isEmpty)
    #expect(try await shown == .null)
    // What the origin says of it later changes nothing, and nothing is sent again.
    if let id {
      say(.stale(id: id))
    } else {
      database.submit(.connectOrigin())
    }
    #expect(try await database.pendingWrites().isEmpty)
    #expect(calls.count == 1 && sentCount == (isSent ? 1 : 0))
  }
}

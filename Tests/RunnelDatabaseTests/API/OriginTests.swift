import RunnelBase
import RunnelStreams
import Synchronization
import TestSupport
import Testing

@testable import RunnelDatabase
@testable import RunnelTree

/// References on a replica whose origin is the test.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct OriginTests {
  private let folder: TemporaryFolder
  private let database: Database
  private let sent = SentCommands()

  init() async throws {
    folder = try TemporaryFolder()
    let session = try folder.session()
    try session.becomeReplica(ofOrigin: "home")
    try session.close()
    database = try await Database.open(file: folder.file())
    await database.sendCommands { [sent] in sent.add($0) }
  }

  private func say(_ messages: OriginMessage...) {
    for message in messages { database.submit(.receive(message)) }
  }

  private static let refusal = TreeError(.permissionDenied, "Permission denied")

  @Test func aWriteReturnsBeforeTheOriginAnswers() async throws {
    database.submit(.connectOrigin())
    let place = try database.reference(withPath: "a")
    let receipt = try await place.setValue(1)
    #expect(receipt.isPending)
    #expect(try await place.observeSingleEvent(of: .value).snapshot.value == 1)
    #expect(sent.all.first == .write(id: 0, .set(place.path, 1)))
    say(.acknowledged(id: 0))
    try await receipt.acknowledgement()
    #expect(!receipt.isPending)
    try await receipt.acknowledgement()
  }

  @Test func aRefusalIsReportedAfterItsEvents() async throws {
    database.submit(.connectOrigin())
    let place = try database.reference(withPath: "a")
    let log = Mutex<[JSONValue]>([])
    let token = place.observe(.value) { event in log.withLock { $0.append(event.snapshot.value) } }
    defer { token.cancel() }
    let receipt = try await place.setValue(1)
    say(.listenComplete(AskID(1)), .rejected(id: 0, OriginTests.refusal))
    let error = await #expect(throws: DatabaseError.self) { try await receipt.acknowledgement() }
    #expect(error?.code.rawValue == "PERMISSION_DENIED")
    #expect(error?.message == "PERMISSION_DENIED: Permission denied")
    #expect(log.withLock { $0 } == [1, .null])
  }

  @Test func anOriginThatCannotCompareSaysSo() async throws {
    database.submit(.connectOrigin())
    let place = try database.reference(withPath: "a")
    let seen = try await place.get(from: .cache)
    let receipt = try await place.setValue(1, ifUnchangedSince: seen)
    #expect(sent.all.last == .compareAndSet(id: 0, place.path, 1, hash: ""))
    say(.rejected(id: 0, TreeError(.unavailable, "Nothing is compared.")))
    let error = await #expect(throws: DatabaseError.self) { try await receipt.acknowledgement() }
    #expect(error?.code == .unavailable && error?.reason == "Nothing is compared.")
    #expect(try await !place.get(from: .cache).exists)
  }

  @Test func reasonsToStayOfflineCoexist() async throws {
    database.submit(.connectOrigin())
    let info = try database.reference(withPath: "/.info/connected")
    #expect(try await info.get().value == true)
    try await database.goOffline()
    try await database.goOffline(because: "the server said so")
    #expect(try await info.get().value == false)
    let receipt = try await database.reference(withPath: "a").setValue(1)
    #expect(receipt.isPending)
    #expect(try await !database.goOnline())
    database.submit(.connectOrigin())
    #expect(try await info.get().value == false)
    #expect(try await !database.goOnline(because: "nobody said so"))
    #expect(try await database.goOnline(because: "the server said so"))
    database.submit(.connectOrigin())
    #expect(try await info.get().value == true)
    guard case .write(let id, _)? = sent.all.last else {
      Issue.record("the write was not sent: \(sent.all)")
      return
    }
    say(.acknowledged(id: id))
    try await receipt.acknowledgement()
  }

  @Test func aTreeOfItsOwnCannotGoOffline() async throws {
    let own = try await Database.open(file: folder.file("own.db"))
    await #expect(throws: DatabaseError.self) { try await own.goOffline() }
  }

  @Test func whoWentOfflineOnPurposeWaitsForNoConnection() async throws {
    let session = try folder.session("away.db")
    try session.becomeReplica(ofOrigin: "home")
    try session.close()
    // The clock of this one stands still, so that a wait would not end.
    let away = try await folder.open("away.db")
    try await away.goOffline(because: "plane")
    let place = try away.reference(withPath: "a")
    let error = await #expect(throws: DatabaseError.self) { try await place.get() }
    #expect(error?.code == .offline && error?.reason == nil)
    #expect(error?.message.contains("get(from: .cache)") == true)
    away.close()
  }

  @Test func aReadUsesTheRequestedSource() async throws {
    let place = try database.reference(withPath: "a")
    _ = try await place.setValue(1)
    let kept = try await place.get(from: .cache)
    #expect(kept.value == 1 && kept.hasPendingWrites)
    #expect(try await database.reference(withPath: "b").get(from: .cache).exists == false)
    let error = await #expect(throws: DatabaseError.self) { try await place.get(from: .origin) }
    #expect(error?.code.rawValue == "offline")
    database.submit(.connectOrigin())
    say(.acknowledged(id: 0))
    let other = try database.reference(withPath: "c")
    let asked = Task { try await other.get(from: .origin).value }
    try await yieldUntil {
      sent.all.contains { if case .get = $0 { true } else { false } }
    }
    guard case .get(let id, _)? = sent.all.last else { return }
    say(.answer(id: id, Node(.bool(true))))
    #expect(try await asked.value == true)
  }

  @Test func referencesReadQueriesWithSeveralComponentsAndFilters() async throws {
    let own = try await Database.open(file: folder.file("own.db"))
    let list = try own.reference(withPath: "list")
    try await list.setValue([
      "a": ["s": 1, "t": "x"], "b": ["s": 2, "t": "y"], "c": ["s": 2, "t": "x"],
      "d": ["s": 1, "t": "x"],
    ])
    let keys = [
      SortKey(.child(try Path("s")), isDescending: true), SortKey(.key, isDescending: true),
    ]
    let sorted = try list.queryOrdered(by: keys)
    #expect(try await sorted.get().children.map(\.key) == ["c", "b", "d", "a"])
    let filtered = try sorted.queryFiltered(by: ChildPredicate(parsing: #"t == "x""#))
    #expect(try await filtered.queryLimited(toFirst: 2).get().children.map(\.key) == ["c", "d"])
    for try await snapshot in filtered.values {
      #expect(snapshot.children.map(\.key) == ["c", "d", "a"])
      break
    }
  }

  @Test func theCacheIsPrunedOnRequestAndPendingWritesStay() async throws {
    database.connectOrigin()
    let place = try database.reference(withPath: "a")
    let receipt = try await place.setValue(1)
    try await database.pruneCache(toBytes: 0)
    #expect(receipt.isPending)
    #expect(try await place.get(from: .cache).value == 1)
    database.receive(.acknowledged(id: 0))
    try await receipt.acknowledgement()
    let own = try await Database.open(file: folder.file("own.db"))
    await #expect(throws: DatabaseError.self) { try await own.pruneCache() }
    own.close()
  }

  @Test func aTreeOfItsOwnAcknowledgesAtOnce() async throws {
    let own = try await Database.open(file: folder.file("own.db"))
    let receipt = try await own.reference(withPath: "a").setValue(1)
    #expect(!receipt.isPending && receipt.isApplied)
    try await receipt.acknowledgement()
  }

  @Test func waitingEndsWithTheTaskAndWithTheDatabase() async throws {
    let receipt = try await database.reference(withPath: "a").setValue(1)
    let task = Task { try await receipt.acknowledgement() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    database.close()
    let error = await #expect(throws: DatabaseError.self) { try await receipt.acknowledgement() }
    #expect(error?.code == .closed)
  }

  @Test func disconnectWritesAreSentAndRegistered() async throws {
    database.submit(.connectOrigin())
    let here = try database.reference(withPath: "here")
    let set = try await here.onDisconnectSetValue("away", priority: 2)
    try await here.onDisconnectUpdateChildValues(["a": 1])
    try await here.onDisconnectRemoveValue()
    let cancel = try await here.cancelDisconnectOperations()
    #expect(
      sent.all == [
        .onDisconnect(id: 0, .set(here.path, [".value": "away", ".priority": 2])),
        .onDisconnect(id: 1, .update(here.path, [JSONMember("a", 1)])),
        .onDisconnect(id: 2, .set(here.path, .null)),
        .onDisconnect(id: 3, .cancel(here.path)),
      ])
    say(.acknowledged(id: 0), .rejected(id: 3, OriginTests.refusal))
    try await set.acknowledgement()
    await #expect(throws: DatabaseError.self) { try await cancel.acknowledgement() }
  }
}

extension OriginTests {
  @Test func aTransactionEndsWithTheOriginsAnswer() async throws {
    database.submit(.connectOrigin())
    let place = try database.reference(withPath: "n")
    // It runs first on an empty node, and then on the origin's data.
    let ended = Task {
      try await place.runTransaction { current in
        .success(.number(JSONNumber((try current.decode(Int64?.self) ?? 0) + 1)))
      }
    }
    _ = await sent.first { if case .compareAndSet(_, _, 1, _) = $0 { true } else { false } }
    say(.push(.set(Node(.number(7))), place.path, tag: nil), .stale(id: 1))
    _ = await sent.first { if case .compareAndSet(_, _, 8, _) = $0 { true } else { false } }
    say(.push(.set(Node(.number(8))), place.path, tag: nil), .acknowledged(id: 3))
    let result = try await ended.value
    #expect(result.committed && result.snapshot.value == 8)
  }

  @Test func aTransactionThatThrowsOrAbortsWritesNothing() async throws {
    struct Reason: Error {}
    let place = try database.reference(withPath: "n")
    await #expect(throws: Reason.self) { try await place.runTransaction { _ in throw Reason() } }
    #expect(try await place.runTransaction { _ in .abort }.committed == false)
    await #expect(throws: DatabaseError.self) {
      try await database.reference(at: .info).runTransaction { _ in .success(1) }
    }
    #expect(sent.all.isEmpty)
  }

  @Test func aNamedWriteIsDoneOnceOnAReplica() async throws {
    let place = try database.reference(withPath: "n")
    let name = try #require(WriteID(client: "a", number: 1))
    let first = try await place.setValue(1, id: name)
    let second = try await place.setValue(2, id: name)
    #expect(first.isApplied && first.isPending)
    #expect(!second.isApplied && second.isPending)
    database.submit(.connectOrigin())
    say(.acknowledged(id: 0))
    try await first.acknowledgement()
    try await second.acknowledgement()
    let third = try await place.setValue(3, id: name)
    #expect(!third.isApplied && !third.isPending)
    #expect(sent.all == [.write(id: 0, .set(place.path, 1))])
  }

  @Test func theIDOfARefusedWriteCanBeUsedAgain() async throws {
    database.submit(.connectOrigin())
    let place = try database.reference(withPath: "n")
    let name = try #require(WriteID(client: "a", number: 1))
    let increment = ServerValue.increment(1)
    let first = try await place.setValue(increment, id: name)
    let second = try await place.setValue(increment, id: name)
    say(.rejected(id: 0, OriginTests.refusal))
    await #expect(throws: DatabaseError.self) { try await first.acknowledgement() }
    await #expect(throws: DatabaseError.self) { try await second.acknowledgement() }
    let again = try await place.setValue(increment, id: name)
    #expect(again.isApplied && again.isPending)
    say(.acknowledged(id: 1))
    try await again.acknowledgement()
    #expect(try await !place.setValue(increment, id: name).isApplied)
    let writes = sent.all.filter { if case .write = $0 { true } else { false } }
    let json: JSONValue = [".sv": ["increment": 1]]
    #expect(writes == (0...1).map { .write(id: $0, .set(place.path, json)) })
  }

  @Test(arguments: [false, true])
  func aCancelledQuestionEndsAtOnce(isConnected: Bool) async throws {
    if isConnected { database.submit(.connectOrigin()) }
    let place = try database.reference(withPath: "l")
    let asked = Task { try await place.get() }
    try await yieldUntil { await !database.gets.isEmpty }
    asked.cancel()
    await #expect(throws: CancellationError.self) { try await asked.value }
    #expect(await database.gets.isEmpty)
    #expect(try await database.answer { $0.replica?.engine.gets.count } == 0)
    // Messages that arrive nevertheless are ignored.
    say(.answer(id: 0, Node(.bool(true))))
    #expect(try await database.answer { $0.trackedQueries } == [])
    let never = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await place.get()
    }
    await #expect(throws: CancellationError.self) { try await never.value }
  }

  @Test func aSingleReadAsksTheOriginUnlessThereIsAListener() async throws {
    database.submit(.connectOrigin())
    let place = try database.reference(withPath: "l")
    let asked = Task { try await place.get() }
    _ = await sent.first { $0 == .get(id: 0, Query(place.path)) }
    say(.answer(id: 0, try Node(json: ["a": 1])))
    #expect(try await asked.value.value == ["a": 1])
    let token = place.observe(.value) { _ in }
    defer { token.cancel() }
    _ = await sent.first { if case .listen = $0 { true } else { false } }
    say(.push(.set(Node(.bool(true))), place.path, tag: nil))
    #expect(try await place.get().value == true)
    #expect(try await database.reference(withPath: ".info/connected").get().value == true)
    let secret = try database.reference(withPath: "secret")
    let refused = Task { try await secret.get() }
    _ = await sent.first { if case .get(3, _) = $0 { true } else { false } }
    say(.rejected(id: 3, OriginTests.refusal))
    let error = await #expect(throws: DatabaseError.self) { try await refused.value }
    #expect(error?.message == "Permission denied")
  }

  @Test func pendingWritesAreReportedAndKnownToSnapshots() async throws {
    database.submit(.connectOrigin())
    let place = try database.reference(withPath: "l")
    var states = place.pendingStates.makeAsyncIterator()
    let log = Mutex<[Bool]>([])
    let token = place.observe(.added) { event in
      log.withLock { $0.append(event.snapshot.hasPendingWrites) }
    }
    defer { token.cancel() }
    let key = try Key("a")
    _ = await sent.first { if case .listen = $0 { true } else { false } }
    say(.push(.set(try Node(json: ["b": 1])), place.path, tag: nil))
    let receipt = try await place.child("a").setValue(1)
    #expect(try await states.next() == PendingState(children: [key]))
    #expect(log.withLock { $0 } == [false, true])
    #expect(try await place.get().child("a").hasPendingWrites)
    #expect(try await !place.get().child("b").hasPendingWrites)
    say(.acknowledged(id: 0))
    try await receipt.acknowledgement()
    #expect(try await states.next() == PendingState())
    #expect(try await !place.get().hasPendingWrites)
  }

  @Test func aRefusalHasOneCodeAndKeepsItsReasonWhateverIsRefused() async throws {
    database.submit(.connectOrigin())
    let place = try database.reference(withPath: "p")
    let reason = "Only whole places are served."
    let error = TreeError(.unavailable, reason)
    let write = try await place.setValue(1)
    say(.rejected(id: 0, error))
    let rejected = await #expect(throws: DatabaseError.self) { try await write.acknowledgement() }
    let first = Task { try await place.observeSingleEvent(of: .added) }
    _ = await sent.first { if case .listen = $0 { true } else { false } }
    say(.listenRefused(AskID(1), error))
    let cancelled = await #expect(throws: DatabaseError.self) { try await first.value }
    let ended = Task { try await place.runTransaction { _ in .success(2) } }
    let sentIn = await sent.first { if case .compareAndSet = $0 { true } else { false } }
    guard case .compareAndSet(let id, _, _, _) = sentIn else { return }
    say(.rejected(id: id, error))
    let failed = await #expect(throws: DatabaseError.self) { try await ended.value }
    for error in [rejected, cancelled, failed] {
      #expect(error?.code == .unavailable && error?.reason == reason)
      #expect(error.map { StreamFailure($0).message } == error.map { "\($0)" })
    }
    #expect(rejected.map { "\($0)" } == "UNAVAILABLE: \(reason)")
    #expect(
      cancelled.map { "\($0)" } == "unavailable at /p: The service is unavailable: \(reason)")
    #expect(failed.map { "\($0)" } == "unavailable: \(reason)")
  }

  /// Source: tree semantics, section 18.
  @Test(arguments: [
    ("permission_denied", "Client doesn't have permission to access the desired data."),
    (
      "too_big",
      "The data requested exceeds the maximum size that can be accessed with a single request."
    ),
    ("unavailable", "The service is unavailable"),
    ("internal_error", "Permission denied"),
  ])
  func refusalsAreToldInTheWordsThatClientsKnow(status: String, text: String) async throws {
    database.submit(.connectOrigin())
    let place = try database.reference(withPath: "p")
    let error = TreeError(.init(rawValue: status), "Permission denied")

    let write = try await place.setValue(1)
    say(.rejected(id: 0, error))
    let rejected = await #expect(throws: DatabaseError.self) { try await write.acknowledgement() }
    #expect(rejected?.code.rawValue == status.uppercased())
    #expect(rejected?.message == "\(status.uppercased()): Permission denied")

    let first = Task { try await place.observeSingleEvent(of: .added) }
    _ = await sent.first { if case .listen = $0 { true } else { false } }
    say(.listenRefused(AskID(1), error))
    let cancelled = await #expect(throws: DatabaseError.self) { try await first.value }
    #expect(cancelled?.code.rawValue == status.uppercased())
    #expect(cancelled?.message == "\(status) at /p: \(text)")

    let ended = Task { try await place.runTransaction { _ in .success(2) } }
    let sentIn = await sent.first { if case .compareAndSet = $0 { true } else { false } }
    guard case .compareAndSet(let id, _, _, _) = sentIn else { return }
    say(.rejected(id: id, error))
    let failed = await #expect(throws: DatabaseError.self) { try await ended.value }
    #expect(failed?.message == status && failed?.code.rawValue == status.uppercased())
  }

  @Test(arguments: [
    ("set", Write.set(.info, 1)), ("remove", .remove(.info)),
    ("update", .update(.info, [JSONMember("connected", true)])),
    ("setPriority", .update(.info, [JSONMember(".priority", 1)])),
    ("move", .move(from: .info, to: .root)),
  ])
  func writesOfInfoAreRefusedByName(name: String, write: Write) async throws {
    _ = try await database.reference(withPath: "a").setValue(1)
    let error = await #expect(throws: DatabaseError.self) { try await database.perform(write) }
    #expect(error?.code == .refused)
    let text = "\(name) failed = Can't modify data under /.info/"
    #expect(name == "move" || error?.message.contains(text) == true)
  }
}

/// The commands that a database sends.
final class SentCommands: Sendable {
  private let commands = Mutex<[OriginCommand]>([])
  private let lines: AsyncStream<OriginCommand>
  private let added: AsyncStream<OriginCommand>.Continuation

  init() { (lines, added) = AsyncStream<OriginCommand>.makeStream() }

  var all: [OriginCommand] { commands.withLock { $0 } }

  func add(_ more: [OriginCommand]) {
    commands.withLock { $0 += more }
    for command in more { added.yield(command) }
  }

  /// Returns the next command that matches; earlier ones are skipped.
  func first(_ isSought: (OriginCommand) -> Bool) async -> OriginCommand? {
    for await command in lines where isSought(command) { return command }
    return nil
  }
}

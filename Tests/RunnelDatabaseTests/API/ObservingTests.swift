import RunnelBase
import RunnelTree
import Synchronization
import Testing

@testable import RunnelDatabase

/// What handlers are told, and when.
///
/// A write returns after they were told, so nothing waits here.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct ObservingTests {
  private let folder: TemporaryFolder
  private let database: Database
  private let log = EventLog()

  init() async throws {
    folder = try TemporaryFolder()
    database = try await folder.open()
  }

  private func reference(_ path: String) throws -> Reference {
    try database.reference(withPath: path)
  }

  /// Returns when all that was asked for before has been told.
  private func settle() async throws { try await reference("settled").removeValue() }

  // MARK: Order

  @Test func aNewObserverIsToldEveryChildInOrderAndThenTheValue() async throws {
    let list = try reference("l")
    try await list.setValue(["b": 1, "a": 2, "10": 3, "9": 4])
    list.observe(.all, log.handler())
    try await settle()
    #expect(
      log.taken() == [
        "added 9(null)=4", "added 10(9)=3", "added a(10)=2", "added b(a)=1",
        #"value={"9":4,"10":3,"a":2,"b":1}"#,
      ])
  }

  @Test func aLeafAndAnEmptyPlaceAreToldAsValuesOnly() async throws {
    try await reference("leaf").setValue(7)
    try reference("leaf").observe(.all, log.handler())
    try reference("none").observe(.all, log.handler())
    try await settle()
    #expect(log.taken() == ["value=7", "value=null"])
  }

  @Test func oneBatchIsToldInTheOrderOfItsKinds() async throws {
    let list = try reference("l")
    try await list.setValue(["a": 1, "b": 2, "c": 3])
    try list.queryOrderedByValue().observe(.all, log.handler())
    try await settle()
    _ = log.taken()
    try await list.updateChildValues(["a": nil, "b": 9, "d": 0, "c": 3])
    #expect(
      log.taken() == [
        "removed a=1", "added d(null)=0", "moved b(c)=9", "changed b(c)=9",
        #"value={"b":9,"c":3,"d":0}"#,
      ])
  }

  @Test func aWriteThatChangesNothingIsNotTold() async throws {
    try await reference("l").setValue(["a": 1])
    try reference("l").observe(.all, log.handler())
    try await settle()
    _ = log.taken()
    try await reference("l").setValue(["a": 1])
    #expect(log.taken().isEmpty)
  }

  @Test func aFullWindowSlides() async throws {
    let list = try reference("l")
    try await list.setValue(["a": 1, "b": 2, "c": 3])
    try list.queryOrderedByKey().queryLimited(toLast: 2).observe(.all, log.handler())
    try await settle()
    _ = log.taken()
    try await list.child("d").setValue(4)
    try await list.child("a").removeValue()
    #expect(log.taken() == ["removed b=2", "added d(c)=4", #"value={"c":3,"d":4}"#])
  }

  @Test func eventsOfOneBatchGoToAllObserversBeforeTheNextEvent() async throws {
    let list = try reference("l")
    try await list.setValue(["a": 1])
    for name in ["1 ", "2 "] { list.observe([.removed, .added, .value], log.handler(name)) }
    try await settle()
    _ = log.taken()
    try await list.setValue(["b": 2])
    #expect(
      log.taken() == [
        "1 removed a=1", "2 removed a=1", "1 added b(null)=2", "2 added b(null)=2",
        #"1 value={"b":2}"#, #"2 value={"b":2}"#,
      ])
  }

  @Test func deeperPlacesAreToldBeforeThoseAbove() async throws {
    try await database.reference().setValue(["a": ["b": 1, "c": 2], "z": 1])
    for path in ["", "a", "a/b", "a/c", "z"] {
      try reference(path).observe([.value, .changed], log.handler("/\(path) "))
    }
    try await settle()
    _ = log.taken()
    try await reference("a").setValue(["b": 5, "c": 6])
    #expect(
      log.taken() == [
        "/a/b value=5", "/a/c value=6", "/a changed b(null)=5", "/a changed c(b)=6",
        #"/a value={"b":5,"c":6}"#, #"/ changed a(null)={"b":5,"c":6}"#,
        #"/ value={"a":{"b":5,"c":6},"z":1}"#,
      ])
  }

  @Test func onlyTheKindsAskedForAreTold() async throws {
    let list = try reference("l")
    try await list.setValue(["a": 1])
    list.observe(.removed, log.handler("r "))
    list.observe(.changed, log.handler("c "))
    try await list.updateChildValues(["a": 2, "b": 1])
    try await list.removeValue()
    #expect(log.taken() == ["c changed a(null)=2", "r removed a=2", "r removed b=1"])
  }

  @Test func aLaterObserverIsToldTheStateAndOthersHearNothingOfIt() async throws {
    let list = try reference("l")
    try await list.setValue(["a": 1])
    list.observe(.all, log.handler("1 "))
    try await settle()
    _ = log.taken()
    list.observe(.all, log.handler("2 "))
    try await settle()
    #expect(log.taken() == ["2 added a(null)=1", #"2 value={"a":1}"#])
  }

  // MARK: Handlers that write and cancel

  @Test func aHandlerThatWritesIsToldOfItAfterTheOthersWereToldOfTheFirst() async throws {
    let place = try reference("a")
    let log = log
    place.observe(.value) { event in
      log.note("1 " + event.text)
      guard event.snapshot.value == ["x": 2] else { return }
      Task { try await place.setValue(["x": 3]) }
      log.note("1 returns")
    }
    place.observe(.value) { event in
      log.note("2 " + event.text)
      if event.snapshot.value == ["x": 3] { log.note("done") }
    }
    try await place.setValue(["x": 2])
    try await log.wait(for: "done")
    #expect(
      log.taken() == [
        "1 value=null", "2 value=null", #"1 value={"x":2}"#, "1 returns", #"2 value={"x":2}"#,
        #"1 value={"x":3}"#, #"2 value={"x":3}"#, "done",
      ])
  }

  @Test func handlersNeverRunAtOnce() async throws {
    let list = try reference("l")
    let log = log
    for _ in 0..<5 {
      list.observe(.added) { _ in
        log.note("begin")
        log.note("end")
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask { try await list.child("k\(number)").setValue(number) }
      }
      try await group.waitForAll()
    }
    let texts = log.taken()
    #expect(texts.count == 200)
    #expect(texts.enumerated().allSatisfy { $0.element == ($0.offset % 2 == 0 ? "begin" : "end") })
  }

  @Test func aTokenEndsItsOwnObservationAndNoOther() async throws {
    let list = try reference("l")
    let handler = log.handler()
    let tokens = (0..<3).map { _ in list.observe(.value, handler) }
    try await list.setValue(1)
    _ = log.taken()
    tokens[1].cancel()
    tokens[1].cancel()
    #expect(tokens.map(\.isCancelled) == [false, true, false])
    try await list.setValue(2)
    #expect(log.taken() == ["value=2", "value=2"])
    tokens[0].cancel()
    tokens[2].cancel()
    try await list.setValue(3)
    #expect(log.taken().isEmpty)
    #expect(await database.listeners() == (0, false))
  }

  @Test func lettingGoOfATokenEndsNothing() async throws {
    let list = try reference("l")
    _ = list.observe(.value, log.handler())
    try await list.setValue(1)
    #expect(log.taken() == ["value=null", "value=1"])
  }

  @Test func aHandlerMayCancelItselfAndThoseAfterIt() async throws {
    let list = try reference("l")
    let log = log
    let box = TokenBox()
    let first = list.observe(.added) { event in
      log.note("1 " + event.text)
      if event.snapshot.key == "b" { box.cancelAll() }
    }
    let second = list.observe(.added, log.handler("2 "))
    box.add([first, second])
    try await list.setValue(["a": 1, "b": 2, "c": 3])
    #expect(log.taken() == ["1 added a(null)=1", "2 added a(null)=1", "1 added b(a)=2"])
    #expect(await database.listeners() == (0, false))
  }

  @Test func cancellingBeforeTheFirstEventIsHeardByNobody() async throws {
    try await reference("l").setValue(1)
    for _ in 0..<20 {
      let token = try reference("l").observe(.all) { _ in }
      token.cancel()
    }
    #expect(await database.listeners() == (0, false))
  }

  @Test(arguments: 0..<20) func nothingIsToldOnceCancelReturned(round: Int) async throws {
    let list = try reference("l")
    let isCancelled = Flag()
    let token = list.observe(.value) { _ in
      if isCancelled.isSet { Issue.record("told after the cancellation") }
    }
    let writer = Task { for number in 0..<10 { try await list.setValue(number) } }
    for _ in 0..<round { await Task.yield() }
    token.cancel()
    isCancelled.set()
    try await writer.value
  }

  // MARK: Ends

  @Test func closingTellsEveryObserverOnceAndNothingAfter() async throws {
    let list = try reference("l")
    let token = list.observe(.value, log.handler(), onFailure: log.failure("1 "))
    list.observe(.added, log.handler(), onFailure: log.failure("2 "))
    list.observe(.added, log.handler(), onFailure: log.failure("3 ")).cancel()
    list.keepSynced(true)
    try await list.setValue(1)
    database.close()
    try await log.wait(for: "2 failed closed")
    #expect(log.taken() == ["value=null", "value=1", "1 failed closed", "2 failed closed"])
    #expect(token.isCancelled)
    token.cancel()
  }

  /// An observation that came between the two steps of closing was never told.
  @Test func whoBeginsWhileTheDatabaseClosesIsToldToo() async throws {
    let count = 200
    for round in 0..<20 {
      let database = try await folder.open("closing\(round).db")
      let place = try database.reference(withPath: "c")
      let failed = Atomic(0)
      async let closing: Void = { database.close() }()
      let tokens = (0..<count).map { _ in
        place.observe(.value, { _ in }, onFailure: { _ in failed.add(1, ordering: .relaxed) })
      }
      await closing
      // The answers to all requests to listen are submitted before this one's.
      await #expect(throws: DatabaseError.self) { try await place.get() }
      await database.dispatcher.whenDelivered()
      #expect(failed.load(ordering: .relaxed) == count, "round \(round)")
      #expect(!tokens.contains { !$0.isCancelled }, "round \(round)")
    }
  }

  @Test func observingAClosedDatabaseFails() async throws {
    database.close()
    try reference("l").observe(.value, log.handler(), onFailure: log.failure())
    try await log.wait(for: "failed closed")
    #expect(log.taken() == ["failed closed"])
  }

  @Test func whatCannotBeReadFailsWithTheReason() async throws {
    try await reference("l").setValue(["a": 1])
    try FileEditor.execute("UPDATE node SET json = CAST('{' AS BLOB)", in: folder.file())
    try reference("l").observe(.value, log.handler(), onFailure: log.failure())
    try await log.wait(for: "failed corrupt")
    #expect(await database.listeners() == (0, false))
    await #expect(throws: DatabaseError.self) {
      for try await _ in try reference("l").values { Issue.record("nothing can be read") }
    }
    let error = await #expect(throws: DatabaseError.self) { try await reference("l").get() }
    #expect(error?.code == .corrupt)
  }

  @Test func keepingSyncedIsAListenerThatTellsNobody() async throws {
    let list = try reference("l")
    list.keepSynced(true)
    list.keepSynced(true)
    #expect(await database.listeners() == (1, true))
    try await list.setValue(["a": 1])
    try list.queryOrderedByKey().keepSynced(true)
    #expect(await database.listeners() == (2, true))
    list.keepSynced(false)
    #expect(await database.listeners() == (1, true))
    list.keepSynced(false)
    try list.queryOrderedByKey().keepSynced(false)
    #expect(await database.listeners() == (0, false))
  }

  // MARK: Both fronts

  @Test func aDatabaseWithAnInboxIsUsedByReferencesToo() async throws {
    let inbox = Inbox<DatabaseMessage>(limit: 100) {}
    let both = try Database(
      file: folder.file("both.db"), inbox: inbox,
      environment: DatabaseEnvironment(now: { 5 }, random: SeededRandom(seed: 1)))
    let list = try both.reference(withPath: "l")
    both.submit(.listen(ListenerID(1), ListenRequest(query: Query(list.path), events: .added)))
    list.observe(.added, log.handler())
    try await list.child("a").setValue(1)
    both.submit(.write(1, .set(try Path("l/b"), 2)))
    both.close()
    #expect(log.texts.prefix(1) == ["added a(null)=1"])
    let texts = inbox.drain().map { message in
      switch message {
      case .deliveries(let deliveries): deliveries.map(\.event.text).joined(separator: ",")
      case .written(let number, _, _): "written \(number)"
      default: "other"
      }
    }
    #expect(texts == ["added a(null)=1", "added b(a)=2", "written 1"])
  }
}

/// Tokens that a handler cancels.
private final class TokenBox: Sendable {
  private let tokens = Mutex<[ObservationToken]>([])

  func add(_ more: [ObservationToken]) { tokens.withLock { $0 += more } }
  func cancelAll() { for token in tokens.withLock({ $0 }) { token.cancel() } }
}

/// Something that happened, or not yet.
private final class Flag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .acquiring) }
  func set() { value.store(true, ordering: .releasing) }
}

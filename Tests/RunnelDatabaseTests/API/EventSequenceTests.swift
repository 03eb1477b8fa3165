import Foundation
import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct EventSequenceTests {
  private let folder: TemporaryFolder
  private let database: Database
  private let list: Reference

  init() async throws {
    folder = try TemporaryFolder()
    database = try await folder.open()
    list = try database.reference(withPath: "l")
  }

  @Test func eventsAreThoseOfAHandler() async throws {
    try await list.setValue(["a": 1])
    var events = list.events().makeAsyncIterator()
    var texts: [String] = []
    for _ in 0..<2 { texts.append(try #require(try await events.next()).text) }
    try await list.setValue(["b": 2])
    for _ in 0..<3 { texts.append(try #require(try await events.next()).text) }
    #expect(
      texts == [
        "added a(null)=1", #"value={"a":1}"#, "removed a=1", "added b(null)=2", #"value={"b":2}"#,
      ])
  }

  @Test func valuesThatWereNotTakenGiveWayToTheNewest() async throws {
    var values = list.values.makeAsyncIterator()
    #expect(try await values.next()?.value == nil as JSONValue)
    for number in 1...100 { try await list.setValue(number) }
    #expect(try await values.next()?.value == 100)
    try await list.setValue("x")
    #expect(try await values.next()?.value == "x")
  }

  @Test func noEventIsLeftOutWhileBatchesMayWait() async throws {
    var events = list.events(.added, batchesMax: 101).makeAsyncIterator()
    for number in 0..<100 { try await list.push(number) }
    var numbers: [JSONValue] = []
    while numbers.count < 100, let event = try await events.next() {
      numbers.append(event.snapshot.value)
    }
    #expect(numbers == (0..<100).map { .number(JSONNumber(Int64($0))) })
  }

  @Test func moreBatchesThanMayWaitAreAnErrorAfterThoseThatDid() async throws {
    try await list.setValue(["a": 1, "b": 2])
    var events = list.events(.added, batchesMax: 3).makeAsyncIterator()
    for number in 0..<3 { try await list.child("k\(number)").setValue(number) }
    var keys: [String?] = []
    let error = await #expect(throws: DatabaseError.self) {
      while let event = try await events.next() { keys.append(event.snapshot.key) }
    }
    #expect(error?.code == .overflow)
    // The present state is one batch, however large.
    #expect(keys == ["a", "b", "k0", "k1"])
    #expect(try await events.next() == nil)
    #expect(await database.listeners() == (0, false))
  }

  @Test func leavingALoopEndsItsObservation() async throws {
    try await list.setValue(1)
    for try await snapshot in list.values where snapshot.exists { break }
    for try await _ in list.events(.value) { break }
    #expect(await database.listeners() == (0, false))
  }

  @Test func eachIteratorObservesByItself() async throws {
    let values = list.values
    var first: DataValues.Iterator? = values.makeAsyncIterator()
    var second: DataValues.Iterator? = values.makeAsyncIterator()
    #expect(await database.listeners() == (2, true))
    #expect(try await first?.next() != nil)
    first = nil
    #expect(await database.listeners() == (1, true))
    #expect(try await second?.next() != nil)
    second = nil
    #expect(await database.listeners() == (0, false))
  }

  @Test func aSequenceThatNobodyIteratesObservesNothing() async throws {
    _ = list.values
    _ = list.events()
    #expect(await database.listeners() == (0, false))
  }

  @Test func cancellingTheTaskEndsTheLoopWithoutAnError() async throws {
    let (started, start) = AsyncStream<Void>.makeStream()
    let list = list
    let tasks = [
      Task { for try await _ in list.values { start.yield() } },
      Task { for try await _ in list.events() { start.yield() } },
    ]
    var count = 0
    for await _ in started {
      count += 1
      if count == 2 { break }
    }
    for task in tasks { task.cancel() }
    for task in tasks { try await task.value }
    #expect(await database.listeners() == (0, false))
  }

  /// The system tells of a cancellation with a lock held that whoever gives an element takes too.
  @Test func aReaderThatIsCancelledWhileItIsToldBlocksNobody() async throws {
    let list = list
    try await list.setValue(["a": 1])
    for round in 0..<500 {
      let reader: Task<Void, any Error> =
        switch round % 3 {
        case 0: Task.detached { for try await _ in list.values {} }
        case 1: Task.detached { for try await _ in list.events() {} }
        default: Task.detached { _ = try await list.observeSingleEvent(of: .value) }
        }
      let writer = Task.detached { try await list.child("b").setValue(round) }
      for _ in 0..<(round % 50) { await Task.yield() }
      reader.cancel()
      _ = await reader.result
      _ = try await writer.value
    }
  }

  /// The thread that tells need not have done so for a reader to leave.
  @Test func aSequenceEndsWhileItIsTold() throws {
    let observation = Observation(
      id: ListenerID(-1), query: list.databaseQuery, sink: .nobody, onFailure: { _ in })
    let ended = DispatchSemaphore(value: 0)
    observation.tell {
      Thread.detachNewThread { if observation.endWithoutWaiting() { ended.signal() } }
      #expect(ended.wait(timeout: .now() + 30) == .success)
    }
    observation.tell { Issue.record("the observation has ended") }
  }

  @Test func aTaskThatIsCancelledAlreadyGetsNothing() async throws {
    try await list.setValue(["a": 1, "b": 2])
    let list = list
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      for try await _ in list.events() { Issue.record("the task was cancelled") }
      for try await _ in list.values { Issue.record("the task was cancelled") }
    }
    try await task.value
    #expect(await database.listeners() == (0, false))
  }

  @Test func closingEndsSequencesWithAnError() async throws {
    var values = list.values.makeAsyncIterator()
    var events = list.events().makeAsyncIterator()
    try await list.setValue(["a": 1])
    #expect(try await values.next()?.value == ["a": 1])
    database.close()
    let error = await #expect(throws: DatabaseError.self) { try await values.next() }
    #expect(error?.code == .closed)
    var texts: [String] = []
    await #expect(throws: DatabaseError.self) {
      while let event = try await events.next() { texts.append(event.text) }
    }
    #expect(texts == ["value=null", "added a(null)=1", #"value={"a":1}"#])
  }

  @Test func aSingleEventIsTheFirstOfItsKind() async throws {
    try await list.setValue(["a": 1, "b": 2])
    #expect(try await list.observeSingleEvent(of: .added).text == "added a(null)=1")
    #expect(try await list.observeSingleEvent(of: .value).text == #"value={"a":1,"b":2}"#)
    let list = list
    let removed = Task { try await list.observeSingleEvent(of: .removed) }
    try await yieldUntil { await database.listeners().observations != 0 }
    try await list.child("b").removeValue()
    #expect(try await removed.value.text == "removed b=2")
    #expect(await database.listeners() == (0, false))
  }

  @Test func aSingleEventThatIsCancelledThrows() async throws {
    let list = list
    let task = Task { try await list.observeSingleEvent(of: .removed) }
    try await yieldUntil { await database.listeners().observations != 0 }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(await database.listeners() == (0, false))
  }
}

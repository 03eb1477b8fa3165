import Dispatch
import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// Many tasks on one database, and two databases on one file, as two processes would have.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct SharedFileTests {
  private let folder: TemporaryFolder
  private let first: Database
  private let second: Database

  init() async throws {
    folder = try TemporaryFolder()
    first = try await folder.open()
    second = try await folder.open()
  }

  @Test func whatOneWritesTheOtherIsTold() async throws {
    let here = try first.reference(withPath: "l")
    var there = try second.reference(withPath: "l").values.makeAsyncIterator()
    #expect(try await there.next()?.exists == false)
    for number in 0..<20 {
      try await here.setValue(number)
      #expect(try await there.next()?.value == .number(JSONNumber(Int64(number))))
    }
  }

  @Test func whatOneWroteTheOtherReadsAtOnce() async throws {
    for number in 0..<20 {
      try await first.reference(withPath: "n").setValue(number)
      #expect(
        try await second.reference(withPath: "n").get().value
          == .number(JSONNumber(Int64(number))))
    }
  }

  @Test func incrementsOfManyTasksAndTwoDatabasesAllCount() async throws {
    let counters = try [first, second].map { database throws(TreeError) in
      try database.reference(withPath: "n")
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<100 {
        let counter = counters[number % 2]
        group.addTask { try await counter.setValue(ServerValue.increment(1)) }
      }
      try await group.waitForAll()
    }
    #expect(try await counters[0].get().value == 100)
  }

  @Test func transactionsOfManyTasksAndTwoDatabasesAllCount() async throws {
    let counters = try [first, second].map { database throws(TreeError) in
      try database.reference(withPath: "n")
    }
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<100 {
        let counter = counters[number % 2]
        group.addTask {
          try await counter.runTransaction { current in
            .success((try current.decode(Int?.self) ?? 0) + 1)
          }.committed
        }
      }
      for try await committed in group { #expect(committed) }
    }
    #expect(try await counters[0].get().value == 100)
  }

  @Test func childrenPushedByManyTasksAreToldOnceEach() async throws {
    let list = try first.reference(withPath: "l")
    let log = EventLog()
    list.observe(.added) { log.note($0.snapshot.key ?? "") }
    try await withThrowingTaskGroup(of: Reference.self) { group in
      for number in 0..<100 { group.addTask { try await list.push(number) } }
      for try await _ in group {}
    }
    let keys = try await list.get().children.compactMap(\.key)
    #expect(keys.count == 100)
    #expect(log.taken().sorted() == keys)
  }

  @Test func writesOfOneTaskKeepTheirOrder() async throws {
    let place = try first.reference(withPath: "n")
    let log = EventLog()
    place.observe(.value) { log.note($0.snapshot.value.jsonText()) }
    for number in 0..<50 { try await place.setValue(number) }
    #expect(log.taken() == ["null"] + (0..<50).map(String.init))
  }

  @Test func manyTasksObserveAndCancelWhileOthersWrite() async throws {
    let list = try first.reference(withPath: "l")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<50 {
        group.addTask { try await list.child("k\(number % 7)").setValue(number) }
        group.addTask {
          let token = list.observe(.all) { _ in }
          _ = try await list.get()
          token.cancel()
        }
        group.addTask { for try await _ in list.values { break } }
      }
      try await group.waitForAll()
    }
    #expect(await first.listeners() == (0, false))
    #expect(try await list.get().childrenCount == 7)
  }

  @Test func whatOthersWriteWaitsInTheFileWhileHandlersAreBehind() async throws {
    let here = try first.reference(withPath: "l")
    let log = EventLog()
    let gate = DispatchSemaphore(value: 0)
    here.observe(.added) { event in
      if event.snapshot.key == "hold" { gate.wait() }
      log.note(event.snapshot.key ?? "")
    }
    _ = try await here.get()
    let hold = Task { try await here.child("hold").setValue(1) }
    try await yieldUntil(stepsMax: 1_000_000) { try await here.get().hasChild("hold") }
    for _ in 0..<EventDispatcher.batchesMax { first.dispatcher.deliver([]) }
    let waiting = first.dispatcher.waiting
    for number in 0..<20 { try await second.reference(withPath: "l/k\(number)").setValue(1) }
    #expect(await first.look())
    #expect(first.dispatcher.waiting == waiting)
    gate.signal()
    _ = try await hold.value
    // This write tells what others wrote before it.
    try await here.child("last").setValue(1)
    #expect(log.texts.count == 22)
    #expect(log.texts.last == "last")
    #expect(!first.dispatcher.isFull)
  }

  @Test func aDatabaseThatNobodyRefersToGoesAway() async throws {
    weak var gone: Database?
    do {
      let database = try await folder.open()
      try await database.reference(withPath: "a").setValue(1)
      gone = database
    }
    // What runs on its thread at the end may hold it a moment longer.
    try await yieldUntil { gone == nil }
  }
}

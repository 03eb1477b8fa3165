import RunnelDatabase
import Synchronization
import Testing

@testable import RunnelClient

/// What wakes the tree's thread.
@Suite struct SocketHandoverTests {
  private final class Wakes: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .sequentiallyConsistent) }
    func add() { count.add(1, ordering: .sequentiallyConsistent) }
  }

  private let wakes = Wakes()

  private func handover() -> SocketHandover { SocketHandover { [wakes] _ in wakes.add() } }

  private static func text(_ event: SocketHandover.Event) -> String {
    switch event {
    case .opened: "opened"
    case .received(let text): String(decoding: text, as: UTF8.self)
    case .heard: "heard"
    case .closed(let reason): "closed: \(reason)"
    }
  }

  @Test func signOfLifeWakesNobodyUnlessItIsAwaited() {
    let handover = handover()
    handover.heard()
    handover.heard()
    #expect(wakes.value == 0)
    #expect(handover.next().map(SocketHandoverTests.text) == ["heard"])
    #expect(handover.next().isEmpty)
    handover.wakesWhenHeard = true
    handover.heard()
    #expect(wakes.value == 1)
    #expect(handover.next().map(SocketHandoverTests.text) == ["heard"])
  }

  @Test func whatIsReceivedAfterASignOfLifeWakes() {
    let handover = handover()
    handover.heard()
    handover.received(Array("a".utf8))
    handover.received(Array("b".utf8))
    #expect(wakes.value == 1)
    #expect(handover.next().map(SocketHandoverTests.text) == ["heard", "a", "b"])
    handover.closed("gone")
    #expect(wakes.value == 2)
    #expect(handover.next().map(SocketHandoverTests.text) == ["closed: gone"])
  }

  @Test func whatIsLeftBehindWakesAgain() {
    let handover = handover()
    for number in 0..<300 { handover.received(Array("\(number)".utf8)) }
    #expect(wakes.value == 1)
    let first = handover.next()
    #expect(wakes.value == 2)
    #expect((first + handover.next()).map(SocketHandoverTests.text) == (0..<300).map { "\($0)" })
    #expect(wakes.value == 2)
  }

  @Test func earlierDeadlineReplacesTheTimerAndALaterOneKeepsIt() async throws {
    let executor = try TreeExecutor(label: "test")
    let (calls, continuation) = AsyncStream.makeStream(of: Int.self)
    executor.submit {
      var timer = LinkTimer(on: executor)
      for time in (1...20).reversed() {
        timer.set(Int64(time), now: 0) { continuation.yield(time) }
      }
      timer.set(2, now: 0) { continuation.yield(-1) }
    }
    // The timer goes on until it is stopped, and outlasts those that it replaced.
    var times: [Int] = []
    for await time in calls {
      times.append(time)
      if times.count == 40 { break }
    }
    #expect(times.allSatisfy { $0 == 1 }, "\(times)")
  }
}

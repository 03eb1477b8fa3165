import RunnelBase
@testable import RunnelServer
import TestSupport
import Testing

/// Those who wait take turns, and the greedy give way.
@Suite struct FairQueueTests {
  @Test func membersTakeTurns() {
    var queue = FairQueue<String>(countMax: 10)
    for text in ["a1", "a2", "a3", "b1", "c1", "b2"] {
      guard case .taken = queue.add(text, of: String(text.prefix(1))) else {
        Issue.record("\(text) is not taken")
        continue
      }
    }
    var order: [String] = []
    while let next = queue.next() { order.append(next) }
    #expect(order == ["a1", "b1", "c1", "a2", "b2", "a3"])
    #expect(queue.count == 0)
  }

  @Test func whoHasTheMostGivesWayWhenItIsFull() {
    var queue = FairQueue<String>(countMax: 3)
    for number in 1...3 { _ = queue.add("a\(number)", of: "a") }
    guard case .refused = queue.add("a4", of: "a") else {
      Issue.record("a4 is taken")
      return
    }
    guard case .replaced("a3") = queue.add("b1", of: "b") else {
      Issue.record("b1 does not come for a3")
      return
    }
    // Now one has two, and the other would have two too.
    guard case .refused = queue.add("b2", of: "b") else {
      Issue.record("b2 is taken")
      return
    }
    #expect([queue.next(), queue.next(), queue.next(), queue.next()] == ["a1", "b1", "a2", nil])
  }

  @Test(arguments: Seeds.first(20)) func nobodyIsForgotten(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var queue = FairQueue<Int>(countMax: 8)
    var waiting: Set<Int> = []
    for number in 0..<500 {
      if Bool.random(using: &random) {
        switch queue.add(number, of: "\(Int.random(in: 0..<4, using: &random))") {
        case .taken: waiting.insert(number)
        case .refused: break
        case .replaced(let other):
          waiting.insert(number)
          #expect(waiting.remove(other) != nil, "seed \(seed)")
        }
      } else if let next = queue.next() {
        #expect(waiting.remove(next) != nil, "seed \(seed)")
      } else {
        #expect(waiting.isEmpty, "seed \(seed)")
      }
      #expect(queue.count == waiting.count, "seed \(seed)")
      #expect(queue.count <= 8, "seed \(seed)")
    }
  }
}

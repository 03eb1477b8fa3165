import RunnelBase
import TestSupport
import Testing

@testable import RunnelTree

/// Which writes wait for which answers, against a list that is gone through from its beginning.
@Suite struct BacklogTests {
  private struct Naive {
    var awaited: [AskID: Path]
    var held: [(id: Int64, places: [Path])] = []

    private func meets(_ left: Path, _ right: Path) -> Bool {
      left.contains(right) || right.contains(left)
    }

    private func waits(_ places: [Path], behind earlier: [(id: Int64, places: [Path])]) -> Bool {
      let blocking = Array(awaited.values) + earlier.flatMap(\.places)
      return places.contains { place in blocking.contains { meets($0, place) } }
    }

    mutating func admit(_ id: Int64, _ places: [Path]) -> Bool {
      if !waits(places, behind: held) { return true }
      held.append((id, places))
      return false
    }

    mutating func takeReady() -> [Int64] {
      var (ready, left): ([Int64], [(id: Int64, places: [Path])]) = ([], [])
      for write in held {
        if waits(write.places, behind: left) { left.append(write) } else { ready.append(write.id) }
      }
      held = left
      return ready
    }
  }

  @Test(arguments: Seeds.first(200))
  func aWriteWaitsForWhatItMeetsAndNothingElse(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let places = try ["", "a", "a/b", "a/c", "b", "b/c", "c"].map { try Path($0) }
    var writes: [Int64: [Path]] = [:]
    for id in 0..<Int64(random.number(0..<5)) { writes[id] = [random.pick(places)] }
    var asks: [AskID: Path] = [:]
    for number in 0..<Int64(random.number(0..<4)) { asks[AskID(number)] = random.pick(places) }
    var backlog = Backlog(awaiting: asks, holding: writes.keys.sorted())
    var naive = Naive(awaited: asks, held: writes.keys.sorted().map { ($0, writes[$0] ?? []) })
    for step in 0..<Int64(12) {
      let (ready, expected) = (backlog.takeReady { writes[$0] }, naive.takeReady())
      #expect(ready == expected, "seed \(seed)")
      #expect(backlog.held == naive.held.map(\.id), "seed \(seed)")
      switch random.number(0..<4) {
      case 0:
        asks = asks.filter { _ in random.chance(60) }
        naive.awaited = asks
        backlog.keepWaiting(for: Set(asks.keys))
      case 1 where !naive.held.isEmpty:
        let gone = naive.held.remove(at: random.number(0..<naive.held.count))
        writes[gone.id] = nil
        backlog.review()
      default:
        let changed = (0..<random.number(1..<3)).map { _ in random.pick(places) }
        writes[100 + step] = changed
        let isSent = backlog.admit(100 + step, changed)
        let isExpected = naive.admit(100 + step, changed)
        #expect(isSent == isExpected, "seed \(seed)")
      }
    }
  }
}

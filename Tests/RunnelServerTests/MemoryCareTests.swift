@testable import RunnelServer
import Testing

/// Memory that is not needed any more is given back, and nothing is given back twice.
@Suite struct MemoryCareTests {
  private let much = TrimPlan.spareBytesMax + 1

  private func decisions(_ spare: Int...) -> [Bool] {
    var plan = TrimPlan()
    return spare.map { plan.isDue(spareBytes: $0) }
  }

  @Test func whatIsSpareAtTwoLooksIsGivenBackOnce() {
    #expect(decisions(much, much, much, much) == [false, true, false, false])
    #expect(decisions(0, much, 10, much, 10) == Array(repeating: false, count: 5))
    #expect(decisions(much, TrimPlan.spareBytesMax) == [false, false])
  }

  @Test func whatWasUsedAgainIsGivenBackAgain() {
    #expect(decisions(much, much, 0, much, much) == [false, true, false, false, true])
    #expect(decisions(much, much, 2 * much, 2 * much + 1) == [false, true, false, true])
  }
}

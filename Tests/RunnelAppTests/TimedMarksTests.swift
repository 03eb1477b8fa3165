import RunnelBase
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct TimedMarksTests {
  @Test(arguments: 0..<20 as Range<UInt64>)
  func marksEndWhenTheirTimeHasCome(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var marks = TimedMarks()
    var oracle: [String: Int64] = [:]
    var now: Int64 = 0
    for _ in 0..<5000 {
      now += Int64.random(in: 0...3, using: &random)
      if Int.random(in: 0..<3, using: &random) > 0 {
        let id = "\(Int.random(in: 0..<50, using: &random))"
        marks.mark(id, until: now + 100)
        oracle[id] = now + 100
      }
      marks.end(at: now)
      oracle = oracle.filter { $0.value > now }
      #expect(marks.ids == Set(oracle.keys), "seed \(seed)")
      #expect(marks.isEmpty == oracle.isEmpty, "seed \(seed)")
      if let next = oracle.values.min() { #expect(marks.nextEnd.map { $0 <= next } == true) }
    }
    marks.end(at: now + 100)
    #expect(marks.isEmpty && marks.nextEnd == nil)
  }
}

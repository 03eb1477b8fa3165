import RunnelBase
import TestSupport
import Testing

@testable import RunnelStreams

@Suite struct SourceOrderTests {
  private func entry(_ number: Int) -> RowObject { RowBox(TestRow("\(number)")) }

  private func ascends(_ order: SourceOrder) -> Bool {
    let labels = order.rows.map(\.label)
    return zip(labels, labels.dropFirst()).allSatisfy(<)
  }

  @Test func labelsAscendWhereverRowsAlwaysComeTo() {
    let places: [(Int) -> Int] = [
      { _ in 0 }, { $0 }, { $0 / 2 }, { min($0, 1) }, { max(0, $0 - 1) },
    ]
    for place in places {
      var order = SourceOrder((0..<10).map(entry))
      for number in 0..<600 {
        let gap = place(order.rows.count)
        order.apply(
          removing: [], inserting: [.init(gap: gap, item: entry(number))], replacing: [])
        #expect(order.rows[gap].id == "\(number)")
      }
      #expect(ascends(order))
      #expect(order.rows.enumerated().allSatisfy { order.index(of: $1) == $0 })
    }
  }

  @Test func labelsAscendAfterRandomEdits() {
    for seed in Seeds.first(20) {
      var random = SeededRandom(seed: seed)
      var order = SourceOrder()
      var number = 0
      for _ in 0..<60 {
        var gaps = (0..<Int.random(in: 0...40, using: &random)).map { _ in
          Bool.random(using: &random)
            ? order.rows.count / 2 : Int.random(in: 0...order.rows.count, using: &random)
        }
        gaps.sort()
        number += gaps.count
        let kinds = order.rows.map { _ in Int.random(in: 0..<4, using: &random) }
        let renewed = kinds.indices.filter { kinds[$0] == 1 }.map { gap in
          RowEdit<RowObject>.Insertion(gap: gap, item: entry(-gap))
        }
        order.apply(
          removing: kinds.indices.filter { kinds[$0] == 0 },
          inserting: gaps.enumerated().map { .init(gap: $1, item: entry(number + $0)) },
          replacing: renewed)
        let isAscending = ascends(order)
        #expect(isAscending, "seed \(seed)")
      }
    }
  }

  @Test func rowInThePlaceOfAnotherHasItsLabel() {
    var order = SourceOrder((0..<3).map(entry))
    let (new, label) = (entry(7), order.rows[1].label)
    order.apply(removing: [0], inserting: [], replacing: [.init(gap: 1, item: new)])
    #expect(order.rows.map(\.id) == ["7", "2"])
    #expect(new.label == label)
  }
}

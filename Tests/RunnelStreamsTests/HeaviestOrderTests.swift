import RunnelBase
import Testing

@testable import RunnelStreams

@Suite struct HeaviestOrderTests {
  @Test func keepsTheHeaviestAscendingElementsOfEveryShortSequence() {
    for permutation in permutations(of: [0, 1, 2, 3, 4]) {
      for weights in [[1, 1, 1, 1, 1], [5, 1, 1, 1, 1], [1, 2, 4, 2, 1], [3, 1, 4, 1, 5]] {
        let keeps = HeaviestOrder.keeping(ranks: permutation, weights: weights)
        let kept = permutation.indices.filter { keeps[$0] }
        #expect(zip(kept, kept.dropFirst()).allSatisfy { permutation[$0] < permutation[$1] })
        #expect(kept.reduce(0) { $0 + weights[$1] } == best(permutation, weights))
      }
    }
  }

  @Test func keepsNothingOfNothing() {
    #expect(HeaviestOrder.keeping(ranks: [], weights: []) == [])
  }

  private func permutations(of elements: [Int]) -> [[Int]] {
    if elements.isEmpty { return [[]] }
    return elements.flatMap { first in
      permutations(of: elements.filter { $0 != first }).map { [first] + $0 }
    }
  }

  private func best(_ ranks: [Int], _ weights: [Int]) -> Int {
    var best = 0
    for set in 0..<(1 << ranks.count) {
      let chosen = ranks.indices.filter { set & (1 << $0) != 0 }
      let ascends = zip(chosen, chosen.dropFirst()).allSatisfy { ranks[$0] < ranks[$1] }
      if ascends { best = max(best, chosen.reduce(0) { $0 + weights[$1] }) }
    }
    return best
  }
}

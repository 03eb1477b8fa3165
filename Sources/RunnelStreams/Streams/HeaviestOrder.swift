/// Chooses elements of a sequence to keep, so that they ascend and their weight is as large as
/// possible.
///
/// With equal weights the result is the longest increasing subsequence; all other elements must
/// move.
enum HeaviestOrder {
  /// Chooses the elements to keep, in O(n log n).
  ///
  /// - Parameters:
  ///   - ranks: the elements; all different, in any range.
  ///   - weights: the value of keeping each element; positive.
  /// - Returns: for each element, whether it is kept.
  static func keeping(ranks: [Int], weights: [Int]) -> [Bool] {
    var compressed = Array(repeating: 0, count: ranks.count)
    let order = ranks.indices.sorted { ranks[$0] < ranks[$1] }
    for (rank, index) in order.enumerated() { compressed[index] = rank }
    return keeping(permutation: compressed, weights: weights)
  }

  /// Chooses the elements to keep of a permutation of the numbers from 0, in O(n log n).
  static func keeping(permutation ranks: [Int], weights: [Int]) -> [Bool] {
    precondition(ranks.count == weights.count, "Each element has a weight.")
    if zip(ranks, ranks.dropFirst()).allSatisfy({ $0 < $1 }) {
      return Array(repeating: true, count: ranks.count)
    }
    var best = PrefixMaximum(count: ranks.count)
    var previous: [Int?] = []
    var end: PrefixMaximum.Entry?
    for (index, rank) in ranks.enumerated() {
      let before = best.maximum(below: rank)
      previous.append(before?.index)
      let entry = PrefixMaximum.Entry(weight: weights[index] + (before?.weight ?? 0), index: index)
      best.insert(entry, at: rank)
      if entry.weight > (end?.weight ?? 0) { end = entry }
    }
    var keeps = Array(repeating: false, count: ranks.count)
    var next = end?.index
    while let index = next {
      keeps[index] = true
      next = previous[index]
    }
    return keeps
  }

  /// The heaviest entry below a rank, in O(log n): a binary indexed tree (Fenwick, 1994).
  private struct PrefixMaximum {
    struct Entry {
      var weight: Int
      var index: Int
    }

    private var nodes: [Entry?]

    init(count: Int) { nodes = Array(repeating: nil, count: count + 1) }

    func maximum(below rank: Int) -> Entry? {
      var (node, result) = (rank, Entry?.none)
      while node > 0 {
        if let entry = nodes[node], entry.weight > (result?.weight ?? 0) { result = entry }
        node &= node - 1
      }
      return result
    }

    mutating func insert(_ entry: Entry, at rank: Int) {
      var node = rank + 1
      while node < nodes.count {
        if entry.weight > (nodes[node]?.weight ?? 0) { nodes[node] = entry }
        node += node & -node
      }
    }
  }
}

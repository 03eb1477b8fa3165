import RunnelStorage

/// The heads of split nodes that were read in a transaction, and the nodes that were met in rows, whose heads
/// may be asked for next: they are read together.
struct SplitHeads {
  /// The most heads of one statement.
  private static let groupMax = 512
  private static let countMax = 4096

  private var known: [Int64: SplitHead?] = [:]
  /// The nodes that were met and not read, the newest last; some may be read since.
  private var met: [Int64] = []
  private var unread: Set<Int64> = []

  /// What is known of a head: the head, that there is none (`.some(nil)`), or nothing.
  subscript(split: Int64) -> SplitHead?? { known[split] }

  mutating func note(_ head: SplitHead?, of split: Int64) {
    if known.count >= SplitHeads.countMax { known = [:] }
    known[split] = .some(head)
    unread.remove(split)
  }

  /// Notes a split node whose head may be asked for.
  mutating func meet(_ split: Int64) {
    if known[split] != nil || unread.contains(split) { return }
    if met.count >= SplitHeads.countMax { (met, unread) = ([], []) }
    met.append(split)
    unread.insert(split)
  }

  /// Takes a node that was met, with others that were met after it; empty if it was not met.
  mutating func takeMet(with split: Int64) -> [Int64] {
    guard unread.contains(split), let start = met.firstIndex(of: split) else { return [] }
    let end = min(start + SplitHeads.groupMax, met.count)
    let taken = met[start..<end].filter(unread.contains)
    met.removeSubrange(start..<end)
    unread.subtract(taken)
    return taken
  }

  /// Forgets a head that is changed.
  mutating func forget(_ split: Int64) { known[split] = nil }
}

package import RunnelTree

/// The advice from the reads of one connection: each index once, with the largest number of
/// children read.
///
/// Only the thread of the connection uses it.
package final class AdviceLog {
  /// The most indexes that are remembered; further ones are dropped.
  private static let countMax = 64

  private var advice: [IndexAdvice] = []

  package init() {}

  package func note(_ new: IndexAdvice) {
    if let index = advice.firstIndex(where: { $0.definition == new.definition }) {
      advice[index].scannedCount = max(advice[index].scannedCount, new.scannedCount)
    } else if advice.count < AdviceLog.countMax {
      advice.append(new)
    }
  }

  /// Removes and returns the advice, in the order in which it was noted.
  package func take() -> [IndexAdvice] {
    defer { advice = [] }
    return advice
  }
}

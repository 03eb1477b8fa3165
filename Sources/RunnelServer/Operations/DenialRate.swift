import Synchronization

/// The bound of lines about denials, which a client could cause without end.
final class DenialRate: Sendable {
  /// The most lines in a second.
  static let linesPerSecond = 100

  /// The present second, its number of lines, and the number of lines that were left out since the last one.
  private let state = Mutex((second: Int64(0), lineCount: 0, leftOutCount: 0))

  /// The number of lines that were left out before this one; nil if this one is left out too.
  func takeLine(second: Int64) -> Int? {
    state.withLock { state in
      if state.second != second { (state.second, state.lineCount) = (second, 0) }
      if state.lineCount >= DenialRate.linesPerSecond {
        state.leftOutCount += 1
        return nil
      }
      state.lineCount += 1
      defer { state.leftOutCount = 0 }
      return state.leftOutCount
    }
  }
}

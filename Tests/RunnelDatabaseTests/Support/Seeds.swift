import Foundation

/// The seeds of a random test.
enum Seeds {
  /// More of them than a suite runs by itself, by `RUNNEL_SEEDS`.
  private static let more =
    ProcessInfo.processInfo.environment["RUNNEL_SEEDS"].flatMap(UInt64.init) ?? 0

  /// The first `count`, or as many as are asked for, and those that once failed, which are kept for ever.
  static func first(_ count: UInt64, kept: [UInt64] = []) -> [UInt64] {
    let all = max(count, more)
    return Array(0..<all) + kept.filter { $0 >= all }
  }
}

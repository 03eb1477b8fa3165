import Glibc

/// The pauses between attempts: 10 ms, doubling to 1 s, each by chance up to a half shorter.
package struct RetryPause {
  private static let milliseconds = 10...1000

  private var next = milliseconds.lowerBound

  package init() {}

  /// Blocks the thread for the next pause.
  package mutating func wait() {
    let pause = Int.random(in: next / 2...next)
    next = min(next * 2, RetryPause.milliseconds.upperBound)
    usleep(UInt32(pause * 1000))
  }
}

/// A line at the terminal that shows the progress of work that takes a while.
struct ProgressLine {
  private static let quietTime = Duration.milliseconds(200)
  private static let interval = Duration.milliseconds(100)
  private let what: String
  private let totalBytes: Int
  private let isEnabled = StandardError.isTerminal
  private var next = ContinuousClock.now + quietTime
  private var isShown = false

  /// Makes the line for a piece of work that has just begun.
  init(_ what: String, totalBytes: Int = 0) {
    self.what = what
    self.totalBytes = totalBytes
  }

  /// Shows the number of bytes done; only if standard error is a terminal, and not too often.
  mutating func report(bytes: Int) {
    if totalBytes == 0 { return report("\(ProgressLine.megabytes(bytes)) MB") }
    let percent = Int(Double(bytes) / Double(totalBytes) * 100)
    report("\(percent) % of \(ProgressLine.megabytes(totalBytes)) MB")
  }

  /// Shows the progress in words.
  mutating func report(_ words: String) {
    guard isEnabled, ContinuousClock.now >= next else { return }
    next = .now + ProgressLine.interval
    isShown = true
    StandardError.clearLine()
    StandardError.writeOnOneLine("runnel: \(what): \(words)")
  }

  /// Removes the line, so that other text can follow.
  mutating func clear() {
    if isShown { StandardError.clearLine() }
    isShown = false
  }

  /// Bytes in megabytes, with one decimal.
  static func megabytes(_ bytes: Int) -> String {
    let tenths = (bytes + 50_000) / 100_000
    return "\(tenths / 10).\(tenths % 10)"
  }
}

/// Times of one thing done many times, in seconds.
struct Samples {
  private var seconds: [Double] = []

  /// In the order in which they were taken.
  var all: [Double] { seconds }
  var count: Int { seconds.count }
  var median: Double { quantile(0.5) }
  var largest: Double { seconds.max() ?? 0 }

  mutating func add(_ time: Double) { seconds.append(time) }

  /// Does something and takes its time.
  mutating func measure<Result>(_ body: () throws -> Result) rethrows -> Result {
    let start = Timing.now
    let result = try body()
    add(Timing.seconds(since: start))
    return result
  }

  /// The time that a share of the samples does not exceed.
  func quantile(_ share: Double) -> Double {
    let sorted = seconds.sorted()
    if sorted.isEmpty { return 0 }
    return sorted[min(Int(Double(sorted.count) * share), sorted.count - 1)]
  }

  /// The 50th and the 99th percentile as text.
  var summary: String {
    "p50 \(Format.time(median))  p99 \(Format.time(quantile(0.99)))"
  }
}

/// A clock that only goes forward.
enum Timing {
  static var now: ContinuousClock.Instant { ContinuousClock.now }

  static func seconds(since start: ContinuousClock.Instant) -> Double {
    let (seconds, attoseconds) = start.duration(to: now).components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}

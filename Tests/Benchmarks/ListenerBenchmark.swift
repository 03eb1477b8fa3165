import RunnelBase
import RunnelDatabase
import RunnelTree

/// What a write costs with a thousand windows on one collection, beside one window.
struct ListenerBenchmark {
  private static let windowCount = 1000
  private static let rowsPerWindow = 10
  private static let writeCount = 300

  let folder: TemporaryFolder

  func run(into report: inout Report) throws {
    let one = try Side(file: folder.file("one.db"), windowCount: 1)
    let many = try Side(
      file: folder.file("many.db"), windowCount: ListenerBenchmark.windowCount)
    for (words, isSeen) in [("none", false), ("one", true)] {
      var samples = (one: Samples(), many: Samples())
      for round in 0..<ListenerBenchmark.writeCount {
        try one.write(round, isSeen: isSeen, &samples.one)
        try many.write(round, isSeen: isSeen, &samples.many)
      }
      let ratio = samples.many.median / samples.one.median
      report.add(
        "a write that touches \(words) of \(ListenerBenchmark.windowCount) windows",
        Format.time(samples.many.median),
        baseline: Format.time(samples.one.median) + " with 1 window", ratio: ratio,
        aim: .atMost(3))
    }
    try one.session.close()
    try many.session.close()
  }

  /// A database of which some windows, one beside the other, are watched.
  private struct Side {
    let session: DatabaseSession
    private let place: Path

    init(file: String, windowCount: Int) throws {
      session = try DatabaseSession(file: file, environment: .live)
      place = try Path("/message")
      let rows = ListenerBenchmark.windowCount * ListenerBenchmark.rowsPerWindow
      let members = (0..<rows).map {
        JSONMember(Side.key($0), WriteBenchmark.message($0))
      }
      _ = try session.write(.set(place, .object(members)))
      for window in 0..<windowCount {
        let first = window * ListenerBenchmark.rowsPerWindow
        let last = first + ListenerBenchmark.rowsPerWindow - 1
        let query = try Query(place).ordered(by: .key)
          .starting(at: .leaf(.string(Side.key(first))))
          .ending(at: .leaf(.string(Side.key(last))))
        _ = try session.listen(ListenerID(window), ListenRequest(query: query))
      }
    }

    private static func key(_ number: Int) -> String { "m\(1_000_000 + number)" }

    /// Writes into the first window, which both sides have, or beyond all.
    func write(_ round: Int, isSeen: Bool, _ samples: inout Samples) throws {
      let row = isSeen ? round % ListenerBenchmark.rowsPerWindow : 500_000 + round
      let path = try place.child(Key(Side.key(row)))
      let message = WriteBenchmark.message(round + (isSeen ? 1_000_000 : 0))
      let told = try samples.measure { try session.write(.set(path, message)) }
      guard told.isEmpty != isSeen else { throw BenchmarkError("\(told.count) events were told.") }
    }
  }
}

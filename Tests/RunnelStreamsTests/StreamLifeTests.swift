import RunnelBase
import RunnelStreams
import RunnelTree
import TestSupport
import Testing

/// The whole life of a stream, at random: each start is loaded once, observers are not called while
/// it is stopped, and no change waits longer than its batching allows.
@Suite struct StreamLifeTests {
  /// An observer that checks each change.
  private final class Watcher {
    let recorder: Recorder<Record>
    private let stream: QueryStream<Record>
    private(set) var mistakes: [String] = []
    /// The number of changes from another state to loaded.
    private(set) var loads = 0
    /// The number of changes from another state to loading.
    private(set) var starts = 0
    /// True while no change is allowed.
    var isQuiet = false
    private var state: LoadState?

    init(_ stream: QueryStream<Record>) {
      self.stream = stream
      recorder = Recorder(stream)
      state = recorder.changes.last?.loadState
      recorder.onChange = { [unowned self] change in take(change) }
    }

    private func take(_ change: StreamChange<Record>) {
      if isQuiet { mistakes.append("told after a stop or a cancel") }
      if change.loadState == .loaded, state != .loaded { loads += 1 }
      if change.loadState == .loading, state != .loading { starts += 1 }
      state = change.loadState
      let rows = change.sections.flatMap(\.items)
      if state == .loaded {
        for (left, right) in zip(rows, rows.dropFirst()) {
          let isOrdered =
            stream.isDescending ? Record.isOrdered(right, left) : Record.isOrdered(left, right)
          if !isOrdered { mistakes.append("\(left.key) stands before \(right.key)") }
        }
      }
    }
  }

  @Test func eachStartIsLoadedExactlyOnce() throws {
    for seed in Seeds.first(20) {
      var random = SeededRandom(seed: seed)
      let tree = TestTree()
      let stream = QueryStream(request: try messages(), source: tree)
      let watcher = Watcher(stream)
      var starts = 0
      for _ in 0..<20 {
        try tree.writeAtRandom(&random)
        stream.start()
        starts += 1
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          try tree.settle([stream])
          #expect(watcher.loads == starts, "seed \(seed)")
          try tree.writeAtRandom(&random)
        }
        stream.stop()
        watcher.isQuiet = true
        try tree.writeAtRandom(&random)
        try tree.settle([stream])
        watcher.isQuiet = false
      }
      #expect(watcher.starts == starts && watcher.mistakes == [], "seed \(seed)")
    }
  }

  @Test func nothingWaitsLongerThanTheMaximumOfItsBatching() {
    for seed in Seeds.first(40) {
      var random = SeededRandom(seed: seed)
      let policy = BatchingPolicy(
        quietMilliseconds: .random(in: 0...80, using: &random),
        waitMillisecondsMax: .random(in: 80...200, using: &random),
        rowCountMax: .random(in: 2...9, using: &random))
      let source = TransientStream([TestRow("a", 1)], order: TestRow.byValue)
      var now: Int64 = 0
      let stream = BatchedStream(source, policy: policy) { now }
      let recorder = Recorder(stream)
      // The time of the oldest undelivered change.
      var oldest: Int64?
      for step in 0..<200 {
        let row = TestRow("k\(Int.random(in: 0..<12, using: &random))", step)
        if oldest == nil { oldest = now }
        source.put(row)
        if stream.waitingRowCount == 0 { oldest = nil }
        #expect(stream.waitingRowCount <= policy.rowCountMax, "seed \(seed)")
        // Time passes, and the owner wakes the stream at its wake time.
        let next = now + .random(in: 0...60, using: &random)
        if let time = stream.wakeTime, time <= next {
          now = max(time, now)
          stream.wake(now: now)
          if let oldest {
            #expect(now - oldest <= policy.waitMillisecondsMax, "seed \(seed)")
          }
          #expect(stream.waitingRowCount == 0 && stream.sections == source.sections, "seed \(seed)")
          oldest = nil
        }
        now = next
      }
      #expect(recorder.mistakes == [], "seed \(seed)")
    }
  }
}

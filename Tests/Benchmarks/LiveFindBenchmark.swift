import RunnelBase
import RunnelServices

/// What a live find of 10,000 records costs a program under 1,000 events a second: the time that the events of a frame
/// take until its rows can be drawn, and how often the service is asked again.
///
/// The clock is that of the events: 20 of them are a frame, and 50 frames a second.
struct LiveFindBenchmark {
  private static let openCount = 10_000
  private static let seconds = 20
  /// The number of frames until an answer comes.
  private static let latency = 5
  private static let drawnCount = 50

  func run(into report: inout Report) throws {
    var storm = EventStorm(openCount: LiveFindBenchmark.openCount)
    var list = try LiveList(["open": true, "$sort": ["rank": 1], "$limit": 20_000])
    var waiting: [(frame: Int, number: Int, query: ServiceQuery)] = []
    var (samples, counts, drawn) = (Samples(), FindCounts(), 0)
    func ask(_ effects: [LiveList.Effect], _ frame: Int) {
      for case .find(let number, let query) in effects {
        waiting.append((frame + LiveFindBenchmark.latency, number, query))
      }
    }
    ask(list.load(now: 0), 0)
    for frame in 0..<EventStorm.framesPerSecond * LiveFindBenchmark.seconds {
      let now = Int64(frame * 1000 / EventStorm.framesPerSecond)
      while let first = waiting.first, first.frame <= frame {
        waiting.removeFirst()
        let result = ServiceResult(try storm.answer(to: first.query))
        if list.isLoaded { counts.note(inFrame: frame) }
        ask(list.answered(first.number, result, now: now), frame)
      }
      let events = storm.frame()
      samples.measure {
        for (event, record) in events { ask(list.take(event, record, now: now), frame) }
        ask(list.tick(now: now), frame)
        for row in list.rows.prefix(LiveFindBenchmark.drawnCount) where row["text"] != nil {
          drawn += 1
        }
      }
    }
    guard list.rows.count > LiveFindBenchmark.openCount / 2, drawn > 0 else {
      throw BenchmarkError("The list has \(list.rows.count) rows.")
    }
    report.add(
      "a frame of 20 events in a live find of 10,000 records", samples.summary,
      value: samples.largest, aim: .below(0.05, "50 ms, the longest"))
    report.add(
      "  questions to the service in a second, at most", "\(counts.most)",
      baseline: "\(counts.total) in \(LiveFindBenchmark.seconds) s", value: Double(counts.most),
      aim: .atMost(2))
  }
}

import RunnelStore

/// What an action costs with a hundred subscribers of which it concerns one, beside none.
struct StoreBenchmark {
  private static let subscriberCount = 100
  private static let roundCount = 200
  private static let actionsPerRound = 500

  func run(into report: inout Report) throws {
    let none = try seconds(subscribers: 0)
    let many = try seconds(subscribers: StoreBenchmark.subscriberCount)
    report.add(
      "an action with \(StoreBenchmark.subscriberCount) subscribers, one concerned",
      Format.time(many), baseline: Format.time(none) + " with none", value: many,
      aim: .below(0.000_005, "5 us"))
  }

  /// What one action takes: the median of the rounds.
  private func seconds(subscribers: Int) throws -> Double {
    let store = Store(state: Counters()) { state, action in
      if let bump = action as? Bump { state.counters[bump.index] += 1 }
    }
    let told = Told()
    for index in 0..<subscribers {
      _ = store.subscribe(to: { $0.counters[index] }) { _ in told.count += 1 }
    }
    var samples = Samples()
    for _ in 0..<StoreBenchmark.roundCount {
      samples.measure {
        for number in 0..<StoreBenchmark.actionsPerRound {
          store.dispatch(Bump(index: number % StoreBenchmark.subscriberCount))
        }
      }
    }
    let expected =
      subscribers == 0
      ? 0 : subscribers + StoreBenchmark.roundCount * StoreBenchmark.actionsPerRound
    guard told.count == expected else { throw BenchmarkError("\(told.count) were told.") }
    return samples.median / Double(StoreBenchmark.actionsPerRound)
  }

  private struct Bump: Action { var index: Int }

  private struct Counters: Sendable {
    var counters = Array(repeating: 0, count: StoreBenchmark.subscriberCount)
  }

  private final class Told { var count = 0 }
}

import RunnelBase
import RunnelServices

/// What a call of a service in this program costs, with a hook before and one after.
struct ServicesBenchmark {
  private static let callCount = 200_000
  private static let roundCount = 5

  func run(into report: inout Report) throws {
    let direct = try seconds { try await ServicesBenchmark.calls(hooks: false) }
    let hooked = try seconds { try await ServicesBenchmark.calls(hooks: true) }
    let rate = Double(ServicesBenchmark.callCount) / hooked
    report.add(
      "calls a second with two hooks", ServicesBenchmark.text(hooked),
      baseline: ServicesBenchmark.text(direct) + " without hooks",
      value: rate, aim: .atLeast(200_000))
  }

  private static func text(_ seconds: Double) -> String {
    Format.decimal(Double(callCount) / seconds / 1000, digits: 0) + " k calls/s"
  }

  /// Makes the calls, one after the other.
  private static func calls(hooks: Bool) async throws {
    let app = Feathers()
    try await app.use("things", MemoryService([["id": 1, "n": 1]]))
    let things = app.service("things")
    if hooks {
      things.before(HookSet(all: [Hook { $0.values["seen"] = true }]))
      things.after(HookSet(all: [Hook { $0.event = nil }]))
    }
    for _ in 0..<callCount { _ = try await things.get(1) }
  }

  /// Returns what the work takes: the least of several rounds.
  private func seconds(_ work: @escaping @Sendable () async throws -> Void) throws -> Double {
    let clock = ContinuousClock()
    var least = Double.infinity
    for _ in 0..<ServicesBenchmark.roundCount {
      let start = clock.now
      try Waiting.run(work)
      let time = start.duration(to: clock.now).components
      least = min(least, Double(time.seconds) + Double(time.attoseconds) / 1e18)
    }
    return least
  }
}

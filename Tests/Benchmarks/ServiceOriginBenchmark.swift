import RunnelBase
import RunnelServices
import RunnelServicesTree
import RunnelTree

/// What an event costs that changes a list of 10,000 records of a service, up to what the replica is
/// told.
struct ServiceOriginBenchmark {
  private static let recordCount = 10_000
  private static let eventCount = 5_000
  /// The number of events that arrive together.
  private static let batchCount = 20
  private static let pageMax = 1_000

  func run(into report: inout Report) throws {
    var (origin, findCount) = (ServiceOrigin(), 0)
    origin.connected(pending: [])
    let query = Query(try Path("/things"))
    var effects = origin.send(
      [.listen(AskID(1), query, tag: nil, known: KnownHash(whole: ""))], now: 0)
    while let effect = effects.popLast() {
      guard case .call(let number, _, let request) = effect else { continue }
      findCount += 1
      effects += origin.answered(number, .success(ServiceOriginBenchmark.page(request)), now: 0)
    }
    guard origin.isSettled else { throw BenchmarkError("The records were not read.") }
    let clock = ContinuousClock()
    let start = clock.now
    var toldCount = 0
    for batch in 0..<(ServiceOriginBenchmark.eventCount / ServiceOriginBenchmark.batchCount) {
      let events = (0..<ServiceOriginBenchmark.batchCount).map { index in
        let number = (batch * 7_919 + index * 104_729) % ServiceOriginBenchmark.recordCount
        return (
          path: "things", event: ServiceEvent.patched,
          record: ServiceOriginBenchmark.record(number, text: "changed \(batch)")
        )
      }
      for effect in origin.take(events, now: 0) {
        switch effect {
        case .tell(let messages): toldCount += messages.count
        case .call: findCount += 1
        default: break
        }
      }
    }
    let time = start.duration(to: clock.now).components
    let seconds = Double(time.seconds) + Double(time.attoseconds) / 1e18
    guard toldCount > 0 else { throw BenchmarkError("Nothing was told.") }
    let rate = Double(ServiceOriginBenchmark.eventCount) / seconds
    report.add(
      "events a second for a list of 10,000 records", Format.decimal(rate, digits: 0) + " events/s",
      baseline: "\(findCount) calls of find in all", value: rate, aim: .atLeast(1_000))
  }

  private static func record(_ number: Int, text: String) -> JSONValue {
    [
      "id": .number(JSONNumber(Int64(number))), "text": .string(text),
      "rank": .number(JSONNumber(Int64(number % 100))),
    ]
  }

  /// The answer to a `find` in the order of the ids.
  private static func page(_ request: ServiceRequest) -> JSONValue {
    let skip = request.query["$skip"]?.int ?? 0
    let limit = min(request.query["$limit"]?.int ?? pageMax, pageMax)
    let numbers = skip..<max(skip, min(skip + limit, recordCount))
    return ServicePage(
      total: recordCount, limit: limit, skip: skip,
      records: numbers.map { record($0, text: "text") }
    ).json
  }
}

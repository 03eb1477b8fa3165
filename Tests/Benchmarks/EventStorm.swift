import RunnelBase
import RunnelServices

/// A service whose records others change all the time, and its answers; without a clock.
///
/// Half of its records are open. An event changes a text, moves a record to another rank, closes or opens it, or adds
/// or removes one.
struct EventStorm {
  /// The number of events of a frame, of which there are 50 a second.
  static let frameCount = 20
  static let framesPerSecond = 50

  private var records: [Int: JSONValue] = [:]
  private var ids: [Int] = []
  private var nextID = 0
  private var random = SeededRandom(seed: 21)

  /// Makes a service with so many open records, and as many others.
  init(openCount: Int) {
    for number in 0..<openCount * 2 { _ = add(isOpen: number % 2 == 0) }
  }

  private mutating func add(isOpen: Bool) -> JSONValue {
    let id = nextID
    nextID += 1
    let record: JSONValue = [
      "id": .number(JSONNumber(Int64(id))), "text": .string("words of the record \(id)"),
      "rank": .number(JSONNumber(Int64(Int.random(in: 0..<1_000_000, using: &random)))),
      "open": .bool(isOpen),
    ]
    records[id] = record
    ids.append(id)
    return record
  }

  /// The events of the next frame.
  mutating func frame() -> [(event: ServiceEvent, record: JSONValue)] {
    (0..<EventStorm.frameCount).map { _ in next() }
  }

  private mutating func next() -> (event: ServiceEvent, record: JSONValue) {
    let index = Int.random(in: 0..<ids.count, using: &random)
    let id = ids[index]
    let record = records[id] ?? .null
    switch Int.random(in: 0..<20, using: &random) {
    case 0: return (.created, add(isOpen: true))
    case 1:
      ids.swapAt(index, ids.count - 1)
      ids.removeLast()
      records[id] = nil
      return (.removed, record)
    case 2, 3: return patched(id, record.setting("open", to: .bool(record["open"]?.bool != true)))
    case 4...9:
      let rank = Int64(Int.random(in: 0..<1_000_000, using: &random))
      return patched(id, record.setting("rank", to: .number(JSONNumber(rank))))
    default:
      let text = "other words \(Int.random(in: 0..<1000, using: &random))"
      return patched(id, record.setting("text", to: .string(text)))
    }
  }

  private mutating func patched(
    _ id: Int, _ record: JSONValue
  ) -> (event: ServiceEvent, record: JSONValue) {
    records[id] = record
    return (.patched, record)
  }

  /// The answer to a `find`.
  func answer(to query: ServiceQuery) throws -> JSONValue {
    let pages = PageRules(standard: 10, max: 20_000)
    let reading = try QueryReading(query, rules: QueryRules(operators: ["$and"], pages: pages))
    return try reading.answer(over: records.values.map { $0 }, idField: "id", isPaged: true)
  }
}

/// How often a service was asked in each second.
struct FindCounts {
  private var counts: [Int: Int] = [:]

  /// Notes a question in a frame.
  mutating func note(inFrame frame: Int) {
    counts[frame / EventStorm.framesPerSecond, default: 0] += 1
  }

  var total: Int { counts.values.reduce(0, +) }
  var most: Int { counts.values.max() ?? 0 }
}

import Foundation
import RunnelBase
import RunnelTree
import Testing
import WireSimulation

/// A replica and its origin, whose every word is late, against a naive reading of what was said.
///
/// `RUNNEL_SEEDS` asks for more random talks, `RUNNEL_TALK_LENGTH` for longer ones in the exhaustive suite.
@Suite struct TalkTests {
  private static func number(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap(Int.init)
  }

  /// How many talks one seed is good for.
  private static let talksPerSeed = 250

  @Test(arguments: 0..<UInt64(max(3, (TalkTests.number("RUNNEL_SEEDS") ?? 0) / talksPerSeed)))
  func randomTalksShowWhatWasTold(seed: UInt64) throws {
    for number in 0..<UInt64(TalkTests.talksPerSeed) {
      var talk = try RandomTalk(seed: seed * UInt64(TalkTests.talksPerSeed) + number)
      try talk.run()
    }
  }

  /// Every talk up to a length, from an empty tree and from one that holds something.
  @Test(arguments: ["null", #"{"a":{"b":1}}"#], 0..<EveryTalk.events.count)
  func everyShortTalkShowsWhatWasTold(start: String, first: Int) throws {
    let talks = EveryTalk(length: TalkTests.number("RUNNEL_TALK_LENGTH") ?? 4)
    try talks.run(TalkWorld(node(start), cells: EveryTalk.cells), first: first)
  }
}

private func node(_ json: String) throws -> Node { try Node(json: JSONValue(parsing: json)) }

private func path(_ keys: String...) -> Path {
  Path(unchecked: keys.map { Key(unchecked: $0) })
}

/// All sequences of few events at `/a` and `/a/b`.
private struct EveryTalk {
  static let cells = [path("a", "b"), path("a", "c")]

  /// A write of this client has a value of its own each time; see `event`.
  enum Event {
    case fixed(TalkEvent)
    case set(Path)
    case setBoth(Path)
  }

  static let events: [Event] = [
    .fixed(.toggle(Query(path("a")))),
    .fixed(.toggle(Query(path("a", "b")))),
    .set(path("a", "b")),
    .setBoth(path("a")),
    .fixed(.write(.remove(path("a")))),
    .fixed(.foreign(.set(path("a", "b"), 1))),
    .fixed(.foreign(.remove(path("a")))),
    .fixed(.up(.atOnce)),
    .fixed(.down),
  ]

  let length: Int

  /// Goes through all sequences that begin with one of the events.
  func run(_ world: TalkWorld, first: Int) throws {
    var told: [TalkEvent] = []
    do {
      try go(on: world, from: first, &told)
    } catch {
      throw SimulationError("\(error)\n  \(told.map { "\($0)" }.joined(separator: "\n  "))")
    }
  }

  private func go(
    on world: TalkWorld, from first: Int? = nil, _ told: inout [TalkEvent]
  ) throws {
    if told.count == length {
      var end = world
      return try end.settle()
    }
    for index in first.map({ $0...$0 }) ?? 0...EveryTalk.events.count - 1 {
      let event = EveryTalk.event(EveryTalk.events[index], number: told.count)
      guard world.isPossible(event) else { continue }
      var next = world
      told.append(event)
      try next.carryOut(event)
      try go(on: next, &told)
      told.removeLast()
    }
  }

  private static func event(_ event: Event, number: Int) -> TalkEvent {
    let value = JSONValue.number(JSONNumber(Int64(10 + number)))
    return switch event {
    case .fixed(let event): event
    case .set(let path): .write(.set(path, value))
    case .setBoth(let path): .write(.set(path, ["b": value, "c": value]))
    }
  }
}

/// One random talk; the seed says all of it.
private struct RandomTalk {
  private let seed: UInt64
  private var random: SeededRandom
  private var world: TalkWorld
  private var told: [TalkEvent] = []
  private let queries: [Query]

  init(seed: UInt64) throws {
    self.seed = seed
    random = SeededRandom(seed: seed)
    let start = ["null", #"{"a":{"b":1}}"#, #"{"a":{"b":1,"c":2,"d":{"e":3}},"f":4}"#]
    let node = try node(start[Int(seed % 3)])
    world = try TalkWorld(node, cells: EveryTalk.cells + [path("f"), path("a", "d", "e")])
    let a = Query(path("a"))
    queries = [
      a, a, Query(path("a", "b")), Query(path("a", "b")), Query(.root), Query(path("a", "d", "e")),
      try a.limited(to: 1, from: .first), try a.ordered(by: .key).limited(to: 2, from: .last),
      try a.ordered(by: .value).starting(at: IndexValue(Node(.number(2)))),
      try Query(.root).limited(to: 1, from: .first),
    ]
  }

  mutating func run() throws {
    do {
      for _ in 0..<4 + number(16) {
        let event = event()
        guard world.isPossible(event) else { continue }
        told.append(event)
        try world.carryOut(event)
      }
      try world.settle()
    } catch {
      let text = told.map { "\($0)" }.joined(separator: "\n  ")
      throw SimulationError("seed \(seed): \(error)\n  \(text)")
    }
  }

  private mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  private mutating func event() -> TalkEvent {
    switch number(40) {
    case 0..<8: .toggle(queries[number(queries.count)])
    case 8..<13: .write(write())
    case 13: .hiddenWrite(write())
    case 14..<18: .foreign(write())
    case 18: .get(queries[number(queries.count)])
    case 19: .up(.refuse)
    case 20: .up(.answerLate)
    case 21, 22: .answerListen
    case 23: .cut
    case 24..<32: .up(.atOnce)
    default: .down
    }
  }

  private mutating func write() -> Write {
    let value = JSONValue.number(JSONNumber(Int64(1 + number(6))))
    switch number(9) {
    case 0: return .remove(path("a"))
    case 1: return .set(path("a"), ["b": value, "c": value])
    case 2: return .remove(path("a", "b"))
    case 3: return .set(path("a", "d", "e"), value)
    case 4: return .set(path("a"), value)
    case 5: return .update(path("a"), [JSONMember("b", value), JSONMember("d/e", value)])
    case 6: return .set(path("f"), value)
    default: return .set(path("a", number(2) == 0 ? "b" : "c"), value)
    }
  }
}

import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import Testing

/// The order in which new records leave.
@Suite struct ServiceOrderTests {
  private let world: ServiceWorld
  private let notes: Path

  init() throws {
    world = try ServiceWorld()
    notes = try Path("/notes")
  }

  private func write(_ numbers: Range<Int>) throws {
    for number in numbers {
      let key = "-O" + String(repeating: "x", count: 14) + String(1000 + number)
      _ = try world.write(.set(Path("/notes/\(key)"), ["text": .string("m\(number)")]))
    }
  }

  /// The texts of the records that leave, in their order: calls are answered in any order.
  private func left(_ random: inout SeededRandom, most: Int = .max) throws -> [String] {
    var numbers: [Int: String] = [:]
    var atOnce = 0
    for _ in 0..<2_000 {
      let creations = world.flights.filter { $0.request.method == .create }
      for flight in creations { numbers[flight.number] = flight.request.data?["text"]?.string }
      atOnce = max(atOnce, creations.count)
      guard !world.flights.isEmpty else {
        if world.origin.deadline == nil { break }
        try world.tick()
        continue
      }
      let index = Int.random(in: 0..<world.flights.count, using: &random)
      world.execute(index)
      try world.answer(index)
    }
    #expect(atOnce <= most, "\(atOnce) at once")
    return numbers.sorted { $0.key < $1.key }.map(\.value)
  }

  private static let texts = (0..<100).map { "m\($0)" }

  @Test(arguments: 0..<20)
  func recordsThatWaitedLeaveAsTheyWereWritten(_ seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    try write(0..<60)
    try world.connect()
    try write(60..<100)
    #expect(try left(&random) == ServiceOrderTests.texts, "seed \(seed)")
  }

  /// Each of them is read first, since it may be there.
  @Test(arguments: 0..<20)
  func recordsWhoseKeysTheServerMayHaveDoSoToo(_ seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    world.server.records = (0..<20).map { number in
      [
        "id": .string("-N" + String(repeating: "y", count: 16) + String(10 + number)),
        "text": "old",
      ]
    }
    try world.connect()
    try world.listen(Query(notes), page: 5)
    try world.settle()
    try write(0..<100)
    #expect(try left(&random) == ServiceOrderTests.texts, "seed \(seed)")
  }

  @Test func severalAreUnderWayAtOnce() throws {
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    try write(0..<100)
    #expect(world.flights.count > 30)
    try world.settle()
    #expect(
      world.server.records.map { $0["text"]?.string ?? "" } == ServiceOrderTests.texts)
  }

  /// Connections of their own carry the calls then.
  @Test func overRESTThereIsOneAtATime() throws {
    var random = SeededRandom(seed: 1)
    try write(0..<100)
    try world.connect(isTextual: true)
    #expect(try left(&random, most: 1) == ServiceOrderTests.texts)
  }

  /// It was answered, so it is none that may be there.
  @Test(arguments: [401, 429, 503])
  func recordThatIsRefusedForNowLeavesFirstAlsoAfterARestart(code: Int) throws {
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    try write(0..<1)
    world.flights[0].answer = .failure(FeathersError(status: code, body: []))
    try world.answer(0)
    try write(1..<3)
    try world.kill()
    let begin = world.now
    try world.connect()
    #expect(world.origin.unknownWrites.isEmpty)
    try world.settle()
    #expect(world.server.records.map { $0["text"]?.string } == ["m0", "m1", "m2"])
    #expect(world.now - begin < 10_000)
  }

  @Test func recordOfUnknownOutcomeIsPassed() throws {
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    try write(0..<1)
    world.execute(0)
    let lost = FeathersError(.timeout, "no answer", data: ["isSent": true])
    world.server.records = []
    world.flights[0].answer = .failure(lost)
    try world.answer(0)
    try write(1..<3)
    var random = SeededRandom(seed: 1)
    #expect(try left(&random) == ["m1", "m2", "m0"])
  }

  /// What was refused, or given up, holds nothing up.
  @Test func refusedRecordHoldsNothingUp() throws {
    world.server.refusedTexts = ["m1", "m50"]
    try write(0..<100)
    let dropped = try #require(world.session.pendingWrites.first { $0.id > 3 }?.id)
    try world.connect()
    try world.drop(dropped)
    try world.settle()
    let texts = world.server.records.compactMap { $0["text"]?.string }
    #expect(texts.count == 97 && texts == ServiceOrderTests.texts.filter(texts.contains))
  }
}

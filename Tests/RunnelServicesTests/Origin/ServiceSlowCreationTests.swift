import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import Testing

/// Records that a slow server creates after the connection was lost, or after the time limit of the call: they are
/// not sent again at once.
@Suite struct ServiceSlowCreationTests {
  private static let lost = FeathersError(.timeout, "no answer", data: ["isSent": true])
  private let world: ServiceWorld
  private let id: Int64

  /// The creation of a record is under way; a record is there.
  init() throws {
    world = try ServiceWorld()
    let notes = try Path("/notes")
    _ = world.server.handle(.create(data: ["text": "old", "rank": 1]))
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    let place = try Path("/notes/-O" + String(repeating: "x", count: 18))
    id = try #require(try world.write(.set(place, ["text": "new", "rank": 2])))
    try world.reachWrite()
    try #require(world.flights.first?.request.method == .create)
  }

  private var texts: [String] { world.server.records.compactMap { $0["text"]?.string } }

  /// What is under way arrives, but no time passes.
  private func drain() throws {
    while !world.flights.isEmpty {
      world.execute(0)
      try world.answer(0)
    }
  }

  /// The call ends without an answer; the server goes on with it.
  private func loseAnswer() throws -> ServiceWorld.Flight {
    let flight = world.flights[0]
    world.flights[0].answer = .failure(Self.lost)
    try world.answer(0)
    return flight
  }

  @Test func recordOfALostConnectionIsLookedForAgain() throws {
    let request = world.flights[0].request
    try world.disconnect()
    try world.connect()
    try drain()
    #expect(texts == ["old"] && world.origin.unknownWrites == [id])
    // Now the server has done it, and nobody tells.
    _ = world.server.handle(request)
    try world.settle()
    #expect(texts == ["old", "new"] && world.acknowledged.contains(id))
    #expect(world.origin.unknownWrites.isEmpty && world.session.pendingWrites.isEmpty)
  }

  @Test func recordThatTheServerLostIsSentAgain() throws {
    try world.disconnect()
    try world.connect()
    let begin = world.now
    try world.settle()
    #expect(texts == ["old", "new"] && world.acknowledged.contains(id))
    #expect(world.now - begin >= 30_000 && world.now - begin < 60_000)
  }

  @Test func manyShortConnectionsMakeTheWaitNoShorter() throws {
    let request = world.flights[0].request
    for _ in 0..<12 {
      try world.disconnect()
      try world.connect()
      try drain()
      world.now += 1_000
    }
    #expect(texts == ["old"] && world.origin.unknownWrites == [id])
    _ = world.server.handle(request)
    try world.settle()
    #expect(texts == ["old", "new"] && world.acknowledged.contains(id))
  }

  @Test func eventEndsTheWaitAtOnce() throws {
    let request = world.flights[0].request
    try world.disconnect()
    try world.connect()
    try drain()
    let (_, event) = world.server.handle(request)
    let told = try #require(event)
    world.events = [("notes", told.0, told.1)]
    try world.tellEvents()
    #expect(world.acknowledged.contains(id) && world.origin.unknownWrites.isEmpty)
    try world.settle()
    #expect(texts == ["old", "new"])
  }

  @Test(arguments: [false, true]) func lateAnswerIsTheAnswer(isRefused: Bool) throws {
    if isRefused { world.server.refusedTexts = ["new"] }
    var flight = try loseAnswer()
    try world.wait(2_000)
    try drain()
    #expect(world.origin.unknownWrites == [id])
    flight.answer = world.server.handle(flight.request).0
    try world.answerLate(flight)
    #expect(world.acknowledged.contains(id) != isRefused)
    #expect((world.refused[id] != nil) == isRefused)
    try world.settle()
    #expect(texts == (isRefused ? ["old"] : ["old", "new"]))
    #expect(world.session.pendingWrites.isEmpty && world.origin.unknownWrites.isEmpty)
  }

  @Test func secondRecordIsTold() throws {
    var flight = try loseAnswer()
    try world.settle()
    #expect(texts == ["old", "new"] && world.doubles.isEmpty)
    flight.answer = world.server.handle(flight.request).0
    try world.answerLate(flight)
    #expect(world.doubles.count == 1 && world.doubles.first?.contains("2 and 3") == true)
  }

  @Test func userNeedNotWait() throws {
    try world.disconnect()
    try world.connect()
    try drain()
    try world.sendAgain(id)
    try drain()
    #expect(texts == ["old", "new"] && world.acknowledged.contains(id))
  }

  @Test func recordThatIsGivenUpIsNotSentAgain() throws {
    try world.disconnect()
    try world.connect()
    try drain()
    try world.drop(id)
    try world.settle()
    #expect(texts == ["old"] && world.session.pendingWrites.isEmpty)
  }

  /// Only a broken call is waited for: who says that he is not at work is believed.
  @Test func busyServerIsAskedAgainSoon() throws {
    world.flights[0].answer = .failure(FeathersError(status: 503, body: []))
    try world.answer(0)
    let begin = world.now
    try world.settle()
    #expect(texts == ["old", "new"] && world.now - begin < 10_000)
  }
}

import RunnelBase
import Testing

@testable import RunnelTree

/// What names a question to the origin, and what its refusal names.
@Suite struct AskTests {
  private var storage = MemoryReplicaStorage()
  private var engine = ReplicaEngine()

  init() throws { _ = try engine.connect(now: 0, &storage) }

  private mutating func listen(_ listener: Int, _ query: Query) throws -> [OriginCommand] {
    try engine.listen(ListenerID(listener), ListenRequest(query: query), now: 0, &storage).commands
  }

  private func ids(_ commands: [OriginCommand]) -> [AskID] {
    commands.compactMap { command in
      switch command {
      case .listen(let id, _, _, _), .unlisten(let id, _, _): id
      default: nil
      }
    }
  }

  @Test mutating func eachTimeThatAQueryIsAskedItHasAnotherID() throws {
    let query = Query(try Path("a"))
    var commands = try listen(1, query)
    commands += try engine.unlisten(ListenerID(1), now: 0, &storage).commands
    commands += try listen(2, query)
    commands += try listen(3, Query(Path("b")))
    _ = try engine.disconnect(now: 0, &storage)
    commands += try engine.connect(now: 0, &storage).commands
    #expect(ids(commands) == [1, 1, 2, 3, 4, 5].map { AskID($0) })
  }

  @Test mutating func aRefusalNamesItsPlaceAndItsQuery() throws {
    let query = try Query(Path("a")).ordered(by: .key).limited(to: 2, from: .last)
    _ = try listen(7, query)
    let refused = try engine.receive(
      .listenRefused(AskID(1), TreeError(.permissionDenied, "Permission denied.")), now: 0,
      &storage)
    let error = TreeError(.permissionDenied, "Permission denied.", path: "/a")
    #expect(refused.completions == [.cancelled(ListenerID(7), query, error)])
  }

  @Test mutating func whatIsToldOfAnAskOfAnEarlierConnectionCountsForNothing() throws {
    let request = ListenRequest(query: Query(try Path("a")), events: .value)
    _ = try engine.listen(ListenerID(1), request, now: 0, &storage)
    _ = try engine.disconnect(now: 0, &storage)
    let early = try engine.receive(.listenComplete(AskID(1)), now: 0, &storage)
    #expect(early == ReplicaOutcome())
    _ = try engine.connect(now: 0, &storage)
    let late = try engine.receive(.listenComplete(AskID(1)), now: 0, &storage)
    #expect(late == ReplicaOutcome())
    let told = try engine.receive(.listenComplete(AskID(2)), now: 0, &storage)
    #expect(told.deliveries.map(\.event) == [.value(.empty)])
  }
}

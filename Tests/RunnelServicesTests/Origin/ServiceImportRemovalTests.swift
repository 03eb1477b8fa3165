import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import Testing

/// A record of an import that is removed before the import is sent: what the server adds to it, as the id, is no
/// change of another.
@Suite struct ServiceImportRemovalTests {
  private let notes: Path

  init() throws { notes = try Path("/notes") }

  private static func key(_ number: Int) -> String {
    "-O" + String(repeating: "x", count: 14) + String(1000 + number)
  }

  /// An import of two records, and the removal of the first, wait without a connection; 20 records are there.
  private func world(hasVersions: Bool) throws -> (world: ServiceWorld, removal: Int64) {
    let world = try ServiceWorld()
    world.server.hasVersions = hasVersions
    for number in 0..<20 {
      _ = world.server.handle(
        .create(data: ["text": .string("t\(number)"), "rank": .number(JSONNumber(Int64(number)))]))
    }
    try world.connect()
    try world.listen(Query(notes).ordered(byChild: "rank"), page: 5)
    try world.settle()
    try world.disconnect()
    let members = (0..<2).map { number in
      JSONMember(Self.key(number), ["text": .string("new\(number)"), "rank": 100])
    }
    _ = try world.write(.update(notes, members))
    let removal = try #require(try world.write(.remove(try Path("/notes/" + Self.key(0)))))
    try world.connect()
    return (world, removal)
  }

  /// Does the next of what can happen; false if nothing is left.
  private func step(_ world: ServiceWorld) throws -> Bool {
    if !world.events.isEmpty {
      try world.tellEvents()
    } else if let flight = world.flights.first {
      if flight.answer == nil { world.execute(0) } else { try world.answer(0) }
    } else if world.origin.deadline != nil {
      try world.tick()
    } else {
      return false
    }
    return true
  }

  private func created(_ world: ServiceWorld) -> [String] {
    world.server.records.dropFirst(20).compactMap { $0["text"]?.string }
  }

  @Test(arguments: [false, true], [0, 1, 2]) func removalIsDoneWhereverTheConnectionIsLost(
    hasVersions: Bool, loss: Int
  ) throws {
    var place = 0
    while place < 200 {
      let (world, removal) = try world(hasVersions: hasVersions)
      var rest = place
      while rest > 0, try step(world) { rest -= 1 }
      if world.session.pendingWrites.isEmpty { break }
      switch loss {
      case 0: try world.disconnect()
      case 1: try world.disconnect(answered: true)
      default: try world.kill()
      }
      try world.connect()
      try world.settle()
      let what = "loss \(loss) at step \(place)"
      #expect(world.refused.isEmpty, "\(what): \(world.refused)")
      #expect(created(world) == ["new1"] && world.acknowledged.contains(removal), "\(what)")
      #expect(world.session.pendingWrites.isEmpty, "\(what)")
      place += 1
    }
    #expect(place > 5 && place < 200)
  }
}

import TestSupport
import Testing
import WireSimulation

/// Real sessions of clients and of servers over a network that fails.
@Suite struct WireSimulationTests {
  private static let alone = WireWorld.Shape.all.filter { $0.shape.storeServerCount == nil }
  private static let store = WireWorld.Shape.all.filter { $0.shape.storeServerCount != nil }

  /// Seeds of long runs that found something.
  ///
  /// - 3538, 6133: A paged window was emptied by a write that was given up, and not filled again.
  /// - 6918, 7895, 8101, 13052: A removal that undid the writer's own unanswered write became that write.
  /// - 12080: A write was refused when its credential ended, and the next one, under the new credential, was
  ///   not; sent again, the first one was done last.
  /// - 27870: What a killed client had sent was read after what it sent when it had come back.
  @Test(arguments: [3538, 6133, 6918, 7895, 8101, 12_080, 13_052, 27_870] as [UInt64])
  func seedsThatFailedOnceHold(seed: UInt64) throws {
    for (name, shape) in WireSimulationTests.alone {
      var world = WireWorld(seed: seed, shape: shape)
      #expect(throws: Never.self, "\(name)") { try world.run() }
    }
  }

  /// The smallest worlds: debug builds are slow, so that a long run does the rest.
  @Test(arguments: Seeds.first(10))
  func aServerAloneKeepsItsWord(piece: UInt64) throws {
    for seed in piece * 10..<piece * 10 + 10 {
      for world in SimulatedWorld.all.prefix(2) {
        do {
          try world.run(seed)
        } catch {
          throw SimulationError("seed \(seed), \(world.name): \(error)")
        }
      }
    }
  }

  @Test(arguments: Seeds.first(8), alone.indices)
  func clientsAndServerAgreeInTheEnd(seed: UInt64, index: Int) throws {
    try run(WireSimulationTests.alone[index], seed)
  }

  /// Seeds 101 and 158 failed once: what a client that came between two leases had left to be done at its end
  /// was done when the second one began.
  @Test(arguments: Seeds.first(3, kept: [101, 158]), store.indices)
  func clientsAndServersOfAStoreAgreeInTheEnd(seed: UInt64, index: Int) throws {
    try run(WireSimulationTests.store[index], seed)
  }

  /// Otherwise the test above would prove less than it says.
  @Test func serversOfAStoreMeetEachKindOfFailure() throws {
    var all = WireWorld.Encounters()
    for seed in 100..<102 as Range<UInt64> {
      for shape in WireSimulationTests.store {
        let met = try run(shape, seed)
        all.doubts += met.doubts
        all.leasesLost += met.leasesLost
        all.redirects += met.redirects
        all.takeOvers += met.takeOvers
        all.failovers += met.failovers
      }
    }
    #expect(all.doubts > 0)
    #expect(all.leasesLost > 0)
    #expect(all.redirects > 0)
    #expect(all.takeOvers > 0)
    #expect(all.failovers > 0)
  }

  @discardableResult
  private func run(
    _ shape: (name: String, shape: WireWorld.Shape), _ seed: UInt64
  ) throws -> WireWorld.Encounters {
    var world = WireWorld(seed: seed, shape: shape.shape)
    do {
      try world.run()
    } catch {
      throw SimulationError("seed \(seed), \(shape.name): \(error)")
    }
    return world.encounters
  }
}

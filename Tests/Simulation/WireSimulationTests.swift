import TestSupport
import Testing
import WireSimulation

/// Real sessions of clients and of a server over a network that fails.
@Suite struct WireSimulationTests {
  /// Seeds of long runs that found something: a paged window was emptied by a write that was given up, and not
  /// filled again.
  @Test(arguments: [3538, 6133] as [UInt64]) func seedsThatFailedOnceHold(seed: UInt64) throws {
    for (name, shape) in WireWorld.Shape.all {
      var world = WireWorld(seed: seed, shape: shape)
      #expect(throws: Never.self, "\(name)") { try world.run() }
    }
  }

  @Test(arguments: Seeds.first(20), WireWorld.Shape.all.indices)
  func clientsAndServerAgreeInTheEnd(seed: UInt64, index: Int) throws {
    let (name, shape) = WireWorld.Shape.all[index]
    var world = WireWorld(seed: seed, shape: shape)
    do {
      try world.run()
    } catch {
      throw SimulationError("seed \(seed), \(name): \(error)")
    }
  }
}

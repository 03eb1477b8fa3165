import TestSupport
import Testing
import WireSimulation

/// Real sessions of clients and of a server over a network that fails.
@Suite struct WireSimulationTests {
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

import TestSupport
import Testing
import WireSimulation

/// Real sessions of clients and of a server over a network that fails.
@Suite struct WireSimulationTests {
  /// Seeds of long runs that found something.
  ///
  /// - 3538, 6133: A paged window was emptied by a write that was given up, and not filled again.
  /// - 6918, 7895, 8101, 13052: A removal that undid the writer's own unanswered write became that write.
  /// - 12080: A write was refused when its credential ended, and the next one, under the new credential, was
  ///   not; sent again, the first one was done last.
  /// - 27870: What a killed client had sent was read after what it sent when it had come back.
  @Test(arguments: [3538, 6133, 6918, 7895, 8101, 12_080, 13_052, 27_870] as [UInt64])
  func seedsThatFailedOnceHold(seed: UInt64) throws {
    for (name, shape) in WireWorld.Shape.all {
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

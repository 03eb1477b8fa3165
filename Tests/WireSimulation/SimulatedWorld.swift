/// A kind of world that runs for each seed.
package struct SimulatedWorld: Sendable {
  /// Its name.
  package let name: String
  /// Runs the world of a seed.
  ///
  /// - Throws: `SimulationError` for a violated invariant.
  package let run: @Sendable (UInt64) throws -> Void

  /// All kinds, the smallest first.
  package static let all: [SimulatedWorld] =
    [server("a server alone", 1, 40), server("a server alone, three speakers", 3, 150)]
    + WireWorld.Shape.all.map { name, shape in
      SimulatedWorld(name: name) { seed in
        var world = WireWorld(seed: seed, shape: shape)
        try world.run()
      }
    }

  private init(name: String, run: @escaping @Sendable (UInt64) throws -> Void) {
    (self.name, self.run) = (name, run)
  }

  private static func server(_ name: String, _ speakers: Int, _ steps: Int) -> SimulatedWorld {
    SimulatedWorld(name: name) { seed in
      var world = ServerWorld(seed: seed, shape: ServerWorld.Shape(speakers, steps))
      try world.run()
    }
  }
}

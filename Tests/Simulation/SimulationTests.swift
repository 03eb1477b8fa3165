import Foundation
import RunnelBase
import RunnelTree
import TestSupport
import Testing
import WireSimulation

/// Random worlds.
@Suite struct SimulationTests {
  @Test(arguments: Seeds.first(15))
  func replicasInMemoryConverge(seed: UInt64) throws {
    var simulation = Simulation(
      seed: seed, replicas: (0..<3).map { _ in MemoryReplica() })
    try simulation.run(steps: 150)
  }

  /// However little is kept, it is told by ranges.
  @Test(arguments: Seeds.first(6))
  func replicasThatTellRangesConverge(seed: UInt64) throws {
    let hashing = RangeHashing(sizeMax: 4, textMin: 1 + Int(seed % 3) * 20)
    var simulation = Simulation(
      seed: seed, replicas: (0..<3).map { _ in MemoryReplica(hashing: hashing) })
    try simulation.run(steps: 150)
  }

  @Test(arguments: Seeds.first(2, oneOf: 50, kept: [15]))
  func replicasInFilesConverge(seed: UInt64) throws {
    var simulation = Simulation(
      seed: seed, replicas: [try FileReplica(), try FileReplica(), MemoryReplica()])
    try simulation.run(steps: 150)
  }

  /// Two sessions on each of two files, of which one at a time talks to the origin.
  @Test(arguments: Seeds.first(3, oneOf: 50))
  func sessionsOnOneFileConverge(seed: UInt64) throws {
    let (first, second) = (try FileReplica(), try FileReplica())
    var simulation = Simulation(
      seed: seed, replicas: try [first, first.sibling(), second, second.sibling()],
      sessionsPerFile: 2)
    try simulation.run(steps: 200)
  }

  /// The file and the memory do the same on the same inputs.
  @Test(arguments: Seeds.first(2, oneOf: 50))
  func fileDoesWhatMemoryDoes(seed: UInt64) throws {
    var simulation = Simulation(seed: seed, replicas: [try TwinReplica(), try TwinReplica()])
    try simulation.run(steps: 150)
  }
}

/// A replica in memory and one in a file, which must do the same.
private struct TwinReplica: SimulatedReplica {
  private var memory = MemoryReplica()
  private let file: FileReplica

  init() throws { file = try FileReplica() }

  mutating func carryOut(_ input: ReplicaInput, now: Int64) throws -> ReplicaOutput {
    let expected = try memory.carryOut(input, now: now)
    let output = try file.carryOut(input, now: now)
    guard output.deliveries == expected.deliveries, output.commands == expected.commands,
      output.completions == expected.completions
    else { throw SimulationError("\(input): \(output) instead of \(expected)") }
    guard try file.shown() == memory.shown() else {
      throw SimulationError("\(input): the file shows something else")
    }
    return expected
  }

  mutating func crash() throws {
    try memory.crash()
    try file.crash()
  }

  func shown() throws -> Node { try memory.shown() }

  func pendingIDs() -> [Int64] { memory.pendingIDs() }
}

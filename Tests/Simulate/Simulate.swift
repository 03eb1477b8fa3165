import Foundation
import WireSimulation

/// Runs simulations of clients, a server and a bad network: `runnel-simulate --seeds FROM..TO`.
///
/// A seed that fails is printed with what does not hold, and the status is 1.
@main
enum Simulate {
  static func main() {
    guard let seeds = seeds(CommandLine.arguments.dropFirst()) else {
      print("usage: runnel-simulate --seeds FROM..TO (TO is not run)")
      exit(2)
    }
    var failedCount = 0
    for seed in seeds {
      for (name, shape) in WireWorld.Shape.all {
        do {
          var world = WireWorld(seed: seed, shape: shape)
          try world.run()
        } catch {
          failedCount += 1
          print("seed \(seed), \(name): \(error)")
        }
      }
    }
    print("\(seeds.count) seeds in \(WireWorld.Shape.all.count) shapes, \(failedCount) failed")
    exit(failedCount == 0 ? 0 : 1)
  }

  private static func seeds(_ arguments: ArraySlice<String>) -> Range<UInt64>? {
    let words = Array(arguments)
    guard words.count == 2, words[0] == "--seeds" else { return nil }
    let ends = words[1].split(separator: ".").compactMap { UInt64($0) }
    guard ends.count == 2, ends[0] <= ends[1] else { return nil }
    return ends[0]..<ends[1]
  }
}

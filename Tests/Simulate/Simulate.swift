import Foundation
import WireSimulation

/// Runs simulations of clients, a server or several of a store, and a bad network:
/// `runnel-simulate --seeds FROM..TO`, in all kinds of
/// worlds or, with `--shape NAME`, in one.
///
/// A seed that fails is printed with what does not hold, and the status is 1. The time that each kind of world
/// took is printed, too. With `--trace`, what the servers of a store and their clients do is told.
@main
enum Simulate {
  private struct Order {
    var seeds: Range<UInt64>
    var worlds = SimulatedWorld.all
  }

  static func main() {
    var words = Array(CommandLine.arguments.dropFirst())
    if words.last == "--trace" {
      words.removeLast()
      SimulationTrace.isOn = true
    }
    guard let order = order(words) else {
      let names = SimulatedWorld.all.map { "\"\($0.name)\"" }.joined(separator: ", ")
      print("usage: runnel-simulate --seeds FROM..TO [--shape NAME] [--trace]")
      print("TO is not run. The shapes: \(names)")
      exit(2)
    }
    let start = ContinuousClock.now
    var failedCount = 0
    var seconds = [Double](repeating: 0, count: order.worlds.count)
    for seed in order.seeds {
      for (index, world) in order.worlds.enumerated() {
        let start = ContinuousClock.now
        do {
          try world.run(seed)
        } catch {
          failedCount += 1
          print("seed \(seed), \(world.name): \(error)")
        }
        seconds[index] += (ContinuousClock.now - start) / .seconds(1)
      }
    }
    for (world, seconds) in zip(order.worlds, seconds) where order.worlds.count > 1 {
      print("\(world.name): \(rate(order, seconds)) seeds a second")
    }
    let all = rate(order, (ContinuousClock.now - start) / .seconds(1))
    print(
      "\(order.seeds.count) seeds in \(order.worlds.count) shapes, \(failedCount) failed, "
        + "\(all) seeds a second")
    exit(failedCount == 0 ? 0 : 1)
  }

  private static func rate(_ order: Order, _ seconds: Double) -> Int {
    Int(Double(order.seeds.count) / max(seconds, 0.001))
  }

  private static func order(_ words: [String]) -> Order? {
    guard words.count == 2 || words.count == 4, words[0] == "--seeds",
      let seeds = seeds(words[1])
    else { return nil }
    var order = Order(seeds: seeds)
    if words.count == 2 { return order }
    order.worlds = order.worlds.filter { $0.name == words[3] }
    return words[2] == "--shape" && !order.worlds.isEmpty ? order : nil
  }

  private static func seeds(_ text: String) -> Range<UInt64>? {
    let ends = text.split(separator: ".").compactMap { UInt64($0) }
    return ends.count == 2 && ends[0] <= ends[1] ? ends[0]..<ends[1] : nil
  }
}

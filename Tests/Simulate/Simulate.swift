import Foundation
import WireSimulation

/// Runs simulations of clients, a server and a bad network: `runnel-simulate --seeds FROM..TO`, in all shapes of
/// worlds or, with `--shape NAME`, in one.
///
/// A seed that fails is printed with what does not hold, and the status is 1.
@main
enum Simulate {
  private struct Order {
    var seeds: Range<UInt64>
    var shapes = WireWorld.Shape.all
  }

  static func main() {
    guard let order = order(Array(CommandLine.arguments.dropFirst())) else {
      let names = WireWorld.Shape.all.map { "\"\($0.name)\"" }.joined(separator: ", ")
      print("usage: runnel-simulate --seeds FROM..TO [--shape NAME]")
      print("TO is not run. The shapes: \(names)")
      exit(2)
    }
    let start = ContinuousClock.now
    var failedCount = 0
    for seed in order.seeds {
      for (name, shape) in order.shapes {
        do {
          var world = WireWorld(seed: seed, shape: shape)
          try world.run()
        } catch {
          failedCount += 1
          print("seed \(seed), \(name): \(error)")
        }
      }
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let rate = Int(Double(order.seeds.count) / max(seconds, 0.001))
    print(
      "\(order.seeds.count) seeds in \(order.shapes.count) shapes, \(failedCount) failed, "
        + "\(rate) seeds a second")
    exit(failedCount == 0 ? 0 : 1)
  }

  private static func order(_ words: [String]) -> Order? {
    guard words.count == 2 || words.count == 4, words[0] == "--seeds",
      let seeds = seeds(words[1])
    else { return nil }
    var order = Order(seeds: seeds)
    if words.count == 2 { return order }
    order.shapes = order.shapes.filter { $0.name == words[3] }
    return words[2] == "--shape" && !order.shapes.isEmpty ? order : nil
  }

  private static func seeds(_ text: String) -> Range<UInt64>? {
    let ends = text.split(separator: ".").compactMap { UInt64($0) }
    return ends.count == 2 && ends[0] <= ends[1] ? ends[0]..<ends[1] : nil
  }
}

import RunnelBase
import Testing

@testable import RunnelTree

@Suite struct KeyedPartsTests {
  /// Few and many keys; copies that are kept stay as they were.
  @Test(arguments: [1, 20, 300] as [Int])
  func partsHoldWhatADictionaryHoldsAndCopiesStayAsTheyWere(keyCount: Int) throws {
    let seed: UInt64 = 7
    var random = SeededRandom(seed: seed)
    var parts = KeyedParts<Key, Int>()
    var model: [Key: Int] = [:]
    var kept: [(parts: KeyedParts<Key, Int>, model: [Key: Int])] = []
    for step in 0..<2000 {
      let key = try Key("k\(Int.random(in: 0..<keyCount, using: &random))")
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        #expect(parts.remove(key) == model.removeValue(forKey: key))
      case 5 where step % 50 == 0:
        parts.updateAll { $0 += 1 }
        model = model.mapValues { $0 + 1 }
      case 1:
        parts.update(key) { $0 += step }
        if let value = model[key] { model[key] = value + step }
      default:
        parts[key, default: 0] += step
        model[key, default: 0] += step
      }
      #expect(parts[key] == model[key], "seed \(seed), step \(step)")
      if step % 100 == 0 { kept.append((parts, model)) }
    }
    kept.append((parts, model))
    for (parts, model) in kept {
      #expect(Dictionary(uniqueKeysWithValues: parts.all.map { ($0.key, $0.value) }) == model)
      #expect(parts.isEmpty == model.isEmpty)
    }
    for key in model.keys { parts.remove(key) }
    #expect(parts.isEmpty)
  }
}

import RunnelBase
import TestSupport
import Testing

@testable import RunnelStreams

/// A table of rows beside a dictionary that is changed in the same way.
@Suite struct RowTableTests {
  /// Keys of which many share the slot that they belong to, so that rows stand in each other's way.
  private enum ByCrowdedKey: RowNaming {
    struct Key: Hashable {
      var text: String
      // Five hashes for all keys, whatever the hasher makes of the rest.
      var hashValue: Int { Int(text.utf8.last ?? 0) % 5 }
      func hash(into hasher: inout Hasher) { hasher.combine(hashValue) }
    }

    static func key(of row: RowObject) -> Key { Key(text: row.id) }
  }

  private func row(_ number: Int) -> RowObject { RowBox(TestRow("k\(number)")) }

  @Test func keepsAnyNumberOfRows() {
    var table = RowTable<ByID>()
    #expect(table["k0"] == nil && table.count == 0)
    let rows = (0..<3000).map(row)
    for row in rows { table.insert(row) }
    #expect(table.count == 3000)
    #expect(rows.allSatisfy { table[$0.id] === $0 })
    for row in rows.prefix(2999) { table.remove(row) }
    #expect(Array(table.rows.map(\.id)) == ["k2999"])
  }

  @Test func removesOnlyTheRowItself() {
    var table = RowTable<ByID>()
    let (old, new) = (row(1), row(1))
    table.insert(old)
    table.insert(new)
    #expect(table.count == 1)
    table.remove(old)
    #expect(table["k1"] === new)
  }

  @Test func keysMayPassFromOneRowToAnother() {
    var table = RowTable<ByID>()
    let old = [row(1), row(2), row(3)]
    for row in old { table.insert(row) }
    let new = [row(2), row(1), row(4)]
    table.replace(zip(old, new).map { RowList.Replacement(old: $0, new: $1) })
    #expect(table.count == 3)
    #expect(new.allSatisfy { table[$0.id] === $0 })
    #expect(table["k3"] == nil)
  }

  @Test func randomChangesAgreeWithADictionary() {
    for seed in Seeds.first(20) {
      var random = SeededRandom(seed: seed)
      var table = RowTable<ByCrowdedKey>(minimumCapacity: 10)
      var rows: [String: RowObject] = [:]
      for _ in 0..<300 {
        let row = row(Int.random(in: 0..<60, using: &random))
        if Bool.random(using: &random) {
          table.insert(row)
          rows[row.id] = row
        } else if let old = rows.removeValue(forKey: row.id) {
          table.remove(old)
        }
        #expect(table.count == rows.count, "seed \(seed)")
        for number in 0..<60 {
          let key = "k\(number)"
          if table[.init(text: key)] !== rows[key] { Issue.record("seed \(seed): \(key)") }
        }
      }
    }
  }
}

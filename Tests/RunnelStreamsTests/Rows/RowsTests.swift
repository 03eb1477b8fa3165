import RunnelBase
import TestSupport
import Testing

@testable import RunnelStreams

/// Rows beside an array that is changed in the same way.
@Suite struct RowsTests {
  @Test func holdsAnyNumberOfRowsInOrder() {
    for count in [0, 1, 63, 64, 65, 128, 4096, 4097, 9000] {
      let rows = Rows(0..<count)
      #expect(rows.mistake() == nil, "\(count)")
      #expect(rows.count == count && Array(rows) == Array(0..<count), "\(count)")
      #expect(rows.indices.allSatisfy { rows[$0] == $0 }, "\(count)")
      for place in [-1, 0, 1, count / 2, count - 1, count, count + 1] {
        let expected = min(max(place, 0), count)
        #expect(rows.lowerBound { $0 < place } == expected, "\(count) \(place)")
      }
    }
  }

  @Test func copyStaysAsItWas() {
    var rows = Rows(0..<5000)
    let copy = rows
    for _ in 0..<100 { rows.remove(at: 2500) }
    rows.insert(-1, at: 0)
    #expect(Array(copy) == Array(0..<5000))
    #expect(Array(rows) == [-1] + Array(0..<2500) + Array(2600..<5000))
  }

  @Test func equalsRowsWithTheSameElements() {
    var rows = Rows(0..<300)
    rows.insert(7, at: 40)
    rows.remove(at: 40)
    #expect(rows == Rows(0..<300))
    #expect(rows != Rows(0..<299))
    #expect(Rows([1, 2]) == [1, 2])
  }

  @Test func growsAndShrinksAtBothEnds() {
    var rows = Rows<Int>()
    for number in 0..<2000 { rows.insert(number, at: number % 2 == 0 ? rows.count : 0) }
    #expect(rows.mistake() == nil && rows.count == 2000)
    while !rows.isEmpty {
      rows.remove(at: rows.count % 3 == 0 ? 0 : rows.count - 1)
      if rows.count % 100 == 0 { #expect(rows.mistake() == nil) }
    }
  }

  @Test func leavesOfRowsThatCameAtOnceHaveRoomForOthers() {
    typealias Node = RowsNode<Int>
    for count in [4 * Node.slotsMax + 1, 1000, 1001, 4096, 5000] {
      let leaves = Node(elements: Array(0..<count)).divided
      #expect(leaves.flatMap(\.elements) == Array(0..<count), "\(count)")
      let sizes = leaves.map(\.count)
      #expect(sizes.allSatisfy { $0 >= Node.slotsMin && $0 <= Node.slotsMax * 3 / 4 }, "\(count)")
    }
  }

  @Test func randomEditsAgreeWithAnArray() {
    for seed in Seeds.first(30) {
      var random = SeededRandom(seed: seed)
      var array = Array(0..<Int.random(in: 0...5000, using: &random))
      var rows = Rows(array)
      for _ in 0..<12 {
        let edit = edit(of: array.count, &random)
        rows.apply(edit)
        array = RowsTests.applied(edit, to: array)
        #expect(rows.mistake() == nil, "seed \(seed)")
        #expect(Array(rows) == array, "seed \(seed)")
        let inserted = edit.insertedIndices.map { array[$0] }
        #expect(inserted == edit.inserting.map(\.item), "seed \(seed)")
      }
    }
  }

  /// Few changes, or many, or all in one place.
  private func edit(of count: Int, _ random: inout SeededRandom) -> RowEdit<Int> {
    let most = [3, 50, 3000].randomElement(using: &random) ?? 3
    var edit = RowEdit<Int>()
    var removing = Set<Int>()
    let start = Int.random(in: 0...count, using: &random)
    let isDense = Bool.random(using: &random)
    for offset in 0..<Int.random(in: 0...most, using: &random) where count > 0 {
      removing.insert(
        isDense ? min(start + offset, count - 1) : Int.random(in: 0..<count, using: &random))
    }
    edit.removing = removing.sorted()
    for number in 0..<Int.random(in: 0...most, using: &random) {
      let gap = isDense ? start : Int.random(in: 0...count, using: &random)
      edit.inserting.append(.init(gap: gap, item: -number))
    }
    edit.inserting.sort { $0.gap < $1.gap }
    return edit
  }

  /// What an edit makes of an array, one row after the other.
  static func applied<Item>(_ edit: RowEdit<Item>, to array: [Item]) -> [Item] {
    var result: [Item] = []
    let (gaps, removing) = (Dictionary(grouping: edit.inserting, by: \.gap), Set(edit.removing))
    for index in 0...array.count {
      result += (gaps[index] ?? []).map(\.item)
      if index < array.count, !removing.contains(index) { result.append(array[index]) }
    }
    return result
  }
}

import RunnelBase
import Testing

@testable import RunnelStreams

@Suite struct SectionedDiffTests {
  /// All lists of at most `keys` in at most two sections, sections in both orders.
  private func lists(of keys: [String]) -> [[SectionIDs]] {
    var result: [[SectionIDs]] = [[]]
    for sequence in sequences(of: keys) {
      result.append(list(("x", sequence)))
      result.append(list(("y", sequence)))
      for cut in 0...sequence.count {
        let (head, tail) = (Array(sequence[..<cut]), Array(sequence[cut...]))
        result.append(list(("x", head), ("y", tail)))
        result.append(list(("y", head), ("x", tail)))
      }
    }
    return result
  }

  /// All sequences of different keys, the empty one among them.
  private func sequences(of keys: [String]) -> [[String]] {
    [[]]
      + keys.flatMap { first in
        sequences(of: keys.filter { $0 != first }).map { [first] + $0 }
      }
  }

  @Test func leadsFromEveryShortListToEveryOther() {
    let all = lists(of: ["1", "2", "3"])
    for old in all {
      for new in all {
        let mistake = SectionedDiff.update(from: old, to: new).mistake(from: old, to: new)
        if let mistake { Issue.record("\(mistake)") }
      }
    }
  }

  @Test func leadsFromOneListOfFourToEveryOtherWithAnyContentChanged() {
    let all = lists(of: ["1", "2", "3", "4"])
    for old in [list(("x", ["1", "2", "3", "4"])), list(("x", ["1", "2"]), ("y", ["3", "4"]))] {
      for new in all {
        for changed: Set<String> in [[], ["1"], ["2", "3"], ["1", "2", "3", "4"]] {
          let update = SectionedDiff.update(from: old, to: new, changed: changed)
          if let mistake = update.mistake(from: old, to: new) { Issue.record("\(mistake)") }
          let kept = Set(new.flatMap(\.rowIDs)).intersection(changed)
          #expect(update.reloadedRows.count == kept.count)
        }
      }
    }
  }

  @Test func movesAsFewRowsAsPossible() {
    let keys = ["1", "2", "3", "4", "5"]
    for new in sequences(of: keys) where new.count == keys.count {
      let update = SectionedDiff.update(from: list(("x", keys)), to: list(("x", new)))
      #expect(update.movedRows.count == keys.count - longestAscent(new))
    }
  }

  private func longestAscent(_ keys: [String]) -> Int {
    var best: [Int] = []
    for (index, key) in keys.enumerated() {
      best.append((0..<index).filter { keys[$0] < key }.map { best[$0] }.max().map { $0 + 1 } ?? 1)
    }
    return best.max() ?? 0
  }

  @Test func findsNothingBetweenEqualLists() {
    let same = list(("x", ["1"]), ("y", []))
    #expect(SectionedDiff.update(from: same, to: same).isEmpty)
  }

  @Test func deletesInOldPlacesAndInsertsInNewOnes() {
    let old = list(("x", ["1", "2", "3", "4"]))
    let new = list(("x", ["a", "2", "4", "b"]))
    let update = SectionedDiff.update(from: old, to: new)
    #expect(
      update.deletedRows == [ListIndexPath(section: 0, row: 0), ListIndexPath(section: 0, row: 2)])
    #expect(
      update.insertedRows == [ListIndexPath(section: 0, row: 0), ListIndexPath(section: 0, row: 3)])
    #expect(update.movedRows.isEmpty)
  }

  @Test func rowThatChangesSectionIsOneMove() {
    let update = SectionedDiff.update(
      from: list(("x", ["1", "2"]), ("y", ["3"])), to: list(("x", ["1"]), ("y", ["2", "3"])))
    let move = BatchUpdate.Move(
      from: ListIndexPath(section: 0, row: 1), to: ListIndexPath(section: 1, row: 0))
    #expect(update.movedRows == [move])
    #expect(update.deletedRows.isEmpty && update.insertedRows.isEmpty)
  }

  @Test func rowsOfSectionsThatComeAndGoAreNotListedUnlessTheyMove() {
    let update = SectionedDiff.update(
      from: list(("x", ["1", "2"])), to: list(("y", ["2", "3"])))
    #expect(update.deletedSections == [0] && update.insertedSections == [0])
    #expect(update.deletedRows.isEmpty && update.insertedRows.isEmpty)
    #expect(update.movedRows.count == 1)
  }

  @Test func sectionThatChangesItsPlaceTakesItsRowsAlong() {
    let update = SectionedDiff.update(
      from: list(("x", ["1"]), ("y", ["2"]), ("z", ["3"])),
      to: list(("z", ["3"]), ("x", ["1"]), ("y", ["2"])))
    #expect(update.movedSections == [.init(from: 2, to: 0)])
    #expect(update.movedRows.isEmpty)
  }

  @Test func touchedRowsGiveTheSameAsTheWholeLists() {
    for seed in 0..<400 as Range<UInt64> {
      var random = SeededRandom(seed: seed)
      let old = (0..<12).map { "k\($0)" }
      var new = old
      var touched = Set<String>()
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        let index = Int.random(in: 0..<new.count, using: &random)
        touched.insert(new[index])
        let key = new.remove(at: index)
        if Bool.random(using: &random) {
          new.insert(key, at: Int.random(in: 0...new.count, using: &random))
        }
        if Bool.random(using: &random) {
          let fresh = "n\(Int.random(in: 0..<1000, using: &random))"
          if new.contains(fresh) { continue }
          touched.insert(fresh)
          new.insert(fresh, at: Int.random(in: 0...new.count, using: &random))
        }
      }
      let changes = SectionedDiff.changes(
        from: side(old, touched), to: side(new, touched), changed: [])
      let (before, after) = (list(("x", old)), list(("x", new)))
      let mistake = changes.batch.mistake(from: before, to: after)
      #expect(mistake == nil, "seed \(seed)")
      let whole = SectionedDiff.update(from: before, to: after)
      #expect(changes.batch.movedRows.count == whole.movedRows.count, "seed \(seed)")
    }
  }

  @Test func untouchedRowsMoveTooIfThatIsLess() {
    let (old, new) = (["u", "1", "2", "3"], ["1", "2", "3", "u"])
    let changes = SectionedDiff.changes(
      from: side(old, ["1", "2", "3"]), to: side(new, ["1", "2", "3"]), changed: [])
    let move = BatchUpdate.Move(
      from: ListIndexPath(section: 0, row: 0), to: ListIndexPath(section: 0, row: 3))
    #expect(changes.batch.movedRows == [move])
  }

  @Test func touchedRowsThatCannotBeAllAreAReload() {
    let changes = SectionedDiff.changes(
      from: side(["1", "2"], ["1"]), to: side(["1", "2", "3"], ["1"]), changed: [])
    #expect(changes == .reload)
  }

  private func side(_ keys: [String], _ touched: Set<String>) -> SectionedDiff.Side {
    let rows = keys.enumerated().filter { touched.contains($0.element) }.map {
      SectionedDiff.Row(path: ListIndexPath(section: 0, row: $0.offset), id: $0.element)
    }
    return SectionedDiff.Side(sections: ["x"], counts: [keys.count], touched: rows)
  }
}

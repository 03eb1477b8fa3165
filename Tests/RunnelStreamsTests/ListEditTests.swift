import RunnelBase
import TestSupport
import Testing

@testable import RunnelStreams

/// Lists that are brought up to date by edits, against lists that are made anew.
@Suite struct ListEditTests {
  private func sections(_ list: [SectionIDs]) -> [ListSection] {
    list.map { ListSection(id: $0.id, rows: $0.rowIDs) }
  }

  /// A list of some of these keys in some sections, in any order.
  private func randomList(_ keys: Range<Int>, _ random: inout SeededRandom) -> [SectionIDs] {
    let ids = ["a", "b", "c", "d"].shuffled(using: &random).prefix(
      Int.random(in: 0...4, using: &random))
    var list = ids.map { SectionIDs(id: $0, rowIDs: []) }
    guard !list.isEmpty else { return list }
    for key in keys.shuffled(using: &random) where Int.random(in: 0..<3, using: &random) > 0 {
      list[Int.random(in: 0..<list.count, using: &random)].rowIDs.append("\(key)")
    }
    return list
  }

  @Test(arguments: Seeds.first(30))
  func leadsFromAnyListToAnyOther(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var shown: [ListSection] = []
    var list: [SectionIDs] = []
    for step in 0..<40 {
      let next = randomList(0..<Int.random(in: 0...90, using: &random), &random)
      let update = SectionedDiff.update(from: list, to: next)
      let edit = try #require(ListEdit(update, to: sections(next)))
      shown = try #require(edit.sections(after: shown), "seed \(seed), step \(step)")
      try #require(shown == sections(next), "seed \(seed), step \(step): \(update)")
      list = next
    }
  }

  @Test(arguments: Seeds.first(30))
  func anUpdateThatDoesNotFitIsRefused(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    for _ in 0..<100 {
      let (old, new) = (randomList(0..<12, &random), randomList(0..<12, &random))
      let other = randomList(0..<12, &random)
      let update = SectionedDiff.update(from: old, to: new)
      // Whatever comes of it, it does not stop the program, and has the numbers that were asked for.
      let result = ListEdit(update, to: sections(new))?.sections(after: sections(other))
      guard let result, !update.isReload else { continue }
      #expect(
        update.countMistake(from: other.map(\.rowIDs.count), to: result.map(\.rows.count)) == nil)
    }
  }

  @Test func placesOutsideAreRefused() {
    let old = sections([SectionIDs(id: "x", rowIDs: ["1", "2"])])
    func result(_ change: (inout BatchUpdate) -> Void, _ ids: [String] = []) -> [ListSection]? {
      var update = BatchUpdate()
      change(&update)
      return ListEdit(update, insertedRows: ids).sections(after: old)
    }
    #expect(result { $0.deletedRows = [ListIndexPath(section: 0, row: 2)] } == nil)
    #expect(result { $0.deletedRows = [ListIndexPath(section: 1, row: 0)] } == nil)
    #expect(result({ $0.insertedRows = [ListIndexPath(section: 0, row: 3)] }, ["3"]) == nil)
    #expect(result({ $0.insertedRows = [ListIndexPath(section: 1, row: 0)] }, ["3"]) == nil)
    #expect(result { $0.insertedRows = [ListIndexPath(section: 0, row: 0)] } == nil)
    #expect(result { $0.deletedSections = [1] } == nil)
    #expect(result { $0.movedSections = [.init(from: 0, to: 4)] } == nil)
    let twice = ListIndexPath(section: 0, row: 1)
    #expect(result { $0.deletedRows = [twice, twice] } == nil)
    #expect(result({ $0.insertedRows = [ListIndexPath(section: 0, row: 2)] }, ["3"]) != nil)
  }

  @Test func rowsOfOneSectionFollowAnUpdateWithTheirContents() throws {
    var update = BatchUpdate()
    update.deletedRows = [ListIndexPath(section: 0, row: 0)]
    update.reloadedRows = [ListIndexPath(section: 0, row: 2)]
    update.insertedRows = [ListIndexPath(section: 0, row: 3)]
    let rows = Rows(["a", "b", "c", "d"])
    let followed = try #require(rows.following(update, contents: [1: "C", 3: "e"]))
    #expect(Array(followed) == ["b", "C", "d", "e"])
    #expect(rows.following(.reload, contents: [1: "y", 0: "x"]).map(Array.init) == ["x", "y"])
    #expect(rows.following(update, contents: [9: "z"]) == nil)
  }

  @Test func rowsThatAreSharedAreEqualWithoutALookAtEach() {
    let stream = TransientStream((0..<100).map { TestRow("\($0)") })
    var told: [ListUpdate<TestRow>] = []
    let adapter = IndexPathAdapter([ListPart(stream)]) { told.append($0) }
    adapter.start()
    let (one, other) = (told[0].listSections()[0].rows, told[0].listSections()[0].rows)
    #expect(one.source?.isCopy(of: KeyRows.rows(["1"])) == false)
    #expect(other.source.map { one.source?.isCopy(of: $0) == true } == true)
    #expect(one == other && one == ListRows((0..<100).map { "\($0)" }))
    adapter.stop()
  }
}

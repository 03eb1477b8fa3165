import RunnelBase
import Testing

@testable import RunnelStreams

@Suite struct BatchUpdateReplayTests {
  private let old = list(("x", ["1", "2"]), ("y", ["3"]))
  private let new = list(("x", ["2"]), ("y", ["3", "4"]))

  private var right: BatchUpdate { SectionedDiff.update(from: old, to: new) }

  @Test func rightBatchHasNoMistake() {
    #expect(right.mistake(from: old, to: new) == nil)
    #expect(right.countMistake(from: old.map(\.rowIDs.count), to: new.map(\.rowIDs.count)) == nil)
  }

  @Test func missingDeleteIsAMistake() {
    var batch = right
    batch.deletedRows = []
    #expect(batch.mistake(from: old, to: new) != nil)
    #expect(batch.countMistake(from: old.map(\.rowIDs.count), to: new.map(\.rowIDs.count)) != nil)
  }

  @Test func deleteOfTheWrongRowIsAMistake() {
    var batch = right
    batch.deletedRows = [ListIndexPath(section: 0, row: 1)]
    #expect(batch.mistake(from: old, to: new) != nil)
  }

  @Test func placesOutsideAreAMistake() {
    var batch = right
    batch.deletedRows = [ListIndexPath(section: 7, row: 0)]
    #expect(batch.mistake(from: old, to: new) != nil)
    batch = right
    batch.insertedRows = [ListIndexPath(section: 1, row: 9)]
    #expect(batch.mistake(from: old, to: new) != nil)
    batch = right
    batch.movedRows = [
      .init(from: ListIndexPath(section: 1, row: 0), to: ListIndexPath(section: 5, row: 0))
    ]
    #expect(batch.mistake(from: old, to: new) != nil)
    batch = right
    batch.deletedSections = [3]
    #expect(batch.mistake(from: old, to: new) != nil)
  }

  @Test func reloadOfARowThatGoesIsAMistake() {
    var batch = right
    batch.reloadedRows = [ListIndexPath(section: 0, row: 0)]
    #expect(batch.mistake(from: old, to: new) != nil)
  }

  @Test func listsOutOfOrderAreAMistake() {
    let (old, new) = (list(("x", ["1", "2"])), list(("x", [])))
    var batch = SectionedDiff.update(from: old, to: new)
    batch.deletedRows.reverse()
    #expect(batch.mistake(from: old, to: new) != nil)
  }

  @Test func reloadWithAnythingElseIsAMistake() {
    #expect(BatchUpdate.reload.mistake(from: old, to: new) == nil)
    var batch = BatchUpdate.reload
    batch.insertedSections = [0]
    #expect(batch.mistake(from: old, to: new) != nil)
  }
}

import RunnelBase
import Testing

@testable import RunnelStreams

/// A list of streams in turn, and the placeholders in it.
@Suite struct ListPartTests {
  /// A list that follows the updates of an adapter, with what it found wrong.
  private final class ListView {
    private(set) var updates: [ListUpdate<TestRow>] = []
    private(set) var shown: [SectionIDs] = []
    private(set) var notes: [String] = []
    let adapter: IndexPathAdapter<TestRow>

    init(_ parts: [ListPart<TestRow>], sectionOffset: Int = 0, touchedRowsMax: Int = 5000) {
      let box = Box()
      adapter = IndexPathAdapter(
        parts, sectionOffset: sectionOffset, touchedRowsMax: touchedRowsMax,
        log: { box.view?.notes.append($0) }, receive: { box.view?.take($0) })
      box.view = self
      adapter.start()
    }

    var last: BatchUpdate? { updates.last?.update }
    var text: [String] { (updates.last?.sectionIDs ?? []).text }

    private func take(_ update: ListUpdate<TestRow>) {
      let before = (0..<update.sectionOffset).map { SectionIDs(id: "other\($0)", rowIDs: []) }
      let (old, new) = (before + shown, before + update.sectionIDs)
      if let mistake = update.update.mistake(from: old, to: new) { notes.append(mistake) }
      shown = update.sectionIDs
      updates.append(update)
    }

    private final class Box {
      weak var view: ListView?
    }
  }

  private let first = TransientStream([TestRow("a"), TestRow("b")])
  private let second = TransientStream([TestRow("a"), TestRow("x")])

  private func path(_ section: Int, _ row: Int) -> ListIndexPath {
    ListIndexPath(section: section, row: row)
  }

  @Test func partsStandInTurnAndKeepTheirKeysApart() {
    let view = ListView([ListPart(first), ListPart(second, idPrefix: "2/")])
    #expect(view.text == [": a b", "2/: 2/a 2/x"])
    #expect(view.updates.map(\.update) == [.reload])
    second.remove("a")
    #expect(view.last?.deletedRows == [path(1, 0)])
    #expect(view.updates.last?.removed == ["2/a"])
    first.put(TestRow("c"))
    #expect(view.last?.insertedRows == [path(0, 2)])
    #expect(view.notes == [])
  }

  @Test func sectionsOfALaterPartFollowThoseThatAnEarlierOneGains() {
    let days = PartitionedStream(first, sectionID: { "day\($0)" }, partition: \.value)
    let view = ListView([ListPart(days), ListPart(second, idPrefix: "2/")])
    #expect(view.text == ["day0: a b", "2/: 2/a 2/x"])
    first.update(TestRow("b", 1))
    #expect(view.text == ["day0: a", "day1: b", "2/: 2/a 2/x"])
    #expect(view.last?.movedRows == [.init(from: path(0, 1), to: path(1, 0))])
    second.remove("x")
    #expect(view.last?.deletedRows == [path(2, 1)])
    #expect(view.notes == [])
  }

  @Test func fixedOffsetCountsTheSectionsOfOthers() {
    let view = ListView([ListPart(first)], sectionOffset: 3)
    #expect(view.updates.last?.sectionOffset == 3)
    first.remove("a")
    #expect(view.last?.deletedRows == [path(3, 0)])
    first.update(TestRow("b", 5))
    #expect(view.last?.reloadedRows == [path(3, 0)])
    #expect(view.notes == [])
  }

  @Test func headerAndFooterAreReloadedWhenTheyChange() {
    let view = ListView([
      ListPart(first) { section in
        SectionLabels(header: "\(section.items.count) rows", footer: section.items.last?.word)
      }
    ])
    first.update(TestRow("a", 9))
    #expect(view.last?.reloadedSections == [])
    first.put(TestRow("c"))
    #expect(view.last?.reloadedSections == [0])
    #expect(view.updates.last?.sections.first?.labels.header == "3 rows")
    first.update(TestRow("c", 0, "end"))
    #expect(view.last?.reloadedSections == [0])
    #expect(view.notes == [])
  }

  @Test func emptySectionHasARowThatSaysSo() {
    let view = ListView([ListPart(first, placeholders: [.empty])])
    first.reset()
    #expect(view.text == [": empty:"])
    #expect(view.last?.insertedRows == [path(0, 0)])
    first.put(TestRow("c"))
    #expect(view.text == [": c"])
    #expect(view.last?.deletedRows == [path(0, 0)])
    #expect(view.notes == [])
  }

  @Test func listWithoutSectionsHasARowThatSaysSo() {
    let days = PartitionedStream(first, sectionID: { "day\($0)" }, partition: \.value)
    let view = ListView([ListPart(days, placeholders: [.empty])])
    first.reset()
    #expect(view.text == ["empty: empty"])
    first.put(TestRow("c"))
    #expect(view.text == ["day0: c"])
    #expect(view.notes == [])
  }

  @Test func whileAnUpdateIsAppliedChangesAddUp() {
    let view = ListView([ListPart(first), ListPart(second, idPrefix: "2/")])
    view.adapter.hold()
    first.put(TestRow("c"))
    first.remove("a")
    first.put(TestRow("d"))
    first.remove("d")
    second.update(TestRow("x", 1))
    #expect(view.updates.count == 1)
    #expect(view.adapter.waitingRowCount > 0)
    view.adapter.release()
    #expect(view.updates.count == 3)
    #expect(view.updates[1].update.deletedRows == [path(0, 0)])
    #expect(view.updates[1].update.insertedRows == [path(0, 1)])
    #expect(view.updates[1].update.reloadedRows == [])
    #expect(view.updates[2].update.reloadedRows == [path(1, 1)])
    #expect(view.adapter.waitingRowCount == 0)
    #expect(view.notes == [])
  }

  @Test func changeOfVeryManyRowsIsALoggedReload() {
    let view = ListView([ListPart(first)], touchedRowsMax: 10)
    first.put(contentsOf: (0..<10).map { TestRow("m\($0)") })
    #expect(view.last?.insertedRows.count == 10)
    #expect(view.notes == [])
    first.put(contentsOf: (0..<11).map { TestRow("n\($0)") })
    #expect(view.last == .reload)
    #expect(view.updates.last?.touched.count == 23)
    #expect(view.notes == ["A change of 11 rows was told as a reload."])
  }

  @Test func changeThatContradictsItselfIsALoggedReload() {
    let liar = LyingStream([TestRow("a"), TestRow("b")])
    let view = ListView([ListPart(liar)])
    liar.lie(true: [TestRow("b")]) { $0.deletedRows = [ListIndexPath(section: 0, row: 7)] }
    #expect(view.last == .reload)
    #expect(view.text == [": b"])
    liar.lie(true: []) { _ in }
    #expect(view.last == .reload)
    #expect(view.notes.count == 2)
    liar.lie(true: [TestRow("c")]) { $0.insertedRows = [ListIndexPath(section: 0, row: 0)] }
    #expect(view.text == [": c"])
  }

  @Test func statusRowTellsHowFarTheRowsAre() throws {
    let source = StagedStream()
    let view = ListView([ListPart(source, placeholders: [.status, .empty])])
    #expect(view.text == ["status: status"])
    #expect(view.updates.last?.placeholders.map(\.row.content) == [.loading])
    source.stage(.failed("no"), [])
    #expect(view.updates.last?.placeholders.map(\.row.content) == [.failed("no")])
    #expect(view.last?.reloadedRows == [path(0, 0)])
    source.stage(.loading, [])
    source.stage(.loaded, [TestRow("a")])
    #expect(view.last == .reload)
    #expect(view.text == [": a"])
    source.stage(.failed("lost"), [TestRow("a")])
    #expect(view.text == [": status a"])
    #expect(view.last?.insertedRows == [path(0, 0)])
    source.stage(.failed("still"), [TestRow("a")])
    #expect(view.last?.reloadedRows == [path(0, 0)])
    source.stage(.loaded, [])
    #expect(view.text == [": empty:"])
    #expect(view.notes == [])
  }

  @Test func fetchMoreRowsStandAtBothEnds() {
    let source = TransientStream([TestRow("a"), TestRow("b")])
    var states: [FetchState] = [.more, .more]
    let touch = TransientStream<TestRow>()
    let view = ListView([
      ListPart(
        source,
        pagings: [
          PagingPoint(
            touch, id: "older", end: .start, state: { states[0] },
            boundaryID: { source.items.first?.id }),
          PagingPoint(
            touch, id: "newer", end: .end, state: { states[1] },
            boundaryID: { source.items.last?.id }),
        ])
    ])
    #expect(view.text == [": older a b newer"])
    states[1] = .fetching
    touch.put(TestRow("t1"))
    #expect(view.last?.reloadedRows == [path(0, 3)])
    source.put(TestRow("c"))
    #expect(view.text == [": older a b c newer"])
    #expect(view.last?.insertedRows == [path(0, 3)])
    #expect(view.last?.movedRows == [])
    states = [.exhausted, .failed("no")]
    touch.put(TestRow("t2"))
    #expect(view.last?.reloadedRows == [path(0, 0), path(0, 4)])
    source.reset()
    #expect(view.text == [": ", "newer: newer"])
    #expect(view.notes == [])
  }

  @Test func pageIsFetchedWhenRowsNearItsRowAreShown() {
    let source = TransientStream((0..<20).map { TestRow("k\($0)", $0) }, order: TestRow.byValue)
    var fetches = 0
    var paging = PagingPoint(
      source, id: "more", end: .end, state: { .more }, boundaryID: { source.items.last?.id })
    paging.prefetch = .init(distance: 5) { fetches += 1 }
    let view = ListView([ListPart(source, pagings: [paging])], sectionOffset: 2)
    view.adapter.didShow(path(2, 0)...path(2, 14))
    #expect(fetches == 0)
    view.adapter.didShow(path(2, 1)...path(2, 15))
    #expect(fetches == 1)
  }
}

/// A stream of one section that says of itself how far it is.
private final class StagedStream: SectionedStream {
  private(set) var loadState = LoadState.loading
  private let rows = TransientStream<TestRow>()
  private var observers: [(StreamToken, (StreamChange<TestRow>) -> Void)] = []

  var sections: [StreamSection<TestRow>] {
    loadState == .loading ? [StreamSection()] : rows.sections
  }
  func item(forID key: String) -> TestRow? { rows.item(forID: key) }
  func indexPath(forID key: String) -> ListIndexPath? { rows.indexPath(forID: key) }

  func stage(_ state: LoadState, _ items: [TestRow]) {
    let before = sections
    loadState = state
    rows.reset(items)
    let batch = SectionedDiff.update(
      from: before.map { SectionIDs(id: $0.id, rowIDs: $0.items.map(\.id)) },
      to: sections.map { SectionIDs(id: $0.id, rowIDs: $0.items.map(\.id)) })
    var changes = ChangeSet()
    changes.batch = batch
    changes.contentPaths = batch.insertedRows
    for (_, observer) in observers { observer(change(changes)) }
  }

  func observe(_ observer: @escaping (StreamChange<TestRow>) -> Void) -> StreamToken {
    let token = rows.observe { _ in }
    observers.append((token, observer))
    observer(present)
    return token
  }
  func cancel(_ token: StreamToken) { observers.removeAll { $0.0 == token } }
}

/// A stream whose changes are not what happened.
private final class LyingStream: SectionedStream {
  private(set) var sections: [StreamSection<TestRow>]
  let loadState = LoadState.loaded
  private let tokens = TransientStream<TestRow>()
  private var observer: ((StreamChange<TestRow>) -> Void)?

  init(_ items: [TestRow]) { sections = TransientStream(items).sections }
  func item(forID key: String) -> TestRow? { nil }
  func indexPath(forID key: String) -> ListIndexPath? { nil }

  func lie(true items: [TestRow], _ change: (inout BatchUpdate) -> Void) {
    sections = TransientStream(items).sections
    var changes = ChangeSet()
    change(&changes.batch)
    changes.contentPaths = changes.batch.insertedRows
    observer?(self.change(changes))
  }

  func observe(_ observer: @escaping (StreamChange<TestRow>) -> Void) -> StreamToken {
    self.observer = observer
    observer(present)
    return tokens.observe { _ in }
  }
  func cancel(_ token: StreamToken) { observer = nil }
}

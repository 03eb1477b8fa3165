import RunnelBase
import RunnelStreams
import RunnelTree
import Testing

/// What lists over realtime data are known to get wrong, as far as it is the adapter's.
@Suite struct AdapterRegressionTests {
  private let source = TransientStream(
    [TestRow("a", 1), TestRow("b", 2), TestRow("c", 3)], order: TestRow.byValue)

  private func path(_ row: Int) -> ListIndexPath { ListIndexPath(section: 0, row: row) }

  @Test func rowThatMovedAndChangedInOneBatchIsOneMoveAndOneReload() {
    let updates = ListUpdates.told(ListPart(source)) { _ in source.update(TestRow("a", 9, "new")) }
    #expect(updates.count == 1)
    #expect(updates[0].movedRows == [.init(from: path(0), to: path(2))])
    #expect(updates[0].reloadedRows == [path(0)])
    #expect(updates[0].insertedRows == [] && updates[0].deletedRows == [])
  }

  @Test func rowInsertedWhereAnotherOneMovedToHasItsOwnPlace() {
    let updates = ListUpdates.told(ListPart(source)) { adapter in
      adapter.hold()
      source.update(TestRow("a", 9))
      source.put(TestRow("d", 8))
      adapter.release()
    }
    #expect(updates.count == 1)
    #expect(updates[0].insertedRows == [path(2)])
    #expect(updates[0].movedRows == [.init(from: path(0), to: path(3))])
  }

  @Test func rowThatMovedAndWentInOneBatchIsOneDelete() {
    let updates = ListUpdates.told(ListPart(source)) { adapter in
      adapter.hold()
      source.update(TestRow("a", 9))
      source.remove("a")
      adapter.release()
    }
    #expect(updates.count == 1)
    #expect(updates[0].deletedRows == [path(0)])
    #expect(updates[0].movedRows == [])
  }

  /// A row that counts how often rows are asked for their ids.
  private struct CountedRow: StreamItem {
    final class Counter {
      var reads = 0
    }

    let number: Int
    var word = ""
    let counter: Counter

    var id: String {
      counter.reads += 1
      return "k\(number)"
    }

    static func == (left: CountedRow, right: CountedRow) -> Bool {
      left.number == right.number && left.word == right.word
    }
  }

  @Test func aChangeOfALongListReadsFewOfItsRows() {
    let counter = CountedRow.Counter()
    let rows = TransientStream((0..<5000).map { CountedRow(number: $0, counter: counter) })
    var updates: [BatchUpdate] = []
    let adapter = IndexPathAdapter([ListPart(rows)]) { updates.append($0.update) }
    adapter.start()
    counter.reads = 0
    rows.put(CountedRow(number: 70, word: "new", counter: counter))
    rows.put(CountedRow(number: 5000, counter: counter))
    #expect(counter.reads < 500)
    #expect(updates.count == 3)
    #expect(updates.last?.insertedRows == [path(5000)])
    adapter.stop()
  }

  @Test func severalDeletesAreAllInOldCoordinates() {
    let updates = ListUpdates.told(ListPart(source)) { _ in source.remove("a", "b") }
    #expect(updates.map(\.deletedRows) == [[path(0), path(1)]])
  }

  @Test func listThatIsStartedAgainAndAgainIsAliveEachTime() {
    var texts: [[String]] = []
    let adapter = IndexPathAdapter(source) { texts.append($0.sectionIDs.text) }
    for round in 0..<5 {
      adapter.start()
      source.put(TestRow("new\(round)", 10 + round))
      adapter.stop()
      source.remove("new\(round)")
    }
    #expect(texts.count == 10)
    #expect(texts.last == [": a b c new4"])
  }

  @Test func loadOfManyRowsIsOneUpdate() {
    source.reset((0..<3000).map { TestRow("k\($0)", $0) })
    var updates: [ListUpdate<TestRow>] = []
    let adapter = IndexPathAdapter(source) { updates.append($0) }
    adapter.start()
    #expect(updates.map(\.update) == [.reload])
    #expect(updates[0].touched.count == 3000)
  }

  @Test func countInAHeaderChangesWithoutTheRows() {
    let part = ListPart(source) { SectionLabels(header: "\($0.items.count) rows") }
    let updates = ListUpdates.told(part) { _ in source.put(TestRow("d", 4)) }
    #expect(updates.map(\.reloadedSections) == [[0]])
    #expect(updates.map(\.reloadedRows) == [[]])
  }

  @Test func changesWhileARowIsEditedWaitAsOne() {
    var waiting = 0
    let updates = ListUpdates.told(ListPart(source)) { adapter in
      adapter.hold()
      for number in 4..<20 { source.put(TestRow("k\(number)", number)) }
      waiting = adapter.waitingRowCount
      adapter.release()
    }
    #expect(waiting == 16)
    #expect(updates.map(\.insertedRows.count) == [16])
  }

  @Test func failedListSaysWhyAndGoesOnWhenItIsStartedAgain() throws {
    let tree = TestTree()
    try tree.write([JSONMember("a", ["at": 1])])
    let query = QueryStream(request: try messages(), source: tree)
    var contents: [[PlaceholderRow.Content]] = []
    let adapter = IndexPathAdapter([ListPart(query, placeholders: [.status])]) { update in
      contents.append(update.placeholders.map(\.row.content))
    }
    adapter.start()
    query.start()
    query.receive(failure: "denied", from: try #require(tree.activeListeners.first))
    query.start()
    try tree.settle([query])
    #expect(contents == [[.loading], [.failed("denied")], [.loading], []])
  }
}

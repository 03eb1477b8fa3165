import RunnelBase
import RunnelStreams
import RunnelTree
import Testing

/// Carries writes out on a tree in memory, when it is told to.
private final class TestTarget: TreeTarget {
  let tree: TestTree
  private var keys = 0
  private(set) var writes: [Write] = []

  init(_ tree: TestTree) { self.tree = tree }

  func submit(_ write: Write, completion: @escaping (WriteOutcome) -> Void) {
    writes.append(write)
    do {
      try tree.write(write)
      completion(.written)
    } catch {
      completion(.refused("\(error)"))
    }
  }

  func makeKey() -> Key {
    keys += 1
    return Key(unchecked: "new\(keys)")
  }
}

@Suite struct SyncedArrayTests {
  private let tree = TestTree()
  private let stream: QueryStream<Record>
  private let target: TestTarget
  private let array: SyncedArray

  init() throws {
    stream = QueryStream(request: try messages(), source: tree)
    target = TestTarget(tree)
    array = SyncedArray(stream, target: target)
  }

  private func write(_ rows: (String, Int64?)...) throws {
    try tree.write(
      rows.map { name, at in
        JSONMember(name, at.map { ["at": .number(JSONNumber($0))] } ?? .null)
      })
    try tree.settle([stream])
  }

  private var names: [String] { array.list.map(\.row.key.text) }

  @Test func arrayFollowsTheTreeWhileItIsSynced() throws {
    try write(("a", 1), ("b", 2))
    #expect(array.count == 0)
    array.startSync()
    try tree.settle([stream])
    #expect(names == ["a", "b"])
    try write(("c", 0))
    #expect(names == ["c", "a", "b"])
    #expect(array[0].row.key.text == "c")
    array.stopSync()
    try write(("d", 9))
    #expect(names == ["c", "a", "b"])
    #expect(tree.activeListeners == [])
  }

  @Test func startingTwiceFollowsOnce() throws {
    array.startSync()
    array.startSync()
    #expect(tree.activeListeners.count == 1)
    array.stopSync()
    #expect(tree.activeListeners.isEmpty)
  }

  @Test func updatesTellPlacesForAView() throws {
    try write(("a", 1), ("b", 2), ("c", 3))
    var updates: [SyncedUpdate] = []
    array.onUpdate = { updates.append($0) }
    array.startSync()
    try tree.settle([stream])
    #expect(updates.map(\.isReload) == [true])
    try write(("a", nil), ("b", 9), ("d", 4))
    let update = try #require(updates.last)
    #expect(updates.count == 2)
    #expect(update.removed.map(\.record.row.key.text) == ["a"])
    #expect(update.removed.map(\.path) == [ListIndexPath(section: 0, row: 0)])
    #expect(update.added.map(\.record.row.key.text) == ["d"])
    #expect(update.added.map(\.path) == [ListIndexPath(section: 0, row: 1)])
    #expect(update.moved.map(\.record.row.key.text) == ["b"])
    #expect(update.changed.map(\.path) == [ListIndexPath(section: 0, row: 1)])
  }

  @Test func restartTellsTheDifference() throws {
    try write(("a", 1), ("b", 2))
    array.startSync()
    try tree.settle([stream])
    var updates: [SyncedUpdate] = []
    array.onUpdate = { updates.append($0) }
    array.stopSync()
    try write(("a", nil), ("c", 3))
    #expect(updates.isEmpty)
    array.startSync()
    try tree.settle([stream])
    #expect(names == ["b", "c"])
    #expect(updates.count == 1)
    #expect(updates.first?.removed.count == 1)
    #expect(updates.first?.added.count == 1)
  }

  @Test func tokenSyncsAsLongAsItLives() throws {
    var view: SyncToken? = array.sync()
    let other = array.sync()
    #expect(array.isSynced)
    view = nil
    #expect(view == nil && array.isSynced)
    other.end()
    other.end()
    #expect(!array.isSynced)
    #expect(tree.activeListeners.isEmpty)
  }

  @Test func writesHitTheRowThatWasMeant() throws {
    try write(("a", 1), ("b", 2))
    array.startSync()
    try tree.settle([stream])
    // The tree is further than the array: the index is that of the array.
    try tree.write([JSONMember("0", ["at": 0])])
    array.remove(at: 0)
    array.update(at: 1, with: [JSONMember("at", 7)])
    array.append(["at": 5])
    try tree.settle([stream])
    #expect(names == ["0", "new1", "b"])
    #expect(array[2].row.node?[try Key("at")].leaf?.json == 7)
  }

  @Test func arrayWithoutATargetRefusesWrites() throws {
    let array = SyncedArray(stream, target: nil)
    var outcomes: [WriteOutcome] = []
    array.append(1) { outcomes.append($0) }
    #expect(outcomes == [.refused("This list is for reading only.")])
  }

  @Test func membersAreGivenAsAnObject() throws {
    try write(("a", 1))
    array.startSync()
    try tree.settle([stream])
    var outcomes: [WriteOutcome] = []
    array.update(at: 0, with: ["text": "zero"]) { outcomes.append($0) }
    array.update(at: 0, with: "zero") { outcomes.append($0) }
    try tree.settle([stream])
    #expect(outcomes == [.written, .refused("\(Self.noObject)")])
    #expect(array[0]["text"].string == "zero" && array[0]["at"].int == 1)
  }

  private static let noObject =
    #"The members to replace are not an object: write ["text": "new"], for instance."#

  @Test func indexWithoutARowIsRefused() throws {
    try write(("a", 1))
    array.startSync()
    try tree.settle([stream])
    var outcomes: [WriteOutcome] = []
    array.update(at: 1, with: ["text": "zero"]) { outcomes.append($0) }
    array.remove(at: -1) { outcomes.append($0) }
    #expect(
      outcomes == [
        .refused("There is no row 1: the count is 1."),
        .refused("There is no row -1: the count is 1."),
      ])
    #expect(target.writes.isEmpty)
  }
}

@Suite struct IndexPathDataSourceTests {
  private let tree = TestTree()

  @Test func viewMayAskBeforeTheFirstUpdate() throws {
    let query = QueryStream(request: try messages(), source: tree)
    let source = IndexPathDataSource(query, target: TestTarget(tree))
    let path = ListIndexPath(section: 0, row: 0)
    for _ in 0..<2 {
      #expect(source.numberOfRows(inSection: 0) == 0)
      #expect(source.count == 0)
      #expect(source.item(at: path) == nil)
      #expect(source.labels(ofSection: 0) == SectionLabels())
      source.startSync()
    }
    try tree.settle([query])
    #expect(source.numberOfRows(inSection: 0) == 0)
    #expect(source.numberOfRows(inSection: -1) == 0)
    var outcomes: [WriteOutcome] = []
    source.update(at: path, with: ["at": 1]) { outcomes.append($0) }
    source.remove(at: path) { outcomes.append($0) }
    #expect(
      outcomes == Array(repeating: .refused("There is no record in this row."), count: 2))
  }

  @Test func dataSourceAnswersAsItWasToldLast() throws {
    try tree.write([
      JSONMember("a", ["at": 1, "day": 1]), JSONMember("b", ["at": 2, "day": 1]),
      JSONMember("c", ["at": 3, "day": 2]),
    ])
    let query = QueryStream(
      request: try messages(paging: Paging(anchor: .last, count: 2)), source: tree)
    let days = PartitionedStream(query, sectionID: { "day\($0)" }) { number($0, "day") }
    let part = ListPart(days, pagings: [PagingPoint(query)], placeholders: [.status, .empty]) {
      SectionLabels(header: "\($0.items.count)")
    }
    let source = IndexPathDataSource([part], syncing: [query], target: TestTarget(tree))
    var updates: [ListUpdate<Record>] = []
    source.onUpdate = { updates.append($0) }
    source.startSync()
    let first = source[ListIndexPath(section: 0, row: 0)]
    #expect(first == .placeholder(.init(id: "status", content: .loading)))
    try tree.settle([query])
    #expect(source.numberOfSections == 2)
    #expect(source.numberOfRows(inSection: 0) == 2)
    #expect(source.item(at: ListIndexPath(section: 0, row: 0)) == nil)
    #expect(source.item(at: ListIndexPath(section: 0, row: 1))?.row.key.text == "b")
    #expect(source.labels(ofSection: 1).header == "1")
    #expect(updates.map(\.update) == [.reload, .reload])

    var outcomes: [WriteOutcome] = []
    source.remove(at: ListIndexPath(section: 0, row: 0)) { outcomes.append($0) }
    source.remove(at: ListIndexPath(section: 1, row: 0)) { outcomes.append($0) }
    source.append(["at": 9, "day": 1], to: try Path("m")) { outcomes.append($0) }
    try tree.settle([query])
    #expect(outcomes == [.refused("There is no record in this row."), .written, .written])
    #expect(updates.last?.sectionIDs.map(\.rowIDs) == [["fetch-more", "/m/b", "/m/new1"]])
    source.stopSync()
    #expect(tree.activeListeners.isEmpty)
    #expect(source.count == 3)
  }
}

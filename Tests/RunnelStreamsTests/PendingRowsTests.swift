import RunnelBase
import RunnelStreams
import RunnelTree
import TestSupport
import Testing

/// Rows that contain whether they have pending writes.
@Suite struct PendingRowsTests {
  private let tree = TestTree()

  private func loaded(_ count: Int) throws -> (QueryStream<Record>, ListenerID) {
    try tree.write((0..<count).map { JSONMember("k\($0)", ["at": .number(JSONNumber(Int64($0)))]) })
    let stream = QueryStream(request: try messages(), source: tree, showsPending: true)
    stream.start()
    try tree.settle([stream])
    return (stream, try #require(tree.activeListeners.first))
  }

  private func state(_ keys: String...) throws -> TreeEvent {
    .pending(PendingState(children: Set(try keys.map { try Key($0) })))
  }

  private func marks(_ stream: QueryStream<Record>) -> [String] {
    stream.items.filter(\.hasPendingWrites).map(\.key)
  }

  @Test func aRowChangesWhenItBecomesPendingAndWhenItIsAnswered() throws {
    let (stream, listener) = try loaded(3)
    let recorder = Recorder(stream)
    stream.receive([try state("k1", "zz")], from: listener)
    #expect(recorder.changes.last?.changes.updatedIDs == ["/m/k1"])
    #expect(marks(stream) == ["k1"])
    stream.receive([try state("k1", "k2")], from: listener)
    #expect(recorder.changes.last?.changes.updatedIDs == ["/m/k2"])
    stream.receive([.pending(PendingState())], from: listener)
    #expect(recorder.changes.last?.changes.updatedIDs == ["/m/k1", "/m/k2"])
    #expect(marks(stream) == [])
    #expect(recorder.mistakes == [])
  }

  @Test func writeAndItsMarkAreOneChange() throws {
    let (stream, listener) = try loaded(2)
    let recorder = Recorder(stream)
    let new = TreeRow(
      Child(key: try Key("k9"), node: try Node(json: ["at": 9])), index: .child(try Path("at")),
      detail: .full)
    stream.receive([.childAdded(new, previous: nil), try state("k9", "k0")], from: listener)
    #expect(recorder.later.count == 1)
    #expect(recorder.changes.last?.changes.insertedIDs == ["/m/k9"])
    #expect(recorder.changes.last?.changes.updatedIDs == ["/m/k0"])
    #expect(marks(stream) == ["k0", "k9"])
    #expect(recorder.mistakes == [])
  }

  @Test func writeOfTheWholePlaceMarksAllRows() throws {
    let (stream, listener) = try loaded(3)
    stream.receive([.pending(PendingState(isWhole: true))], from: listener)
    #expect(marks(stream) == ["k0", "k1", "k2"])
    stream.stop()
    stream.start()
    try tree.settle([stream])
    #expect(marks(stream) == [], "The next run is told anew what is pending.")
  }

  @Test func aStreamWithoutMarksDoesNotRequestThem() throws {
    let stream = QueryStream(request: try messages(), source: tree)
    stream.start()
    #expect(tree.listened.map(\.events) == [[.children, .answered]])
  }

  @Test func anItemThatDoesNotContainTheMarkDoesNotChange() throws {
    try tree.write([JSONMember("a", ["at": 1])])
    let stream = QueryStream(request: try messages(), source: tree, showsPending: true) { row, _ in
      TestRow(row.key.text)
    }
    stream.start()
    try tree.settle([stream])
    let recorder = Recorder(stream)
    stream.receive([try state("a")], from: try #require(tree.activeListeners.first))
    #expect(recorder.later.isEmpty)
  }

  @Test func marksReachStreamsOfStreams() throws {
    let (stream, listener) = try loaded(4)
    let parts = PartitionedStream(stream, titles: ["settled", "pending"]) { record in
      record.hasPendingWrites ? 1 : 0
    }
    let recorder = Recorder(parts)
    stream.receive([try state("k2")], from: listener)
    #expect(parts.sections.map { $0.items.map(\.key) } == [["k0", "k1", "k3"], ["k2"]])
    #expect(recorder.lastBatch?.movedRows.count == 1)
    #expect(recorder.mistakes == [])
  }

  @Test func randomMarksAgreeWithTheEvents() throws {
    for seed in Seeds.first(20) {
      var random = SeededRandom(seed: seed)
      let tree = TestTree()
      let stream = QueryStream(
        request: try messages(), isDescending: seed % 2 == 0, source: tree, showsPending: true)
      let recorder = Recorder(stream)
      stream.start()
      var told = PendingState()
      for _ in 0..<40 {
        try tree.writeAtRandom(&random)
        try tree.settle([stream])
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
          stream.predicate = Bool.random(using: &random) ? nil : { !$0.hasPendingWrites }
        case 1:
          stream.stop()
          stream.start()
          told = PendingState()
          try tree.settle([stream])
        default:
          let numbers = (0..<14).filter { _ in Bool.random(using: &random) }
          let keys = try numbers.map { try Key("k\($0)") }
          told = PendingState(
            isWhole: Int.random(in: 0..<6, using: &random) == 0, children: Set(keys))
          stream.receive([.pending(told)], from: try #require(tree.activeListeners.first))
        }
        for record in stream.items {
          #expect(
            record.hasPendingWrites == (told.isWhole || told.children.contains(record.row.key)),
            "seed \(seed)")
        }
      }
      #expect(recorder.mistakes == [], "seed \(seed)")
    }
  }
}

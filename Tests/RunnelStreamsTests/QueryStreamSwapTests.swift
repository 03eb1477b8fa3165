import RunnelBase
import RunnelStreams
import RunnelTree
import Testing

@Suite struct QueryStreamSwapTests {
  private let tree = TestTree()

  private func fill(_ count: Int) throws {
    try tree.write(
      (0..<count).map { number in
        let at = JSONNumber(Int64(number))
        return JSONMember(
          "k\(number)", ["at": .number(at), "day": .number(JSONNumber(-Int64(number)))])
      })
  }

  private func loaded(_ request: ListenRequest) throws -> QueryStream<Record> {
    let stream = QueryStream(request: request, source: tree)
    stream.start()
    try tree.settle([stream])
    return stream
  }

  @Test func swapToAnotherOrderMovesTheRowsThatStay() throws {
    try fill(4)
    let stream = try loaded(try messages())
    let recorder = Recorder(stream)
    stream.swap(to: try messages(by: "day"))
    #expect(
      stream.names == ["k0", "k1", "k2", "k3"], "The old rows stay until the answer is there.")
    #expect(stream.loadState == .loading)
    try tree.settle([stream])
    #expect(stream.names == ["k3", "k2", "k1", "k0"])
    let batch = try #require(recorder.lastBatch)
    #expect(!batch.isReload && batch.movedRows.count == 3)
    #expect(batch.insertedRows.isEmpty && batch.deletedRows.isEmpty)
    #expect(recorder.mistakes == [])
  }

  @Test func swapToAPartKeepsWhatIsInBoth() throws {
    try fill(6)
    let stream = try loaded(try messages())
    let recorder = Recorder(stream)
    stream.swap(to: try messages(limit: (2, .last)))
    try tree.settle([stream])
    #expect(recorder.changes.last?.changes.removedIDs == ["/m/k0", "/m/k1", "/m/k2", "/m/k3"])
    #expect(recorder.changes.last?.changes.updatedIDs == [])
    stream.swap(to: try messages(), isDescending: true)
    try tree.settle([stream])
    #expect(stream.names == ["k5", "k4", "k3", "k2", "k1", "k0"])
    #expect(recorder.mistakes == [])
  }

  @Test func answerToAnEarlierQuestionIsDropped() throws {
    try fill(4)
    let stream = try loaded(try messages())
    let recorder = Recorder(stream)
    for count in 1...3 { stream.swap(to: try messages(limit: (count, .first))) }
    try tree.settle([stream])
    #expect(stream.names == ["k0", "k1", "k2"])
    #expect(tree.activeListeners.count == 1)
    #expect(recorder.mistakes == [])
  }

  @Test func swapBeforeAStartAsksNothing() throws {
    try fill(3)
    let stream = QueryStream(request: try messages(), source: tree)
    stream.swap(to: try messages(limit: (1, .first)))
    #expect(tree.listened.isEmpty && stream.loadState == .idle)
    stream.start()
    try tree.settle([stream])
    #expect(stream.names == ["k0"])
  }

  @Test func swapInsideACallbackFollows() throws {
    try fill(3)
    let stream = try loaded(try messages())
    let recorder = Recorder(stream)
    let other = try messages(limit: (1, .first))
    recorder.onChange = { change in
      if change.loadState == .loaded, change.sections[0].items.count == 4 { stream.swap(to: other) }
    }
    try tree.write([JSONMember("x", ["at": 9])])
    try tree.settle([stream])
    #expect(stream.names == ["k0"])
    #expect(recorder.mistakes == [])
  }

  @Test func fetchThatASwapOvertakesIsCancelled() throws {
    try fill(9)
    let stream = try loaded(try messages(paging: Paging(anchor: .first, count: 2)))
    var outcomes: [FetchOutcome] = []
    stream.fetchMore(2) { outcomes.append($0) }
    stream.swap(to: try messages(by: "day", paging: Paging(anchor: .first, count: 3)))
    #expect(outcomes == [.cancelled])
    try tree.settle([stream])
    #expect(stream.names == ["k8", "k7", "k6"])
  }
}

import RunnelBase
import RunnelDatabase
import RunnelTree
import Testing

@testable import RunnelStreams

/// The replay oracle, over two databases on one file, as two processes would have.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct StreamReplayTests {
  private func value(_ random: inout SeededRandom) -> JSONValue {
    [
      "at": .number(JSONNumber(Int64.random(in: 0..<6, using: &random))),
      "day": .number(JSONNumber(Int64.random(in: 0..<3, using: &random))),
      "pin": .bool(Bool.random(using: &random)),
    ]
  }

  private func day(_ record: Record) -> String {
    guard let node = record.row.node, let key = try? Key("day") else { return "" }
    return node[key].json.jsonText()
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func whatBothWriteReplaysThroughAllStreams(seed: UInt64) async throws {
    let folder = try TemporaryFolder()
    let databases = [try await folder.open(), try await folder.open()]
    let list = try databases[0].reference(withPath: "m").queryOrdered(byChild: "at")
    let session = StreamSession(databases[0])
    let history = session.stream(of: list, paging: Paging(anchor: .last, count: 3))
    let pinned = session.stream(
      of: try databases[0].reference(withPath: "m").queryOrdered(byChild: "pin")
        .queryEqual(toValue: true))
    let union = UnionStream([pinned, history]) { $0.id < $1.id }
    let days = PartitionedStream(union, sectionID: { $0 }, partition: { day($0) })
    let follower = Follower()
    let adapter = IndexPathAdapter(
      [
        ListPart(
          days, pagings: [PagingPoint(history)], placeholders: [.status, .empty],
          labels: { SectionLabels(header: "\($0.items.count)") })
      ],
      log: { Issue.record("seed \(seed): \($0)") }, receive: { follower.take($0) })
    adapter.start()

    var random = SeededRandom(seed: seed)
    for step in 0..<60 {
      let database = databases[Int.random(in: 0..<2, using: &random)]
      let place = try database.reference(withPath: "m/k\(Int.random(in: 0..<12, using: &random))")
      switch Int.random(in: 0..<5, using: &random) {
      case 0: try await place.removeValue()
      case 1: history.fetchMore(2)
      default: try await place.setValue(value(&random))
      }
      if step % 7 == 0 { try await session.receive() }
    }
    // A mark that both are told last says that all is there.
    try await databases[1].reference(withPath: "m/end").setValue(["at": 99, "day": 9, "pin": true])
    while pinned.item(forID: "/m/end") == nil || history.item(forID: "/m/end") == nil
      || history.fetchState == .fetching
    {
      try await session.receive()
    }
    #expect(follower.mistakes == [], "seed \(seed)")
    #expect(follower.shown == adapter.sections.map(\.sectionIDs), "seed \(seed)")
    try await compare(pinned, history, days, list, seed)
  }

  /// Compares what is shown with what is stored.
  private func compare(
    _ pinned: QueryStream<Record>, _ history: QueryStream<Record>,
    _ days: PartitionedStream<Record, String>, _ list: DatabaseQuery, _ seed: UInt64
  ) async throws {
    let stored = try await list.get().children.compactMap(\.key)
    #expect(stored.suffix(history.items.count) == history.items.map(\.row.key.text)[...])
    let pins = try await list.reference.queryOrdered(byChild: "pin").queryEqual(toValue: true).get()
    #expect(pins.children.compactMap(\.key) == pinned.items.map(\.row.key.text), "seed \(seed)")
    let expected = Set(pinned.items.map(\.id)).union(history.items.map(\.id))
    let shown = days.sections.flatMap { $0.items.map(\.id) }
    #expect(Set(shown) == expected && shown.count == expected.count, "seed \(seed)")
  }
}

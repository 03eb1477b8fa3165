import RunnelBase
import Testing

@testable import RunnelTree

/// What a window of a replica reads does not depend on how much the replica holds.
@Suite struct LargeReplicaTests {
  /// How the replica came to its rows.
  enum Filling: CaseIterable {
    /// By a listener of all of them.
    case listener
    /// By questions for a part of them each.
    case questions
  }

  private static let rowCount = 2000
  private static let pageCount = 10

  private let list: Path
  private let rows: [Child]
  private var storage = CountingStorage()
  private var engine = ReplicaEngine()

  init() throws {
    list = try Path("list")
    rows = try (0..<LargeReplicaTests.rowCount).map { number in
      let json: JSONValue = ["n": JSONValue(number), "text": .string("row \(number)")]
      return Child(key: try Key("r\(10_000 + number)"), node: try Node(json: json))
    }
  }

  private mutating func receive(_ message: OriginMessage) throws -> ReplicaOutcome {
    try engine.receive(message, now: 0, &storage)
  }

  private mutating func fill(_ filling: Filling) throws {
    _ = try engine.connect(now: 0, &storage)
    switch filling {
    case .listener:
      let request = ListenRequest(query: Query(list), events: .children)
      _ = try engine.listen(ListenerID(1), request, now: 0, &storage)
      _ = try receive(.push(.set(Node(children: rows)), list, tag: nil))
      _ = try receive(.listenComplete(AskID(1)))
      _ = try engine.unlisten(ListenerID(1), now: 0, &storage)
    case .questions:
      for start in stride(from: 0, to: rows.count, by: 500) {
        let first = IndexValue.leaf(.string(rows[start].key.text))
        let query = try Query(list).ordered(by: .key).starting(at: first)
          .limited(to: 500, from: .first)
        let id = try engine.get(query, now: 0, &storage).id
        _ = try receive(.answer(id: id, Node(children: Array(rows[start..<start + 500]))))
      }
    }
    _ = try engine.disconnect(now: 0, &storage)
    engine = ReplicaEngine(book: storage.savedBook)
  }

  /// Answers what is asked, until nothing is.
  private mutating func answer(_ commands: [OriginCommand]) throws -> [Delivery] {
    var (waiting, deliveries) = (commands, [Delivery]())
    while !waiting.isEmpty {
      var outcome = ReplicaOutcome()
      switch waiting.removeFirst() {
      case .listen(let id, let query, let tag, _):
        let found = Set(RowSlice(query).rows(among: rows, detail: .shallow).map(\.key))
        let answer = Node(children: rows.filter { found.contains($0.key) })
        outcome = try receive(.push(.set(answer), list, tag: tag))
        outcome.append(try receive(.listenComplete(id)))
      case .unlisten(let id, _, _): outcome = try receive(.unlistened(id))
      default: Issue.record("Nothing else is asked.")
      }
      waiting += outcome.commands
      deliveries += outcome.deliveries
    }
    return deliveries
  }

  @Test mutating func aWholeAnswerIsNotReadAgain() throws {
    _ = try engine.connect(now: 0, &storage)
    let id = try engine.get(Query(list), now: 0, &storage).id
    storage.reads.count = 0
    let outcome = try receive(.answer(id: id, Node(children: rows)))
    #expect(outcome.completions == [.got(id: id, Node(children: rows))])
    #expect(storage.reads.count < 10)
    #expect(try storage.node(at: list) == Node(children: rows))
  }

  @Test mutating func aWholeAnswerIsShownWithPendingWrites() throws {
    _ = try engine.connect(now: 0, &storage)
    _ = try engine.write(.set(try list.child("z"), 1), now: 0, &storage)
    let id = try engine.get(Query(list), now: 0, &storage).id
    let outcome = try receive(.answer(id: id, Node(children: rows)))
    let new = Child(key: try Key("z"), node: try Node(json: 1))
    #expect(outcome.completions == [.got(id: id, Node(children: rows + [new]))])
    #expect(try storage.node(at: list) == Node(children: rows + [new]))
    #expect(try storage.serverNode(at: list) == Node(children: rows))
  }

  @Test(arguments: Filling.allCases)
  mutating func aWindowReadsNoMoreThanItsRows(filling: Filling) throws {
    try fill(filling)
    let count = LargeReplicaTests.pageCount
    let request = ListenRequest(
      query: try Query(list).ordered(by: .key), paging: Paging(anchor: .last, count: count),
      events: .children)
    storage.reads.count = 0
    let known = try engine.listen(ListenerID(2), request, now: 0, &storage)
    #expect(known.deliveries.compactMap(\.event.row?.key) == rows.suffix(count).map(\.key))
    // Rows of the window are read several times; all rows, not once.
    #expect(storage.reads.count < rows.count / 4)

    storage.reads.count = 0
    let told = try answer(try engine.connect(now: 0, &storage).commands)
    #expect(told.compactMap(\.event.row).isEmpty)
    #expect(storage.reads.count < rows.count)

    storage.reads.count = 0
    let more = try engine.extend(ListenerID(2), by: count, now: 0, &storage)
    let gained = try more.deliveries + answer(more.commands)
    #expect(gained.compactMap(\.event.row?.key).count == count)
    #expect(storage.reads.count < rows.count)
  }

  /// All was read on an earlier connection: what is known then may be old.
  @Test mutating func aPageIsAnsweredOnlyOnThisConnection() throws {
    try fill(.listener)
    let commands = try engine.connect(now: 0, &storage).commands
    #expect(try answer(commands).isEmpty)
    let request = ListenRequest(
      query: try Query(list).ordered(by: .key),
      paging: Paging(anchor: .last, count: LargeReplicaTests.pageCount),
      events: [.children, .answered])
    let known = try engine.listen(ListenerID(2), request, now: 0, &storage)
    #expect(known.deliveries.compactMap(\.event.row).count == LargeReplicaTests.pageCount)
    #expect(!known.deliveries.map(\.event).contains(.answered))
    #expect(known.deliveries.last?.event == .page(hasMore: true))
    let told = try answer(known.commands).map(\.event)
    #expect(told.prefix(2) == [.answered, .page(hasMore: true)])
    #expect(told.count { $0 == .answered } == 1)
  }

  /// What an export waits for: a window without an end has no more rows only with the answer.
  @Test mutating func aWindowWithoutAnEndIsWholeWithItsAnswer() throws {
    try fill(.listener)
    _ = try answer(try engine.connect(now: 0, &storage).commands)
    let request = ListenRequest(
      query: try Query(list).ordered(by: .key), paging: Paging(anchor: .first, count: 1 << 30),
      detail: .shallow, events: [])
    let known = try engine.listen(ListenerID(2), request, now: 0, &storage)
    #expect(known.deliveries.map(\.event) == [.page(hasMore: true)])
    let told = try answer(known.commands).map(\.event)
    #expect(told == [.page(hasMore: false)])
  }

  /// A connection that is lost before the answer leaves what was known as it was told before.
  @Test mutating func anAnswerOfAnEarlierConnectionCountsWithoutOne() throws {
    try fill(.listener)
    _ = try answer(try engine.connect(now: 0, &storage).commands)
    let request = ListenRequest(
      query: try Query(list).ordered(by: .key),
      paging: Paging(anchor: .last, count: LargeReplicaTests.pageCount),
      events: [.children, .answered])
    _ = try engine.listen(ListenerID(2), request, now: 0, &storage)
    let lost = try engine.disconnect(now: 0, &storage)
    #expect(lost.deliveries.map(\.event) == [.answered])
  }

  @Test(arguments: Filling.allCases)
  mutating func theRowsAreThoseOfTheOriginAlsoWithPendingWrites(filling: Filling) throws {
    try fill(filling)
    let (last, other) = (rows[rows.count - 1].key, rows[rows.count - 30].key)
    // A removed row makes room for another one; a new one and a changed one are not the origin's.
    let new = try list.child("z")
    let writes: [Write] = [
      .remove(try list.child(last)), .set(new, 1), .set(try list.child(other), 2),
    ]
    for write in writes {
      _ = try engine.write(write, now: 0, &storage)
    }
    let query = try Query(list).ordered(by: .key).limited(to: 40, from: .last)
    let request = ListenRequest(query: query, events: .children)
    let known = try engine.listen(ListenerID(2), request, now: 0, &storage)
    let shown = try storage.rows(of: list, in: RowSlice(query), detail: .shallow)
    #expect(known.deliveries.compactMap(\.event.row?.key) == shown.map(\.key))
    #expect(shown.last?.key.text == "z")
    let command = try engine.connect(now: 0, &storage).commands.first
    guard case .listen(_, query, _, let hash)? = command else {
      Issue.record("The window is asked first, not \(String(describing: command)).")
      return
    }
    // What is known of the origin's answer is what it sent.
    let answer = filling == .listener ? Node(children: Array(rows.suffix(40))) : Node.empty
    #expect(hash == RangeHashing().hash(answer))
  }
}

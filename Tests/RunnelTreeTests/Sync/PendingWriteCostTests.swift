import RunnelBase
import Testing

@testable import RunnelTree

/// What a write on a replica without a connection reads, beside those that wait: it must not be more
/// because many wait.
@Suite struct PendingWriteCostTests {
  /// A listener of a place, and whether the origin has answered its query before the connection ended.
  struct Watch: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var isAnswered: Bool
    var request: @Sendable (Path) throws -> ListenRequest

    init(
      _ name: String, isAnswered: Bool,
      _ request: @escaping @Sendable (Path) throws -> ListenRequest
    ) {
      (testDescription, self.isAnswered, self.request) = (name, isAnswered, request)
    }
  }

  private static let events: EventKinds = [.children, .pending, .answered]

  static let watches = [
    Watch("all, never answered", isAnswered: false) {
      ListenRequest(query: Query($0), events: events)
    },
    Watch("a range, never answered", isAnswered: false) {
      let query = try Query($0).ordered(by: .child(Path("n")))
      return ListenRequest(query: query, events: events)
    },
    Watch("all, answered once", isAnswered: true) {
      ListenRequest(query: Query($0), events: events)
    },
    Watch("the last rows, answered once", isAnswered: true) {
      let query = try Query($0).ordered(by: .key).limited(to: 10, from: .last)
      return ListenRequest(query: query, events: events)
    },
    Watch("pages, answered once", isAnswered: true) {
      let query = try Query($0).ordered(by: .child(Path("n")))
      return ListenRequest(
        query: query, paging: Paging(anchor: .last, count: 10), events: events)
    },
  ]

  @Test(arguments: watches)
  func aWriteReadsNoMoreBecauseManyWait(watch: Watch) throws {
    let place = try Path("l")
    var storage = CountingStorage()
    var known = TrackedQuery(id: 0, query: Query(place))
    known.isComplete = true
    var engine = ReplicaEngine(
      book: ReplicaBook(pending: [], tracked: watch.isAnswered ? [known] : []))
    _ = try engine.listen(ListenerID(1), watch.request(place), now: 0, &storage)
    var read: [Int] = []
    for number in 1...300 {
      let before = storage.reads.count
      let path = try place.child("k\(number + 10_000)")
      let (_, outcome) = try engine.write(
        .set(path, ["n": .number(JSONNumber(Int64(number)))]), now: 0, &storage)
      #expect(outcome.deliveries.contains { $0.event.row?.key == path.lastKey })
      read.append(storage.reads.count - before)
    }
    #expect(engine.replica.book.pending.count == 300)
    let (few, many) = (read[20..<30].max() ?? 0, read.suffix(10).max() ?? 0)
    #expect(few > 0 && many <= few, "\(few) nodes are read beside 20 writes, \(many) beside 290")
  }

  /// A write of many places, as an import makes it.
  private func manyPlaces(_ count: Int, below place: Path) throws -> Write {
    .update(
      place,
      (0..<count).map { JSONMember("k\($0 + 10_000)", ["n": .number(JSONNumber(Int64($0)))]) })
  }

  @Test func aPlaceCostsOnlyThePartsOfAWriteThatConcernIt() throws {
    let place = try Path("l")
    var (storage, engine) = (CountingStorage(), ReplicaEngine())
    _ = try engine.write(manyPlaces(2_000, below: place), now: 0, &storage)
    var places = PendingPlaces()
    places.add(try #require(engine.replica.book.pending.first))
    #expect(places.parts(around: try place.child("k10007")).map(\.index) == [7])
    #expect(places.parts(around: place).map(\.index) == Array(0..<2_000))
    #expect(places.ids(around: place) == [engine.replica.book.pending[0].id])
  }

  /// Who wants to know what waits is told when that changes, also after another process has changed it.
  @Test func whatWaitsIsToldWhenItChanges() throws {
    let place = try Path("l")
    var (storage, engine) = (CountingStorage(), ReplicaEngine())
    let listener = ListenRequest(query: Query(place), events: [.pending])
    let told = { (outcome: ReplicaOutcome) in
      outcome.deliveries.compactMap { delivery in
        if case .pending(let state) = delivery.event { state.children.count } else { nil }
      }
    }
    _ = try engine.write(manyPlaces(3, below: place), now: 0, &storage)
    #expect(told(try engine.listen(ListenerID(1), listener, now: 0, &storage)) == [3])
    // A second listener is told, too.
    #expect(told(try engine.listen(ListenerID(2), listener, now: 0, &storage)) == [3])
    let other = try place.child("other")
    let push = OriginMessage.push(.set(try Node(json: 1)), other, tag: nil)
    #expect(told(try engine.receive(push, now: 0, &storage)).isEmpty)
    let done = [try place.child("k10000")]
    let id = engine.replica.book.pending[0].id
    #expect(told(try engine.receive(.partlyDone(id: id, done), now: 0, &storage)) == [2, 2])
    #expect(told(try engine.absorb(ReplicaBook(), touched: [place], storage)) == [0, 0])
  }

  @Test func whatIsDoneLeavesAWriteAndTheRestIsShown() throws {
    let place = try Path("l")
    var (storage, engine) = (CountingStorage(), ReplicaEngine())
    let id = try engine.write(manyPlaces(5, below: place), now: 0, &storage).id
    let done = [try place.child("k10000"), try place.child("k10001")]
    // Told twice, it counts once.
    for _ in 0..<2 { _ = try engine.receive(.partlyDone(id: id, done), now: 0, &storage) }
    let rest = try #require(engine.replica.book.pending.first)
    let keys = ["k10002", "k10003", "k10004"]
    #expect(rest.id == id && rest.doneCount == 2 && rest.bases.count == 3)
    #expect(rest.parts.map { $0.path.lastKey?.text } == keys)
    guard case .update(place, let members) = rest.write else {
      Issue.record("\(rest.write)")
      return
    }
    #expect(members.map(\.name) == keys)
    #expect(try storage.node(at: place).children.map(\.key.text) == keys)
    #expect(PendingWrite(id: id, json: rest.json) == rest)
    // The rest is refused, and nothing of it is left.
    let refusal = TreeError(.permissionDenied, "no")
    _ = try engine.receive(.rejected(id: id, refusal), now: 0, &storage)
    #expect(engine.replica.book.pending.isEmpty)
    #expect(try storage.node(at: place).isEmpty)
    engine.replica.book.checkInvariants()
  }

  enum Answer: CaseIterable {
    case acknowledged, rejected
  }

  /// What the answers to so many creates read and write, in children, if the origin has nothing at
  /// their place; the creates are shown until then.
  private func answering(_ count: Int, _ answer: Answer) throws -> Int {
    let place = try Path("l")
    var storage = CountingStorage()
    var engine = ReplicaEngine()
    let request = ListenRequest(query: Query(place), events: Self.events)
    _ = try engine.listen(ListenerID(1), request, now: 0, &storage)
    var ids: [Int64] = []
    for number in 0..<count {
      let path = try place.child("k\(number + 10_000)")
      ids.append(try engine.write(.set(path, ["n": 1]), now: 0, &storage).id)
    }
    let asked = try engine.connect(now: 0, &storage).commands
    let asks = asked.compactMap { if case .listen(let id, _, _, _) = $0 { id } else { nil } }
    for ask in asks { _ = try engine.receive(.listenComplete(ask), now: 0, &storage) }
    let before = storage.reads.count + storage.written.count
    for id in ids {
      let error = TreeError(.permissionDenied, "Permission denied.")
      _ = try engine.receive(
        answer == .rejected ? .rejected(id: id, error) : .acknowledged(id: id), now: 0, &storage)
    }
    #expect(engine.replica.book.pending.isEmpty)
    #expect(try storage.node(at: place) == storage.serverNode(at: place))
    return storage.reads.count + storage.written.count - before
  }

  @Test(arguments: Answer.allCases)
  func answersToCreatesCostNoMoreEachBecauseManyWait(answer: Answer) throws {
    let (few, many) = (try answering(100, answer), try answering(1000, answer))
    #expect(few > 0 && many <= 11 * few, "\(few) children for 100 answers, \(many) for 1,000")
  }
}

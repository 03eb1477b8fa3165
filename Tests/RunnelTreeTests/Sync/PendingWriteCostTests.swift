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

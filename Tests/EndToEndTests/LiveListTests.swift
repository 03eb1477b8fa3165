import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Testing

/// Streams of this process over a file that other processes write to.
///
/// At the end, and at each quiet point on the way, a stream shows what a query of the file gives:
/// sorted, filtered, and in its sections.
@Suite(.timeLimit(.minutes(2))) struct LiveListTests {
  /// Messages by day: the pinned ones, wherever they are, and the last ones of all.
  private final class Board {
    let session: StreamSession
    let list: DatabaseQuery
    let pinned: QueryStream<Record>
    let history: QueryStream<Record>
    let days: PartitionedStream<Record, Int64>
    let follower = Follower()
    private let adapter: IndexPathAdapter<Record>

    init(_ database: Database) throws {
      session = StreamSession(database)
      list = try database.reference(withPath: "m").queryOrdered(byChild: "at")
      history = session.stream(of: list, paging: Paging(anchor: .last, count: 5))
      pinned = session.stream(
        of: try list.reference.queryOrdered(byChild: "pin").queryEqual(toValue: true))
      let union = UnionStream([pinned, history]) { left, right in
        let (a, b) = (Board.number(left, "at"), Board.number(right, "at"))
        return a == b ? left.row.key < right.row.key : a < b
      }
      days = PartitionedStream(
        union, sectionID: { "\($0)" }, partition: { Board.number($0, "day") })
      let follower = follower
      adapter = IndexPathAdapter(
        [ListPart(days, pagings: [PagingPoint(history)], placeholders: [.status, .empty])],
        log: { Issue.record("\($0)") }, receive: { follower.take($0) })
      adapter.start()
    }

    /// The list as its follower should have it.
    var sectionIDs: [SectionIDs] { adapter.sections.map(\.sectionIDs) }

    static func number(_ record: Record, _ field: String) -> Int64 {
      guard let key = try? Key(field),
        case .leaf(.number(let number)) = record.row.node?[key].content
      else { return -1 }
      return number.integer ?? -1
    }

    /// Takes what comes until the mark of a round came to both queries and no page is on its way.
    func settle(round: Int) async throws {
      let mark = "/m/mark"
      func hasCome(_ stream: QueryStream<Record>) -> Bool {
        stream.item(forID: mark).map { Board.number($0, "round") == Int64(round) } ?? false
      }
      while !hasCome(pinned) || !hasCome(history) || history.fetchState == .fetching {
        try await session.receive()
      }
    }
  }

  private let database: TestDatabase

  init() throws {
    database = try TestDatabase(#"{"m": {"k0": {"at": 1, "day": 1, "pin": false}}}"#)
  }

  private func message(_ random: inout SeededRandom) -> String {
    let at = Int.random(in: 0..<6, using: &random)
    let day = Int.random(in: 0..<3, using: &random)
    return #"{"at": \#(at), "day": \#(day), "pin": \#(Bool.random(using: &random))}"#
  }

  /// Commands of one process each, all at work at the same time; one adds what it reads, line by line.
  private func write(_ random: inout SeededRandom) throws {
    let pushing = try database.start(["push", "/m", "--lines"])
    var others: [RunningProgram] = []
    for _ in 0..<6 {
      let place = "/m/k\(Int.random(in: 0..<10, using: &random))"
      switch Int.random(in: 0..<5, using: &random) {
      case 0: others.append(try database.start(["remove", place]))
      case 1: others.append(try database.start(["update", place, #"{"day": 2, "pin": true}"#]))
      case 2: try pushing.write(message(&random) + "\n" + message(&random) + "\n")
      default: others.append(try database.start(["set", place, message(&random)]))
      }
    }
    pushing.closeInput()
    #expect(try pushing.wait() == 0)
    // A place to remove may be gone already: that is status 1.
    for program in others { #expect(try (0...1).contains(program.wait())) }
  }

  @Test(arguments: 0..<3 as Range<UInt64>)
  func whatOtherProcessesWriteReplaysAndAgreesWithTheFile(seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    let open = try await Database.open(file: database.file)
    let board = try Board(open)
    for round in 0..<4 {
      try write(&random)
      try await board.session.receive()
      board.history.fetchMore(3)
      let mark = #"{"at": 99, "day": 9, "pin": true, "round": \#(round)}"#
      #expect(try database.run(["set", "/m/mark", mark]).status == 0)
      try await board.settle(round: round)
      #expect(board.follower.mistakes == [], "seed \(seed)")
      #expect(board.follower.shown == board.sectionIDs, "seed \(seed)")
      try await compare(board, "seed \(seed), round \(round)")
    }
    open.close()
  }

  /// Compares all that is shown with what stands in the file.
  private func compare(_ board: Board, _ words: Comment) async throws {
    let stored = try await board.list.get().children.compactMap(\.key)
    let history = board.history.items.map(\.row.key.text)
    #expect(stored.suffix(history.count) == history[...], words)
    if board.history.fetchState == .exhausted { #expect(stored.count == history.count, words) }
    let pins = try await board.list.reference.queryOrdered(byChild: "pin").queryEqual(toValue: true)
      .get().children.compactMap(\.key)
    #expect(pins == board.pinned.items.map(\.row.key.text), words)
    // The order of the board is that of the list, so each day is a part of what is stored.
    let wanted = Set(pins).union(history)
    var records: [String: Record] = [:]
    for record in Array(board.pinned.items) + Array(board.history.items) {
      records[record.row.key.text] = record
    }
    let days = Dictionary(grouping: stored.filter(wanted.contains)) { key in
      records[key].map { Board.number($0, "day") } ?? -1
    }
    let shown = board.days.sections.map { $0.items.map(\.row.key.text) }
    #expect(shown == days.sorted { $0.key < $1.key }.map(\.value), words)
  }
}

import Glibc
import RunnelBase
import Testing

@testable import RunnelDatabase
@testable import RunnelTree

/// Several sessions on the file of one replica.
@Suite struct ReplicaSessionsTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession
  private let place: Path

  init() throws {
    folder = try TemporaryFolder()
    place = try Path("/n")
    session = try folder.session()
    try session.becomeReplica(ofOrigin: "home")
  }

  private func add(_ session: DatabaseSession, isShown: Bool = true) throws -> Int64 {
    let request = TransactionRequest(place, appliesLocally: isShown) { node in
      guard case .number(let old)? = node.leaf else { return .number(1) }
      return .number(JSONNumber((old.integer ?? 0) + 1))
    }
    return try session.startTransaction(request).id
  }

  private func shown(_ session: DatabaseSession) throws -> JSONValue {
    try session.node(at: place).exportJSON
  }

  // MARK: Transactions

  @Test func whatATransactionShowsStaysWhileItsSessionRuns() throws {
    _ = try add(session)
    let other = try folder.session(seed: 2)
    #expect(try shown(other) == 1)
    _ = try other.connectOrigin()
    _ = try other.catchUp()
    #expect(try shown(other) == 1)
    #expect(other.pendingWrites.count == 1)
    // The origin does not have the first result, so nothing is computed with it.
    _ = try add(other)
    #expect(try shown(session) == 1)
    #expect(other.pendingWrites.count == 2)
  }

  @Test func whatATransactionShowsEndsWithItsSession() throws {
    _ = try add(session)
    let other = try folder.session(seed: 2)
    #expect(try listen(other, Query(.root)) == ["+n"])
    try session.close()
    #expect(try texts(other.catchUp()) == ["-n"])
    #expect(other.pendingWrites.isEmpty)
  }

  /// Two sessions with the same random numbers choose different ones for themselves.
  @Test func sessionsHaveNumbersOfTheirOwn() throws {
    let other = try folder.session(seed: 1)
    #expect(session.replica?.session != other.replica?.session)
  }

  @Test(arguments: [true, false])
  func whatAKilledSessionShowedIsTakenBackByTheNextOpening(isShown: Bool) async throws {
    let file = folder.file()
    _ = try session.write(.set(place, 5))
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [file = file as String, isShown = isShown as Bool] in
      try ReplicaSessionsTests.transactAndDie(file, isShown: isShown)
    }
    #expect(try shown(session) == (isShown ? 6 : 5))
    let other = try folder.session(seed: 2)
    #expect(try shown(other) == 5)
    #expect(other.pendingWrites.map(\.id) == [0])
    _ = try session.catchUp()
    #expect(session.pendingWrites.map(\.id) == [0])
    try other.close()
    try session.close()
    #expect(try DatabaseCare.check(file: file).isSound)
  }

  @Test func whatAKilledSessionShowedIsTakenBackByOneThatRuns() async throws {
    let file = folder.file()
    #expect(try listen(session, Query(.root)) == [])
    await #expect(processExitsWith: .signal(SIGKILL)) { [file = file as String] in
      try ReplicaSessionsTests.transactAndDie(file, isShown: true)
    }
    #expect(try texts(session.catchUp()) == ["+n", "-n"])
    #expect(session.pendingWrites.isEmpty)
    #expect(try shown(session) == nil)
  }

  private static func transactAndDie(_ file: String, isShown: Bool) throws {
    let session = try DatabaseSession(
      file: file,
      environment: DatabaseEnvironment(
        now: { 1_700_000_000_000 }, random: SystemRandomNumberGenerator()))
    let request = TransactionRequest(try Path("/n"), appliesLocally: isShown) { node in
      guard case .number(let old)? = node.leaf else { return .number(1) }
      return .number(JSONNumber((old.integer ?? 0) + 1))
    }
    _ = try session.startTransaction(request)
    kill(getpid(), SIGKILL)
  }

  // MARK: Answers

  @Test func whatAnotherSessionHeardOfAWriteIsCompletedHere() throws {
    _ = try session.write(.set(place, 1))
    _ = try session.write(.set(place, 2))
    let other = try folder.session(seed: 2)
    _ = try other.connectOrigin()
    _ = try other.receive(.acknowledged(id: 0))
    let refusal = TreeError(.permissionDenied, "Permission denied.", path: "/n")
    _ = try other.receive(.rejected(id: 1, refusal))
    _ = try session.catchUp()
    let expected: [ReplicaCompletion] = [.acknowledged(id: 0), .rejected(id: 1, refusal)]
    #expect(session.takeOriginOutput().completions == expected)
    #expect(session.pendingWrites.isEmpty)
    _ = try session.catchUp()
    #expect(session.takeOriginOutput().completions.isEmpty)
  }

  @Test func theNewestRefusalsAreKept() throws {
    _ = try session.connectOrigin()
    let refusal = TreeError(.permissionDenied, "Permission denied.")
    for id in 0..<Int64(RefusedWrite.countMax + 5) {
      _ = try session.write(.set(place, 1))
      _ = try session.receive(.rejected(id: id, refusal))
    }
    let kept = try session.store.read { try $0.refusals().map(\.write) }
    #expect(kept == Array(5..<Int64(RefusedWrite.countMax + 5)))
  }

  // MARK: Queries

  private func listen(
    _ session: DatabaseSession, _ query: Query, page: Int? = nil
  ) throws -> [String] {
    let paging = page.map { Paging(anchor: .last, count: $0) }
    return try texts(
      session.listen(
        ListenerID(1), ListenRequest(query: query, paging: paging, events: .children)))
  }

  private func texts(_ deliveries: [Delivery]) -> [String] {
    deliveries.compactMap { delivery in
      switch delivery.event {
      case .childAdded(let row, _): "+\(row.key)"
      case .childRemoved(let row): "-\(row.key)"
      default: nil
      }
    }
  }

  private func answer(_ session: DatabaseSession, _ tag: Int?, _ json: JSONValue) throws -> [String]
  {
    let list = try Path("/list")
    let told = try session.receive(.push(.set(Node(json: json)), list, tag: tag))
    return try texts(told + session.receive(.listenComplete(AskID(1))))
  }

  /// The last three by key: what another's page of two asks as its first.
  private func lastThree() throws -> Query {
    try Query(Path("/list")).ordered(by: .key).limited(to: 3, from: .last)
  }

  @Test func aPageThatMovesOnLeavesTheQueryThatAnotherSessionListensTo() throws {
    let other = try folder.session(seed: 2)
    _ = try session.connectOrigin()
    _ = try other.connectOrigin()
    let rows: JSONValue = ["c": 3, "d": 4, "e": 5]
    #expect(try listen(other, lastThree()) == [])
    #expect(try answer(other, 1, rows) == ["+c", "+d", "+e"])
    #expect(try listen(session, Query(Path("/list")).ordered(by: .key), page: 2) == ["+d", "+e"])
    _ = try answer(session, 1, rows)
    _ = try session.receive(.listenComplete(AskID(2)))
    // Its own, and the one that it asks for the other session.
    #expect(session.trackedQueries.filter(\.isActive).count == 2)
    #expect(try texts(other.catchUp()) == [])
    #expect(try other.trackedQueries.filter(\.isActive).map(\.query).contains(lastThree()))
    _ = try session.pruneCache(toBytes: 0, queries: 0)
    #expect(try texts(other.catchUp()) == [])
    let gone = Assignment(path: try Path("c"), target: .node(.empty))
    let change = OriginMessage.push(.merge([gone]), try Path("/list"), tag: 1)
    #expect(try texts(other.receive(change)) == ["-c"])
  }

  @Test func theSessionWithTheConnectionAsksWhatOthersNeed() throws {
    _ = try session.connectOrigin()
    let other = try folder.session(seed: 2)
    #expect(try listen(other, lastThree()) == [])
    _ = try session.catchUp()
    guard case .listen(AskID(1), let query, _, _)? = session.takeOriginOutput().commands.first
    else {
      Issue.record("the query of the other session is not asked")
      return
    }
    #expect(try query == lastThree().asked(.ranges))
    #expect(try answer(session, 1, ["d": 4, "e": 5]) == [])
    #expect(try texts(other.catchUp()) == ["+d", "+e"])
    other.unlisten(ListenerID(1))
    _ = try session.catchUp()
    guard case .unlisten(AskID(1), _, _)? = session.takeOriginOutput().commands.first else {
      Issue.record("the query is still asked")
      return
    }
  }

  /// The session with the connection asks what the other needs, and the origin answers by key, until nothing
  /// more is asked; returns what the other was told.
  private func exchange(
    _ all: [String], with other: DatabaseSession
  ) throws -> [String] {
    var told: [String] = []
    for _ in 0..<10 {
      _ = try session.catchUp()
      for command in session.takeOriginOutput().commands {
        guard case .listen(let id, let query, let tag, _) = command else { continue }
        var keys = try all.filter { key in
          let position = IndexPosition(value: .null, key: .key(try Key(key)))
          return query.start.map { $0.position <= position } ?? true
            && (query.end.map { position < $0.position } ?? true)
        }
        if let limit = query.limit { keys = Array(keys.suffix(limit.count)) }
        let node = try Node(json: .object(keys.map { JSONMember($0, true) }))
        _ = try session.receive(.push(.set(node), try Path("/list"), tag: tag))
        _ = try session.receive(.listenComplete(id))
      }
      told += try pageTexts(other.catchUp())
    }
    return told
  }

  private func pageTexts(_ deliveries: [Delivery]) -> [String] {
    deliveries.compactMap { delivery in
      switch delivery.event {
      case .childAdded(let row, _): "+\(row.key)"
      case .childRemoved(let row): "-\(row.key)"
      case .page(let hasMore): hasMore ? "more" : "end"
      default: nil
      }
    }
  }

  @Test func pagesOfASessionWithoutTheConnectionAreAskedForByTheOther() throws {
    _ = try session.connectOrigin()
    let other = try folder.session(seed: 2)
    let all = ["a", "b", "c", "d", "e"]
    _ = try listen(other, Query(Path("/list")).ordered(by: .key), page: 2)
    #expect(try exchange(all, with: other).suffix(3) == ["+d", "+e", "more"])
    var told = try pageTexts(other.extend(ListenerID(1), by: 2))
    told += try exchange(all, with: other)
    #expect(told == ["+b", "+c", "more"])
    told = try pageTexts(other.extend(ListenerID(1), by: 2))
    told += try exchange(all, with: other)
    #expect(told == ["+a", "end"])
    #expect(other.trackedQueries.filter(\.isActive).count == 1)
    let gone = Assignment(path: try Path("b"), target: .node(.empty))
    _ = try session.receive(.push(.merge([gone]), try Path("/list"), tag: nil))
    #expect(try pageTexts(other.catchUp()) == ["-b"])
  }

  /// Nobody asks for it any more: what is known is all that there is for now.
  @Test func aPageThatNobodyAsksForAnyMoreEndsAtWhatIsKnown() throws {
    _ = try session.connectOrigin()
    let other = try folder.session(seed: 2)
    _ = try listen(other, Query(Path("/list")).ordered(by: .key), page: 2)
    _ = try exchange(["a", "b", "c", "d", "e"], with: other)
    #expect(try pageTexts(other.extend(ListenerID(1), by: 2)) == [])
    _ = try session.catchUp()
    _ = try session.disconnectOrigin()
    #expect(try pageTexts(other.catchUp()) == ["+c", "more"])
    // Both are offline, and wait for nobody.
    #expect(try pageTexts(other.extend(ListenerID(1), by: 2)) == ["more"])
  }

  @Test func whatTheOriginRefusesIsToldToTheSessionThatNeedsIt() throws {
    _ = try session.connectOrigin()
    let other = try folder.session(seed: 2)
    let refusal = TreeError(.permissionDenied, "Permission denied.", path: "/list")
    for ask in 1...2 {
      #expect(try listen(other, Query(Path("/list"))) == [])
      _ = try session.catchUp()
      _ = try session.receive(.listenRefused(AskID(Int64(ask)), refusal))
      _ = try other.catchUp()
      let expected = ReplicaCompletion.cancelled(
        ListenerID(1), Query(try Path("/list")), refusal)
      #expect(other.takeOriginOutput().completions == [expected])
      #expect(other.trackedQueries.filter(\.isActive).isEmpty)
    }
  }

  @Test(arguments: [true, false])
  func whatASessionListenedToThatEndedIsPruned(isClosed: Bool) throws {
    var other: DatabaseSession? = try folder.session(seed: 2)
    _ = try other?.connectOrigin()
    _ = try other.map { try listen($0, lastThree()) }
    _ = try other.map { try answer($0, 1, ["c": 3]) }
    _ = try session.pruneCache(toBytes: 0, queries: 0)
    #expect(session.trackedQueries.count == 1)
    if isClosed { try other?.close() }
    other = nil
    _ = try session.pruneCache(toBytes: 0, queries: 0)
    #expect(session.trackedQueries.isEmpty)
    let last = try folder.session(seed: 3)
    #expect(try last.store.read { try $0.sessionsWithQueries() } == [])
    #expect(try last.export() == "null")
  }

  @Test func aQueryThatIsAskedAgainKeepsWhatAnotherSessionWasTold() throws {
    // Long ago all of the place was told.
    _ = try session.connectOrigin()
    _ = try listen(session, Query(Path("/list")))
    _ = try answer(session, nil, ["a": 1, "b": 2])
    session.unlisten(ListenerID(1))
    _ = try session.disconnectOrigin()
    let other = try folder.session(seed: 2)
    _ = try other.connectOrigin()
    let query = try Query(Path("/list")).ordered(by: .key).limited(to: 2, from: .last)
    _ = try listen(other, query)
    #expect(try answer(other, 1, ["b": 2, "z": 9]) == ["+z", "-a"].sorted().reversed())
    #expect(try listen(session, query) == ["+b", "+z"])
    #expect(try texts(other.catchUp()) == [])
  }

  /// Ending one observation looks at the file, too.
  @Test func whatOthersWroteIsToldThoughAnObservationEndsFirst() throws {
    #expect(try listen(session, Query(.root)) == [])
    let request = ListenRequest(query: Query(.root), events: .children)
    _ = try session.listen(ListenerID(2), request)
    let other = try folder.session(seed: 2)
    _ = try other.write(.set(place, 1))
    session.unlisten(ListenerID(2))
    let told = try session.catchUp()
    #expect(told.map(\.listener) == [ListenerID(1)] && texts(told) == ["+n"])
    #expect(try session.catchUp().isEmpty)
  }

  // MARK: Names

  @Test func aNameIsThatOfTheWriteThatIsPendingInAnotherSession() throws {
    let name = try #require(WriteID(client: "c", number: 1))
    let increment: Write = .set(place, [".sv": ["increment": 1]])
    #expect(try session.write(increment, id: name).isApplied)
    let other = try folder.session(seed: 2)
    #expect(try !other.write(increment, id: name).isApplied)
    #expect(other.newestWriteID == 0)
    try session.close()
    let again = try folder.session(seed: 3)
    #expect(try !again.write(increment, id: name).isApplied)
    #expect(again.newestWriteID == 0)
    _ = try again.connectOrigin()
    _ = try again.receive(.acknowledged(id: 0))
    #expect(try !other.write(increment, id: name).isApplied)
    #expect(other.newestWriteID == nil)
  }

  @Test func namesAreTakenInWhateverOrderTheOriginAnswers() throws {
    _ = try session.connectOrigin()
    let names = try (1...3).map { try #require(WriteID(client: "c", number: $0)) }
    for name in names { #expect(try session.write(.set(place, 1), id: name).isApplied) }
    _ = try session.receive(.acknowledged(id: 2))
    _ = try session.receive(.rejected(id: 1, TreeError(.permissionDenied, "")))
    _ = try session.receive(.acknowledged(id: 0))
    let applied = try names.map { try session.write(.set(place, 1), id: $0).isApplied }
    #expect(applied == [false, true, false])
    _ = try session.purgePendingWrites()
    #expect(try session.write(.set(place, 1), id: names[1]).isApplied)
  }
}

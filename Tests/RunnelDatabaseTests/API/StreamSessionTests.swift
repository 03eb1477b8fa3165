import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import TestSupport
import Testing

/// Streams over an open database, fed by two databases on one file, as two processes would have.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct StreamSessionTests {
  private let folder: TemporaryFolder
  private let here: Database
  private let there: Database

  init() async throws {
    folder = try TemporaryFolder()
    here = try await folder.open()
    there = try await folder.open()
  }

  private func names(_ change: StreamChange<Record>) -> [String] {
    change.sections.flatMap(\.items).map(\.row.key.text)
  }

  @Test func changesOfAQueryAreASequence() async throws {
    let list = try here.reference(withPath: "l")
    try await list.setValue(["a": ["at": 2], "b": ["at": 1]])
    var changes = try list.queryOrdered(byChild: "at").changes().makeAsyncIterator()
    let first = try #require(try await changes.next())
    #expect(first.changes.batch == .reload)
    #expect(first.loadState == .loaded)
    #expect(names(first) == ["b", "a"])
    try await there.reference(withPath: "l/b/at").setValue(3)
    let second = try #require(try await changes.next())
    #expect(names(second) == ["a", "b"])
    #expect(second.changes.batch.movedRows.count == 1)
  }

  @Test func emptyPlaceIsALoadedList() async throws {
    for try await change in try here.reference(withPath: "none").changes() {
      #expect(change.loadState == .loaded)
      #expect(names(change) == [])
      break
    }
  }

  @Test func loopThatEndsListensNoMore() async throws {
    for try await _ in try here.reference(withPath: "l").changes() { break }
    try await yieldUntil { await here.listeners() == (0, false) }
  }

  @Test func sequenceOfAClosedDatabaseFails() async throws {
    var changes = try here.reference(withPath: "l").changes().makeAsyncIterator()
    _ = try await changes.next()
    here.close()
    let error = await #expect(throws: DatabaseError.self) { try await changes.next() }
    #expect(error?.code == .closed)
  }

  @Test func readerThatIsTooSlowIsToldSo() async throws {
    let list = try here.reference(withPath: "l")
    let session = StreamSession(here, batchesMax: 2)
    let stream = session.stream(of: list)
    for number in 0..<4 { try await list.push(number) }
    let error = await #expect(throws: DatabaseError.self) { try await session.run() }
    #expect(error?.code == .overflow)
    #expect(error?.message.contains("batchesMax") == true)
    #expect(stream.items.count <= 2)
    // The list is no longer kept up to date, which whoever shows it sees.
    guard case .failed(let failure) = stream.loadState else {
      Issue.record("\(stream.loadState)")
      return
    }
    #expect(failure.code == DatabaseError.Code.overflow.rawValue)
    try await yieldUntil { await here.listeners() == (0, false) }
  }

  @Test(arguments: [0, -1, .min])
  func noRoomForBatchesIsRoomForOne(batchesMax: Int) async throws {
    let list = try here.reference(withPath: "l")
    try await list.setValue(["a": 1])
    var changes = list.changes(batchesMax: batchesMax).makeAsyncIterator()
    #expect(try await changes.next()?.items.map(\.key) == ["a"])
    var events = list.events(.value, batchesMax: batchesMax).makeAsyncIterator()
    #expect(try await events.next()?.snapshot.value == ["a": 1])
  }

  @Test func aListOfChangesMayLetMoreBatchesWait() async throws {
    let list = try here.reference(withPath: "l")
    var changes = list.changes(batchesMax: 2).makeAsyncIterator()
    _ = try await changes.next()
    for number in 0..<4 { try await list.push(number) }
    let error = await #expect(throws: DatabaseError.self) {
      while try await changes.next() != nil {}
    }
    #expect(error?.code == .overflow)
    var patient = list.changes(batchesMax: 10).makeAsyncIterator()
    _ = try await patient.next()
    for number in 0..<9 { try await list.push(number) }
    var count = 0
    while count < 13, let change = try await patient.next() { count = change.items.count }
    #expect(count == 13)
  }

  @Test func secondRunIsAnErrorAndTheFirstGoesOn() async throws {
    let owner = try Owner(here)
    async let first: Void = owner.run()
    try await yieldUntil { await owner.isRunning }
    let error = await #expect(throws: DatabaseError.self) { try await owner.run() }
    #expect(error?.code == .refused)
    try await there.reference(withPath: "l/a").setValue(1)
    try await yieldUntil { await owner.count != 0 }
    await owner.stop()
    try await first
  }

  /// An actor whose session is run by a task of its own.
  private actor Owner {
    private let session: StreamSession
    private let stream: QueryStream<Record>
    private var task: Task<Void, any Error>?

    init(_ database: Database) throws {
      session = StreamSession(database)
      stream = session.stream(of: try database.reference(withPath: "l"))
    }

    var isRunning: Bool { stream.loadState == .loaded }
    var count: Int { stream.items.count }

    func run() async throws {
      let isFirst = task == nil
      let task = Task { try await session.run() }
      if isFirst { self.task = task }
      try await task.value
    }

    func stop() { task?.cancel() }
  }

  @Test func whatWaitsIsTakenWithoutWaiting() async throws {
    let list = try here.reference(withPath: "l")
    try await list.setValue(["a": 1])
    let session = StreamSession(here, batchesMax: 2)
    #expect(try session.drain() == 0)
    let stream = session.stream(of: list)
    while stream.loadState != .loaded { try session.drain() }
    #expect(stream.items.map(\.row.key.text) == ["a"])
    for number in 0..<4 { try await list.push(number) }
    // What waited is passed on before it is told that there was more.
    #expect(try session.drain() == 2)
    #expect(stream.loadState == .loaded)
    let error = #expect(throws: DatabaseError.self) { try session.drain() }
    #expect(error?.code == .overflow)
    #expect(stream.loadState != .loaded)
  }

  @Test func cancelledTaskWaitsNoLonger() async throws {
    let database = here
    let task = Task { @MainActor in
      try await StreamSession(database).run()
      return true
    }
    task.cancel()
    #expect(try await task.value)
  }

  @Test func composedStreamsAreASequenceToo() async throws {
    try await here.reference().setValue([
      "pinned": ["p": ["at": 1]], "recent": ["a": ["at": 2], "b": ["at": 3]],
    ])
    let (pinned, recent) = (
      try here.reference(withPath: "pinned"), try here.reference(withPath: "recent")
    )
    var changes = here.changes { session in
      UnionStream([session.stream(of: pinned), session.stream(of: recent)]) { $0.id < $1.id }
    }.makeAsyncIterator()
    #expect(names(try #require(try await changes.next())) == ["p", "a", "b"])
    try await there.reference(withPath: "recent/a").removeValue()
    #expect(names(try #require(try await changes.next())) == ["p", "b"])
  }

  @Test func recordsAreValuesOfASwiftType() async throws {
    struct Player: Codable, Sendable, Equatable { var score: Int }
    let list = try here.reference(withPath: "l")
    try await list.setValue(["a": ["score": 2], "b": ["score": "many"]])
    let session = StreamSession(here)
    let players = session.stream(of: list, as: Player.self)
    while players.loadState != .loaded { try await session.receive() }
    #expect(players.items.map(\.key) == ["a", "b"])
    #expect(players.items[0].value == Player(score: 2))
    #expect(players.items[0].score == 2 && players.items[0].error == nil)
    #expect(players.items[1].value == nil && players.items[1].score == nil)
    #expect(players.items[1].error != nil)
    #expect(players.failedRows().map(\.key) == ["b"])
  }

  @Test func indexIsJoinedToRecordsElsewhere() async throws {
    try await here.reference().setValue([
      "favourites": ["a": true, "c": true], "books": ["a": "Anna", "b": "Bel-Ami"],
    ])
    let session = StreamSession(here)
    let books = session.stream(
      index: try here.reference(withPath: "favourites"),
      of: try here.reference(withPath: "books"))
    while books.loadState != .loaded { try await session.receive() }
    let rows = books.sections.flatMap(\.items)
    #expect(rows.map(\.node?.json) == ["Anna", nil])
    #expect(rows.map(\.target).last == .missing)
  }

  @Test func pagesAreFetchedAndStayLive() async throws {
    let list = try here.reference(withPath: "l")
    try await list.setValue(["a": 1, "b": 2, "c": 3, "d": 4])
    let session = StreamSession(here)
    let stream = session.stream(of: list, paging: Paging(anchor: .last, count: 2))
    while stream.loadState != .loaded { try await session.receive() }
    #expect(stream.items.map(\.row.key.text) == ["c", "d"])
    var outcome: FetchOutcome?
    stream.fetchMore(5) { outcome = $0 }
    while outcome == nil { try await session.receive() }
    #expect(outcome == .fetched)
    #expect(stream.fetchState == .exhausted)
    try await there.reference(withPath: "l/a").setValue(9)
    while stream.items.first?.row.node != (try Node(json: 9)) { try await session.receive() }
  }

  @Test func endIsKnownWithoutAFetchUnlessTheRowsBeyondGoLater() async throws {
    let list = try here.reference(withPath: "l")
    try await list.setValue(["a": 1, "b": 2, "c": 3])
    let session = StreamSession(here)
    let all = session.stream(of: list, paging: Paging(anchor: .first, count: 3))
    let part = session.stream(of: list, paging: Paging(anchor: .first, count: 2))
    try await session.waitUntil { all.loadState == .loaded && part.loadState == .loaded }
    #expect(all.fetchState == .exhausted, "a page that is just full is the last one")
    #expect(part.fetchState == .more)
    try await list.child("c").removeValue()
    try await session.waitUntil { all.count == 2 }
    #expect(part.fetchState == .more, "rows beyond are not observed")
    part.fetchMore(1)
    try await session.waitUntil { part.fetchState != .fetching }
    #expect(part.fetchState == .exhausted && part.count == 2)
  }

  @Test func loopThatFetchesAllPagesEndsWhenTheDatabaseIsClosed() async throws {
    let list = try here.reference(withPath: "l")
    try await list.setValue(["a": 1, "b": 2, "c": 3])
    let session = StreamSession(here)
    let stream = session.stream(of: list, paging: Paging(anchor: .last, count: 1))
    try await session.waitUntil { stream.loadState == .loaded }
    here.close()
    await #expect(throws: DatabaseError.self) {
      while true { try await session.receive() }
    }
    var rounds = 0
    while stream.fetchState == .more, rounds < 10 {
      stream.fetchMore(1)
      try await session.waitUntil { stream.fetchState != .fetching }
      rounds += 1
    }
    #expect(rounds == 0)
  }

  @Test func arrayIsWrittenThrough() async throws {
    let session = StreamSession(here)
    let array = session.syncedArray(of: try here.reference(withPath: "l"))
    let view = array.sync()
    var outcomes: [WriteOutcome] = []
    array.append("one") { outcomes.append($0) }
    array.append("two") { outcomes.append($0) }
    while outcomes.count < 2 { try await session.receive() }
    // The rows were told before the outcome.
    #expect(array.list.map(\.row.node?.json) == ["one", "two"])
    array.remove(at: 0) { outcomes.append($0) }
    while outcomes.count < 3 { try await session.receive() }
    #expect(array.list.map(\.row.node?.json) == ["two"])
    #expect(outcomes == [.written, .written, .written])
    view.end()
    try await yieldUntil { await here.listeners() == (0, false) }
  }

  @Test func refusedWriteSaysWhy() async throws {
    let reader = try await Database.open(file: folder.file(), isReadOnly: true)
    let session = StreamSession(reader)
    var outcome: WriteOutcome?
    session.tree.submit(.remove(try Path("l"))) { outcome = $0 }
    while outcome == nil { try await session.receive() }
    guard case .refused(let reason)? = outcome else { Issue.record("It was written."); return }
    #expect(!reason.message.isEmpty)
  }

  @Test func sessionThatIsGoneListensNoMore() async throws {
    do {
      let session = StreamSession(here)
      _ = session.stream(of: try here.reference(withPath: "l"))
    }
    try await yieldUntil { await here.listeners() == (0, false) }
  }

  @Test func actorFollowsWhileItIsAskedOtherThings() async throws {
    let board = Board(here, try here.reference(withPath: "l"))
    let task = Task { try await board.follow() }
    try await there.reference(withPath: "l").setValue(["a": 1, "b": 2])
    try await yieldUntil { await board.count == 2 }
    task.cancel()
    _ = await task.result
    #expect(await board.batches.first?.isReload == true)
  }

  /// An actor that shows a list.
  private actor Board {
    private let session: StreamSession
    private let stream: QueryStream<Record>
    private let log = BatchLog()

    init(_ database: Database, _ place: Reference) {
      session = StreamSession(database)
      stream = session.stream(of: place)
    }

    var count: Int { stream.items.count }
    var batches: [BatchUpdate] { log.batches }

    func follow() async throws {
      let token = stream.observe { [log] in log.batches.append($0.changes.batch) }
      try await session.run()
      stream.cancel(token)
    }
  }

  private final class BatchLog {
    var batches: [BatchUpdate] = []
  }
}

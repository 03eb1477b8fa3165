import RunnelBase
import RunnelTree
import Synchronization
import Testing

@testable import RunnelDatabase

/// A database file that is the replica of an origin.
@Suite struct ReplicaSessionTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession

  init() throws {
    folder = try TemporaryFolder()
    session = try folder.session()
    try session.becomeReplica(ofOrigin: "home")
  }

  private func set(_ path: String, _ json: JSONValue) throws {
    _ = try session.write(.set(Path(path), json))
  }

  private func push(_ path: String, _ json: JSONValue) throws {
    _ = try session.receive(.push(.set(Node(json: json)), Path(path), tag: nil))
  }

  private func shown(_ path: String) throws -> JSONValue {
    try session.node(at: Path(path)).exportJSON
  }

  private func listen(_ path: String, _ listener: Int = 1) throws {
    _ = try session.listen(ListenerID(listener), ListenRequest(query: Query(Path(path))))
  }

  @Test func aDatabaseWithDataOfItsOwnBecomesNoReplica() throws {
    let own = try folder.session("own.db")
    _ = try own.write(.set(.root, 1))
    #expect(throws: DatabaseError.self) { try own.becomeReplica(ofOrigin: "home") }
    #expect(try own.originName() == nil)
    #expect(throws: DatabaseError.self) { try session.becomeReplica(ofOrigin: "elsewhere") }
    try session.becomeReplica(ofOrigin: "home")
    #expect(try session.originName() == "home")
  }

  @Test func aTreeOfItsOwnHasNoOrigin() throws {
    let own = try folder.session("own.db")
    #expect(throws: DatabaseError.self) { try own.connectOrigin() }
    #expect(own.pendingWrites.isEmpty)
    #expect(own.takeOriginOutput() == OriginOutput())
  }

  @Test func aTreeOfItsOwnIsConnectedWithItself() throws {
    let own = try folder.session("own.db")
    #expect(try own.node(at: .info).exportJSON == ["connected": true, "serverTimeOffset": 0])
    let query = Query(try Path("/.info/connected"))
    let told = try own.listen(ListenerID(1), ListenRequest(query: query, events: .value))
    #expect(told.map(\.event) == [.value(Node(.bool(true)))])
    own.unlisten(ListenerID(1))
    #expect(!own.hasListeners)
    #expect(throws: DatabaseError.self) { try own.write(.set(.info, 1)) }
    #expect(throws: DatabaseError.self) { try own.transaction(at: .info) { _ in .success(1) } }
    let error = #expect(throws: DatabaseError.self) { try own.write(.remove(.info)) }
    #expect(error?.message.contains("remove failed = Can't modify data under /.info/") == true)
  }

  @Test func theOffsetOfTheOriginsClockIsReadAndUsed() throws {
    #expect(session.connectionInfo == .offline)
    _ = try session.connectOrigin(originTime: 1_700_000_005_000)
    #expect(try shown("/.info") == ["connected": true, "serverTimeOffset": 5000])
    try set("/t", [".sv": "timestamp"])
    #expect(try shown("/t") == 1_700_000_005_000)
    _ = try session.disconnectOrigin()
    #expect(try session.rows(Query(.info)).map(\.key.text) == ["connected", "serverTimeOffset"])
    #expect(try shown("/.info/connected") == false)
  }

  /// The time is a word of a server, and is calculated with.
  @Test(arguments: [Int64.max, .min, -1, 1 << 48, (1 << 48) - 1, 0])
  func noTimeOfAnOriginStopsTheProgram(time: Int64) throws {
    _ = try session.connectOrigin(originTime: time)
    let fit = min(max(time, 0), 0xFFFF_FFFF_FFFF)
    let offset = JSONValue.number(JSONNumber(fit - 1_700_000_000_000))
    #expect(try shown("/.info/serverTimeOffset") == offset)
    try set("/t", [".sv": "timestamp"])
    #expect(try shown("/t") == .number(JSONNumber(fit)))
    #expect(PushIDGenerator.isPushID(session.newKey()))
  }

  /// One answer everywhere: what a listener is told is what is read.
  @Test(arguments: [false, true]) func infoIsServedByEveryWayOfReading(isReplica: Bool) async throws
  {
    let session = try folder.session(isReplica ? "test.db" : "own.db", seed: 2)
    if isReplica { _ = try session.connectOrigin(originTime: 1_700_000_005_000) }
    let offset: JSONValue = isReplica ? 5000 : 0
    let whole: JSONValue = ["connected": true, "serverTimeOffset": offset]
    let request = ListenRequest(query: Query(.info), events: .value)
    let told = try session.listen(ListenerID(1), request)
    #expect(told.map(\.event) == [.value(try Node(json: whole))])
    let place = try Path("/.info/serverTimeOffset")
    #expect(try session.node(at: .info).exportJSON == whole)
    #expect(try session.read { try $0.node(at: .info) }.exportJSON == whole)
    #expect(try session.read { try $0.node(at: place) }.exportJSON == offset)
    #expect(try session.summary(at: .info).kind == .children(count: 2))
    #expect(try session.read { try $0.summary(at: .info) }.kind == .children(count: 2))
    let query = try Query(.info).ordered(by: .key).limited(to: 1, from: .last)
    #expect(try session.rows(query).map(\.key.text) == ["serverTimeOffset"])
    let scan = try session.scan(query)
    #expect(scan.rows == (try session.rows(query)))
    #expect(scan.report == ScanReport(way: .record, scannedCount: 2, shownCount: 1))
    let slice = RowSlice(query)
    let read = try session.read { try $0.rows(of: .info, in: slice, detail: .full) }
    #expect(read == scan.rows)
    let key = try Key("connected")
    let row = try session.read { try $0.row(key, of: .info, in: slice, detail: .full) }
    #expect(row?.node == Node(.bool(true)))
    let shallow = try session.shallow(.info, limit: 1, after: nil)
    #expect(shallow.keys == ["connected"] && shallow.numberOfChildren == 2 && shallow.exists)
    #expect(shallow.next == "connected")
    #expect(try session.export("/.info") == whole.jsonText())
  }

  @Test func pendingWritesSurviveARestartInOrder() throws {
    try set("/a", 1)
    try set("/b", [".sv": "timestamp"])
    try session.close()
    let again = try folder.session()
    #expect(again.pendingWrites.map(\.id) == [0, 1])
    #expect(try again.node(at: Path("/a")).exportJSON == 1)
    _ = try again.connectOrigin()
    let expected: [OriginCommand] = [
      .write(id: 0, .set(try Path("/a"), 1)),
      .write(id: 1, .set(try Path("/b"), [".sv": "timestamp"])),
    ]
    #expect(again.takeOriginOutput().commands == expected)
    _ = try again.receive(.acknowledged(id: 0))
    #expect(again.takeOriginOutput().completions == [.acknowledged(id: 0)])
    #expect(again.pendingWrites.map(\.id) == [1])
    let (done, pending) = (try Path("/a"), try Path("/b/x"))
    #expect(again.hasPendingWrites(at: pending) && !again.hasPendingWrites(at: done))
  }

  @Test func droppedWriteIsTakenBackAndTheOthersStay() throws {
    try push("/a", 1)
    try set("/a", 2)
    try set("/a/x", 3)
    try set("/b", 4)
    try listen("/a")
    let told = try session.dropPendingWrite(1)
    #expect(session.pendingWrites.map(\.id) == [0, 2])
    #expect(try shown("/") == ["a": 2, "b": 4])
    #expect(!told.isEmpty)
    session.unlisten(ListenerID(1))
    guard case .rejected(1, let error)? = session.takeOriginOutput().completions.last else {
      Issue.record("Whoever waits for it is told.")
      return
    }
    #expect(error.code == .writeCanceled)
    _ = try session.dropPendingWrite(0)
    _ = try session.connectOrigin()
    #expect(session.takeOriginOutput().commands.contains(.write(id: 2, .set(try Path("/b"), 4))))
    // What the origin says of a write that was dropped changes nothing.
    #expect(try session.receive(.acknowledged(id: 0)).isEmpty)
    #expect(session.pendingWrites.map(\.id) == [2])
  }

  @Test func writeIsDroppedOnceAndByItsIDOnly() throws {
    try set("/a", 1)
    let other = try folder.session(seed: 2)
    _ = try other.dropPendingWrite(0)
    #expect(throws: DatabaseError.self) { try session.dropPendingWrite(0) }
    _ = try session.catchUp()
    #expect(session.pendingWrites.isEmpty)
    #expect(try shown("/a") == .null)
    let own = try folder.session("own.db")
    #expect(throws: DatabaseError.self) { try own.dropPendingWrite(0) }
  }

  @Test func pendingWritesAreNewsWhenTheyAreOthers() throws {
    #expect(session.takePendingNews() == nil)
    try set("/a", 1)
    guard case .pendingWrites(let writes)? = session.takePendingNews() else {
      Issue.record("A write is news.")
      return
    }
    #expect(writes.map(\.madeAt) == [1_700_000_000_000])
    #expect(session.takePendingNews() == nil)
    let again = try folder.session(seed: 2)
    guard case .pendingWrites(writes)? = again.takePendingNews() else {
      Issue.record("What is in the file is news to who opens it.")
      return
    }
  }

  @Test func idsAreNotTakenTwiceEvenWhenAllWritesWereAnswered() throws {
    _ = try session.connectOrigin()
    try set("/a", 1)
    _ = try session.receive(.acknowledged(id: 0))
    try session.close()
    let again = try folder.session()
    _ = try again.write(.set(Path("/a"), 2))
    #expect(again.pendingWrites.map(\.id) == [1])
  }

  @Test func anAnswerThatWasCachedIsToldAtOnceAfterARestart() throws {
    _ = try session.connectOrigin()
    try listen("/list")
    try push("/list", ["a": 1])
    try session.close()
    let again = try folder.session()
    let request = ListenRequest(query: Query(try Path("/list")), events: .value)
    let told = try again.listen(ListenerID(1), request)
    #expect(told.map(\.event) == [.value(try Node(json: ["a": 1]))])
  }

  @Test func aRejectedWriteShowsWhatWasUnderIt() throws {
    _ = try session.connectOrigin()
    try listen("/list")
    try push("/list", ["a": 1])
    try set("/list/a", 2)
    #expect(try shown("/list") == ["a": 2])
    let told = try session.receive(
      .rejected(id: 0, TreeError(.permissionDenied, "Permission denied.")))
    #expect(told.count == 1)
    #expect(try shown("/list") == ["a": 1])
  }

  @Test func messagesThatAreTakenTogetherDoWhatTheyDoOneByOne() throws {
    let other = try folder.session("other.db")
    try other.becomeReplica(ofOrigin: "home")
    var told: [[Delivery]] = []
    for one in [session, other] {
      _ = try one.connectOrigin()
      _ = try one.listen(ListenerID(1), ListenRequest(query: Query(Path("/list"))))
      _ = try one.write(.set(Path("/list/a"), 9))
    }
    let messages: [OriginMessage] = try [
      .push(.set(Node(json: ["a": 1, "b": 2])), Path("/list"), tag: nil),
      .push(.set(Node(json: 3)), Path("/list/c"), tag: nil),
      .rejected(id: 0, TreeError(.permissionDenied, "Permission denied.")),
      .push(.set(Node(json: .null)), Path("/list/b"), tag: nil),
    ]
    told.append(try session.receive(messages))
    told.append(try messages.flatMap { try other.receive($0) })
    #expect(told[0] == told[1])
    #expect(try shown("/list") == ["a": 1, "c": 3])
    #expect(try other.node(at: Path("/list")).exportJSON == ["a": 1, "c": 3])
    #expect(session.pendingWrites.isEmpty)
    let (output, expected) = (session.takeOriginOutput(), other.takeOriginOutput())
    #expect(output.completions == expected.completions)
    #expect(output.commands == expected.commands)
    #expect(try session.receive([]).isEmpty)
  }

  @Test func aHiddenWriteShowsWhenTheOriginHasTakenItOverRestarts() throws {
    let write = Write.set(try Path("/a"), 2)
    _ = try session.connectOrigin()
    try listen("/a")
    try push("/a", 1)
    #expect(try session.writeHidden(write).isEmpty)
    #expect(try shown("/a") == 1)
    #expect(session.pendingWrites.map(\.isVisible) == [false])
    #expect(session.takeOriginOutput().commands.last == .write(id: 0, write))
    try session.close()
    let again = try folder.session()
    #expect(try again.node(at: Path("/a")).exportJSON == 1)
    _ = try again.connectOrigin()
    #expect(again.takeOriginOutput().commands == [.write(id: 0, write)])
    _ = try again.receive(.acknowledged(id: 0))
    #expect(try again.node(at: Path("/a")).exportJSON == 2)
  }

  @Test func aTreeOfItsOwnHidesNoWrite() throws {
    let own = try folder.session("own.db")
    #expect(throws: DatabaseError.self) { try own.writeHidden(.set(.root, 1)) }
    #expect(try own.node(at: .root).isEmpty)
  }

  @Test func aWriteOfAnotherProcessIsSentFromHere() throws {
    _ = try session.connectOrigin()
    try listen("/")
    let other = try folder.session()
    _ = try other.write(.set(Path("/a"), 1))
    let told = try session.catchUp()
    #expect(told.count == 1)
    #expect(session.takeOriginOutput().commands.last == .write(id: 0, .set(try Path("/a"), 1)))
    _ = try session.receive(.acknowledged(id: 0))
    _ = try other.catchUp()
    #expect(other.pendingWrites.isEmpty)
  }

  @Test func anImportIsRefused() throws {
    let text = Array("{}".utf8)
    #expect(throws: DatabaseError.self) {
      try text.withUnsafeBufferPointer { try session.importJSON($0, at: .root) }
    }
  }

  @Test func aWriteIsUndoneByAPendingWrite() throws {
    try set("/a", 1)
    try set("/a", 2)
    _ = try session.undo(2)
    #expect(try shown("/a") == 1)
    #expect(session.pendingWrites.map(\.id) == [0, 1, 2])
  }

  @Test func anUndoingThatTheOriginRefusedIsTriedAgain() throws {
    _ = try session.connectOrigin()
    try listen("/a")
    try push("/a", 1)
    try set("/a", 2)
    let entry = try #require(try session.history().first)
    try push("/a", 2)
    _ = try session.receive(.acknowledged(id: 0))
    _ = try session.undo(entry.id)
    let again = try #require(throws: DatabaseError.self) { try session.undo(entry.id) }
    #expect(again.message.contains("was already undone by write"))
    _ = try session.receive(
      .rejected(id: 1, TreeError(.permissionDenied, "Permission denied.")))
    #expect(try shown("/a") == 2)
    _ = try session.undo(entry.id)
    #expect(try shown("/a") == 1)
  }

  /// A message with a time of the origin that is some milliseconds off its estimate.
  private func sendWithTime() throws -> HistoryEntry {
    _ = try session.connectOrigin(originTime: 1_700_000_005_000)
    try listen("/m")
    try push("/m", ["old": 1])
    try set("/m/a", ["text": "hi", "at": [".sv": "timestamp"]])
    let entry = try #require(try session.history().first)
    try push("/m/a", ["text": "hi", "at": 1_700_000_005_006])
    let id = try #require(session.pendingWrites.first?.id)
    _ = try session.receive(.acknowledged(id: id))
    return entry
  }

  @Test func theTimeThatTheOriginSetIsNoChangeByOthers() throws {
    let entry = try sendWithTime()
    #expect(try shown("/m/a/at") == 1_700_000_005_006)
    let values = try session.history().first?.parts.first?.values
    #expect(values?.new == ["at": 1_700_000_005_006, "text": "hi"])
    _ = try session.undo(entry.id)
    #expect(try shown("/m") == ["old": 1])
  }

  @Test func aWriteWithATimeIsNotUndoneIfOthersChangedTheTimeSince() throws {
    let entry = try sendWithTime()
    try push("/m/a/at", 1_700_000_005_007)
    #expect(throws: DatabaseError.self) { try session.undo(entry.id) }
  }

  @Test func aWriteWithATimeIsUndoneBeforeTheOriginAnswers() throws {
    _ = try session.connectOrigin(originTime: 1_700_000_005_000)
    try set("/a", [".sv": "timestamp"])
    let entry = try #require(try session.history().first)
    _ = try session.undo(entry.id)
    #expect(try shown("/a") == nil)
  }

  @Test func whatTheOriginRemovesWithTheConnectionMakesNoEntry() throws {
    _ = try session.connectOrigin()
    let place = try Path("/presence/a")
    let id = try #require(try session.ask(DisconnectRequest.set(place, .null)).id)
    _ = try session.receive(.acknowledged(id: id))
    try set("/presence/a", ["name": "ana"])
    try set("/presence/a/row", 1)
    #expect(try session.history().isEmpty)
    try set("/presence/b", 1)
    #expect(try session.history().count == 1)
    #expect(session.pendingWrites.count == 3)
  }

  @Test func whatNobodyListensToIsPrunedAndTheRestIsNot() throws {
    _ = try session.connectOrigin()
    for number in 1...3 {
      try listen("/list\(number)", number)
      try push("/list\(number)", ["a": .string(String(repeating: "x", count: 1000))])
    }
    session.unlisten(ListenerID(1))
    session.unlisten(ListenerID(2))
    try set("/list2/mine", true)
    _ = try session.pruneCache(toBytes: 0, queries: 10)
    #expect(try shown("/list1") == nil)
    #expect(try shown("/list2") == ["mine": true])
    #expect(try shown("/list3/a") != nil)
    #expect(session.trackedQueries.map(\.query.path) == [try Path("/list3")])
  }

  @Test func aQuestionWaitsThreeSecondsForAConnection() throws {
    _ = try session.get(Query(Path("/l")))
    #expect(session.millisecondsToDeadline == 3000)
    _ = try session.giveUpGets()
    #expect(session.takeOriginOutput().completions.isEmpty)
    _ = try session.connectOrigin()
    #expect(session.millisecondsToDeadline == nil)
    #expect(session.takeOriginOutput().commands == [.get(id: 0, Query(try Path("/l")))])
    _ = try session.receive(.answer(id: 0, Node(.bool(true))))
    #expect(session.takeOriginOutput().completions == [.got(id: 0, Node(.bool(true)))])
    try session.close()
    let again = try folder.session()
    #expect(again.trackedQueries.map(\.isComplete) == [true])
    #expect(again.trackedQueries.map(\.isActive) == [false])
  }

  @Test func aCacheWithinItsLimitsIsLeftAlone() throws {
    _ = try session.connectOrigin()
    try listen("/list")
    try push("/list", ["a": 1])
    session.unlisten(ListenerID(1))
    _ = try session.pruneCache(toBytes: 100, queries: 1)
    #expect(try shown("/list") == ["a": 1])
    _ = try session.pruneCache(toBytes: 100, queries: 0)
    #expect(try shown("/list") == nil)
  }

  @Test func theCacheIsLookedAtNowAndThenAndKeptBelowItsSize() throws {
    session.environment.cacheBytesMax = 1000
    _ = try session.connectOrigin()
    try listen("/old")
    try push("/old", ["a": .string(String(repeating: "x", count: 2000))])
    session.unlisten(ListenerID(1))
    try listen("/new", 2)
    for number in 0..<1100 { try push("/new/n", .number(JSONNumber(Int64(number)))) }
    #expect(try shown("/old") == nil)
    #expect(try shown("/new/n") == 1099)
  }

  @Test func theDoctorFindsAReplicaSound() throws {
    _ = try session.connectOrigin()
    try session.declareIndexes([IndexDefinition(pattern: "/list", child: try Path("s"))])
    try listen("/list")
    let rows = (0..<300).map { number in
      JSONMember("k\(number)", ["s": .number(JSONNumber(Int64(number))), ".priority": 1])
    }
    try push("/list", .object(rows))
    try set("/list/k5/s", 9)
    try session.close()
    let report = try DatabaseCare.check(file: folder.file())
    #expect(report.isSound, "\(report.faults)")
    #expect(try DatabaseCare.repair(file: folder.file()).after == nil)
  }

  @Test func requestsAreAnsweredTwice() async throws {
    let (signal, continuation) = AsyncStream.makeStream(of: Void.self)
    let inbox = Inbox<DatabaseMessage>(limit: 100) { continuation.yield() }
    try session.close()
    let database = try Database(file: folder.file(), inbox: inbox, environment: .system)
    database.submit(.connectOrigin())
    database.submit(.write(7, .set(try Path("/a"), 1)))
    database.submit(.write(8, .set(try Path("/b"), 1)))
    database.submit(.receive(.acknowledged(id: 0)))
    database.submit(
      .receive(.rejected(id: 1, TreeError(.permissionDenied, "Permission denied."))))
    var texts: [String] = []
    for await _ in signal {
      texts += inbox.drain().map(ReplicaSessionTests.text)
      if texts.last == "pending []" { break }
    }
    database.close()
    #expect(
      texts == [
        "written 7", "pending [0]", "origin 1", "written 8", "pending [0, 1]", "origin 1",
        "acknowledged 7", "pending [1]", "rejected 8, #1", "pending []",
      ])
  }

  /// So a screen that is woken by the row knows at once that it is on disk.
  @Test func whatComesOfOneRequestIsPostedTogether() async throws {
    let (signal, continuation) = AsyncStream.makeStream(of: [String].self)
    let reference = Mutex<Inbox<DatabaseMessage>?>(nil)
    // Each posting is taken at once, by the thread that posts.
    let inbox = Inbox<DatabaseMessage>(limit: 100) {
      let messages = reference.withLock { $0 }?.drain() ?? []
      continuation.yield(messages.map(ReplicaSessionTests.text))
    }
    reference.withLock { $0 = inbox }
    try session.close()
    let database = try Database(file: folder.file(), inbox: inbox, environment: .system)
    database.submit(.connectOrigin())
    database.submit(.write(7, .set(try Path("/a"), 1)))
    database.submit(.receive(.acknowledged(id: 0)))
    var posted: [[String]] = []
    for await texts in signal {
      posted.append(texts)
      if texts.last == "pending []" { break }
    }
    database.close()
    #expect(
      posted == [["written 7", "pending [0]"], ["origin 1"], ["acknowledged 7", "pending []"]])
    reference.withLock { $0 = nil }
  }

  @Test func refusalOfAWriteOfAnEarlierRunIsTold() async throws {
    try set("/a", 1)
    try session.close()
    let (signal, continuation) = AsyncStream.makeStream(of: Void.self)
    let inbox = Inbox<DatabaseMessage>(limit: 100) { continuation.yield() }
    let database = try Database(file: folder.file(), inbox: inbox, environment: .system)
    database.submit(.connectOrigin())
    database.submit(
      .receive(.rejected(id: 0, TreeError(.permissionDenied, "Permission denied."))))
    var texts: [String] = []
    for await _ in signal {
      texts += inbox.drain().map(ReplicaSessionTests.text)
      if texts.last == "pending []" { break }
    }
    database.close()
    #expect(texts.contains("rejected #0"), "\(texts)")
  }

  private static func text(_ message: DatabaseMessage) -> String {
    switch message {
    case .written(let number, _, _): "written \(number)"
    case .acknowledged(let number): "acknowledged \(number)"
    case .rejected(let number?, let write, _): "rejected \(number), #\(write)"
    case .rejected(nil, let write, _): "rejected #\(write)"
    case .origin(let commands): "origin \(commands.count)"
    case .pendingWrites(let writes): "pending \(writes.map(\.id))"
    default: "\(message)"
    }
  }
}

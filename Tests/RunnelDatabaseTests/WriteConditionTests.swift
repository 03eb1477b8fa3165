import RunnelBase
import RunnelStreams
import RunnelTree
import Testing

@testable import RunnelDatabase

/// Writes that are carried out only where places stand as expected.
@Suite struct WriteConditionTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession

  init() throws {
    folder = try TemporaryFolder()
    session = try folder.session()
    _ = try session.write(
      .set(.root, ["a": ["x": 1, "y": 2], "p": [".value": 5, ".priority": 1]]))
  }

  private func holds(_ path: String, _ value: JSONValue) throws -> [WriteCondition] {
    [WriteCondition(try Path(path), value)]
  }

  @Test func aWriteIsDoneWhereAllStandsAsExpected() throws {
    let conditions = try [
      WriteCondition(Path("/a/x"), 1), WriteCondition(Path("/a"), ["y": 2, "x": 1]),
      WriteCondition(Path("/none"), .null),
    ]
    _ = try session.write(.set(Path("/a/x"), 9), if: conditions)
    #expect(try session.node(at: Path("/a/x")).json == 9)
  }

  private static let others: [(String, JSONValue)] = [
    ("/a/x", 2), ("/a", ["x": 1]), ("/a/z", 1), ("/a/x", nil),
  ]

  @Test(arguments: others)
  func aWriteIsRefusedWhereSomethingElseStands(path: String, value: JSONValue) throws {
    let error = try #require(throws: DatabaseError.self) {
      try session.write(.remove(Path("/a")), if: holds(path, value))
    }
    #expect(error.code == .changed)
    #expect(error.message == "\(path) was changed meanwhile. Nothing was written.")
    #expect(try session.node(at: Path("/a")).json == ["x": 1, "y": 2])
    #expect(try session.history().count == 1)
  }

  @Test(arguments: [false, true])
  func theStateOfTheConnectionIsComparedToo(isReplica: Bool) throws {
    let session = try folder.session("other.db")
    if isReplica { try session.becomeReplica(ofOrigin: "home") }
    for isConnected in isReplica ? [false, true] : [true] {
      if isReplica, isConnected { _ = try session.connectOrigin() }
      let state = JSONValue.bool(isConnected)
      let conditions = try holds("/.info/connected", state)
      _ = try session.write(.set(Path("/a"), state), if: conditions)
      #expect(try session.node(at: Path("/a")).json == state)
      let error = #expect(throws: DatabaseError.self) {
        try session.write(.remove(Path("/a")), if: holds("/.info/connected", .bool(!isConnected)))
      }
      #expect(error?.code == .changed)
      #expect(try session.node(at: Path("/a")).json == state)
    }
  }

  @Test(arguments: ["/.info", "/.info/connected"])
  func theStateOfTheConnectionIsNotCopied(source: String) throws {
    let error = #expect(throws: DatabaseError.self) {
      try session.write(.copy(from: Path(source), to: Path("/c")))
    }
    #expect(error?.code == .refused)
    #expect(error?.message.contains("The state of the connection cannot be copied") == true)
    #expect(throws: DatabaseError.self) {
      try session.write(.move(from: Path(source), to: Path("/c")))
    }
    #expect(try session.node(at: Path("/c")).isEmpty)
  }

  @Test func prioritiesDoNotCount() throws {
    _ = try session.write(.set(Path("/p"), 6), if: holds("/p", 5))
    #expect(try session.node(at: Path("/p")).json == 6)
  }

  @Test func whatAnotherSessionWroteCounts() throws {
    let other = try folder.session()
    _ = try other.write(.set(Path("/a/x"), 7))
    #expect(throws: DatabaseError.self) {
      try session.write(.set(Path("/a/x"), 8), if: holds("/a/x", 1))
    }
    _ = try session.write(.set(Path("/a/x"), 8), if: holds("/a/x", 7))
    #expect(try other.node(at: Path("/a/x")).json == 8)
  }

  @Test func aReplicaExpectsWhatItShows() throws {
    let replica = try folder.session("replica.db")
    try replica.becomeReplica(ofOrigin: "origin")
    _ = try replica.write(.set(Path("/a"), 1))
    _ = try replica.write(.set(Path("/a"), 2), if: holds("/a", 1))
    #expect(throws: DatabaseError.self) {
      try replica.write(.set(Path("/a"), 3), if: holds("/a", 1))
    }
    #expect(replica.pendingWrites.count == 2)
  }

  @Test func anOriginComparesOnePlaceThatHoldsEverything() throws {
    let replica = try folder.session("replica.db")
    try replica.becomeReplica(ofOrigin: "origin")
    let write = Write.set(try Path("/a/x"), 1)
    for path in ["/a/x", "/a", "/"] {
      _ = try replica.write(.remove(Path("/a")))
      _ = try replica.write(write, if: holds(path, .null), needsOrigin: true)
      #expect(replica.pendingWrites.last?.seen?.path == (try Path(path)))
    }
    let beside = try holds("/b", .null)
    let refused = #expect(throws: DatabaseError.self) {
      try replica.write(write, if: beside, needsOrigin: true)
    }
    #expect(refused?.code == .refused)
    _ = try replica.write(write, if: beside)
    #expect(replica.pendingWrites.last?.seen == nil)
    let own = try folder.session("own.db")
    _ = try own.write(write, if: beside, needsOrigin: true)
  }

  @Test(arguments: [false, true])
  func servicesCompareNothing(needsOrigin: Bool) throws {
    let replica = try folder.session("replica.db")
    try replica.becomeReplica(ofOrigin: "feathers+http://localhost")
    _ = try replica.write(
      .set(Path("/a"), 1), if: holds("/a", .null), needsOrigin: needsOrigin)
    #expect((replica.pendingWrites.last?.seen == nil) == !needsOrigin)
  }

  @Test func anOperationIsCarriedOutWhereAllStandsAsExpected() throws {
    var registry = ResourceRegistry()
    try registry.resource("item", paths: ["/a/@"])
    let operation = ResourceOperation(
      .create, ResourceObject("item", key: try Key("z"), value: ["n": 1]))
    let error = try #require(throws: DatabaseError.self) {
      try session.perform(operation, in: registry, if: holds("/a/z", 3))
    }
    #expect(error.code == .changed)
    _ = try session.perform(operation, in: registry, if: holds("/a/z", .null))
    #expect(try session.node(at: Path("/a/z")).json == ["n": 1])
  }

  // MARK: What answers tell

  @Test func theAnswerToAWriteTellsItsEntry() throws {
    let path = try Path("/a/x")
    guard case .written(7, nil, let entry?)? = session.answer(.write(7, .set(path, 2))).last else {
      Issue.record("no entry was told")
      return
    }
    #expect(try session.history().first?.id == entry)
    guard case .written(8, nil, let undoing?)? = session.answer(.undoWrite(8, entry: entry)).last
    else {
      Issue.record("no entry was told of the undoing")
      return
    }
    #expect(try session.history().first?.id == undoing)
    #expect(try session.history().first?.undoes == entry)
    try session.setHistoryLimit(0)
    guard case .written(9, nil, nil)? = session.answer(.write(9, .set(path, 3))).last else {
      Issue.record("a history that is off has no entry to tell")
      return
    }
  }

  @Test func aPageTellsWhetherThereIsMoreAndHowMuchIsKept() throws {
    for number in Int64(1)...4 {
      _ = try session.write(.set(Path("/b"), .number(JSONNumber(number))))
    }
    let path = try Path("/b")
    let first = try session.historyPage(of: path, count: 3)
    #expect(first.entries.map(\.id) == [5, 4, 3])
    #expect(first.hasOlder && first.limit == History.entryCountDefault)
    let second = try session.historyPage(of: path, before: 3, count: 3)
    #expect(second.entries.map(\.id) == [2, 1])
    #expect(!second.hasOlder)
    try session.setHistoryLimit(0)
    #expect(try session.historyPage() == HistoryPage(entries: [], hasOlder: false, limit: 0))
  }
}

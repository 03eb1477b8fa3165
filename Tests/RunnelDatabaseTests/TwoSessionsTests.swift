import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// Two sessions on one file, as two processes would have.
@Suite struct TwoSessionsTests {
  private let folder: TemporaryFolder
  private let first: DatabaseSession
  private let second: DatabaseSession

  init() throws {
    folder = try TemporaryFolder()
    // The same seed for both: nothing may depend on the two being different.
    first = try folder.session(seed: 1)
    second = try folder.session(seed: 1)
  }

  @Test func whatOneWritesTheOtherHears() throws {
    let request = ListenRequest(query: Query(try Path("l")), events: .all)
    _ = try first.listen(ListenerID(1), request)
    _ = try second.listen(ListenerID(1), request)
    for write in [
      ("/l", #"{"a":1,"b":2}"#), ("/l/a", "3"), ("/l", #"{"b":2,"c":{"d":1}}"#), ("/l/c/d", "null"),
      ("/l/\u{301}x", "1"), ("/", "null"), ("/l", largeObject(60)), ("/l/k5", "null"),
    ] {
      let inside = try first.set(write.0, write.1)
      #expect(!inside.isEmpty)
      #expect(try second.catchUp() == inside, "\(write)")
      #expect(try second.catchUp().isEmpty)
      #expect(try first.catchUp().isEmpty)
    }
    let update = Write.update(.root, [JSONMember("l/x", 1), JSONMember("l/k1/.priority", 2)])
    #expect(try second.write(update) == first.catchUp())
    #expect(try first.importJSON(#"{"a":1}"#, at: "/l") == second.catchUp())
  }

  @Test func newKeysAscendWhateverTheClocksOfProcessesSay() throws {
    let hour: Int64 = 3_600_000
    let start: Int64 = 1_700_000_000_000
    let path = try Path("/list")
    let sessions = try [0, -hour, hour, -24 * hour].map { (offset: Int64) in
      try DatabaseSession(
        file: folder.file("test.db"),
        environment: DatabaseEnvironment(now: { start + offset }, random: SeededRandom(seed: 1)))
    }
    var keys: [Key] = []
    var random = SeededRandom(seed: 7)
    for _ in 0..<100 {
      let session = sessions[Int.random(in: 0..<sessions.count, using: &random)]
      keys.append(try session.push(true, to: path).key)
    }
    for (key, next) in zip(keys, keys.dropFirst()) { #expect(key < next) }
    for session in sessions { try session.close() }
  }

  @Test func aListenerThatComesLateMissesNothingAndHearsNothingTwice() throws {
    try first.set("/l", #"{"a":1}"#)
    _ = try second.listen(ListenerID(1), ListenRequest(query: Query(Path("l")), events: .added))
    try first.set("/l/b", "2")
    let told = try second.listen(
      ListenerID(2), ListenRequest(query: Query(Path("l")), events: .added))
    // Listener 1 is told what it had missed before listener 2 is told everything.
    #expect(told.map(\.listener.rawValue) == [1, 2, 2])
    #expect(try second.catchUp().isEmpty)
  }

  @Test func aWriteTellsWhatOthersWroteBeforeIt() throws {
    _ = try second.listen(ListenerID(1), ListenRequest(query: Query(Path("l")), events: .added))
    try first.set("/l/a", "1")
    let told = try second.set("/l/b", "2")
    #expect(told.map(\.event.text) == ["added a(null)=1", "added b(a)=2"])
    #expect(try second.catchUp().isEmpty)
  }

  @Test func aFeedThatRanOverMakesTheWholeTreeReadAnew() throws {
    _ = try second.listen(ListenerID(1), ListenRequest(query: Query(Path("l")), events: .all))
    let countMax = Schema.feedCountMin + Schema.changeSlack(historyLimit: History.entryCountDefault)
    let members = (0..<countMax + 5)
    for index in members { try first.set("/l/k", "\(index)") }
    try first.set("/other", "1")
    let inspector = try FileInspector(folder.file())
    let kept = try inspector.number("SELECT count(*) FROM change")
    #expect((Schema.feedCountMin...countMax).contains(kept))
    let told = try second.catchUp().map(\.event.text)
    let last = members.count - 1
    #expect(told == ["added k(null)=\(last)", #"value={"k":\#(last)}"#])
    #expect(try second.catchUp().isEmpty)
  }

  @Test func aFeedThatIsNotReadableMakesTheWholeTreeReadAnew() throws {
    _ = try second.listen(ListenerID(1), ListenRequest(query: Query(Path("l")), events: .added))
    for paths in ["not json", "{}", "[1]", #"["a.b"]"#] {
      try first.set("/l/k", "1")
      try FileEditor.execute(
        "UPDATE change SET paths = '\(paths)' WHERE sequence = (SELECT max(sequence) FROM change)",
        in: folder.file())
      #expect(try second.catchUp().count == 1)
      try first.set("/l/k", "null")
      #expect(try second.catchUp().isEmpty)
    }
  }

  @Test func anUpdateOfManyPlacesIsHeardToo() throws {
    _ = try second.listen(
      ListenerID(1), ListenRequest(query: Query(Path("l")), detail: .shallow, events: .added))
    let members = (0..<3000).map { JSONMember("k\($0)/a", .bool(true)) }
    _ = try first.write(.update(Path("l"), members))
    #expect(try second.catchUp().count == 3000)
    let inspector = try FileInspector(folder.file())
    #expect(try inspector.number("SELECT max(length(paths)) FROM change") < 100_000)
  }

  @Test func aReadOnlySessionHearsToo() throws {
    let reader = try folder.session(isReadOnly: true)
    _ = try reader.listen(ListenerID(1), ListenRequest(query: Query(Path("l")), events: .value))
    try first.set("/l", "1")
    #expect(try reader.catchUp().map(\.event.text) == ["value=1"])
  }

  @Test func anIndexThatTheOtherDeclaredIsKept() throws {
    try first.set("/l", largeObject(60))
    try first.declareIndexes([IndexDefinition(pattern: "/l", child: .root)])
    try second.set("/l/k3", "null")
    try second.importJSON(largeObject(50), at: "/l/k4")
    #expect(try FileInspector(folder.file()).report().faults == [])
  }

  @Test(arguments: Seeds.first(5))
  func interleavedWritesOfBothKeepBothWindowsRight(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    var tree = MemoryTree()
    let sessions = [first, second]
    var windows = [Window(), Window()]
    for (session, offset) in zip(sessions, windows.indices) {
      for _ in 0..<4 {
        let request = ListenRequest(
          query: try random.query(random.path(depth: 0..<3)), events: .all)
        try windows[offset].listen(request, session)
      }
    }
    for step in 0..<30 {
      let writer = random.number(0..<2)
      let write = try random.write()
      let parts = Result { try write.assignments(now: 0, reader: tree) }
      if case .success(let parts) = parts {
        windows[writer].take(try sessions[writer].write(write))
        for part in parts { tree.perform(part) }
        let fault = windows[writer].fault(tree)
        try #require(fault == nil, "seed \(seed), step \(step)")
      }
      if random.chance(60) { continue }
      for offset in windows.indices {
        windows[offset].take(try sessions[offset].catchUp())
        let fault = windows[offset].fault(tree)
        try #require(fault == nil, "seed \(seed), step \(step)")
      }
    }
    let report = try FileInspector(folder.file()).report()
    #expect(report.faults == [], "seed \(seed)")
    #expect(report.root == tree.root, "seed \(seed)")
  }
}

/// The last value that each listener of a session was told.
private struct Window {
  private var requests: [ListenRequest] = []
  private var values: [Int: Node] = [:]

  mutating func listen(_ request: ListenRequest, _ session: DatabaseSession) throws {
    requests.append(request)
    take(try session.listen(ListenerID(requests.count - 1), request))
  }

  mutating func take(_ deliveries: [Delivery]) {
    for delivery in deliveries {
      if case .value(let node) = delivery.event { values[delivery.listener.rawValue] = node }
    }
  }

  func fault(_ tree: MemoryTree) -> String? {
    for (index, request) in requests.enumerated() {
      let query = request.query
      let node = tree.root[query.path]
      let rows = RowSlice(query).rows(among: node.children, detail: .full)
      let filtered = Node(
        children: rows.compactMap { row in row.node.map { Child(key: row.key, node: $0) } })
      let expected = query.loadsAllData ? node : filtered
      if values[index] != expected { return "\(query)" }
    }
    return nil
  }
}

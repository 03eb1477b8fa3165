import Foundation
import RunnelBase
import RunnelDatabase
@testable import RunnelServer
@testable import RunnelSync
import RunnelTree
import Synchronization
import TestSupport
import Testing

/// A tree in a file sends the same messages as the model of every served tree.
extension TreeAllowance {
  /// The standard one, which nobody reads.
  static var test: TreeAllowance {
    TreeAllowance(
      limits: ServedTreeLimits(), readBytesMax: .max, metrics: ServerMetrics(PrometheusMetrics()))
  }
}

@Suite struct ServedTreeTests {
  private static let paths = ["/", "/a", "/a/b", "/a/b/c", "/a/d", "/e"]

  private static func json(_ random: inout SeededRandom) -> JSONValue {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: .null
    case 1: ["b": ["c": .number(JSONNumber(Int64.random(in: 0..<4, using: &random)))], "d": true]
    case 2: ["x": 1, "y": ["z": 2], ".priority": 3]
    case 3: [".sv": ["increment": 1]]
    case 4: "text"
    default: .number(JSONNumber(Int64.random(in: 0..<4, using: &random)))
    }
  }

  private static func operation(
    _ random: inout SeededRandom, _ step: Int64
  ) throws -> ServedOperation {
    let path = try Path(#require(paths.randomElement(using: &random)))
    switch Int.random(in: 0..<12, using: &random) {
    case 0:
      var query = Query(path)
      if Bool.random(using: &random) {
        query = try query.ordered(by: .key).limited(to: 2, from: .last)
      }
      return .listen(ListenNumber(step), query, known: KnownHash(whole: ""))
    case 1: return .unlisten(ListenNumber(Int64.random(in: 1...step, using: &random)))
    case 2: return .get(Query(path))
    case 3, 4:
      let member = JSONMember(
        ["a", "b", "d/z"].randomElement(using: &random) ?? "a", json(&random))
      return .write(.update(path, [member, JSONMember("k", json(&random))]), name: nil)
    case 5:
      let number = Int64.random(in: 1...5, using: &random)
      return .write(.set(path, json(&random)), name: WriteID(client: "c", number: number))
    case 6:
      let hash = ["", "eVih19a6ZDz3NL32uVBtg9KSgQY="].randomElement(using: &random) ?? ""
      return .compareAndSet(path, json(&random), hash: hash, name: nil)
    case 7:
      let write = Write.set(path, json(&random))
      return .keepForDisconnect([write], all: [write])
    case 8: return .leave([.set(path, json(&random))])
    default: return .write(.set(path, json(&random)), name: nil)
    }
  }

  @Test(arguments: Seeds.first(20))
  func aTreeInAFileTellsWhatTheModelTells(seed: UInt64) throws {
    let file = FileManager.default.temporaryDirectory.path + "/served-\(UUID().uuidString).db"
    defer {
      for suffix in ["", "-wal", "-shm", "-notify"] {
        // Those that are not there need not go.
        try? FileManager.default.removeItem(atPath: file + suffix)
      }
    }
    let session = try ServingSession(file: file, environment: .system)
    try ServedTreeTests.compare(FileStorage(session), seed: seed)
  }

  /// Compares the messages of a tree with those of the model; closes the storage.
  static func compare(_ storage: some ServedStorage, seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var tree = ServedTree(rules: nil, .test)
    var model = MemoryServedTree()
    for step in 1...60 as ClosedRange<Int64> {
      let connection = Int64.random(in: 1...3, using: &random)
      let request = ServedRequest(
        id: step, caller: .nobody, operation: try ServedTreeTests.operation(&random, step))
      let expected = model.perform(request, of: connection, now: step)
      let told = try tree.atomically { tree in
        try storage.perform(isWriting: true) { transaction in
          try tree.perform(request, of: connection, now: step, transaction)
        }
      }
      let found = told.map { told -> String in
        guard case .told(let served) = told.news else { return "other news" }
        return "\(told.connection) \(served)"
      }
      try #require(
        found == expected.map { "\($0.connection) \($0.told)" }, "step \(step): \(request)")
    }
    let stored = try storage.perform(isWriting: false) { try $0.node(at: .root) }
    #expect(stored == model.tree.root)
    try storage.close()
  }

  @Test func aFailedBatchChangesNothing() throws {
    let folder = FileManager.default.temporaryDirectory.path
    let file = folder + "/served-\(UUID().uuidString).db"
    let session = try ServingSession(file: file, environment: .system)
    var tree = ServedTree(rules: nil, .test)
    let listen = ServedRequest(
      id: 1, caller: .nobody,
      operation: .listen(ListenNumber(1), Query(try Path("/a")), known: KnownHash(whole: "")))
    let write = ServedRequest(
      id: 2, caller: .nobody, operation: .write(.set(try Path("/a"), 1), name: nil))
    struct Stop: Error {}
    #expect(throws: (any Error).self) {
      try tree.atomically { tree in
        try session.perform(isWriting: true) { transaction in
          _ = try tree.perform(listen, of: 1, now: 0, transaction)
          _ = try tree.perform(write, of: 2, now: 0, transaction)
          throw Stop()
        }
      }
    }
    #expect(tree.listenCount == 0)
    #expect(try session.perform(isWriting: false) { try $0.node(at: .root) }.isEmpty)
    let told = try tree.atomically { tree in
      try session.perform(isWriting: true) { try tree.perform(write, of: 2, now: 0, $0) }
    }
    #expect(told.count == 1)
    try session.close()
    // What is left is in the folder for temporary files.
    try? FileManager.default.removeItem(atPath: file)
  }

  /// The entries of who is here do not fill the history.
  @Test func whatGoesWithItsConnectionMakesNoEntryInTheHistory() throws {
    let folder = FileManager.default.temporaryDirectory.path
    let file = folder + "/served-\(UUID().uuidString).db"
    let session = try ServingSession(file: file, environment: .system)
    var tree = ServedTree(rules: nil, .test)
    func perform(_ operation: ServedOperation, of connection: Int64) throws {
      let request = ServedRequest(id: 1, caller: .nobody, operation: operation)
      _ = try tree.atomically { tree in
        try session.perform(isWriting: true) { transaction in
          try tree.perform(request, of: connection, now: 1, transaction)
        }
      }
    }
    let place = try Path("/presence/a")
    let removal = Write.remove(place)
    try perform(.keepForDisconnect([removal], all: [removal]), of: 1)
    try perform(.write(.set(place, ["name": "ana"]), name: nil), of: 1)
    try perform(.write(.set(place.child(Key("row")), 1), name: nil), of: 1)
    try perform(.write(.set(Path("/m"), 1), name: nil), of: 1)
    try perform(.leave([removal]), of: 1)
    // A place that somebody else writes too has entries from then on.
    try perform(.keepForDisconnect([removal], all: [removal]), of: 2)
    try perform(.write(.set(place, 1), name: nil), of: 2)
    try perform(.write(.set(place, 2), name: nil), of: 3)
    try perform(.leave([removal]), of: 2)
    #expect(try session.perform(isWriting: false) { try $0.node(at: .root) }.json == ["m": 1])
    try session.close()
    let database = try DatabaseSession(file: file, environment: .system)
    let entries = try database.history().map { $0.parts.map(\.path.description) }
    #expect(entries == [["/presence/a"], ["/presence/a"], ["/m"]])
    try database.close()
    // What is left is in the folder for temporary files.
    try? FileManager.default.removeItem(atPath: file)
  }

  /// A server that was killed does at its next start what was left to do.
  @Test func whatGoesAtTheNextStartMakesNoEntryInTheHistory() throws {
    let folder = FileManager.default.temporaryDirectory.path
    let file = folder + "/served-\(UUID().uuidString).db"
    let session = try ServingSession(file: file, environment: .system)
    var tree = ServedTree(rules: nil, .test)
    let (place, standing) = (try Path("/presence/a"), try Path("/m"))
    let removals = [Write.remove(place), .remove(standing)]
    let operations: [ServedOperation] = [
      .write(.set(standing, 1), name: nil), .keepForDisconnect(removals, all: removals),
      .write(.set(place, ["name": "ana"]), name: nil),
    ]
    for operation in operations {
      let request = ServedRequest(id: 1, caller: .nobody, operation: operation)
      _ = try tree.atomically { tree in
        try session.perform(isWriting: true) { transaction in
          try tree.perform(request, of: 1, now: 1, transaction)
        }
      }
    }
    var next = ServedTree(rules: nil, .test)
    _ = try next.atomically { tree in
      try session.perform(isWriting: true) { try tree.carryOutAll(now: 2, $0) }
    }
    #expect(try session.perform(isWriting: false) { try $0.node(at: .root) }.isEmpty)
    try session.close()
    let database = try DatabaseSession(file: file, environment: .system)
    let entries = try database.history().map { $0.parts.map(\.path.description) }
    #expect(entries == [["/m"], ["/m"]])
    try database.close()
    // What is left is in the folder for temporary files.
    try? FileManager.default.removeItem(atPath: file)
  }

  /// What stands already when its removal is asked for does not belong to the connection alone.
  @Test func onlyAPlaceThatWasEmptyIsPassing() throws {
    var passing = PassingPlaces()
    let (a, b, above) = (try Path("/p/a"), try Path("/p/b"), try Path("/p"))
    let below = try Path("/p/a/x")
    passing.take([.remove(a), .remove(b)], of: 1) { $0 == a }
    #expect(passing.hold([a], of: 1) && passing.hold([below], of: 1))
    #expect(!passing.hold([b], of: 1) && !passing.hold([a, b], of: 1))
    #expect(!passing.hold([above], of: 1) && !passing.hold([a], of: 2))
    passing.take([.remove(b)], of: 1) { _ in true }
    #expect(!passing.hold([a], of: 1) && passing.hold([b], of: 1))
    passing.forget(around: above)
    #expect(!passing.hold([b], of: 1))
    passing.take([.remove(a)], of: 1) { _ in true }
    passing.end(1)
    #expect(!passing.hold([a], of: 1))
  }

  @Test func storedDisconnectWritesAreDoneAtTheNextStart() async throws {
    try await withCopyOfAKilledServer { copy in
      for _ in 0..<2 {
        let next = try await TestServer(in: copy)
        #expect(try next.request("GET", "/p.json").body == "1")
        await next.stop()
      }
    }
  }

  /// Nobody else can be told.
  @Test func theLogTellsOfDisconnectWritesThatNewRulesForbid() async throws {
    let told = Mutex("")
    let log = try LogLines { bytes in
      told.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
    }
    try await withCopyOfAKilledServer { copy in
      try await TestServer.$log.withValue(log) {
        let rules = #"{"rules":{".read":true,".write":"auth != null"}}"#
        let next = try await TestServer(rules: rules, in: copy)
        #expect(try next.request("GET", "/p.json").body == "null")
        await next.stop()
      }
    }
    log.flush()
    let text = told.withLock { $0 }
    let line =
      "test: an onDisconnect write was not done: /p by somebody who is not signed in: denied: "
    #expect(text.contains(line), "\(text)")
    #expect(!text.contains("increment"), "\(text)")
  }

  /// Runs `body` with the folder of a server that was killed while a write was left for the disconnection.
  private func withCopyOfAKilledServer(_ body: (_ copy: String) async throws -> Void) async throws {
    let server = try await TestServer()
    let socket = try server.socket()
    let write = "{\"p\":\"/p\",\"d\":{\".sv\":{\"increment\":1}}}"
    #expect(try socket.status(1, "o", write) == "ok")
    let session = try DatabaseSession(file: server.file, environment: .system)
    #expect(try session.node(at: Path("/p")).isEmpty)
    try session.close()
    let copy = FileManager.default.temporaryDirectory.path + "/served-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    // What is left is in the folder for temporary files.
    defer { try? FileManager.default.removeItem(atPath: copy) }
    // The state of the disk if the server were killed now.
    let online = try DatabaseSession(file: server.file, environment: .system)
    _ = try online.saveCopy(to: copy + "/test.db")
    try online.close()
    try await body(copy)
    await server.stop()
  }
}

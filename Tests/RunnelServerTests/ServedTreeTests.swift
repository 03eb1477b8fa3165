import Foundation
import RunnelBase
import RunnelDatabase
@testable import RunnelServer
@testable import RunnelSync
import RunnelTree
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

  /// A file with a list of 1,500 records, of which each has 200 bytes.
  private func withList(_ body: (ServingSession) throws -> Void) throws {
    let file = FileManager.default.temporaryDirectory.path + "/served-\(UUID().uuidString).db"
    defer {
      for suffix in ["", "-wal", "-shm", "-notify"] {
        // Those that are not there need not go.
        try? FileManager.default.removeItem(atPath: file + suffix)
      }
    }
    let session = try ServingSession(file: file, environment: .system)
    let text = String(repeating: "x", count: 200)
    let members = (0..<1500).map {
      JSONMember("k\($0)", ["t": .string(text), "n": .number(JSONNumber(Int64($0)))])
    }
    let large = JSONValue.string(String(repeating: "y", count: 200_000))
    try session.perform(isWriting: true) { transaction in
      let write = Write.set(
        .root, ["list": .object(members), "few": ["a": large, "b": 1], "small": ["a": 1]])
      try transaction.carryOut(
        write.assignments(now: 0, reader: transaction), author: "", now: 0)
    }
    try session.declareIndexes(
      [try #require(IndexDefinition(pattern: "/list", serving: .child(try Path("n"))))])
    try body(session)
    try session.close()
  }

  @Test func whatReadsMuchIsLarge() throws {
    try withList { session in
      let list = Query(try Path("/list"))
      let (keys, numbers) = (try list.ordered(by: .key), try list.ordered(byChild: "n"))
      let small: [Query] = [
        try keys.limited(to: 50, from: .last), try numbers.limited(to: 50, from: .first),
        try numbers.starting(at: .leaf(.number(5))).ending(at: .leaf(.number(9))),
        try Query(Path("/small")).ordered(byChild: "x").limited(to: 1, from: .first),
        try Query(Path("/list/k1")),
        try Query(Path("/few")).ordered(by: .key).limited(to: 1, from: .last),
      ]
      let large: [Query] = [
        list, keys, numbers, try keys.limited(to: 1200, from: .last),
        try numbers.starting(at: .leaf(.number(5))),
        // Without an index, all children are read.
        try list.ordered(byChild: "t").limited(to: 1, from: .first),
        try Query(Path("/few")).ordered(by: .key).limited(to: 1, from: .first),
      ]
      var tree = ServedTree(rules: nil, .test)
      try session.perform(isWriting: false) { transaction in
        for query in small { #expect(try !tree.isLarge(query, transaction), "\(query)") }
        for query in large { #expect(try tree.isLarge(query, transaction), "\(query)") }
      }
    }
  }

  @Test func whatNewRulesHideIsNotToldEvenBeforeTheReview() throws {
    let (open, closed) = try (
      RulesEngine(parsing: Array(#"{"rules":{".read":true,".write":true}}"#.utf8)),
      RulesEngine(parsing: Array(#"{"rules":{".write":true,"b":{".read":true}}}"#.utf8))
    )
    try withList { session in
      var tree = ServedTree(rules: open, .test)
      func told(_ id: Int64, _ operation: ServedOperation) throws -> [String] {
        let request = ServedRequest(id: id, caller: .nobody, operation: operation)
        return try session.perform(isWriting: true) { transaction in
          try tree.perform(request, of: 1, now: 0, transaction)
        }.map { "\($0.news)" }
      }
      let places = [try Path("/a"), try Path("/b")]
      for (number, place) in zip((1 as Int64)..., places) {
        _ = try told(
          number, .listen(ListenNumber(number), Query(place), known: KnownHash(whole: "")))
      }
      func writes() throws -> [Int] {
        try places.map { try told(3, .write(.set($0, 5), name: nil)).count }
      }
      #expect(try writes() == [2, 2])
      _ = tree.take(closed)
      try session.perform(isWriting: false) { try tree.silence(now: 0, $0) }
      for place in places { _ = try told(4, .write(.set(place, nil), name: nil)) }
      #expect(try writes() == [1, 2])
      // Even if the rules allow it again, the listen ends, for it has missed something.
      _ = tree.take(open)
      let review = try told(5, .review)
      #expect(review.count == 1 && review[0].contains("revoked: [") && review[0].contains("1"))
      #expect(tree.listenCount == 1)
    }
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

  @Test func storedDisconnectWritesAreDoneAtTheNextStart() async throws {
    let server = try await TestServer()
    let socket = try server.socket()
    let body = "{\"p\":\"/p\",\"d\":{\".sv\":{\"increment\":1}}}"
    #expect(try socket.status(1, "o", body) == "ok")
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
    let next = try await TestServer(in: copy)
    #expect(try next.request("GET", "/p.json").body == "1")
    await next.stop()
    let third = try await TestServer(in: copy)
    #expect(try third.request("GET", "/p.json").body == "1")
    await third.stop()
    await server.stop()
  }
}

import PostgresCluster
import RunnelBase
@testable import RunnelServer
@testable import RunnelSync
import RunnelTree
import TestSupport
import Testing

/// A listen to much of a store is read from a state of its own, while writes go on.
///
/// Source: several servers, section 3, "Reading".
@Suite(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
struct StoreListenTests {
  private static let recordCount = 20_000

  private static var document: String {
    let members = (0..<recordCount).map { "\"k\($0)\":{\"n\":\($0),\"t\":\"some text\"}" }
    return "{\(members.joined(separator: ","))}"
  }

  /// Runs `body` with two servers of a store that has the document at `/big`; the first large read of the first
  /// one is held.
  private func withHeldRead(
    isOpen: Bool, rules: String? = nil,
    _ body: (_ one: TestServer, _ two: TestServer, _ gate: ReadGate) async throws -> Void
  ) async throws {
    try await TestServer.onStore {
      let gate = try ReadGate(isOpen: isOpen)
      try await withServer(
        rules: rules,
        { configuration in
          configuration.isEmulator = true
          configuration.readNotice = { gate.notice($0) }
        }
      ) { one in
        // A server does not stop before its read has ended.
        defer { gate.release() }
        try await withServer { two in
          let owner = ["Authorization": "Bearer owner"]
          let put = try one.request("PUT", "/big.json", Self.document, headers: owner)
          #expect(put.status == 200)
          try await body(one, two, gate)
        }
      }
    }
  }

  /// What a listener was told.
  private struct Told {
    var shown = Node.empty
    /// The places of the messages, in order.
    var paths: [String] = []
    /// What was first shown at `/big`.
    var first = Node.empty

    mutating func take(_ path: Path, _ value: JSONValue) throws {
      shown = shown.replacing(path, with: try Node(json: value))
      paths.append(path.description)
      if path.description == "/big" { first = shown }
    }
  }

  /// What a session is told until `/big/end` is there.
  private func told(_ socket: Socket) throws -> Told {
    var told = Told()
    let end = try Path("/big/end")
    while told.shown[end].isEmpty {
      let message = try socket.next()
      guard message["a"] == "d", let value = message["b"]?["d"] else { continue }
      try told.take(try Path("/" + #require(message["b"]?["p"]?.string)), value)
    }
    return told
  }

  /// What a stream of `/big` is told until `/big/end` is there.
  private func told(_ client: RawClient) throws -> Told {
    #expect(try client.readHead().status == 200)
    var told = Told()
    let end = try Path("/big/end")
    while told.shown[end].isEmpty {
      let (name, data) = try client.readEvent()
      #expect(name == "put")
      let event = try json(data)
      let path = try #require(event["path"]?.string)
      try told.take(
        try Path(path == "/" ? "/big" : "/big" + path), try #require(event["data"]))
    }
    return told
  }

  @Test(arguments: [false, true], [false, true])
  func writesGoOnWhileMuchIsRead(isOpen: Bool, isStream: Bool) async throws {
    try await withHeldRead(isOpen: isOpen) { one, two, gate in
      let (listener, writer, other) = (try one.socket(), try one.socket(), try one.socket())
      let streamer = try one.client()
      if isStream {
        try streamer.sendRequest("GET", "/big.json", headers: ["Accept": "text/event-stream"])
      } else {
        #expect(try listener.status(1, "q", "{\"p\":\"/small\",\"h\":\"\"}") == "ok")
        try listener.ask(2, "q", "{\"p\":\"/big\",\"h\":\"\"}")
      }
      gate.awaitRead()
      // All of this is acknowledged before the listen is answered.
      #expect(try writer.status(1, "p", "{\"p\":\"/big/k1/n\",\"d\":-1}") == "ok")
      #expect(try writer.status(2, "p", "{\"p\":\"/small\",\"d\":1}") == "ok")
      #expect(try two.request("PUT", "/big/k2/n.json", "-2").status == 200)
      #expect(try other.status(1, "q", "{\"p\":\"/x\",\"h\":\"\"}") == "ok")
      #expect(!(isStream ? streamer : listener.client).hasUnread)
      gate.release()
      #expect(try writer.status(3, "p", "{\"p\":\"/big/end\",\"d\":true}") == "ok")
      let told = try isStream ? told(streamer) : told(listener)
      let stored = try Node(json: json(one.request("GET", "/big.json?format=export").body))
      #expect(told.shown[try Path("/big")] == stored)
      // The own write is told once: in the answer, or after it.
      let n = try Path("/big/k1/n")
      let isInAnswer = told.first[n] == (try Node(json: -1))
      #expect(isInAnswer != isOpen)
      #expect(told.paths.count { $0 == "/big/k1/n" } == (isOpen ? 1 : 0))
      #expect(told.paths.count { $0 == "/big" } == 1)
      if !isStream { #expect(told.paths.count { $0 == "/small" } == 1) }
    }
  }

  @Test func rulesThatChangeMeanwhileHoldForTheAnswer() async throws {
    let open = "{\"rules\":{\".read\":true,\".write\":true}}"
    try await withHeldRead(isOpen: false, rules: open) { one, two, gate in
      let listener = try one.socket()
      try listener.ask(1, "q", "{\"p\":\"/big\",\"h\":\"\"}")
      gate.awaitRead()
      let put = try two.request(
        "PUT", "/.settings/rules.json", "{\"rules\":{\".write\":true}}",
        headers: ["Authorization": "Bearer owner"])
      #expect(put.status == 200)
      gate.release()
      let answer = try listener.next()
      #expect(answer["r"] == 1)
      #expect(answer["b"]?["s"] == "permission_denied")
    }
  }

  @Test func aReadWhoseConnectionIsCutIsDoneAnew() async throws {
    try await withHeldRead(isOpen: true) { one, _, gate in
      let place = try #require(TestServer.store)
      let (listener, writer) = (try one.socket(), try one.socket())
      try listener.ask(1, "q", "{\"p\":\"/big\",\"h\":\"\"}")
      gate.awaitRead()
      #expect(try writer.status(1, "p", "{\"p\":\"/big/k1/n\",\"d\":-1}") == "ok")
      try PostgresCluster.shared().run(
        sql: """
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()
          """, in: place)
      gate.release()
      #expect(try writer.status(2, "p", "{\"p\":\"/big/end\",\"d\":true}") == "ok")
      let told = try told(listener)
      #expect(told.first[try Path("/big/k1/n")] == (try Node(json: -1)))
      #expect(told.paths.count { $0 == "/big" } == 1)
    }
  }

  @Test func noReadIsDoneInATransactionThatWrites() throws {
    let listen = ServedOperation.listen(ListenNumber(1), Query(.root), known: KnownHash(whole: ""))
    let write = ServedOperation.write(.set(.root, 1), name: nil)
    for seed in Seeds.first(50) {
      var random = SeededRandom(seed: seed)
      var batch = (Int64(0)..<20).map { number in
        let operation = [listen, write, .review][Int.random(in: 0..<3, using: &random)]
        let request = ServedRequest(id: number, caller: .nobody, operation: operation)
        return TreeJob(connection: .random(in: 1..<5, using: &random), wish: .request(request))
      }
      let all = batch
      var done: [TreeJob] = []
      while !batch.isEmpty {
        guard let (first, rest) = SlowReads.parts(of: batch) else {
          done += batch
          break
        }
        #expect(!first.isEmpty && !rest.isEmpty)
        #expect(SlowReads.parts(of: first) == nil)
        done += first
        batch = rest
      }
      for connection in Int64(1)..<5 {
        #expect(ids(done, connection) == ids(all, connection))
      }
    }
  }

  private func ids(_ jobs: [TreeJob], _ connection: Int64) -> [Int64] {
    jobs.compactMap { job in
      guard job.connection == connection, case .request(let request) = job.wish else { return nil }
      return request.id
    }
  }
}

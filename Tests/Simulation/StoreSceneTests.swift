import RunnelBase
import Testing

@testable import RunnelPostgres
@testable import RunnelSync
@testable import RunnelTree
@testable import WireSimulation

/// The smallest scenes of failures of a store, on the model of its database.
@Suite struct StoreSceneTests {
  private let database = ModelDatabase(seed: 1, now: 1_700_000_000_000, hasFaults: false)
  private let names = IdentifierSource(seed: 1)

  // MARK: Sessions

  private func session() throws -> PostgresSession {
    let lease = StoreLease(address: "") { [names] in names.next() }
    try lease.begin(try database.connect())
    return try PostgresSession(
      namespace: StoreServer.namespace, lease: lease, patience: .zero
    ) { [database] in try database.connect() }
  }

  /// Once, a client that sent its write again was told that it was done, by a server that had only seen it on a
  /// primary whose standby had not: the next failover lost it.
  @Test func aWriteThatIsToldToBeDoneOutlivesThePrimary() throws {
    let name = try #require(WriteID(client: "someone", number: 1))
    let (first, second) = (try session(), try session())
    // Neither the write nor what would prove it comes to the standby.
    database.nextFates = [.warned, .lost]
    #expect(throws: PostgresError.self) {
      try first.perform(isWriting: true) { transaction in
        let value = Assignment(path: try Path("/a"), target: .node(Node(.bool(true))))
        try transaction.carryOut([value], now: 1)
        try transaction.noteName(name)
      }
    }
    #expect(try second.perform(isWriting: true) { try $0.isNameTaken(name) } == true)
    database.failOver()
    let root = try session().perform(isWriting: false) { try $0.node(at: .root) }
    #expect(root.exportJSON == ["a": true])
  }

  /// Once, a batch whose commit stayed in doubt was an ordinary failure, and its writes without names were done
  /// twice.
  @Test func aBatchThatStaysInDoubtIsNotWorthRetrying() throws {
    let session = try session()
    database.nextFates = [.unanswered, .refused]
    let error = #expect(throws: PostgresError.self) {
      try session.perform(isWriting: true) { transaction in
        let value = Assignment(path: try Path("/a"), target: .node(Node(.bool(true))))
        try transaction.carryOut([value], now: 1)
      }
    }
    #expect(error?.kind == .inDoubt)
    #expect(error?.isWorthRetrying == false)
  }

  /// Once, a write that was not done was sent again, and done after the one that its client had made later.
  @Test func whatFollowsAWriteThatWasNotDoneIsNotDoneBeforeIt() throws {
    var server = WireServer(takesWriteNames: true)
    try server.serve(database, address: "", names: names, now: now(0))
    try server.open(1, host: "localhost", previous: nil, now: now(0))
    for value in 1...2 {
      let frame = #"{"t":"d","d":{"r":\#(value),"a":"p","b":{"p":"/a","d":\#(value)}}}"#
      try server.receive(Array(frame.utf8), on: 1, now: now(0))
    }
    database.nextFates = [.lost, .lost]
    repeat { try server.work(on: true, now: now(0)) } while server.isBusy
    #expect(try server.storedRoot().isEmpty)
    #expect(server.sessions[1]?.isOpen == false)
  }

  /// With a file it is the same: the disk may be full for one write, and have room for the next.
  @Test func whatFollowsAWriteThatTheDiskRefusedIsNotDoneBeforeIt() throws {
    var server = WireServer(takesWriteNames: true)
    try server.open(1, host: "localhost", previous: nil, now: now(0))
    for value in 1...2 {
      let frame = #"{"t":"d","d":{"r":\#(value),"a":"p","b":{"p":"/a","d":\#(value)}}}"#
      try server.receive(Array(frame.utf8), on: 1, now: now(0))
    }
    server.isDiskFull = true
    try server.work(on: true, now: now(0))
    server.isDiskFull = false
    while server.isBusy { try server.work(on: true, now: now(0)) }
    #expect(try server.storedRoot().isEmpty)
    #expect(server.sessions[1]?.isOpen == false)
  }

  // MARK: Disconnect requests

  private static let farewell: [Write] = [
    .set(Path(unchecked: [Key(unchecked: "gone")]), [".sv": ["increment": 1]])
  ]

  private func now(_ uptime: Int64) -> WireTime {
    WireTime(calendar: 1_700_000_000_000 + uptime, uptime: uptime)
  }

  private func server() throws -> StoreServer {
    try StoreServer(database, address: "", names: names, access: WireServer.access, now: now(0))
  }

  @discardableResult
  private func ask(
    _ operation: ServedOperation, _ server: StoreServer, at uptime: Int64 = 0
  ) throws -> StoreTree.Told {
    let request = ServedRequest(id: 1, caller: .nobody, operation: operation)
    return try server.perform(
      StoreServer.Batch(requests: [(connection: 1, request: request)]), now: now(uptime))
  }

  /// Another server does what is left.
  private func goneCount() throws -> JSONValue {
    let other = try server()
    _ = try other.perform(StoreServer.Batch(takesOver: true), now: now(20_000))
    return try other.root().exportJSON["gone"] ?? 0
  }

  /// Once, what a failed batch had stored all the same was done again when the server ended.
  @Test func whatAFailedBatchStoredIsDoneOnce() throws {
    let server = try server()
    database.nextFates = [.unanswered]
    #expect(throws: PostgresError.self) {
      try ask(.keepForDisconnect(StoreSceneTests.farewell, all: StoreSceneTests.farewell), server)
    }
    try ask(.doDisconnects(StoreSceneTests.farewell), server)
    server.endLease()
    #expect(try goneCount() == 1)
  }

  /// Once, it was stored again under the name of the next lease, and done for both.
  @Test func whatIsStoredAnewAfterTheLeaseWasLostIsDoneOnce() throws {
    let server = try server()
    let old = server.identifier
    let keep = ServedOperation.keepForDisconnect(
      StoreSceneTests.farewell, all: StoreSceneTests.farewell)
    database.nextFates = [.unanswered]
    #expect(throws: PostgresError.self) { try ask(keep, server) }
    database.changeServers { $0[old] = nil }
    #expect(server.look(now: now(3000)).lostLease)
    _ = server.look(now: now(6000))
    #expect(server.identifier != old)
    try ask(keep, server, at: 6000)
    try ask(.leave(StoreSceneTests.farewell), server, at: 6000)
    server.endLease()
    #expect(try goneCount() == 1)
  }
}

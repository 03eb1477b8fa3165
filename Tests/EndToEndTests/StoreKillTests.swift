import Foundation
import PostgresCluster
import RunnelBase
import TestSupport
import Testing

/// Two servers of one store, of which one after the other is killed or replaced under its writers.
@Suite(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
struct StoreKillTests {
  private static let writerCount = 16
  private static let killCount = 30
  private static let replacementCount = 6
  private static let newWriteCount = 3

  private let folder: TemporaryFolder
  private let environment: [String: String]
  private let place: String

  init() throws {
    folder = try TemporaryFolder()
    place = try PostgresCluster.shared().makeDatabase()
    try FileManager.default.createDirectory(
      atPath: folder.file("runnel"), withIntermediateDirectories: true)
    _ = try folder.write("stores:\n  main: \(place)\n", to: "runnel/config.yaml")
    environment = ["XDG_CONFIG_HOME": folder.path]
    #expect(try store("init", "chat").status == 0)
  }

  private func store(_ words: String...) throws -> Program.Outcome {
    try Program.run(["store"] + words, environment: environment)
  }

  private func serve() throws -> Served {
    try Served(["--store", "main", "--no-access-log"], environment: environment)
  }

  private func connect(to served: Served) throws -> RawClient {
    let client = try served.client()
    try client.openSocket()
    _ = try client.readMessage()
    return client
  }

  @Test(arguments: Seeds.byChance())
  func writesAreDoneOnceHoweverOftenServersAreKilled(seed: UInt64) throws {
    try replaceServers(by: SIGKILL, StoreKillTests.killCount, seed: seed)
  }

  /// As in an upgrade: a server is told to stop while it is written to, and another takes its place.
  @Test(arguments: Seeds.byChance())
  func writesAreDoneOnceWhileServersAreReplacedOneByOne(seed: UInt64) throws {
    try replaceServers(by: SIGTERM, StoreKillTests.replacementCount, seed: seed)
  }

  private func replaceServers(by signal: Int32, _ count: Int, seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var writers = (0..<StoreKillTests.writerCount).map { CountingWriter(name: "w\($0)") }
    var servers = [try serve(), try serve()]
    for round in 0..<count {
      let killed = try perform(round, &writers, servers, signal, &random)
      // The clients are gone, so the new server does not inherit their sockets.
      servers[killed] = try serve()
    }
    for index in writers.indices {
      let client = try connect(to: servers[index % 2])
      try writers[index].send(on: client)
      try writers[index].takeAnswers(client)
      #expect(writers[index].unanswered.isEmpty)
    }
    let client = try servers[1].client()
    let gone = try farewells(of: writers, client)
    let counts = try JSONValue(parsing: client.request("GET", "/count.json").body)
    for writer in writers {
      writer.check(counts: counts, gone: gone, roundCount: count)
    }
    for server in servers {
      try server.program.send(SIGTERM)
      #expect(try server.program.wait() == 0)
    }
    let check = try store("check")
    #expect(check.status == 0, "\(check.output)\(check.errors)")
  }

  /// Has writers write until one of the servers is ended by a signal; returns which.
  private func perform(
    _ round: Int, _ writers: inout [CountingWriter], _ servers: [Served], _ signal: Int32,
    _ random: inout SeededRandom
  ) throws -> Int {
    // Each writer goes to one of the servers, with what the other did not answer.
    var clients: [RawClient] = []
    for _ in writers {
      clients.append(try connect(to: servers[Int.random(in: 0...1, using: &random)]))
    }
    for index in writers.indices {
      try clients[index].sendText(writers[index].farewell(round))
      writers[index].add(StoreKillTests.newWriteCount)
      try writers[index].send(on: clients[index])
    }
    for index in writers.indices {
      let count = Int.random(in: 0...4, using: &random)
      try writers[index].takeAnswers(clients[index], countMax: count)
    }
    let killed = Int.random(in: 0...1, using: &random)
    try servers[killed].program.send(signal)
    for index in writers.indices { try writers[index].takeAnswers(clients[index]) }
    #expect(try servers[killed].program.wait() == (signal == SIGKILL ? -SIGKILL : 0))
    return killed
  }

  /// A server that stood still for so long that others ended its lease; here that is done at once.
  @Test func aServerThatStoodStillWritesNothingMoreAndEndsItsSessions() throws {
    let served = try serve()
    let client = try connect(to: served)
    try client.sendText(StoreKillTests.put(1))
    #expect(try client.readMessage().contains("\"ok\""))
    try served.program.send(SIGSTOP)
    try waitUntilStopped(served.program.processID)
    try PostgresCluster.shared().run(sql: "DELETE FROM server", in: place)
    try client.sendText(StoreKillTests.put(2))
    try served.program.send(SIGCONT)
    #expect(throws: (any Error).self) {
      for _ in 0..<10 {
        let message = try client.readMessage()
        #expect(!message.contains("\"ok\""))
      }
    }
    #expect(try served.client().request("GET", "/x.json").body == "1")
    // It takes another lease, and serves again.
    let end = ContinuousClock.now + .seconds(25)
    while try served.client().request("PUT", "/x.json", "3").status != 200 {
      try #require(ContinuousClock.now < end)
    }
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
  }

  private static func put(_ number: Int) -> String {
    "{\"t\":\"d\",\"d\":{\"r\":\(number),\"a\":\"p\",\"b\":{\"p\":\"/x\",\"d\":\(number)}}}"
  }

  /// Looks until all threads of a process stand still.
  private func waitUntilStopped(_ process: pid_t) throws {
    let end = ContinuousClock.now + .seconds(20)
    let folder = "/proc/\(process)/task"
    while true {
      let threads = try FileManager.default.contentsOfDirectory(atPath: folder)
      let states = threads.map { thread in
        // A thread may have ended since it was listed.
        let stat = (try? String(contentsOfFile: "\(folder)/\(thread)/stat", encoding: .utf8)) ?? ""
        return stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].dropFirst(2).first
      }
      if states.allSatisfy({ $0 == "T" || $0 == nil }) { return }
      try #require(ContinuousClock.now < end)
    }
  }

  /// Looks until the servers that were killed are taken for gone, and what they left is done.
  private func farewells(of writers: [CountingWriter], _ client: RawClient) throws -> JSONValue {
    let end = ContinuousClock.now + .seconds(25)
    while true {
      let gone = try JSONValue(parsing: client.request("GET", "/gone.json").body)
      let isDone = writers.allSatisfy { writer in
        writer.farewells.allSatisfy { gone[writer.name]?["r\($0)"] != nil }
      }
      if isDone || ContinuousClock.now >= end { return gone }
    }
  }
}

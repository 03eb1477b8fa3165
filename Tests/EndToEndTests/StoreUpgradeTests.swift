import Foundation
import PostgresCluster
import RunnelBase
import TestSupport
import Testing

/// Servers of two builds on one store: the tables are migrated under them, and the older ones are replaced.
///
/// The newer build is the same program, told to be of a later version (`RUNNEL_NEWER_TABLES`).
@Suite(
  .enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)),
  .disabled(if: Program.isOther, "only the program built for tests can be of a later version"))
struct StoreUpgradeTests {
  private static let writerCount = 8
  private static let writeCount = 5

  private let folder: TemporaryFolder
  private let place: String

  init() throws {
    folder = try TemporaryFolder()
    place = try PostgresCluster.shared().makeDatabase()
    try FileManager.default.createDirectory(
      atPath: folder.file("runnel"), withIntermediateDirectories: true)
    _ = try folder.write("stores:\n  main: \(place)\n", to: "runnel/config.yaml")
    #expect(try store("init", "chat").status == 0)
  }

  /// The environment of a build that is so many versions later.
  private func environment(_ versions: Int) -> [String: String] {
    var environment = ["XDG_CONFIG_HOME": folder.path]
    if versions > 0 { environment["RUNNEL_NEWER_TABLES"] = "\(versions)" }
    return environment
  }

  private func store(_ words: String..., later versions: Int = 0) throws -> Program.Outcome {
    try Program.run(["store"] + words, environment: environment(versions))
  }

  private func serve(later versions: Int = 0) throws -> Served {
    try Served(["--store", "main", "--no-access-log"], environment: environment(versions))
  }

  private func refusal(later versions: Int) throws -> String {
    let outcome = try Program.run(
      ["serve", "--store", "main", "--listen", "localhost:0"], environment: environment(versions))
    #expect(outcome.status != 0)
    return outcome.errors
  }

  private func connect(to served: Served) throws -> RawClient {
    let client = try served.client()
    try client.openSocket()
    _ = try client.readMessage()
    return client
  }

  private func end(_ served: Served) throws {
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
  }

  @Test func clientsGoOnWhileTablesAreMigratedAndServersReplaced() throws {
    var servers = [try serve(), try serve()]
    var writers = (0..<StoreUpgradeTests.writerCount).map { CountingWriter(name: "w\($0)") }
    var clients = try writers.indices.map { try connect(to: servers[$0 % 2]) }
    for index in writers.indices {
      writers[index].add(StoreUpgradeTests.writeCount)
      try writers[index].send(on: clients[index])
    }
    // A newer server waits for the tables, which are migrated while writes are under way.
    #expect(try refusal(later: 1).contains("runnel store migrate"))
    let migrated = try store("migrate", later: 1)
    #expect(migrated.output.contains("were of version 2, and are of 3 now"), "\(migrated.errors)")
    for index in writers.indices {
      try write(&writers[index], clients[index])
      #expect(writers[index].unanswered.isEmpty, "\(index): its session has not stayed")
    }
    // Servers of both builds tell each other's writes.
    let newer = try serve(later: 1)
    let listener = try connect(to: newer)
    try listener.sendText(
      "{\"t\":\"d\",\"d\":{\"r\":1,\"a\":\"q\",\"b\":{\"p\":\"/count/w0\",\"h\":\"\"}}}")
    try write(&writers[0], clients[0])
    try follow(listener, to: writers[0].sent)
    // An older server may still take the place of one.
    servers.append(newer)
    servers.append(try serve())
    for old in 0..<2 {
      for index in writers.indices where index % 2 == old {
        writers[index].add(StoreUpgradeTests.writeCount)
        try writers[index].send(on: clients[index])
      }
      try servers[old].program.send(SIGTERM)
      for index in writers.indices where index % 2 == old {
        try writers[index].takeAnswers(clients[index])
        clients[index] = try connect(to: servers[2 + old])
        try writers[index].send(on: clients[index])
        try writers[index].takeAnswers(clients[index])
        #expect(writers[index].unanswered.isEmpty, "\(index)")
      }
      #expect(try servers[old].program.wait() == 0)
    }
    try follow(listener, to: writers[0].sent)
    try check(writers, newer)
    for server in servers[2...] { try end(server) }
    #expect(try store("check", later: 1).status == 0)
  }

  /// Adds writes, and takes the answers to all.
  private func write(_ writer: inout CountingWriter, _ client: RawClient) throws {
    let before = writer.unanswered.count
    writer.add(StoreUpgradeTests.writeCount)
    for number in writer.unanswered.dropFirst(before) {
      try client.sendText(writer.message(number))
    }
    try writer.takeAnswers(client)
  }

  private func check(_ writers: [CountingWriter], _ server: Served) throws {
    let counts = try JSONValue(parsing: server.client().request("GET", "/count.json").body)
    for writer in writers { writer.check(counts: counts, gone: .null, roundCount: 0) }
  }

  /// Reads what a listener is told until the last value: none comes twice, and none after a later one.
  private func follow(_ listener: RawClient, to last: Int) throws {
    var newest = 0
    while newest < last {
      let data = try JSONValue(parsing: listener.readMessage())["d"]
      guard data?["a"] == "d", let value = data?["b"]?["d"]?.int else { continue }
      #expect(value > newest)
      newest = value
    }
    #expect(newest == last)
  }

  /// What an older program must not miss is told by the tables.
  @Test func anOlderServerDoesNotUseTablesThatItDoesNotKnow() throws {
    let migrated = try store("migrate", later: 2)
    #expect(migrated.output.contains("were of version 2, and are of 4 now"), "\(migrated.errors)")
    for versions in 0...1 {
      #expect(try refusal(later: versions).contains("use a newer version of runnel"))
    }
    let served = try serve(later: 2)
    #expect(try served.client().request("PUT", "/x.json", "1").status == 200)
    try end(served)
  }
}

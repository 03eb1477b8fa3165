import Foundation
import PostgresCluster
import RunnelBase
import TestSupport
import Testing

/// Two servers of one store whose primary is killed under their writers, and replaced by its standby.
@Suite(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
struct StoreFailoverTests {
  private static let writerCount = 64
  private static let writeCount = 10
  /// With as many while the primary dies, 5,120 in all.
  private static let manyCount = 40

  private let folder: TemporaryFolder
  private let environment: [String: String]
  private let pair: PostgresPair

  init() throws {
    folder = try TemporaryFolder()
    pair = try PostgresPair()
    try FileManager.default.createDirectory(
      atPath: folder.file("runnel"), withIntermediateDirectories: true)
    _ = try folder.write("stores:\n  main: \(pair.place)\n", to: "runnel/config.yaml")
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

  private func counts(_ served: Served) throws -> JSONValue {
    try JSONValue(parsing: served.client().request("GET", "/count.json").body)
  }

  private func end(_ servers: [Served]) throws {
    for server in servers {
      try server.program.send(SIGTERM)
      #expect(try server.program.wait() == 0)
    }
    let check = try store("check")
    #expect(check.status == 0, "\(check.output)\(check.errors)")
  }

  /// Once with a standby that has received nothing of late, so that the last commits are not acknowledged.
  @Test(arguments: [false, true])
  func aSynchronousStandbyTakesOverWithoutLoss(isBehind: Bool) throws {
    let count = isBehind ? StoreFailoverTests.writeCount : StoreFailoverTests.manyCount
    try pair.setSynchronous(true)
    let servers = [try serve(), try serve()]
    var writers = (0..<StoreFailoverTests.writerCount).map { CountingWriter(name: "w\($0)") }
    let clients = try writers.indices.map { try connect(to: servers[$0 % 2]) }
    let listeners = try servers.map { try connect(to: $0) }
    for listener in listeners {
      try listener.sendText(
        "{\"t\":\"d\",\"d\":{\"r\":1,\"a\":\"q\",\"b\":{\"p\":\"/count/w0\",\"h\":\"\"}}}")
    }
    for index in writers.indices {
      writers[index].add(count)
      try writers[index].send(on: clients[index])
      try writers[index].takeAnswers(clients[index], countMax: 3)
    }
    if isBehind { try pair.holdStandby() }
    // More is under way when the primary dies.
    for index in writers.indices {
      let before = writers[index].unanswered.count
      writers[index].add(count)
      for number in writers[index].unanswered.dropFirst(before) {
        try clients[index].sendText(writers[index].message(number))
      }
    }
    try pair.killPrimary()
    if isBehind { try pair.dropHeldLog() }
    try pair.promote()
    for index in writers.indices {
      // The sessions have stayed open, and are answered.
      try writers[index].takeAnswers(clients[index])
      #expect(writers[index].unanswered.isEmpty, "\(index)")
    }
    for server in servers {
      let counts = try counts(server)
      for writer in writers { writer.check(counts: counts, gone: .null, roundCount: 0) }
    }
    for listener in listeners { try follow(listener, to: writers[0].sent) }
    try end(servers)
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

  /// Once, servers that missed it accepted the token as long as the new primary confirmed no writes.
  @Test func aUserWhoWasDisabledIsRefusedByServersThatMissedIt() throws {
    try pair.setSynchronous(true)
    // The next primary waits for a standby that does not come.
    try pair.run(sql: "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", on: .standby)
    try pair.run(sql: "SELECT pg_reload_conf()", on: .standby)
    let rules = try folder.write(
      "{\"rules\":{\".read\":\"auth !== null\",\".write\":\"auth !== null\"}}",
      to: "chat.rules.json")
    #expect(try store("rules", "put", "chat", rules).status == 0)
    let options = [
      "--store", "main", "--no-access-log", "--store-accounts", "--issuer", "https://id.example",
      "--mail-folder", folder.file("mails"),
    ]
    let servers = try (0..<2).map { _ in try Served(options, environment: environment) }
    let answer = try servers[0].client().request(
      "POST", "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k",
      "{\"email\":\"ada@x.org\",\"password\":\"correct horse\"}",
      headers: ["Content-Type": "application/json"])
    let token = try #require(try JSONValue(parsing: answer.body)["idToken"]?.string)
    for server in servers {
      #expect(try server.client().request("PUT", "/n.json?auth=\(token)", "1").status == 200)
    }
    for server in servers { try server.program.send(SIGSTOP) }
    let disabled = try Program.run(
      ["accounts", "disable", "ada@x.org", "--store", "main"], environment: environment)
    #expect(disabled.status == 0, "\(disabled.errors)")
    try pair.killPrimary()
    try pair.promote()
    for server in servers { try server.program.send(SIGCONT) }
    let limit = ContinuousClock.now + .seconds(20)
    for server in servers {
      let status = { try server.client().request("GET", "/n.json?auth=\(token)").status }
      while try status() == 200 { try #require(ContinuousClock.now < limit) }
      for _ in 0..<3 { #expect([401, 503].contains(try status())) }
      let written = try server.client().request("PUT", "/n.json?auth=\(token)", "2")
      #expect([401, 503].contains(written.status))
    }
    try pair.run(sql: "ALTER SYSTEM RESET synchronous_standby_names", on: .standby)
    try pair.run(sql: "SELECT pg_reload_conf()", on: .standby)
    try end(servers)
  }

  /// The counter-proof: what no standby has is lost, and the test above would notice.
  @Test func anAsynchronousStandbyLosesWhatItDoesNotHave() throws {
    try pair.setSynchronous(true)
    let servers = [try serve()]
    let client = try connect(to: servers[0])
    var writer = CountingWriter(name: "w")
    writer.add(StoreFailoverTests.writeCount)
    try writer.send(on: client)
    try writer.takeAnswers(client)
    #expect(writer.unanswered.isEmpty)
    try pair.setSynchronous(false)
    try pair.holdStandby()
    writer.add(StoreFailoverTests.writeCount)
    try writer.send(on: client)
    try writer.takeAnswers(client)
    #expect(writer.unanswered.isEmpty)
    try pair.killPrimary()
    try pair.dropHeldLog()
    try pair.promote()
    // The server notices, and shows the older state.
    #expect(try counts(servers[0])["w"]?.int == StoreFailoverTests.writeCount)
    try end(servers)
    #expect(try servers[0].program.errors().contains("The database lost writes that were shown"))
  }
}

import Foundation
import PostgresCluster
import RunnelBase
import TestSupport
import Testing

/// Three servers of one store behind a load balancer, which are replaced one by one under their writers.
@Suite(
  .enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)),
  .enabled(if: Balancer.isInstalled, Comment(rawValue: Balancer.advice)))
struct StoreBalancerTests {
  private static let serverCount = 3
  private static let writerCount = 12
  private static let writeCount = 5

  private let folder: TemporaryFolder
  private let environment: [String: String]

  init() throws {
    folder = try TemporaryFolder()
    let place = try PostgresCluster.shared().makeDatabase()
    try FileManager.default.createDirectory(
      atPath: folder.file("runnel"), withIntermediateDirectories: true)
    _ = try folder.write("stores:\n  main: \(place)\n", to: "runnel/config.yaml")
    environment = ["XDG_CONFIG_HOME": folder.path]
    #expect(try Program.run(["store", "init", "chat"], environment: environment).status == 0)
  }

  /// Starts a server on free ports, or on those that another one had.
  private func serve(_ ports: (port: Int, adminPort: Int) = (0, 0)) throws -> Served {
    try Served(
      ["--store", "main", "--no-access-log", "--admin", "127.0.0.1:\(ports.adminPort)"],
      listen: "127.0.0.1:\(ports.port)", environment: environment)
  }

  private func ports(of served: Served) throws -> (port: Int, adminPort: Int) {
    let line = try #require(served.lines.first { $0.contains("administration at http") })
    let text = try #require(line.split(separator: ":").last)
    return (served.port, try #require(Int(text)))
  }

  @Test func clientsGoOnWhileServersAreReplacedOneByOne() throws {
    var servers = try (0..<StoreBalancerTests.serverCount).map { _ in try serve() }
    let balancer = try Balancer(try servers.map(ports), in: folder)
    var writers = (0..<StoreBalancerTests.writerCount).map { CountingWriter(name: "w\($0)") }
    for index in servers.indices {
      let clients = try writers.map { _ in
        let client = try balancer.client()
        try client.openSocket()
        _ = try client.readMessage()
        return client
      }
      for (number, client) in clients.enumerated() {
        writers[number].add(StoreBalancerTests.writeCount)
        try writers[number].send(on: client)
      }
      let ports = try ports(of: servers[index])
      try servers[index].program.send(SIGTERM)
      for (number, client) in clients.enumerated() { try writers[number].takeAnswers(client) }
      #expect(try servers[index].program.wait() == 0)
      // Whoever asks now comes to the others.
      #expect(try balancer.client().request("GET", "/count.json?shallow=true").status == 200)
      servers[index] = try serve(ports)
    }
    for number in writers.indices {
      let client = try balancer.client()
      try client.openSocket()
      _ = try client.readMessage()
      try writers[number].send(on: client)
      try writers[number].takeAnswers(client)
      #expect(writers[number].unanswered.isEmpty)
    }
    let body = try balancer.client().request("GET", "/count.json").body
    let counts = try JSONValue(parsing: body)
    for writer in writers { writer.check(counts: counts, gone: .null, roundCount: 0) }
    for server in servers {
      try server.program.send(SIGTERM)
      #expect(try server.program.wait() == 0)
    }
  }
}

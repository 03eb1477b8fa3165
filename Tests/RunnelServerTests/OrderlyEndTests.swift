import Foundation
import RunnelBase
import RunnelServer
import TestSupport
import Testing

/// A server that ends does and answers what it has taken.
@Suite struct OrderlyEndTests {
  /// Once, the connections were closed first, and the answers dropped.
  @Test func whatWasTakenIsAnsweredBeforeTheConnectionsEnd() async throws {
    let disk = try FaultyDisk()
    let server = try await TestServer(rules: ServiceTesting.rules, in: disk.folder) {
      ServiceTesting.configure(&$0)
      $0.stopDuration = .seconds(60)
    }
    let (services, other) = (try SocketIOClient(server), try server.socket())
    let writers = try (0..<8).map { _ in try server.socket() }
    let idle = try SocketIOClient(server)
    let last = "{\"p\":\"/messages/gone\",\"d\":{\"text\":\"gone\"}}"
    #expect(try writers[0].status(1, "o", last) == "ok")
    disk.hold()
    try services.send("421[\"create\",\"messages\",{\"text\":\"a\"}]")
    for _ in 0..<100_000 where disk.syncCount == 0 { try ping(other) }
    for (index, writer) in writers.enumerated() {
      for number in 2...3 {
        let path = "/messages/w\(index)/n\(number)"
        try writer.ask(number, "p", "{\"p\":\"\(path)\",\"d\":{\".sv\":{\"increment\":1}}}")
      }
      // The messages before the ping have been handled.
      try ping(writer)
    }
    let administrator = try server.administrator()
    let running = server.server
    async let stopped: Void = running.stop()
    var ready = ""
    for _ in 0..<1_000_000 where !ready.contains("ends") {
      ready = try administrator.request("GET", "/readyz").body
      await Task.yield()
    }
    // Who waits for nothing is not kept.
    #expect(try other.client.readClose() == 1001)
    #expect(try idle.client.readClose() == 1001)
    disk.release()
    var answer = ""
    // The event may come first.
    while !answer.hasPrefix("431[") { answer = try services.next() }
    #expect(answer.hasPrefix("431[null,{"), "\(answer)")
    #expect(try services.client.readClose() == 1001)
    for writer in writers {
      for number in 2...3 {
        let answer = try writer.next()
        #expect(answer["r"] == .number(JSONNumber(Int64(number))))
        #expect(answer["b"]?["s"] == "ok")
      }
      #expect(try writer.client.readClose() == 1001)
    }
    await stopped
    let found = try OtherProcess.read("messages", in: server.file).object ?? []
    #expect(found.count == 8 + 2, "\(found.map(\.name))")
  }

  /// Once, the first poll closed the connection, and a new one was refused.
  @Test func whoPollsFetchesItsAnswersBeforeTheEnd() async throws {
    let disk = try FaultyDisk()
    let server = try await TestServer(rules: ServiceTesting.rules, in: disk.folder) {
      ServiceTesting.configure(&$0)
      $0.stopDuration = .seconds(60)
    }
    let writer = try connected(server)
    let (waiting, silent) = (try connected(server), try connected(server))
    let other = try server.socket()
    try waiting.ask()
    disk.hold()
    for number in 0..<20 { try writer.post("42\(number)[\"create\",\"hidden\",{}]") }
    try writer.post("4220[\"create\",\"messages\",{\"text\":\"a\"}]")
    for _ in 0..<100_000 where disk.syncCount == 0 { try ping(other) }
    let administrator = try server.administrator()
    let running = server.server
    async let stopped: Void = running.stop()
    var ready = ""
    for _ in 0..<1_000_000 where !ready.contains("ends") {
      ready = try administrator.request("GET", "/readyz").body
      await Task.yield()
    }
    // Who waits for nothing is told the end.
    #expect(try waiting.answer().body == "1")
    // A sign of life is still taken, a call is not.
    #expect(try writer.post("4221[\"create\",\"messages\",{\"text\":\"b\"}]").body == "ok")
    var packets: [String] = []
    try writer.ask()
    disk.release()
    while packets.last != "1" {
      packets += self.packets(in: try writer.answer().body)
      if packets.last != "1" { try writer.ask() }
    }
    for number in 0..<20 { #expect(packets.contains { $0.hasPrefix("43\(number)[{") }) }
    #expect(packets.contains { $0.hasPrefix("4320[null,{") }, "\(packets)")
    #expect(!packets.contains { $0.hasPrefix("4321[") })
    await stopped
    withExtendedLifetime(silent) {}
    let found = try OtherProcess.read("messages", in: server.file).object ?? []
    #expect(found.count == 1, "\(found.map(\.name))")
  }

  private func connected(_ server: TestServer) throws -> PollingClient {
    let client = try PollingClient(server)
    try client.post("40")
    guard try client.poll().hasPrefix("40") else { throw RawClient.Failure(what: "not connected") }
    return client
  }

  private func packets(in body: String) -> [String] {
    body.split(separator: "\u{1E}").map(String.init)
  }

  private func ping(_ socket: Socket) throws {
    try socket.send("{\"t\":\"c\",\"d\":{\"t\":\"p\",\"d\":{}}}")
    #expect(try socket.next() == json("{\"t\":\"o\",\"d\":{}}"))
  }
}

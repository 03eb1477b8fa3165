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

  private func ping(_ socket: Socket) throws {
    try socket.send("{\"t\":\"c\",\"d\":{\"t\":\"p\",\"d\":{}}}")
    #expect(try socket.next() == json("{\"t\":\"o\",\"d\":{}}"))
  }
}

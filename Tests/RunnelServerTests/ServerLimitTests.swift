import RunnelBase
import RunnelNetwork
import RunnelServer
import RunnelSync
import TestSupport
import Testing

@Suite struct ServerLimitTests {
  @Test func halfAFrameDoesNotHoldAConnectionForEver() async throws {
    try await withServer({
      $0.wire.silenceMilliseconds = 50
      $0.wire.signMilliseconds = 50
    }) { server in
      let socket = try server.socket()
      let frame = RawClient.frame(1, Array("{\"t\":\"c\"".utf8))
      try socket.client.send(frame.prefix(5))
      #expect(try socket.client.readClose() == 1001)
      #expect(socket.client.isClosed())
    }
  }

  @Test func halfAMessageDoesNotHoldAConnectionForEver() async throws {
    try await withServer({ $0.wire.messageMilliseconds = 50 }) { server in
      let socket = try server.socket()
      try socket.send("3")
      #expect(try socket.client.readClose() == 1008)
    }
  }

  /// Neither half a message nor half a frame is kept, whatever signs of life its client gives.
  @Test(
    arguments: [[0x01, 0x81, 1, 2, 3, 4, 0x7A], [0x81, 0xFE, 0x10, 0x00, 1, 2, 3, 4, 0x7A]]
      as [[UInt8]])
  func theTimeOfAMessageIsThatOfItsFrames(beginning: [UInt8]) async throws {
    try await withServer({ $0.messageMilliseconds = 50 }) { server in
      let socket = try server.socket()
      try socket.client.send(beginning)
      #expect(try socket.client.readClose() == 1008)
      #expect(server.server.metricsText.contains("{limit=\"message-time\"} 1\n"))
    }
  }

  /// A ping between the pieces of a message is no end of it.
  @Test func pingsDoNotKeepHalfAMessage() async throws {
    try await withServer({ $0.messageMilliseconds = 50 }) { server in
      let client = try server.socket().client
      try client.send([0x01, 0x81, 1, 2, 3, 4, 0x7A])
      var code: Int?
      for _ in 0..<100_000 where code == nil {
        try client.send(RawClient.frame(9, []))
        let frame = try client.readFrame()
        if frame.opcode == 8 { code = Int(frame.payload[0]) << 8 | Int(frame.payload[1]) }
      }
      #expect(code == 1008)
    }
  }

  @Test func halfAHeadDoesNotHoldAConnectionForEver() async throws {
    try await withServer({ $0.network.firstHeadMilliseconds = 50 }) { server in
      let client = try server.client()
      try client.send("GET /x.json HT".utf8)
      #expect(client.isClosed())
    }
  }

  @Test func anIdleConnectionIsClosed() async throws {
    try await withServer({ $0.network.idleMilliseconds = 50 }) { server in
      let client = try server.client()
      #expect(try client.request("GET", "/x.json").status == 200)
      #expect(client.isClosed())
    }
  }

  @Test func aHeadWithoutEndIsNotKept() async throws {
    try await withServer { server in
      let client = try server.client()
      let part = String(repeating: "x", count: 60_000)
      // The server closes the connection during the write.
      try? client.send("GET /\(part)\(part)\(part)\(part)".utf8)
      try? client.send("\(part)\(part)\(part)\(part)".utf8)
      #expect(client.isClosed())
    }
  }

  @Test func aClientThatNeverReadsIsClosedAndOthersAreServed() async throws {
    try await withServer({ $0.wire.unsentBytesMax = 1_000_000 }) { server in
      let lazy = try RawClient(port: server.port, receiveBytes: 4096)
      let socket = try Socket(lazy, "/.ws?v=5&ns=test")
      #expect(try socket.status(1, "q", "{\"p\":\"/x\",\"h\":\"\"}") == "ok")
      let client = try server.client()
      let text = String(repeating: "x", count: 200_000)
      for number in 0..<60 {
        let path = "/x.json?print=silent"
        #expect(try client.request("PUT", path, "\"\(number)\(text)\"").status == 204)
      }
      #expect(try client.request("GET", "/x.json?shallow=true").status == 200)
      #expect(throws: RawClient.Failure.self) {
        while true { _ = try lazy.readMessage() }
      }
    }
  }

  /// Once, a place that is larger than the limit could not be listened to.
  @Test func aPlaceLargerThanTheLimitIsToldToWhoReads() async throws {
    try await withServer(rules: ServiceTesting.rules) {
      ServiceTesting.configure(&$0)
      $0.wire.unsentBytesMax = 100_000
    } _: { server in
      let text = String(repeating: "x", count: 9_000_000)
      let body = "{\"text\":\"\(text)\"}"
      #expect(
        try server.request("PUT", "/messages/x.json?print=silent", body).status == 204)
      let socket = try server.socket()
      try socket.ask(1, "q", "{\"p\":\"/messages/x\",\"h\":\"\"}")
      #expect(try socket.nextText().utf8.count > text.utf8.count)
      #expect(try socket.next()["b"]?["s"] == "ok")
      let stream = try server.client()
      try stream.sendRequest(
        "GET", "/messages/x.json", headers: ["Accept": "text/event-stream"])
      #expect(try stream.readHead().status == 200)
      #expect(try stream.readEvent().data.utf8.count > text.utf8.count)
      let services = try SocketIOClient(server)
      let record = try services.ask(["get", "messages", "x"])
      #expect(record["text"]?.string?.utf8.count == text.utf8.count)
      // All of them go on.
      #expect(try server.request("PUT", "/messages/x/n.json?print=silent", "1").status == 204)
      #expect(try socket.next()["b"]?["p"] == "messages/x/n")
      #expect(try stream.readEvent().data == "{\"path\":\"/n\",\"data\":1}")
    }
  }

  /// What a client asks to read waits until it has taken earlier answers, and holds up nobody else.
  @Test(arguments: ["/text", "/object"])
  func readsWaitForAClientThatDoesNotTakeTheirAnswers(place: String) async throws {
    try await withServer({ $0.wire.unsentBytesMax = 1_000_000 }) { server in
      let text = String(repeating: "x", count: 600_000)
      let parts = (0..<6).map { "\"k\($0)\":\"\(text.prefix(100_000))\"" }.joined(separator: ",")
      let body = place == "/text" ? "\"\(text)\"" : "{\(parts)}"
      #expect(try server.request("PUT", "\(place).json?print=silent", body).status == 204)
      let late = try Socket(RawClient(port: server.port, receiveBytes: 65_536), "/.ws?v=5&ns=test")
      for number in 1...14 { try late.ask(number, "g", "{\"p\":\"\(place)\"}") }
      try late.ask(15, "p", "{\"p\":\"/last\",\"d\":1}")
      let other = try server.socket()
      for number in 1...200 {
        #expect(try other.status(number, "p", "{\"p\":\"/n\",\"d\":\(number)}") == "ok")
      }
      // More than may be unsent, and than the network holds, was asked for.
      for number in 1...15 {
        let answer = try late.client.readMessage()
        #expect(answer.hasPrefix("{\"t\":\"d\",\"d\":{\"r\":\(number),\"b\":{\"s\":\"ok\""))
      }
      #expect(try server.request("GET", "/last.json").body == "1")
    }
  }

  /// That a client does not take its answers is no reason to check its rights later: it is closed.
  @Test func aClientThatDoesNotTakeItsAnswersDoesNotKeepItsRights() async throws {
    let rules = #"{"rules":{".read":true,".write":true}}"#
    let change = { (configuration: inout ServerConfiguration) in
      configuration.isEmulator = true
      configuration.wire.unsentBytesMax = 1_000_000
    }
    try await withServer(rules: rules, change) { server in
      let text = String(repeating: "x", count: 600_000)
      #expect(try server.request("PUT", "/a.json?print=silent", "\"\(text)\"").status == 204)
      let lazy = try RawClient(port: server.port, receiveBytes: 4096)
      let socket = try Socket(lazy, "/.ws?v=5&ns=test")
      #expect(try socket.status(1, "o", "{\"p\":\"/gone\",\"d\":true}") == "ok")
      #expect(try socket.status(2, "q", "{\"p\":\"/n\",\"h\":\"\"}") == "ok")
      // They arrive together.
      let asked = (3...16).map { number in
        "{\"t\":\"d\",\"d\":{\"r\":\(number),\"a\":\"g\",\"b\":{\"p\":\"/a\"}}}"
      }
      try lazy.send(asked.flatMap { RawClient.frame(1, Array($0.utf8)) })
      #expect(try lazy.readMessage().hasPrefix("{\"t\":\"d\",\"d\":{\"r\":3,"))
      let put = try server.request(
        "PUT", "/.settings/rules.json", #"{"rules":{".read":true,".write":"true"}}"#,
        headers: ["Authorization": "Bearer owner"])
      #expect(put.status == 200)
      for _ in 0..<100_000 {
        if try server.request("GET", "/gone.json").body == "true" { break }
      }
      #expect(try server.request("GET", "/gone.json").body == "true")
    }
  }

  @Test func theConnectionsOfAnAddressAreLimited() async throws {
    try await withServer({ $0.network.connectionsPerAddressMax = 3 }) { server in
      let clients = try (0..<3).map { _ in try server.client() }
      for client in clients { #expect(try client.request("GET", "/x.json").status == 200) }
      #expect(try server.client().isClosed())
      withExtendedLifetime(clients) {}
    }
  }

  @Test func oneWriteIsSentToManyConnections() async throws {
    try await withServer { server in
      let sockets = try (0..<200).map { _ in try server.socket() }
      for socket in sockets { try socket.ask(1, "q", "{\"p\":\"/x\",\"h\":\"\"}") }
      for socket in sockets { #expect(try socket.next()["b"]?["s"] == "ok") }
      _ = try server.request("PUT", "/x.json", "7")
      for socket in sockets {
        #expect(try socket.next() == json("{\"a\":\"d\",\"b\":{\"p\":\"x\",\"d\":7}}"))
      }
      #expect(server.server.metricsText.contains("runnel_listens{database=\"test\"} 200"))
    }
  }

  @Test func anUnsafeServerForOtherMachinesIsRefused() async throws {
    func message(_ change: (inout ServerConfiguration) -> Void) async -> String {
      do {
        let server = try await TestServer { configuration in
          configuration.listen = ["*:0"]
          change(&configuration)
        }
        await server.stop()
        return ""
      } catch {
        return "\(error)"
      }
    }
    #expect(await message { _ in }.contains("--tls-cert"))
    #expect(await message { $0.isEmulator = true }.contains("emulator"))
  }

  @Test func aFileIsServedByOneServerOnly() async throws {
    try await withServer { server in
      await #expect(throws: (any Error).self) { try await TestServer(in: server.folder) }
    }
  }
}

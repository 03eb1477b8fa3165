import RunnelBase
import TestSupport
import Testing

/// Invalid bytes on real sockets: each connection is answered or closed, and others are served
/// meanwhile.
@Suite struct HostileBytesTests {
  private static let requests = [
    "GET /a.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "PUT /a.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n123",
    "POST /a.json HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n\"x\"\r\n0\r\n\r\n",
    "PATCH /a.json HTTP/1.0\r\nContent-Length: 7\r\nConnection: keep-alive\r\n\r\n{\"b\":1}",
    "GET /.ws?v=5 HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    "GET /a.json HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n",
    "DELETE /a.json HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9999\r\n\r\n",
  ]

  private func mutated(_ text: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
    var bytes = text
    for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes.removeSubrange(place..<min(place + 9, bytes.count))
      case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 2: bytes.insert(contentsOf: Array("\r\n: ,0".utf8), at: place)
      default: bytes += bytes[..<place]
      }
    }
    return bytes
  }

  @Test(arguments: Seeds.first(2)) func requestsAreAnsweredOrClosed(seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    try await withServer { server in
      let good = try server.client()
      for number in 0..<150 {
        let text = HostileBytesTests.requests[number % HostileBytesTests.requests.count]
        let client = try server.client()
        // The connection may be closed during the write; the sent bytes are then lost.
        try? client.send(mutated(Array(text.utf8), &random))
        if number % 3 == 0 { client.hangUp() }
        let answer = try good.request("GET", "/x.json")
        #expect(answer.status == 200, "seed \(seed)")
      }
    }
  }

  /// Source: RFC 6455, sections 5.1 and 5.2.
  @Test func framesThatNoClientMaySendCloseTheConnection() async throws {
    try await withServer { server in
      let ping = Array(#"{"t":"c","d":{"t":"p","d":{}}}"#.utf8)
      let good = RawClient.frame(1, ping)
      let bare = [0x81, UInt8(ping.count)] + ping
      for frame in [
        bare, [good[0] | 0x40] + good[1...], RawClient.frame(3, []), RawClient.frame(11, []),
      ] {
        let socket = try server.socket()
        try socket.client.send(frame)
        // Later bytes are not read; the connection may already be closed.
        try? socket.client.send(good)
        #expect(try socket.client.readClose() == 1002)
        #expect(socket.client.isClosed())
      }
    }
  }

  /// Source: RFC 9112, section 3.2.
  @Test func requestsNameOneHost() async throws {
    try await withServer { server in
      for (hosts, version, status) in [
        ("Host: localhost\r\n", "1.1", 200), ("", "1.0", 403), ("", "1.1", 400),
        ("Host: localhost\r\nHost: evil.example\r\n", "1.1", 400),
      ] {
        let client = try server.client()
        try client.send("GET /a.json HTTP/\(version)\r\n\(hosts)\r\n".utf8)
        #expect(try client.readHead().status == status, "\(hosts)")
      }
    }
  }

  @Test(arguments: Seeds.first(2)) func framesAreAnsweredOrClosed(seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    try await withServer { server in
      let good = try server.socket()
      for number in 0..<100 {
        let client = try server.client()
        try client.openSocket()
        let text = #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}"#
        var bytes = RawClient.frame(UInt8(number % 16), Array(text.utf8))
        if number % 2 == 0 { bytes += RawClient.frame(1, Array("3".utf8)) }
        if number % 5 == 0 { bytes[1] = UInt8.random(in: 0...255, using: &random) }
        // The connection may be closed during the write; the sent bytes are then lost.
        try? client.send(mutated(bytes, &random))
        if number % 3 == 0 { client.hangUp() }
        let status = try good.status(number + 1, "p", "{\"p\":\"/n\",\"d\":\(number)}")
        #expect(status == "ok", "seed \(seed)")
      }
    }
  }
}

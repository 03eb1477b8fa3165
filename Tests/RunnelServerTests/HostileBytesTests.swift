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

  /// Source: RFC 9112, section 3.2.2.
  @Test func hostOfATargetCountsBeforeTheHeader() async throws {
    try await withServer { server in
      _ = try server.request("PUT", "/a.json", "1")
      for (target, host, status) in [
        ("http://localhost/a.json", "evil.example", 200),
        ("HTTP://LOCALHOST:\(server.port)/a.json", "localhost", 200),
        ("http://localhost", "localhost", 404),
        ("http://evil.example/a.json", "localhost", 403),
        ("https://evil.example?x=/a.json", "localhost", 403),
        ("http://localhost@evil.example/a.json", "localhost", 400),
        ("http:///a.json", "localhost", 400),
      ] {
        let client = try server.client()
        try client.send("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8)
        let answer = try client.readAnswer()
        #expect(answer.status == status, "\(target)")
        if status == 200 { #expect(answer.body == "1") }
      }
      let socket = try server.client()
      let headers = RawClient.upgrade.merging(["Host": "localhost"]) { $1 }
      try socket.sendRequest("GET", "http://evil.example/.ws?v=5&ns=test", headers: headers)
      #expect(try socket.readHead().status == 403)
    }
  }

  /// Source: RFC 9112, section 6.1.
  @Test func bodyThatIsCodedOtherwiseThanChunkedIsNotTaken() async throws {
    try await withServer { server in
      for coding in ["gzip, chunked", "gzip\r\nTransfer-Encoding: chunked", "x, chunked"] {
        let client = try server.client()
        try client.send(
          ("PUT /a.json HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: \(coding)\r\n\r\n"
            + "1\r\n1\r\n0\r\n\r\n").utf8)
        #expect(try client.readHead().status == 501, "\(coding)")
        #expect(client.isClosed())
      }
      let client = try server.client()
      try client.send(
        ("PUT /a.json HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: Chunked\r\n\r\n"
          + "1\r\n2\r\n0\r\n\r\n").utf8)
      #expect(try client.readHead().status == 200)
    }
  }

  @Test func allOfManyRequestsThatCameAtOnceAreAnswered() async throws {
    try await withServer { server in
      let client = try server.client()
      // More than fits a head, and less than the buffers of both sides.
      let count = 5000
      let request = "GET /a.json?print=silent HTTP/1.1\r\nHost: localhost\r\n\r\n"
      try client.send(String(repeating: request, count: count).utf8)
      for _ in 0..<count { #expect(try client.readHead().status == 204) }
      // A head that is too long is still none; the connection may be closed during the write.
      try? client.send(("GET /" + String(repeating: "a", count: 300_000)).utf8)
      #expect(client.isClosed())
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

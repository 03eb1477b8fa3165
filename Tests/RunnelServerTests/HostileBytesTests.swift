import RunnelBase
import TestSupport
import Testing

/// Bytes that no client would send, on real sockets: each connection is answered or closed, and others are
/// served all the while.
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
        // It may be closed in the midst of it, and then what was sent is lost.
        try? client.send(mutated(Array(text.utf8), &random))
        if number % 3 == 0 { client.hangUp() }
        let answer = try good.request("GET", "/x.json")
        #expect(answer.status == 200, "seed \(seed)")
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
        // It may be closed in the midst of it, and then what was sent is lost.
        try? client.send(mutated(bytes, &random))
        if number % 3 == 0 { client.hangUp() }
        let status = try good.status(number + 1, "p", "{\"p\":\"/n\",\"d\":\(number)}")
        #expect(status == "ok", "seed \(seed)")
      }
    }
  }
}

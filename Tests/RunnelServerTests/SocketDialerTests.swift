import NIOCore
import NIOEmbedded
@testable import RunnelNetwork
import Synchronization
import Testing

/// What a WebSocket to a server tells of a connection.
@Suite struct SocketDialerTests {
  /// Notes what happens to a socket.
  private final class Log: DialedSocketHandling {
    let lines = Mutex<[String]>([])
    let reasons = Mutex<[String]>([])

    func opened() { note("opened") }
    func received(_ text: [UInt8]) { note(String(decoding: text, as: UTF8.self)) }
    func heard() {}
    func closed(_ reason: String) {
      reasons.withLock { $0.append(reason) }
      note("closed")
    }

    private func note(_ line: String) { lines.withLock { $0.append(line) } }
  }

  /// The key and the answer to it in RFC 6455.
  private static let key = "dGhlIHNhbXBsZSBub25jZQ=="
  private static let answer =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"

  /// Returns what is told when these bytes come at once, and with them the end.
  private func told(_ bytes: [UInt8]) throws -> [String] {
    try log(bytes).lines.withLock { $0 }
  }

  private func log(_ bytes: [UInt8]) throws -> Log {
    let log = Log()
    let channel = EmbeddedChannel()
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    let address = try #require(WebAddress("http://localhost:1/.ws"))
    try SocketDialer.upgrade(channel, address, "test", [], DialedSocket(log), key: Self.key)
    channel.pipeline.fireChannelRead(ByteBuffer(bytes: bytes))
    channel.pipeline.fireChannelInactive()
    channel.embeddedEventLoop.run()
    return log
  }

  /// Once, a redirect that came with the end of its connection over TLS was lost.
  @Test func whatComesWithTheEndIsReceivedBeforeIt() throws {
    let messages: [UInt8] = [0x81, 2] + Array("hi".utf8) + [0x81, 3] + Array("you".utf8)
    #expect(try told(Array(Self.answer.utf8) + messages) == ["opened", "hi", "you", "closed"])
    #expect(
      try told(Array(Self.answer.utf8) + messages + [0x88, 0]) == ["opened", "hi", "you", "closed"])
  }

  @Test func aMessageThatIsTooLargeIsTheReason() throws {
    // The length is 2^25.
    let frame: [UInt8] = [0x81, 127, 0, 0, 0, 0, 2, 0, 0, 0]
    let reasons = try log(Array(Self.answer.utf8) + frame).reasons.withLock { $0 }
    #expect(reasons == ["a message is too large: at most 16777216 bytes are taken at once"])
  }

  @Test func anEndBeforeTheAnswerIsTold() throws {
    #expect(try told([]) == ["closed"])
    #expect(try told(Array(Self.answer.utf8.dropLast(20))) == ["closed"])
  }
}

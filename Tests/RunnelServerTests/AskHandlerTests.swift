import NIOCore
import NIOEmbedded
import NIOHTTP1
@testable import RunnelNetwork
import Synchronization
import Testing

/// What a request on a connection of its own tells of its end.
@Suite struct AskHandlerTests {
  /// Sends a request on a channel; returns the function that tells how it has ended, nil if it has not.
  private func ask(_ channel: EmbeddedChannel) throws -> () -> String? {
    let promise = channel.embeddedEventLoop.makePromise(of: NIOHTTPClientResponseFull.self)
    try AskHandler.ask(
      .GET, "/x.json", host: "localhost", on: channel, bytesMax: 100, seconds: 5, promise)
    let ended = Ended()
    promise.futureResult.whenComplete { result in
      switch result {
      case .success(let answer): ended.text.withLock { $0 = "\(answer.head.status.code)" }
      case .failure(let error): ended.text.withLock { $0 = WebConnector.reason(error) }
      }
    }
    return {
      channel.embeddedEventLoop.run()
      return ended.text.withLock { $0 }
    }
  }

  private final class Ended: Sendable {
    let text = Mutex<String?>(nil)
  }

  private func connected() throws -> EmbeddedChannel {
    let channel = EmbeddedChannel()
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return channel
  }

  /// Once, such a request waited for ever.
  @Test func aConnectionThatIsClosedAlreadyIsTold() throws {
    // A channel that was never connected is as inactive as one that has ended.
    #expect(try ask(EmbeddedChannel())() == "the connection was closed before the answer")
  }

  @Test func anAnswerIsKeptWhenTheConnectionEnds() throws {
    let channel = try connected()
    let ended = try ask(channel)
    #expect(ended() == nil)
    let answer = "HTTP/1.1 204 No Content\r\n\r\n"
    try channel.writeInbound(ByteBuffer(string: answer))
    #expect(ended() == "204")
  }

  @Test func anEndBeforeTheAnswerIsTold() throws {
    let channel = try connected()
    let ended = try ask(channel)
    channel.pipeline.fireChannelInactive()
    #expect(ended() == "the connection was closed before the answer")
  }

  @Test func anAnswerThatTakesTooLongIsTold() throws {
    let channel = try connected()
    let ended = try ask(channel)
    channel.embeddedEventLoop.advanceTime(by: .seconds(4))
    #expect(ended() == nil)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(ended() == "there was no answer in 5 s")
  }
}

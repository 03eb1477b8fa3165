import NIOCore
import NIOHTTP1

/// Sends one request without a body on its own connection, and passes the answer on.
///
/// Loop only.
final class AskHandler: ChannelInboundHandler {
  typealias InboundIn = NIOHTTPClientResponseFull
  typealias OutboundOut = HTTPClientRequestPart

  private let head: HTTPRequestHead
  private let promise: EventLoopPromise<NIOHTTPClientResponseFull>

  private init(_ head: HTTPRequestHead, _ promise: EventLoopPromise<NIOHTTPClientResponseFull>) {
    (self.head, self.promise) = (head, promise)
  }

  /// Sends a request on an open channel; its answer completes the promise.
  ///
  /// An answer of more than `bytesMax` bytes, or one that takes too long, is an error.
  static func ask(
    _ method: HTTPMethod, _ target: String, host: String, on channel: any Channel, bytesMax: Int,
    seconds: Int64, _ promise: EventLoopPromise<NIOHTTPClientResponseFull>
  ) throws {
    var head = HTTPRequestHead(version: .http1_1, method: method, uri: target)
    head.headers.add(name: "Host", value: host)
    head.headers.add(name: "Accept", value: "application/json")
    head.headers.add(name: "Connection", value: "close")
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHTTPClientHandlers()
    try pipeline.addHandler(NIOHTTPClientResponseAggregator(maxContentLength: bytesMax))
    try pipeline.addHandler(AskHandler(head, promise))
    let timer = channel.eventLoop.scheduleTask(in: .seconds(seconds)) {
      promise.fail(NetworkError("there was no answer in \(seconds) s"))
      channel.close(promise: nil)
    }
    channel.closeFuture.whenComplete { _ in timer.cancel() }
  }

  func handlerAdded(context: ChannelHandlerContext) {
    guard context.channel.isActive else { return failAsClosed() }
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    promise.succeed(unwrapInboundIn(data))
    context.close(promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    promise.fail(error)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    failAsClosed()
    context.fireChannelInactive()
  }

  /// The promise keeps an answer that arrived before.
  private func failAsClosed() {
    promise.fail(NetworkError("the connection was closed before the answer"))
  }
}

import NIOCore
import NIOHTTP1

/// Lets each request of a connection become a WebSocket, and not only the first.
///
/// NIO's handler for that leaves the pipeline with the first request. This one stands before its place, and
/// adds another one for each request that asks for an upgrade.
///
/// A request that was sent before the last one was answered stays an ordinary one: the bytes behind it have
/// been read already.
///
/// Loop only.
final class UpgradeOffer: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  /// Makes the handler for the upgrade, which removes this one.
  var make: ((UpgradeOffer) -> HTTPServerUpgradeHandler)?
  /// More than 0 while requests that have waited for an answer are passed on.
  private var passingCount = 0

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if passingCount == 0, let make, case .head(let head) = unwrapInboundIn(data),
      head.headers.contains(name: "upgrade")
    {
      do {
        try context.pipeline.syncOperations.addHandler(make(self), position: .after(self))
      } catch {
        return context.close(promise: nil)
      }
    }
    context.fireChannelRead(data)
  }

  /// Ends an answer by `body`, within which requests that have waited for that begin.
  func passing(_ body: () -> Void) {
    passingCount += 1
    body()
    passingCount -= 1
  }

  func handlerRemoved(context: ChannelHandlerContext) { make = nil }
}

import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// Opens WebSockets.
///
/// Limit: an answer that sends elsewhere is an error; hosts of databases name another host in the protocol.
public struct SocketDialer: Sendable {
  /// The most bytes of one frame, and of one message in several.
  private static let frameBytesMax = 16_777_216
  /// The most frames of one message.
  private static let framesMax = 1024

  private let connector: WebConnector

  /// Makes a dialer.
  ///
  /// - Parameters:
  ///   - trustedFile: a file of certificates in PEM to trust, instead of those that the system trusts.
  ///   - proxies: the proxy for addresses with TLS.
  public init(trustedFile: String? = nil, proxies: WebProxies = .none) {
    connector = WebConnector(trustedFile: trustedFile, proxies: proxies)
  }

  /// Begins to open a WebSocket; returns at once.
  ///
  /// - Parameters:
  ///   - address: where, with `https` for one with TLS.
  ///   - userAgent: what the server is told of the program.
  ///   - handling: is told what becomes of it.
  /// - Returns: the socket, which is not open yet.
  public func dial(
    _ address: WebAddress, userAgent: String, _ handling: some DialedSocketHandling
  ) -> DialedSocket {
    let socket = DialedSocket(handling)
    connector.connect(address, on: MultiThreadedEventLoopGroup.singleton.any())
      .flatMapThrowing { try SocketDialer.upgrade($0, address, userAgent, socket) }
      .whenFailure { socket.didEnd(WebConnector.reason($0)) }
    return socket
  }

  private static func upgrade(
    _ channel: any Channel, _ address: WebAddress, _ userAgent: String, _ socket: DialedSocket
  ) throws {
    channel.closeFuture.whenComplete { _ in socket.didEnd("the connection was closed") }
    let asking = UpgradeHandler(address, userAgent, socket)
    let boundAsking = NIOLoopBound(asking, eventLoop: channel.eventLoop)
    let upgrader = NIOWebSocketClientUpgrader(maxFrameSize: frameBytesMax) { channel, _ in
      channel.eventLoop.makeCompletedFuture {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(
          NIOWebSocketFrameAggregator(
            minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: framesMax,
            maxAccumulatedFrameSize: frameBytesMax))
        try pipeline.addHandler(DialedSocketHandler(socket))
      }
    }
    let pipeline = channel.pipeline.syncOperations
    do {
      try pipeline.addHTTPClientHandlers(
        leftOverBytesStrategy: .forwardBytes,
        withClientUpgrade: (
          upgraders: [upgrader],
          completionHandler: { context in
            boundAsking.value.isDone = true
            context.pipeline.syncOperations.removeHandler(boundAsking.value, promise: nil)
          }
        ))
      try pipeline.addHandler(asking)
    } catch {
      channel.close(promise: nil)
      throw error
    }
  }
}

/// Asks for a WebSocket, and tells what comes instead.
///
/// Loop only.
private final class UpgradeHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private let address: WebAddress
  private let userAgent: String
  private let socket: DialedSocket
  /// True once the connection is a WebSocket.
  var isDone = false

  init(_ address: WebAddress, _ userAgent: String, _ socket: DialedSocket) {
    (self.address, self.userAgent, self.socket) = (address, userAgent, socket)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: address.target)
    head.headers.add(name: "Host", value: address.authority)
    head.headers.add(name: "User-Agent", value: userAgent)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let head) = unwrapInboundIn(data) else { return }
    end(
      "\(address.bare) answers with the status \(head.status.code) instead of a WebSocket", context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    end("\(address.bare) closed the connection before it answered", context)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    end("\(address.bare) opens no WebSocket: \(WebConnector.reason(error))", context)
  }

  private func end(_ reason: String, _ context: ChannelHandlerContext) {
    if isDone { return }
    isDone = true
    socket.didEnd(reason)
    context.close(promise: nil)
  }
}

import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import RunnelBase

/// Opens WebSockets to servers.
///
/// Limit: an HTTP redirect is an error. A database server names another host by the wire protocol
/// instead.
public struct SocketDialer: Sendable {
  /// The most bytes of one frame, and of one message in several.
  static let frameBytesMax = 16_777_216
  /// The most frames of one message.
  private static let framesMax = 1024

  private let connector: WebConnector
  /// What refused addresses are called for people; nil for themselves.
  private var name: String?

  /// Makes a dialer.
  ///
  /// - Parameters:
  ///   - trustedFile: a PEM file of the certificates to trust, instead of those that the system
  ///     trusts.
  ///   - proxies: the proxy for addresses with TLS.
  public init(trustedFile: String? = nil, proxies: WebProxies = .none) {
    connector = WebConnector(trustedFile: trustedFile, proxies: proxies)
  }

  /// Makes a dialer whose addresses all stand for the server at a Unix socket; `absence` is said if it does not
  /// listen, without a full stop, and `name` of whoever refuses.
  package init(socketFile: String, absence: String, name: String? = nil) {
    self.name = name
    connector = WebConnector(
      trustedFile: nil, proxies: .none, socketFile: socketFile, absence: absence)
  }

  /// Begins to open a WebSocket; returns at once.
  ///
  /// - Parameters:
  ///   - address: the address to connect to; `https` for TLS.
  ///   - userAgent: the value of the `User-Agent` header.
  ///   - headers: further headers.
  ///   - handling: receives the events of the socket.
  /// - Returns: the socket, which is not open yet.
  public func dial(
    _ address: WebAddress, userAgent: String, headers: [(name: String, value: String)] = [],
    _ handling: some DialedSocketHandling
  ) -> DialedSocket {
    let socket = DialedSocket(handling)
    connector.connect(address, on: SharedThreads.loops.any()) { [name] in
      try SocketDialer.upgrade($0, address, userAgent, headers, socket, name: name)
    }
    .whenFailure { socket.didEnd(WebConnector.reason($0)) }
    return socket
  }

  // Requests the upgrade of a connection to a WebSocket; `key` is the value of `Sec-WebSocket-Key`.
  static func upgrade(
    _ channel: any Channel, _ address: WebAddress, _ userAgent: String,
    _ headers: [(name: String, value: String)], _ socket: DialedSocket,
    key: String = NIOWebSocketClientUpgrader.randomRequestKey(), name: String? = nil
  ) throws {
    channel.closeFuture.whenComplete { _ in socket.didEnd("the connection was closed") }
    let asking = UpgradeHandler(address, name ?? address.bare, userAgent, headers, socket)
    let boundAsking = NIOLoopBound(asking, eventLoop: channel.eventLoop)
    let upgrader = NIOWebSocketClientUpgrader(requestKey: key, maxFrameSize: frameBytesMax) {
      channel, _ in
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
    try pipeline.addHandler(LateEndHandler())
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
  }
}

/// Passes the end of a connection on after what was read with it.
///
/// The upgrade takes a turn of the loop. With TLS the answer, the first messages and the end may come in one
/// read: the end would overtake the messages, such as one that names another host.
///
/// Loop only.
private final class LateEndHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private var isRemoved = false

  func channelInactive(context: ChannelHandlerContext) {
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.eventLoop.execute {
      let (handler, context) = bound.value
      if !handler.isRemoved { context.fireChannelInactive() }
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) { isRemoved = true }
}

/// Requests the upgrade to a WebSocket, and reports a failure.
///
/// Loop only.
private final class UpgradeHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private let address: WebAddress
  /// What the address is called for people.
  private let name: String
  private let userAgent: String
  private let headers: [(name: String, value: String)]
  private let socket: DialedSocket
  /// The status of an answer that refuses the WebSocket, and what it says.
  private var status: Int?
  private var answer = ""
  /// True once the connection is a WebSocket.
  var isDone = false

  init(
    _ address: WebAddress, _ name: String, _ userAgent: String,
    _ headers: [(name: String, value: String)], _ socket: DialedSocket
  ) {
    (self.address, self.name, self.userAgent, self.headers, self.socket) = (
      address, name, userAgent, headers, socket
    )
  }

  func handlerAdded(context: ChannelHandlerContext) {
    var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: address.target)
    head.headers.add(name: "Host", value: address.authority)
    head.headers.add(name: "User-Agent", value: userAgent)
    for (name, value) in headers { head.headers.add(name: name, value: value) }
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): status = Int(head.status.code)
    case .body(let piece):
      // The server may say why; a little of that is enough.
      let bytes = Array(piece.readableBytesView)
      answer = words(of: bytes)
      end("\(name) \(refusal)", context)
    case .end: end("\(name) \(refusal)", context)
    }
  }

  /// The reason in an answer; that of a balancer without servers is a page, which says nothing that helps.
  private func words(of bytes: [UInt8]) -> String {
    if let told = (try? JSONValue(parsing: bytes))?["error"]?.string { return ": \(told)" }
    let text = String(decoding: bytes.prefix(200), as: UTF8.self)
    if !text.contains("<") { return ": \(text)" }
    return [502, 503, 504].contains(status) ? ": no server behind it takes requests now" : ""
  }

  private var refusal: String {
    "answered with status \(status ?? 0) instead of a WebSocket\(answer)"
  }

  func channelInactive(context: ChannelHandlerContext) {
    end(
      "\(name) " + (status == nil ? "closed the connection before the answer" : refusal),
      context)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    end("\(name) did not open a WebSocket: \(WebConnector.reason(error))", context)
  }

  private func end(_ reason: String, _ context: ChannelHandlerContext) {
    if isDone { return }
    isDone = true
    socket.didEnd(reason)
    context.close(promise: nil)
  }
}

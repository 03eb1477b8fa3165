public import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOWebSocket

/// The answer to a request, as who serves it uses it.
///
/// Loop only.
public final class ExchangeChannel {
  /// The loop.
  public let loop: NetworkLoop
  private weak var handler: RequestHandler?
  private let timer: LoopTimer

  init(_ handler: RequestHandler, _ timer: LoopTimer, _ eventLoop: any EventLoop) {
    (self.handler, self.timer) = (handler, timer)
    loop = NetworkLoop(eventLoop)
  }

  /// Sends the head of the answer.
  public func send(_ head: HTTPResponse) { handler?.send(head, of: self) }

  /// Sends a piece of the body.
  public func send(_ piece: [UInt8]) { handler?.send(piece, of: self) }

  /// The answer is complete.
  public func end() { handler?.end(self) }

  /// The answer cannot be completed: the connection is closed, so that it is not taken for all of it.
  public func abort() { handler?.abort(self) }

  /// Hands to the network what was sent.
  public func flush() { handler?.flush() }

  /// True if the network takes more now; if not, `canSendMore` is called when it does.
  public var isWritable: Bool { handler?.isWritable ?? false }

  /// The bytes that were sent and that the network has not taken.
  public var unsentBytes: Int { handler?.unsentBytes ?? 0 }

  /// Sets the deadline, in milliseconds on `NetworkClock`; nil for none.
  public func setDeadline(_ time: Int64?) { timer.set(time) }

  /// Reads no more of the body until `resumeReading`.
  public func pauseReading() { handler?.setReading(false) }

  /// Reads again.
  public func resumeReading() { handler?.setReading(true) }
}

/// Drives who serves requests by what arrives on one connection, one request after another.
final class RequestHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// What is served now.
  private struct Exchange {
    var channel: ExchangeChannel
    var handling: any ExchangeHandling
    var timer: LoopTimer
    var version: HTTPVersion
    var keepsAlive: Bool
    var hasNoBody: Bool
    var isRequestComplete = false
    var hasHead = false
  }

  /// The most bytes of a body that are read though they are not wanted, to get at the next request.
  private static let discardedBytesMax = 1_048_576

  private let limits: NetworkLimits
  private let peer: NetworkPeer
  private let service: any NetworkService
  private let gate: ConnectionGate
  private var context: ChannelHandlerContext?
  private var exchange: Exchange?
  /// The answer is complete, and what still arrives of its request is not wanted.
  private var isDiscarding = false
  private var discardedBytes = 0
  private var isClosing = false

  init(
    _ service: any NetworkService, _ peer: NetworkPeer, _ limits: NetworkLimits,
    _ gate: ConnectionGate
  ) {
    (self.service, self.peer, self.limits, self.gate) = (service, peer, limits, gate)
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    leave()
    self.context = nil
  }

  // MARK: What arrives

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isClosing { return }
    switch unwrapInboundIn(data) {
    case .head(let head): begin(head, context)
    case .body(let piece):
      if isDiscarding { return discard(piece.readableBytes, context) }
      gate.allow(limits.bodyMilliseconds)
      exchange?.handling.received(Array(piece.readableBytesView))
    case .end:
      gate.requestArrived()
      gate.allow(nil)
      exchange?.isRequestComplete = true
      if isDiscarding {
        isDiscarding = false
        gate.allow(limits.idleMilliseconds)
      } else {
        exchange?.handling.receivedAll()
      }
    }
  }

  private func discard(_ count: Int, _ context: ChannelHandlerContext) {
    discardedBytes += count
    if discardedBytes > RequestHandler.discardedBytesMax { context.close(promise: nil) }
  }

  private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    gate.headArrived()
    gate.allow(limits.bodyMilliseconds)
    let request: HTTPRequest
    do {
      request = try HTTPRequest(head, secure: peer.isSecure, splitCookie: false)
    } catch {
      context.close(promise: nil)
      return
    }
    let timer = LoopTimer(context.eventLoop)
    let channel = ExchangeChannel(self, timer, context.eventLoop)
    let handling = service.openExchange(request, from: peer, channel)
    timer.fire = { [weak handling, weak self] in
      handling?.timeIsUp()
      self?.flush()
    }
    exchange = Exchange(
      channel: channel, handling: handling, timer: timer, version: head.version,
      // After a request that asks to be upgraded, nothing more is read as requests.
      keepsAlive: head.isKeepAlive && !head.headers.contains(name: "upgrade"),
      hasNoBody: head.method == .HEAD)
    handling.opened()
    // Who waits for leave to send the body gets it, unless the answer was known without.
    let expects = head.headers["expect"].contains { $0.lowercased() == "100-continue" }
    if expects, let exchange, !exchange.hasHead {
      let leave = HTTPResponseHead(version: head.version, status: .continue)
      context.writeAndFlush(wrapOutboundOut(.head(leave)), promise: nil)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    flush()
    context.fireChannelReadComplete()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable {
      exchange?.handling.canSendMore()
      flush()
    }
    context.fireChannelWritabilityChanged()
  }

  func channelInactive(context: ChannelHandlerContext) {
    leave()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A request that does not become a WebSocket is an ordinary one.
    if error is NIOWebSocketUpgradeError { return }
    context.close(promise: nil)
  }

  private func leave() {
    gate.allow(nil)
    guard let exchange else { return }
    self.exchange = nil
    exchange.timer.end()
    exchange.handling.closed()
  }

  // MARK: What is sent

  func send(_ head: HTTPResponse, of channel: ExchangeChannel) {
    guard let exchange, exchange.channel === channel, !exchange.hasHead else { return }
    self.exchange?.hasHead = true
    if gate.isStopping { self.exchange?.keepsAlive = false }
    var answer = HTTPResponseHead(head)
    answer.version = exchange.version
    if self.exchange?.keepsAlive == false {
      answer.headers.replaceOrAdd(name: "Connection", value: "close")
    }
    context?.write(wrapOutboundOut(.head(answer)), promise: nil)
  }

  func send(_ piece: [UInt8], of channel: ExchangeChannel) {
    guard let exchange, exchange.channel === channel, !exchange.hasNoBody, !piece.isEmpty,
      let context
    else { return }
    let buffer = context.channel.allocator.buffer(bytes: piece)
    context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
  }

  func end(_ channel: ExchangeChannel) {
    guard let exchange, exchange.channel === channel, let context else { return }
    self.exchange = nil
    exchange.timer.end()
    setReading(true)
    if exchange.keepsAlive, exchange.isRequestComplete {
      gate.allow(limits.idleMilliseconds)
      context.write(wrapOutboundOut(.end(nil)), promise: nil)
    } else if exchange.keepsAlive {
      (isDiscarding, discardedBytes) = (true, 0)
      gate.allow(limits.bodyMilliseconds)
      context.write(wrapOutboundOut(.end(nil)), promise: nil)
    } else {
      closeAfterEnd(context)
    }
  }

  /// Sends the end, and closes when it has arrived, as far as can be told.
  private func closeAfterEnd(_ context: ChannelHandlerContext) {
    isClosing = true
    gate.allow(ConnectionGate.lingerMilliseconds)
    let channel = context.channel
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
      // What arrives still is read, so that the answer is not lost with it.
      channel.close(mode: .output, promise: nil)
    }
  }

  func abort(_ channel: ExchangeChannel) {
    guard let exchange, exchange.channel === channel else { return }
    self.exchange = nil
    exchange.timer.end()
    context?.close(promise: nil)
  }

  func flush() { context?.flush() }

  var isWritable: Bool { context?.channel.isWritable ?? false }

  var unsentBytes: Int {
    // A channel that is closed has none.
    (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  func setReading(_ isOn: Bool) {
    // A channel that is closed reads nothing.
    try? context?.channel.syncOptions?.setOption(.autoRead, value: isOn)
    if isOn { context?.read() }
  }
}

import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOWebSocket
import RunnelBase

/// Passes the requests of one connection to their handlers, one request after another.
final class RequestHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// The current request and its handler.
  private struct Exchange {
    var channel: ExchangeChannel
    var handling: any ExchangeHandling
    var timer: LoopTimer
    var version: HTTPVersion
    var keepsAlive: Bool
    var hasNoBody: Bool
    /// True if the request has a body.
    var bringsBody: Bool
    /// The household of a client behind a proxy; nil if the connection is the client's own.
    var household: String?
    let startTime: Int64
    var bodyBytes = 0
    var isRequestComplete = false
    var hasHead = false
    /// The answer, while it is held back.
    var held: HeldAnswer?
  }

  /// An answer that was given before the body of its request was there.
  private struct HeldAnswer {
    var head: HTTPResponse
    var pieces: [[UInt8]] = []
    var isWhole = false
  }

  /// The most unwanted bytes of a body that are read so that its sender reads the answer.
  private static let discardedBytesMax = 1_048_576

  private let server: ServedNetwork
  private let peer: NetworkPeer
  private let gate: ConnectionGate
  private let encoding: ResponseEncoding
  private let offer: UpgradeOffer
  private var allowance: Allowance
  /// The timer for the delayed end of an answer, when the client sends too many requests.
  private let lateTimer: LoopTimer
  private var context: ChannelHandlerContext?
  private var exchange: Exchange?
  /// True if the answer is complete, and only the end of the request, which has no body, is still to come.
  private var isAnswered = false
  private var isClosing = false
  /// True while the connection closes, and the body of the request that was answered is still to come.
  private var isRestAwaited = false
  private var discardedBytes = 0
  /// True if the network has taken the last answer of a connection that closes.
  private var isLastTaken = false
  /// True if the parser has refused a request, and the answer to that is awaited by the client.
  private var isLingering = false
  /// True if the client sends no more; it gets the answers to what it has sent.
  private var isInputClosed = false

  init(
    _ server: ServedNetwork, _ peer: NetworkPeer, _ gate: ConnectionGate,
    _ encoding: ResponseEncoding, _ offer: UpgradeOffer, _ eventLoop: any EventLoop
  ) {
    (self.server, self.peer, self.gate, self.encoding) = (server, peer, gate, encoding)
    self.offer = offer
    allowance = Allowance(perSecond: server.limits.requestsPerSecond)
    lateTimer = LoopTimer(eventLoop)
  }

  private var limits: NetworkLimits { server.limits }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    leave()
    self.context = nil
  }

  // MARK: Received bytes

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isClosing { return discard(unwrapInboundIn(data)) }
    switch unwrapInboundIn(data) {
    case .head(let head): begin(head, context)
    case .body(let piece):
      if exchange?.held?.isWhole == true { return }
      exchange?.bodyBytes += piece.readableBytes
      allowBody()
      exchange?.handling.received(Array(piece.readableBytesView))
    case .end:
      gate.requestArrived(isAnswered: isAnswered)
      gate.allow(nil)
      exchange?.isRequestComplete = true
      if isAnswered {
        isAnswered = false
        gate.allow(limits.idleMilliseconds, .idleTime)
      } else {
        let isAnswerWhole = exchange?.held?.isWhole == true
        release()
        if !isAnswerWhole { exchange?.handling.receivedAll() }
      }
    }
  }

  /// Passes over the rest of a request that was answered before; many clients read the answer when they have
  /// sent all.
  private func discard(_ part: HTTPServerRequestPart) {
    if !isRestAwaited { return }
    if case .body(let piece) = part {
      discardedBytes += piece.readableBytes
      if discardedBytes <= RequestHandler.discardedBytesMax { return }
    }
    isRestAwaited = false
    if isLastTaken { gate.allow(ConnectionGate.lingerMilliseconds) }
  }

  /// Sets the time for the next piece of the body: longer if it arrives fast, shorter if it
  /// trickles.
  private func allowBody() {
    guard let exchange, !exchange.isRequestComplete else { return }
    // A client that waits for this server is not slow.
    if gate.isPaused { return gate.allow(nil) }
    let now = NetworkClock.uptimeMilliseconds
    let earned = Int64(exchange.bodyBytes / max(1, limits.bodyBytesPerSecondMin)) * 1000
    let end = exchange.startTime + limits.bodyMilliseconds + earned
    if now + limits.bodyMilliseconds < end {
      gate.allow(limits.bodyMilliseconds, .bodyTime)
    } else {
      gate.allow(max(0, end - now), exchange.bodyBytes == 0 ? .bodyTime : .bodyRate)
    }
  }

  private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    gate.headArrived()
    let now = NetworkClock.uptimeMilliseconds
    allowance.spend(1, now: now)
    let (head, isUsable) = head.usable
    let request: HTTPRequest
    do {
      request = try HTTPRequest(head, secure: peer.isSecure, splitCookie: false)
    } catch {
      context.close(promise: nil)
      return
    }
    let timer = LoopTimer(context.eventLoop)
    let channel = ExchangeChannel(self, timer, context.eventLoop)
    let (sender, household, isFull) = server.admit(request, from: peer)
    let handling: any ExchangeHandling =
      if isFull {
        RefusedRequest(.tooManyRequests, "Too many connections of this address.", channel)
      } else if !isUsable {
        RefusedRequest(.badRequest, "A request names one host.", channel)
      } else if head.isCoded {
        RefusedRequest(.notImplemented, "A body may be chunked, and not coded otherwise.", channel)
      } else {
        server.service.openExchange(request, from: sender, channel)
      }
    timer.fire = { [weak handling, weak self] in
      handling?.timeIsUp()
      self?.flush()
    }
    exchange = Exchange(
      channel: channel, handling: handling, timer: timer, version: head.version,
      // After a request for an upgrade, no further requests are read.
      keepsAlive: head.isKeepAlive && !head.headers.contains(name: "upgrade") && !head.isCoded,
      hasNoBody: head.method == .HEAD, bringsBody: head.bringsBody, household: household,
      startTime: now)
    allowBody()
    handling.opened()
    // A client that waits for permission to send the body gets it, unless the answer is already
    // known.
    let expects = head.headers["expect"].contains { $0.lowercased() == "100-continue" }
    if expects, let exchange, !exchange.hasHead { encoding.sendContinue(head.version) }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed = event { inputClosed(context) }
    context.fireUserInboundEventTriggered(event)
  }

  private func inputClosed(_ context: ChannelHandlerContext) {
    isInputClosed = true
    if let exchange {
      if !exchange.isRequestComplete || exchange.handling.endsWithInput {
        return context.close(promise: nil)
      }
      self.exchange?.keepsAlive = false
    } else if unsentBytes == 0, lateTimer.time == nil {
      context.close(promise: nil)
    }
    // Else the idle time begins when the last answer was taken.
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
    // What arrives after a refused head is an error too.
    if isLingering { return }
    if case HTTPParserError.headerOverflow = error { server.service.reached(.headBytes, by: peer) }
    if !(error is HTTPParserError) || exchange != nil { return context.close(promise: nil) }
    linger(context)
  }

  /// Closes the connection when the client had the time to read the answer, which stands before what it still
  /// sends.
  private func linger(_ context: ChannelHandlerContext) {
    (isClosing, isLingering) = (true, true)
    // The bytes that still arrive are no head.
    gate.headArrived()
    gate.allow(ConnectionGate.lingerMilliseconds)
    context.channel.close(mode: .output, promise: nil)
  }

  private func leave() {
    gate.allow(nil)
    lateTimer.end()
    guard let exchange else { return }
    forget(exchange)
    exchange.handling.closed()
  }

  private func forget(_ exchange: Exchange) {
    self.exchange = nil
    exchange.timer.end()
    if let household = exchange.household { server.census.leaveBehindProxy(household) }
  }

  // MARK: Sent bytes

  func send(_ head: HTTPResponse, of channel: ExchangeChannel) {
    guard let exchange, exchange.channel === channel, !exchange.hasHead else { return }
    self.exchange?.hasHead = true
    if exchange.bringsBody, !exchange.isRequestComplete { return hold(head) }
    write(head)
  }

  /// Holds an answer back until what was received is handled: often the body came with the head.
  private func hold(_ head: HTTPResponse) {
    exchange?.held = HeldAnswer(head: head)
    guard let context else { return }
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.execute {
      bound.value.release()
      bound.value.flush()
    }
  }

  /// Sends the answer that is held back.
  private func release() {
    guard let exchange, let held = exchange.held else { return }
    self.exchange?.held = nil
    // Who passes requests on may never send the body of one that is refused: what it sends next on this
    // connection would be taken for that.
    if !exchange.isRequestComplete { self.exchange?.keepsAlive = false }
    write(held.head)
    for piece in held.pieces { send(piece, of: exchange.channel) }
    if held.isWhole { end(exchange.channel) }
  }

  private func write(_ head: HTTPResponse) {
    guard let exchange else { return }
    if gate.isStopping, !exchange.handling.outlastsListening { self.exchange?.keepsAlive = false }
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
    if exchange.held != nil {
      self.exchange?.held?.pieces.append(piece)
      return
    }
    let buffer = context.channel.allocator.buffer(bytes: piece)
    context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
  }

  func end(_ channel: ExchangeChannel) {
    guard let exchange, exchange.channel === channel, let context else { return }
    if exchange.held != nil {
      self.exchange?.held?.isWhole = true
      return
    }
    forget(exchange)
    setReading(true)
    if !exchange.keepsAlive {
      isRestAwaited = exchange.bringsBody && !exchange.isRequestComplete
      return closeAfterEnd(context)
    }
    isAnswered = !exchange.isRequestComplete
    if !isAnswered { gate.allow(limits.idleMilliseconds, .idleTime) }
    writeEnd(context)
  }

  /// Sends the end of an answer, after which the next request is served; delayed if there were too
  /// many.
  private func writeEnd(_ context: ChannelHandlerContext) {
    let ready = allowance.readyTime
    guard ready > NetworkClock.uptimeMilliseconds else {
      return writeEndNow(context)
    }
    server.service.reached(.requestRate, by: peer)
    lateTimer.fire = { [weak self] in
      guard let self, let context = self.context else { return }
      self.writeEndNow(context)
      context.flush()
    }
    lateTimer.set(ready)
  }

  private func writeEndNow(_ context: ChannelHandlerContext) {
    // A request that has arrived meanwhile begins within the write.
    gate.answered()
    offer.passing { context.write(wrapOutboundOut(.end(nil)), promise: nil) }
  }

  /// Sends the end, and closes when it has arrived, as far as this can be known.
  private func closeAfterEnd(_ context: ChannelHandlerContext) {
    isClosing = true
    // Who takes the answer slowly gets all of it.
    gate.allow(nil)
    let channel = context.channel
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
      bound.value.lastWasTaken()
      // Arriving bytes are still read, so that the answer is not lost with them.
      channel.close(mode: .output, promise: nil)
    }
  }

  private func lastWasTaken() {
    isLastTaken = true
    gate.allow(isRestAwaited ? limits.bodyMilliseconds : ConnectionGate.lingerMilliseconds)
  }

  func abort(_ channel: ExchangeChannel) {
    guard let exchange, exchange.channel === channel else { return }
    forget(exchange)
    context?.close(promise: nil)
  }

  func flush() { context?.flush() }

  var isWritable: Bool { context?.channel.isWritable ?? false }

  var unsentBytes: Int {
    // A closed channel has none.
    (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  func setReading(_ isOn: Bool) {
    if isOn { gate.resume(.exchange) } else { gate.pause(.exchange) }
    allowBody()
  }
}

/// The answer to a request from an address with too many connections.
///
/// Loop only.
private final class RefusedRequest: ExchangeHandling {
  private let status: HTTPResponse.Status
  private let body: [UInt8]
  private let channel: ExchangeChannel

  init(_ status: HTTPResponse.Status, _ text: String, _ channel: ExchangeChannel) {
    (self.status, self.channel) = (status, channel)
    body = Array("{\"error\":\"\(text)\"}".utf8)
  }

  func opened() {
    var head = HTTPResponse(status: status)
    head.headerFields[.contentType] = "application/json; charset=utf-8"
    head.headerFields[.contentLength] = String(body.count)
    channel.send(head)
    channel.send(body)
    channel.end()
    channel.flush()
  }

  func received(_ piece: [UInt8]) {}
  func receivedAll() {}
  func canSendMore() {}
  func timeIsUp() {}
  func closed() {}
}

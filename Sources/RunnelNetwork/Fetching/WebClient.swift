import NIOCore
import NIOHTTP1
import NIOPosix
import NIOTLS
import Synchronization

/// An HTTP/1.1 request.
public struct WebRequest: Sendable {
  /// The method, in capitals.
  public var method: String
  /// The address that it is sent to.
  public var address: WebAddress
  /// The headers, without those of the connection.
  public var headers: [(name: String, value: String)]
  /// The body; nil for none.
  public var body: [UInt8]?
  /// The longest wait for the head of the answer, in seconds; nil for the client's usual time.
  package var headSeconds: Int64?
  /// True if a redirect by 307 or 308 is followed though this is no GET request: what is in the body may go to
  /// another host.
  package var isSentOn = false

  /// Makes a request.
  public init(
    _ method: String, _ address: WebAddress, headers: [(name: String, value: String)] = [],
    body: [UInt8]? = nil
  ) {
    (self.method, self.address, self.headers, self.body) = (method, address, headers, body)
  }
}

/// Sends HTTP/1.1 requests, each on its own connection; `send` blocks the calling thread.
public struct WebClient: Sendable {
  /// The longest time without arriving bytes, in seconds: longer than the keep-alive interval of a
  /// stream.
  fileprivate static let silenceSeconds: Int64 = 75
  private static let redirectsMax = 3

  private let connector: WebConnector
  private let userAgent: String

  /// Makes a client.
  ///
  /// - Parameters:
  ///   - trustedFile: a PEM file of the certificates to trust, instead of those that the system
  ///     trusts.
  ///   - proxies: the proxy for addresses with TLS.
  ///   - userAgent: the value of the `User-Agent` header.
  public init(trustedFile: String? = nil, proxies: WebProxies = .none, userAgent: String) {
    connector = WebConnector(trustedFile: trustedFile, proxies: proxies)
    self.userAgent = userAgent
  }

  /// Sends a request and waits for the head of the answer.
  ///
  /// A redirect of a GET request (301, 302, 307, 308) is followed, and one of another request (307, 308) if it
  /// says so, with the same method and body; but never from TLS to an address without TLS. The credential is
  /// not sent to another host.
  ///
  /// - Precondition: the calling thread does not belong to NIO.
  /// - Throws: `NetworkError` that names the address and the problem there.
  public func send(_ request: WebRequest) throws(NetworkError) -> WebExchange {
    var request = request
    for _ in 0...WebClient.redirectsMax {
      let exchange = try ask(request)
      let isRead = request.method == "GET" && request.body == nil
      let followed = isRead ? [301, 302, 307, 308] : request.isSentOn ? [307, 308] : []
      guard followed.contains(exchange.status), let target = exchange.header("location")
      else { return exchange }
      exchange.close()
      guard let next = WebAddress(target), next.isSecure || !request.address.isSecure else {
        throw NetworkError(
          "\(request.address.bare) redirects to an address without TLS, or to an invalid one.")
      }
      if next.host != request.address.host {
        request.headers.removeAll { $0.name.lowercased() == "authorization" }
      }
      request.address = next
    }
    throw NetworkError("\(request.address.bare) redirects too often.")
  }

  /// Sends a request and reads the whole answer, without blocking the thread; redirects are not
  /// followed.
  ///
  /// - Throws: `NetworkError` that names the address and the problem there, or if the answer has
  ///   more bytes than allowed.
  public func fetch(
    _ request: WebRequest, bytesMax: Int
  ) async throws(NetworkError) -> (status: Int, body: [UInt8]) {
    let answer = try await answer(to: request, bytesMax: bytesMax)
    return (answer.status, answer.body)
  }

  /// Sends a request and reads the whole answer, without blocking the thread.
  ///
  /// Redirects are not followed. If the task is cancelled, the connection is closed.
  ///
  /// - Throws: `NetworkError` that names the address and the problem there, or if the answer has
  ///   more bytes than allowed.
  public func answer(
    to request: WebRequest, bytesMax: Int
  ) async throws(NetworkError) -> WebAnswer {
    let (answer, isWhole) = try await beginning(of: request, bytesMax: bytesMax)
    if isWhole { return answer }
    throw NetworkError(
      sent: "\(request.address.bare) sent an answer of more than \(bytesMax) bytes.")
  }

  /// Sends a request and reads the beginning of the answer, without blocking the thread; the connection
  /// is closed once there are enough bytes.
  ///
  /// Redirects are not followed. If the task is cancelled, the connection is closed.
  ///
  /// - Returns: the answer, and whether its body is whole: otherwise it has more than `bytesMax` bytes.
  /// - Throws: `NetworkError` that names the address and the problem there.
  package func beginning(
    of request: WebRequest, bytesMax: Int
  ) async throws(NetworkError) -> (answer: WebAnswer, isWhole: Bool) {
    let line = CancellableLine()
    do {
      return try await withTaskCancellationHandler {
        let exchange = try await begin(request, line).get()
        var body: [UInt8] = []
        while let piece = try await exchange.piece().get() {
          body += piece
          if body.count > bytesMax {
            exchange.close()
            return (WebAnswer(exchange, body), false)
          }
        }
        return (WebAnswer(exchange, body), true)
      } onCancel: {
        line.cancel()
      }
    } catch {
      throw WebClient.error(error, request)
    }
  }

  private func ask(_ request: WebRequest) throws(NetworkError) -> WebExchange {
    do {
      return try begin(request).wait()
    } catch {
      throw WebClient.error(error, request)
    }
  }

  private static func error(_ error: any Error, _ request: WebRequest) -> NetworkError {
    if let error = error as? NetworkError { return error }
    return NetworkError(
      "\(request.address.bare) cannot be asked: \(WebConnector.reason(error)).")
  }

  private func begin(
    _ request: WebRequest, _ line: CancellableLine? = nil
  ) -> EventLoopFuture<WebExchange> {
    let loop = SharedThreads.loops.any()
    let agent = userAgent
    return connector.connect(request.address, on: loop) {
      channel -> EventLoopFuture<WebExchange> in
      line?.hold(channel)
      let reader = ExchangeReader(channel, request, agent)
      let bound = NIOLoopBound(reader, eventLoop: loop)
      do {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHTTPClientHandlers()
        try pipeline.addHandler(reader)
      } catch {
        // The channel is closed already where the task was cancelled while it connected.
        reader.fail(error)
        channel.close(promise: nil)
      }
      return reader.head.futureResult.map { WebExchange($0, loop, bound, channel) }
    }
    .flatMap { $0 }
  }
}

/// The connection of a request that may be given up.
private final class CancellableLine: Sendable {
  private struct State {
    var channel: (any Channel)?
    var isCancelled = false
  }

  private let state = Mutex(State())

  func hold(_ channel: any Channel) {
    let isCancelled = state.withLock { state in
      state.channel = channel
      return state.isCancelled
    }
    if isCancelled { channel.close(promise: nil) }
  }

  func cancel() {
    let channel = state.withLock { state in
      state.isCancelled = true
      return state.channel
    }
    channel?.close(promise: nil)
  }
}

/// The whole answer to a request.
public struct WebAnswer: Sendable {
  /// The status.
  public let status: Int
  /// The body.
  public let body: [UInt8]
  private let headers: HTTPHeaders

  fileprivate init(_ exchange: WebExchange, _ body: [UInt8]) {
    (status, headers, self.body) = (exchange.status, exchange.headers, body)
  }

  /// Returns the values of the headers with a name.
  public func headers(_ name: String) -> [String] { headers[name] }
}

/// The answer to a request: its head, and its body in pieces on demand.
public final class WebExchange: Sendable {
  /// The status.
  public let status: Int
  fileprivate let headers: HTTPHeaders
  private let loop: any EventLoop
  private let reader: NIOLoopBound<ExchangeReader>
  private let channel: any Channel

  fileprivate init(
    _ head: HTTPResponseHead, _ loop: any EventLoop, _ reader: NIOLoopBound<ExchangeReader>,
    _ channel: any Channel
  ) {
    status = Int(head.status.code)
    headers = head.headers
    (self.loop, self.reader, self.channel) = (loop, reader, channel)
  }

  deinit { channel.close(promise: nil) }

  /// Returns the value of the first header with a name.
  public func header(_ name: String) -> String? { headers.first(name: name) }

  /// Waits for the next piece of the body; returns nil at its end.
  ///
  /// Pieces are read from the connection on demand, except for a small read-ahead.
  ///
  /// - Throws: `NetworkError` if the body is incomplete.
  public func next() throws(NetworkError) -> [UInt8]? {
    do {
      return try piece().wait()
    } catch let error as NetworkError {
      throw error
    } catch {
      throw NetworkError("The answer breaks off: \(WebConnector.reason(error)).")
    }
  }

  /// Returns the next piece of the body; nil at its end.
  fileprivate func piece() -> EventLoopFuture<[UInt8]?> {
    loop.flatSubmit { [reader] in reader.value.next() }
  }

  /// Reads the rest of the body.
  ///
  /// - Throws: `NetworkError` if it is incomplete, or has more bytes than allowed.
  public func body(bytesMax: Int) throws(NetworkError) -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try next() {
      bytes += piece
      if bytes.count > bytesMax {
        close()
        throw NetworkError("The answer has more than \(bytesMax) bytes.")
      }
    }
    return bytes
  }

  /// Closes the connection; the rest of the body is lost.
  public func close() { channel.close(promise: nil) }
}

/// Sends a request, and buffers the pieces of the answer until `next` takes them.
///
/// Loop only.
private final class ExchangeReader: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  let head: EventLoopPromise<HTTPResponseHead>
  private let channel: any Channel
  private let request: WebRequest
  private let userAgent: String
  private var pieces: [[UInt8]] = []
  private var waiter: EventLoopPromise<[UInt8]?>?
  private var timer: Scheduled<Void>?
  private var isComplete = false
  private var failure: (any Error)?
  /// False until the handler is in the channel and the TLS handshake, if any, is completed: until then
  /// nothing of the request leaves.
  private var isSent = false

  init(_ channel: any Channel, _ request: WebRequest, _ userAgent: String) {
    (self.channel, self.request, self.userAgent) = (channel, request, userAgent)
    head = channel.eventLoop.makePromise()
  }

  /// Returns the next piece; reads from the channel if none has arrived.
  func next() -> EventLoopFuture<[UInt8]?> {
    let loop = channel.eventLoop
    if !pieces.isEmpty { return loop.makeSucceededFuture(pieces.removeFirst()) }
    if isComplete { return loop.makeSucceededFuture(nil) }
    if let failure { return loop.makeFailedFuture(failure) }
    let promise = loop.makePromise(of: [UInt8]?.self)
    waiter = promise
    startTimer()
    channel.read()
    return promise.futureResult
  }

  func handlerAdded(context: ChannelHandlerContext) {
    guard context.channel.isActive else {
      return fail(NetworkError("the connection was closed before the request"))
    }
    isSent = !request.address.isSecure
    startTimer(seconds: request.headSeconds ?? WebClient.silenceSeconds)
    var head = HTTPRequestHead(
      version: .http1_1, method: HTTPMethod(rawValue: request.method), uri: request.address.target)
    head.headers.add(name: "Host", value: request.address.authority)
    head.headers.add(name: "User-Agent", value: userAgent)
    head.headers.add(name: "Connection", value: "close")
    for (name, value) in request.headers { head.headers.add(name: name, value: value) }
    if let body = request.body {
      head.headers.add(name: "Content-Length", value: String(body.count))
    }
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if let body = request.body {
      let buffer = channel.allocator.buffer(bytes: body)
      context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  /// Starts the timeout of a wait for bytes.
  private func startTimer(seconds: Int64 = WebClient.silenceSeconds) {
    timer?.cancel()
    let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
    timer = channel.eventLoop.scheduleTask(in: .seconds(seconds)) {
      bound.value.fail(NetworkError("it sent nothing for \(seconds) s"))
      bound.value.channel.close(promise: nil)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted = event { isSent = true }
    context.fireUserInboundEventTriggered(event)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      // The body is only read on demand.
      try? channel.syncOptions?.setOption(.autoRead, value: false)
      timer?.cancel()
      self.head.succeed(head)
    case .body(let piece): take(Array(piece.readableBytesView))
    case .end:
      isComplete = true
      hand(nil)
      context.close(promise: nil)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // The bytes may not have completed a piece.
    if waiter != nil { context.read() }
    context.fireChannelReadComplete()
  }

  private func take(_ piece: [UInt8]) {
    if piece.isEmpty { return }
    if waiter == nil { pieces.append(piece) } else { hand(piece) }
  }

  private func hand(_ piece: [UInt8]?) {
    timer?.cancel()
    let waiter = waiter
    self.waiter = nil
    waiter?.succeed(piece)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail(error)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(NetworkError("the connection was closed before the end"))
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    // A channel that was closed before the handler was added tells nothing else.
    fail(NetworkError("the connection was closed before the end"))
  }

  /// Ends all waits with an error; it is safe to call it again.
  func fail(_ error: any Error) {
    timer?.cancel()
    if isComplete || failure != nil { return }
    var named = NetworkError("\(request.address.bare): \(WebConnector.reason(error)).")
    named.isSent = isSent
    failure = named
    head.fail(named)
    let waiter = waiter
    self.waiter = nil
    waiter?.fail(named)
  }
}

import NIOCore
import NIOHTTP1

/// Answers what the parser refuses: 431 for a head that is too large, 400 for what is no request.
///
/// It stands where `HTTPServerProtocolErrorHandler` of NIO would, which answers 400 without a word. The error
/// goes on to the handler of requests, which ends the connection.
///
/// Loop only.
final class ParserFaultHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let headBytesMax: Int
  private let fieldsMax: Int
  /// True while an answer is sent, into which no other one may be put.
  private var isAnswering = false

  init(headBytesMax: Int, fieldsMax: Int) {
    (self.headBytesMax, self.fieldsMax) = (headBytesMax, fieldsMax)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if let error = error as? HTTPParserError, !isAnswering { answer(error, context) }
    context.fireErrorCaught(error)
  }

  private func answer(_ error: HTTPParserError, _ context: ChannelHandlerContext) {
    guard case .headerOverflow = error else {
      return send(.badRequest, "This is no request of HTTP/1.1.", [], context)
    }
    send(
      .requestHeaderFieldsTooLarge,
      "The head of a request has at most \(headBytesMax) bytes (--max-head), and \(fieldsMax) fields.",
      [("X-Runnel-Limit", NetworkLimit.headBytes.rawValue)], context)
  }

  private func send(
    _ status: HTTPResponseStatus, _ text: String, _ more: [(String, String)],
    _ context: ChannelHandlerContext
  ) {
    let body = ByteBuffer(string: "{\"error\":\"\(text)\"}")
    var headers = HTTPHeaders(more)
    headers.add(name: "Connection", value: "close")
    headers.add(name: "Content-Type", value: "application/json; charset=utf-8")
    headers.add(name: "Content-Length", value: String(body.readableBytes))
    let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let head): isAnswering = !(100..<200).contains(head.status.code)
    case .body: break
    case .end: isAnswering = false
    }
    context.write(data, promise: promise)
  }
}

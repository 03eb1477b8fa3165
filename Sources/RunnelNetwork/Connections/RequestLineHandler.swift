import NIOCore
import NIOHTTP1

/// Encodes the bytes of a request's first line that are not ASCII, as `%C3`, since NIO's parser refuses them.
///
/// It stands before the parser, and `mark`, which stands behind it, tells it where requests begin. Of requests
/// that were sent before the last one was answered, only one at the start of the arriving bytes is encoded.
/// Bodies are never changed.
///
/// Loop only.
final class RequestLineHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// Tells where requests begin.
  final class Mark: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// True from the end of a request until the line of the next one is complete.
    fileprivate var isInLine = true
    /// True once the connection may become a WebSocket, whose bytes are no requests.
    private var isOver = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        isInLine = false
        if head.headers.contains(name: "upgrade") { isOver = true }
      case .body: break
      case .end: isInLine = !isOver
      }
      context.fireChannelRead(data)
    }
  }

  let mark = Mark()

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard mark.isInLine else { return context.fireChannelRead(data) }
    let buffer = unwrapInboundIn(data)
    let bytes = buffer.readableBytesView
    // Empty lines may stand before a request.
    let start = bytes.firstIndex { $0 != 10 && $0 != 13 } ?? bytes.endIndex
    let end = bytes[start...].firstIndex(of: 10)
    if end != nil { mark.isInLine = false }
    let line = bytes[start..<(end ?? bytes.endIndex)]
    guard line.contains(where: { $0 >= 0x80 }) else { return context.fireChannelRead(data) }
    var encoded = context.channel.allocator.buffer(capacity: bytes.count + 2 * line.count)
    encoded.writeBytes(bytes[..<start])
    for byte in line {
      if byte < 0x80 {
        encoded.writeInteger(byte)
      } else {
        encoded.writeBytes([
          37, RequestLineHandler.digit(byte >> 4), RequestLineHandler.digit(byte & 15),
        ])
      }
    }
    encoded.writeBytes(bytes[line.endIndex...])
    context.fireChannelRead(wrapInboundOut(encoded))
  }

  /// The hexadecimal digit of a number below 16.
  private static func digit(_ number: UInt8) -> UInt8 { number < 10 ? 48 + number : 55 + number }
}

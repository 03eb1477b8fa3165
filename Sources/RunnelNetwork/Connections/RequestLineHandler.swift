import NIOCore
import NIOHTTP1

/// Encodes the bytes of a request's first line that are not ASCII, as `%C3`, since NIO's parser refuses them.
///
/// It stands before the parser, and `mark`, which stands behind it, tells it where requests begin. Only the
/// parser knows where a request ends, so it gets the bytes in pieces, none of which goes beyond an end: a head
/// and a body in chunks end with an empty line, another body after its length. Bodies are never changed.
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
    fileprivate private(set) var isOver = false
    /// The bytes of the body that are still to come, if its length is known.
    fileprivate private(set) var bodyBytes = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        isInLine = false
        bodyBytes = Mark.bodyBytes(of: head)
        if head.headers.contains(name: "upgrade") { isOver = true }
      case .body(let piece): bodyBytes = max(0, bodyBytes - piece.readableBytes)
      case .end: (isInLine, bodyBytes) = (!isOver, 0)
      }
      context.fireChannelRead(data)
    }

    private static func bodyBytes(of head: HTTPRequestHead) -> Int {
      if head.headers.contains(name: "transfer-encoding") { return 0 }
      // The parser refuses a length that is none.
      return head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
    }
  }

  let mark = Mark()
  /// The bytes that the parser has not got.
  private var waiting = ByteBuffer()
  /// True while pieces are passed on.
  private var isPassing = false
  /// True if nothing but the end of a line has come since the last one.
  private var isLineEmpty = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var arrived = unwrapInboundIn(data)
    if waiting.readableBytes == 0 { waiting = arrived } else { waiting.writeBuffer(&arrived) }
    if isPassing { return }
    isPassing = true
    while waiting.readableBytes > 0 {
      context.fireChannelRead(wrapInboundOut(nextPiece(context.channel.allocator)))
    }
    isPassing = false
    waiting = ByteBuffer()
  }

  /// The parser keeps what came after the request for which the connection changes.
  func removeHandler(
    context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken
  ) {
    let rest = waiting
    waiting = ByteBuffer()
    if rest.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(rest)) }
    context.leavePipeline(removalToken: removalToken)
  }

  // MARK: Pieces

  /// Takes the next bytes, which do not go beyond the end of a request.
  private func nextPiece(_ allocator: ByteBufferAllocator) -> ByteBuffer {
    if mark.isOver { return take(waiting.readableBytes) }
    if mark.bodyBytes > 0 { return take(min(mark.bodyBytes, waiting.readableBytes)) }
    if mark.isInLine { return nextLine(allocator) }
    return take(countToEmptyLine(from: 0))
  }

  /// Takes the line of a request, encoded, and what follows up to an empty line.
  private func nextLine(_ allocator: ByteBufferAllocator) -> ByteBuffer {
    let bytes = waiting.readableBytesView
    // Empty lines may stand before a request.
    let start = bytes.firstIndex { $0 != 10 && $0 != 13 } ?? bytes.endIndex
    let end = bytes[start...].firstIndex(of: 10)
    let line = bytes[start..<(end ?? bytes.endIndex)]
    let isEncoded = line.contains { $0 >= 0x80 }
    var count = bytes.count
    if let end {
      mark.isInLine = false
      isLineEmpty = true
      count = countToEmptyLine(from: bytes.distance(from: bytes.startIndex, to: end) + 1)
    }
    let piece = take(count)
    if !isEncoded { return piece }
    var encoded = allocator.buffer(capacity: count + 2 * line.count)
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
    encoded.writeBytes(piece.readableBytesView.dropFirst(line.endIndex - bytes.startIndex))
    return encoded
  }

  /// The number of bytes up to the end of the next empty line, or of all if there is none.
  private func countToEmptyLine(from start: Int) -> Int {
    waiting.withUnsafeReadableBytes { bytes in
      for place in start..<bytes.count {
        switch bytes[place] {
        case 10 where isLineEmpty: return place + 1
        case 10: isLineEmpty = true
        case 13: break
        default: isLineEmpty = false
        }
      }
      return bytes.count
    }
  }

  private func take(_ count: Int) -> ByteBuffer {
    guard let piece = waiting.readSlice(length: count) else {
      preconditionFailure("A piece is a part of what waits.")
    }
    return piece
  }

  /// The hexadecimal digit of a number below 16.
  private static func digit(_ number: UInt8) -> UInt8 { number < 10 ? 48 + number : 55 + number }
}

import NIOCore

/// Answers a client that speaks HTTP without TLS where TLS is spoken, in words that it understands.
///
/// It stands before TLS, and leaves when the first byte has come.
///
/// Loop only.
final class PlainTextHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private var isRefused = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isRefused { return }
    let bytes = unwrapInboundIn(data)
    guard let first = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) else { return }
    guard isLetter(first) else {
      context.fireChannelRead(data)
      return context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
    isRefused = true
    let text =
      "{\"error\":\"This server speaks HTTPS here: use an address that begins with https://.\"}"
    let answer =
      "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\n"
      + "Content-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)"
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(string: answer)))
      .whenComplete { _ in bound.value.close(promise: nil) }
  }

  /// True for a byte with which a method of HTTP may begin; a handshake of TLS begins with 0x16.
  private func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
}

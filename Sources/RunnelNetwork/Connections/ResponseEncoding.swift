import NIOCore
import NIOHTTP1
import NIOHTTPCompression

/// Decides which answers are compressed, and leaves the rest to NIO's compressor, which follows it.
///
/// The compressor prefers deflate if a client accepts both; gzip is understood by all. It also
/// takes every head for that of an answer, so the permission to send a body bypasses it.
///
/// Loop only.
final class ResponseEncoding: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// The shortest body that is compressed, in bytes.
  private static let bytesMin = 1024
  private static let accept = "Accept-Encoding"

  private var context: ChannelHandlerContext?

  /// Makes the compressor that must follow this handler.
  static func compressor() -> HTTPResponseCompressor {
    HTTPResponseCompressor { head, isSupported in
      let length = head.headers.first(name: "Content-Length").flatMap { Int($0) }
      let type = head.headers.first(name: "Content-Type") ?? ""
      // Events must leave at once, one by one.
      let isWorthIt = (length ?? .max) >= bytesMin && !type.hasPrefix("text/event-stream")
      if isWorthIt, head.status.mayHaveResponseBody {
        head.headers.add(name: "Vary", value: accept)
      }
      return isSupported && isWorthIt ? .compressIfPossible : .doNotCompress
    }
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data), head.headers.contains(name: Self.accept)
    else { return context.fireChannelRead(data) }
    let takesGzip = head.headers[canonicalForm: Self.accept].contains(where: Self.namesGzip)
    head.headers.remove(name: Self.accept)
    if takesGzip { head.headers.add(name: Self.accept, value: "gzip") }
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }

  /// True for `gzip`, `x-gzip` and `*`, unless their weight is 0.
  private static func namesGzip(_ element: Substring) -> Bool {
    let parts = element.lowercased().split(separator: ";").map { $0.filter { $0 != " " } }
    guard let name = parts.first, ["gzip", "x-gzip", "*"].contains(name) else { return false }
    guard let weight = parts.dropFirst().first(where: { $0.hasPrefix("q=") }) else { return true }
    return (Double(weight.dropFirst(2)) ?? 0) > 0
  }

  /// Sends the permission to send the body of a request.
  func sendContinue(_ version: HTTPVersion) {
    let leave = HTTPResponseHead(version: version, status: .continue)
    context?.writeAndFlush(wrapOutboundOut(.head(leave)), promise: nil)
  }
}

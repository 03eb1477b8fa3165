import NIOCore
import NIOWebSocket

/// A client sent a frame that no client may send.
struct ForbiddenFrame: Error {
  /// What is wrong with it, for a person.
  let text: String
}

/// Lets the frames pass that clients may send; from the first other one on, none.
///
/// Loop only. Source: RFC 6455, sections 5.1 and 5.2.
final class FrameGuard: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias InboundOut = WebSocketFrame

  private var isBroken = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isBroken { return }
    let frame = unwrapInboundIn(data)
    guard let text = FrameGuard.fault(of: frame) else { return context.fireChannelRead(data) }
    isBroken = true
    context.fireErrorCaught(ForbiddenFrame(text: text))
  }

  private static func fault(of frame: WebSocketFrame) -> String? {
    if frame.maskKey == nil { return "Frames of clients have a mask." }
    if frame.rsv1 || frame.rsv2 || frame.rsv3 { return "No extension was agreed on." }
    switch frame.opcode {
    case .continuation, .text, .binary, .connectionClose, .ping, .pong: return nil
    default: return "This kind of frame does not exist."
    }
  }
}

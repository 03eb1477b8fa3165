import NIOCore

/// Notes the bytes of a connection that the network has not taken, whatever is sent on it.
///
/// It stands next to the network: what TLS has encrypted counts, and the end of the connection does not wait
/// for the client. Loop only.
final class UnsentHandler: ChannelDuplexHandler, UnsentHolder {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer

  private let share: UnsentShare
  private let reached: (NetworkLimit) -> Void
  private var context: ChannelHandlerContext?

  init(_ share: UnsentShare, reached: @escaping (NetworkLimit) -> Void) {
    (self.share, self.reached) = (share, reached)
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { forget() }

  func channelInactive(context: ChannelHandlerContext) {
    forget()
    context.fireChannelInactive()
  }

  func flush(context: ChannelHandlerContext) {
    context.flush()
    note()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    note()
    context.fireChannelWritabilityChanged()
  }

  var unsentBytes: Int {
    // A closed channel has none.
    (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  func endUnread() {
    guard let context else { return }
    reached(.unsentBytes)
    context.close(promise: nil)
  }

  private func note() {
    if context != nil { share.note(unsentBytes, of: self) }
  }

  private func forget() {
    context = nil
    share.note(0, of: self)
  }
}

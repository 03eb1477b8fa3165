import Glibc
import NIOCore

/// Notes the bytes of a connection that the network has not taken, whatever is sent on it, and closes the
/// connection when none were taken for too long.
///
/// It stands next to the network: what TLS has encrypted counts, and the end of the connection does not wait
/// for the client. Loop only.
final class UnsentHandler: ChannelDuplexHandler, UnsentHolder {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The longest time between two looks at what the client takes, in milliseconds.
  private static let lookMilliseconds: Int64 = 1000

  let share: UnsentShare
  private let stallMilliseconds: Int64
  private let timer: LoopTimer
  private let reached: (NetworkLimit) -> Void
  private var context: ChannelHandlerContext?
  /// The bytes that were sent since the connection began.
  private var writtenBytes = 0

  init(
    _ share: UnsentShare, stallMilliseconds: Int64, _ eventLoop: any EventLoop,
    reached: @escaping (NetworkLimit) -> Void
  ) {
    (self.share, self.stallMilliseconds, self.reached) = (share, stallMilliseconds, reached)
    timer = LoopTimer(eventLoop)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    timer.fire = { [weak self] in self?.look() }
  }

  func handlerRemoved(context: ChannelHandlerContext) { forget() }

  func channelInactive(context: ChannelHandlerContext) {
    forget()
    context.fireChannelInactive()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    writtenBytes += unwrapOutboundIn(data).readableBytes
    context.write(data, promise: promise)
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

  /// The bytes that the client's system has acknowledged: what the own system keeps for it is not taken yet.
  ///
  /// Of what is no TCP connection, those that were given to the own system.
  var takenBytes: Int {
    guard let provider = context?.channel as? any SocketOptionProvider else {
      return writtenBytes - unsentBytes
    }
    var acknowledged: Int?
    // On the loop of the channel, the answer is there at once.
    let answer: EventLoopFuture<AcknowledgedBytes> = provider.unsafeGetSocketOption(
      level: SocketOptionLevel(IPPROTO_TCP), name: SocketOptionName(TCP_INFO))
    answer.assumeIsolated().whenSuccess { acknowledged = Int(clamping: $0.count) }
    return acknowledged ?? writtenBytes - unsentBytes
  }

  /// The bytes that were sent and not taken, in the own system too.
  var untakenBytes: Int { max(0, writtenBytes - takenBytes) }

  func endUnread() { end(.unsentBytes) }

  private func end(_ limit: NetworkLimit) {
    guard let context else { return }
    reached(limit)
    context.close(promise: nil)
  }

  private func note() {
    if context == nil { return }
    let bytes = unsentBytes
    share.note(bytes, of: self)
    if bytes > 0, timer.time == nil { setTimer(stalled: 0) }
  }

  /// Looks whether the client takes what waits for it.
  private func look() {
    let now = NetworkClock.uptimeMilliseconds
    guard let stalled = share.stalledMilliseconds(of: self, now: now) else { return note() }
    if stalled >= stallMilliseconds { end(.stallTime) } else { setTimer(stalled: stalled) }
  }

  private func setTimer(stalled: Int64) {
    let wait = min(stallMilliseconds - stalled, UnsentHandler.lookMilliseconds)
    timer.set(NetworkClock.uptimeMilliseconds + max(1, wait))
  }

  private func forget() {
    timer.end()
    context = nil
    share.note(0, of: self)
  }
}

/// The beginning of the system's `tcp_info`, up to the number of acknowledged bytes.
///
/// Source: Linux, `include/uapi/linux/tcp.h`.
private struct AcknowledgedBytes: Sendable {
  /// The fields before it have 120 bytes.
  private var before:
    (
      UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64,
      UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64
    )
  var count: UInt64
}

import NIOCore
import Synchronization

/// What a connection may do before anybody serves it, and while nobody does: the bytes of a head, and the
/// time that it waits.
///
/// It is the first to see what arrives, after TLS. Loop only, but for `stop`.
final class ConnectionGate: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// So long a connection is kept whose answer was the last.
  static let lingerMilliseconds: Int64 = 1_000
  /// The most bytes that arrive at once, of which a part may be after a head.
  private static let readBytesMax = 131_072

  private let limits: NetworkLimits
  private let timer: LoopTimer
  private let stopping: ServerStop
  private var headBytes = 0
  private var isAwaitingHead = true

  init(_ limits: NetworkLimits, _ stopping: ServerStop, _ eventLoop: any EventLoop) {
    (self.limits, self.stopping) = (limits, stopping)
    timer = LoopTimer(eventLoop)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    timer.fire = { channel.close(promise: nil) }
    allow(limits.firstHeadMilliseconds)
  }

  func handlerRemoved(context: ChannelHandlerContext) { timer.end() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isAwaitingHead {
      headBytes += unwrapInboundIn(data).readableBytes
      if headBytes > limits.headBytesMax + ConnectionGate.readBytesMax {
        context.close(promise: nil)
        return
      }
    }
    context.fireChannelRead(data)
  }

  /// A head has arrived; what follows is its body.
  func headArrived() { (headBytes, isAwaitingHead) = (0, false) }

  /// A request has arrived; another one may follow.
  func requestArrived() { (headBytes, isAwaitingHead) = (0, true) }

  /// The connection is one for messages, and has other limits.
  func becameSocket() {
    isAwaitingHead = false
    timer.set(nil)
  }

  /// Closes the connection after so long, unless something else is allowed before; nil for never.
  func allow(_ milliseconds: Int64?) {
    timer.set(milliseconds.map { NetworkClock.uptimeMilliseconds + $0 })
  }

  /// True if no more requests are served.
  var isStopping: Bool { stopping.isOn }
}

/// Whether a server is ending.
final class ServerStop: Sendable {
  private let flag = Atomic<Bool>(false)

  var isOn: Bool { flag.load(ordering: .relaxed) }

  func set() { flag.store(true, ordering: .relaxed) }
}

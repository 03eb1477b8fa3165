import NIOCore
import NIOTLS
import RunnelBase
import Synchronization

/// What a connection may do before anybody serves it, and while nobody does: the bytes of a head, the
/// bytes in a second, and the time that it waits.
///
/// It is the first to see what arrives, after TLS. Loop only, but for `stop`.
final class ConnectionGate: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// Why nothing is read.
  enum Pause: Hashable {
    /// Who serves the request has no room.
    case exchange
    /// The client sent more than it may in a second.
    case rate
  }

  /// So long a connection is kept whose answer was the last.
  static let lingerMilliseconds: Int64 = 1_000
  /// The most bytes that arrive at once, of which a part may be after a head.
  private static let readBytesMax = 131_072

  private let limits: NetworkLimits
  private let timer: LoopTimer
  private let rateTimer: LoopTimer
  private let stopping: ServerStop
  private let isSecure: Bool
  private let reached: (NetworkLimit) -> Void
  private var context: ChannelHandlerContext?
  private var headBytes = 0
  private var isAwaitingHead = true
  private var isSocket = false
  private var allowance: Allowance
  private var pauses: Set<Pause> = []
  /// The limit whose time is running; nil if reaching it is no offence.
  private var timed: NetworkLimit?

  init(
    _ limits: NetworkLimits, _ stopping: ServerStop, _ eventLoop: any EventLoop, isSecure: Bool,
    reached: @escaping (NetworkLimit) -> Void
  ) {
    (self.limits, self.stopping, self.isSecure) = (limits, stopping, isSecure)
    self.reached = reached
    timer = LoopTimer(eventLoop)
    rateTimer = LoopTimer(eventLoop)
    allowance = Allowance(perSecond: limits.bytesPerSecond)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    let channel = context.channel
    timer.fire = { [weak self] in
      if let limit = self?.timed { self?.reached(limit) }
      channel.close(promise: nil)
    }
    rateTimer.fire = { [weak self] in self?.resume(.rate) }
    if isSecure {
      allow(limits.handshakeMilliseconds, .handshakeTime)
    } else {
      allow(limits.firstHeadMilliseconds, .headTime)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    timer.end()
    rateTimer.end()
    self.context = nil
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted = event, isAwaitingHead {
      allow(limits.firstHeadMilliseconds, .headTime)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let count = unwrapInboundIn(data).readableBytes
    if isAwaitingHead {
      headBytes += count
      if headBytes > limits.headBytesMax + ConnectionGate.readBytesMax {
        reached(.headBytes)
        context.close(promise: nil)
        return
      }
    }
    if !isSocket { spend(count) }
    context.fireChannelRead(data)
  }

  /// The client sent bytes; if they were too many, nothing is read until they are paid off.
  private func spend(_ count: Int) {
    let now = NetworkClock.uptimeMilliseconds
    allowance.spend(count, now: now)
    let ready = allowance.readyTime
    if ready <= now || pauses.contains(.rate) { return }
    reached(.byteRate)
    pause(.rate)
    rateTimer.set(ready)
  }

  // MARK: Reading

  /// Reads nothing until `resume`.
  func pause(_ reason: Pause) {
    pauses.insert(reason)
    // A channel that is closed reads nothing.
    try? context?.channel.syncOptions?.setOption(.autoRead, value: false)
  }

  /// Reads again, unless there is another reason not to.
  func resume(_ reason: Pause) {
    guard pauses.remove(reason) != nil, pauses.isEmpty else { return }
    try? context?.channel.syncOptions?.setOption(.autoRead, value: true)
    context?.read()
  }

  /// True if nothing is read now.
  var isPaused: Bool { !pauses.isEmpty }

  // MARK: Phases

  /// A head has arrived; what follows is its body.
  func headArrived() { (headBytes, isAwaitingHead) = (0, false) }

  /// A request has arrived; another one may follow.
  func requestArrived() { (headBytes, isAwaitingHead) = (0, true) }

  /// The connection is one for messages, and has other limits.
  func becameSocket() {
    (isAwaitingHead, isSocket) = (false, true)
    allow(nil)
    rateTimer.set(nil)
    resume(.rate)
  }

  /// Closes the connection after so long, unless something else is allowed before; nil for never.
  ///
  /// - Parameters:
  ///   - milliseconds: how long.
  ///   - limit: what is counted then; nil for nothing.
  func allow(_ milliseconds: Int64?, _ limit: NetworkLimit? = nil) {
    timed = limit
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

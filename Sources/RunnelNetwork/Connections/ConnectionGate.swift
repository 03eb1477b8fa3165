import NIOCore
import NIOTLS
import RunnelBase
import Synchronization

/// The gate of a connection before and between requests: it limits the bytes of a head, the bytes
/// per second, and the waiting time.
///
/// While a request waits for its answer, the pipeline of HTTP reads no further: what has arrived by then
/// belongs to requests that are answered later, and is no part of a long head.
///
/// It is the first to see arriving bytes, after TLS. Loop only, except `stop`.
final class ConnectionGate: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// The reason why reading pauses.
  enum Pause: Hashable {
    /// The handler of the request has no room.
    case exchange
    /// The client exceeded its bytes per second.
    case rate
  }

  /// The time that a connection is kept after its last answer, in milliseconds.
  static let lingerMilliseconds: Int64 = 1_000
  /// The most bytes that arrive at once, some of which may follow a head.
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
  /// True while a request has arrived and its answer is not complete.
  private var isAnswering = false
  private var isSocket = false
  /// True if the client sends no more.
  private var isInputClosed = false
  private var allowance: Allowance
  private var pauses: Set<Pause> = []
  /// The limit that is timed now; nil if reaching the time is no offense.
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
      if let self, timed == .idleTime, hasUnsent {
        // The client still takes the last answer.
        return allow(limits.idleMilliseconds, .idleTime)
      }
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

  private var hasUnsent: Bool {
    // A closed channel has none.
    ((try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0) > 0
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
    if case ChannelEvent.inputClosed = event {
      isInputClosed = true
      // A WebSocket has two directions.
      if isSocket { return context.close(promise: nil) }
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let count = unwrapInboundIn(data).readableBytes
    if isAwaitingHead, !isAnswering {
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

  /// Counts bytes from the client; if they were too many, reading pauses.
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

  /// Pauses reading until `resume`.
  func pause(_ reason: Pause) {
    pauses.insert(reason)
    // A closed channel reads nothing.
    try? context?.channel.syncOptions?.setOption(.autoRead, value: false)
  }

  /// Resumes reading, unless there is another reason to pause.
  func resume(_ reason: Pause) {
    guard pauses.remove(reason) != nil, pauses.isEmpty else { return }
    try? context?.channel.syncOptions?.setOption(.autoRead, value: true)
    context?.read()
  }

  /// True if reading pauses.
  var isPaused: Bool { !pauses.isEmpty }

  // MARK: Phases

  /// Notes that a head has arrived; its body follows.
  func headArrived() { (headBytes, isAwaitingHead) = (0, false) }

  /// Notes that a request has arrived; another one may follow.
  ///
  /// - Parameter isAnswered: whether its answer is complete.
  func requestArrived(isAnswered: Bool) {
    (headBytes, isAwaitingHead, isAnswering) = (0, true, !isAnswered)
  }

  /// Notes that the answer to the last request is complete.
  func answered() { (headBytes, isAnswering) = (0, false) }

  /// Notes that the connection became a WebSocket, which has other limits.
  func becameSocket() {
    (isAwaitingHead, isSocket) = (false, true)
    allow(nil)
    rateTimer.set(nil)
    resume(.rate)
    guard isInputClosed, let channel = context?.channel else { return }
    channel.eventLoop.execute { channel.close(promise: nil) }
  }

  /// Closes the connection after a time, unless this is called again before; nil for never.
  ///
  /// - Parameters:
  ///   - milliseconds: the time.
  ///   - limit: the limit that is counted then; nil for none.
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

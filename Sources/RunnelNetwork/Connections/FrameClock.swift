import NIOCore

/// Measures for how long a message of a WebSocket is incomplete, whatever signs of life its client gives.
///
/// While the server does not read, the time does not run. It is the first to see the bytes of frames. Loop
/// only.
final class FrameClock: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let milliseconds: Int64
  private let timer: LoopTimer
  private var scanner = FrameScanner()
  /// Since when the time runs; nil if it does not.
  private var start: Int64?
  /// The time that ran before.
  private var spent: Int64 = 0
  private var isPaused = false
  /// True if bytes arrived since the last `takeArrival`.
  private var hasArrival = false
  /// Called when a message has been incomplete for too long.
  var fire: (() -> Void)?

  init(_ milliseconds: Int64, _ eventLoop: any EventLoop) {
    self.milliseconds = milliseconds
    timer = LoopTimer(eventLoop)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    timer.fire = { [weak self] in self?.fire?() }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    timer.end()
    fire = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let ended = scanner.endCount
    unwrapInboundIn(data).withUnsafeReadableBytes { scanner.take($0) }
    if scanner.endCount != ended { stop(spent: 0) }
    hasArrival = true
    run()
    context.fireChannelRead(data)
  }

  /// Returns whether bytes arrived since the last call, also a part of a frame.
  func takeArrival() -> Bool {
    defer { hasArrival = false }
    return hasArrival
  }

  /// Notes whether the server reads.
  func setReading(_ isOn: Bool) {
    isPaused = !isOn
    if isOn {
      run()
    } else if let start {
      stop(spent: spent + NetworkClock.uptimeMilliseconds - start)
    }
  }

  private func run() {
    if start != nil || isPaused || !scanner.isIncomplete { return }
    let now = NetworkClock.uptimeMilliseconds
    start = now
    timer.set(now + max(0, milliseconds - spent))
  }

  private func stop(spent: Int64) {
    (start, self.spent) = (nil, spent)
    timer.set(nil)
  }
}

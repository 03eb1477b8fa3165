import NIOCore
import NIOWebSocket

/// A WebSocket, for its handler.
///
/// Sent texts leave at the next `flush`, or after the received bytes were handled.
///
/// Loop only.
public final class SocketChannel {
  /// The time after which a client that does not confirm the end is dropped, in seconds.
  private static let closingSeconds: Int64 = 2

  /// The loop.
  public let loop: NetworkLoop
  private let channel: any Channel
  private let timer: LoopTimer
  /// The context of the frame encoder; handlers before it see bytes.
  private let encoder: ChannelHandlerContext
  private let frames: SocketFrameCache
  private let clock: FrameClock
  private let unsent: UnsentHandler
  private(set) var isClosing = false
  private var signs = SocketSigns()

  init(
    _ channel: any Channel, _ timer: LoopTimer, _ encoder: ChannelHandlerContext,
    _ frames: SocketFrameCache, _ clock: FrameClock, _ unsent: UnsentHandler
  ) {
    (self.channel, self.timer, self.encoder, self.frames) = (channel, timer, encoder, frames)
    (self.clock, self.unsent) = (clock, unsent)
    loop = NetworkLoop(channel.eventLoop)
  }

  /// Sends a text.
  ///
  /// A text that was just sent to another client of the loop is not encoded again.
  public func send(_ text: [UInt8]) {
    if isClosing { return }
    encoder.write(NIOAny(frames.frame(of: text, channel.allocator)), promise: nil)
  }

  /// Sends several texts, which leave together.
  ///
  /// Texts that were just sent to another client of the loop are not encoded again.
  public func send(_ texts: [[UInt8]]) {
    if isClosing { return }
    guard let all = frames.frames(of: texts, channel.allocator) else {
      for text in texts { send(text) }
      return
    }
    encoder.write(NIOAny(all), promise: nil)
  }

  /// Sends a ping.
  public func ping() {
    if isClosing { return }
    flush()
    signs.pinged(untaken: unsent.untakenBytes, taken: unsent.takenBytes)
    write(.ping, ByteBuffer())
  }

  /// Returns whether the client sent any bytes since the last call, or has taken some of the many that stand
  /// before the last ping, to which it has no answer yet.
  package func takeSign() -> Bool {
    if clock.takeArrival() { signs.arrived() }
    return signs.take(taken: unsent.takenBytes)
  }

  func pong(_ data: ByteBuffer) {
    if isClosing { return }
    write(.pong, data)
    flush()
  }

  private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
    channel.write(WebSocketFrame(fin: true, opcode: opcode, data: data), promise: nil)
  }

  /// Hands the sent frames to the network.
  public func flush() { channel.flush() }

  /// The number of sent bytes that the network has not taken.
  public var unsentBytes: Int {
    // A closed channel has none.
    (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  /// Sets the deadline, in milliseconds on `NetworkClock`; nil for none.
  public func setDeadline(_ time: Int64?) { timer.set(time) }

  /// Pauses reading until `resumeReading`.
  public func pauseReading() { setReading(false) }

  /// Resumes reading.
  public func resumeReading() { setReading(true) }

  private func setReading(_ isOn: Bool) {
    clock.setReading(isOn)
    // A closed channel reads nothing.
    try? channel.syncOptions?.setOption(.autoRead, value: isOn)
    if isOn { channel.read() }
  }

  /// Sends a close frame, and closes the connection.
  public func close(code: UInt16, text: String) { close(code: code, text: text, lingers: false) }

  /// Sends a close frame, and closes the connection; with `lingers` once the client had the time to read the
  /// frame, since one that still sends would lose it.
  func close(code: UInt16, text: String, lingers: Bool) {
    if isClosing { return }
    isClosing = true
    var data = channel.allocator.buffer(capacity: 2 + text.utf8.count)
    data.write(webSocketErrorCode: WebSocketErrorCode(codeNumber: Int(code)))
    // A control frame has at most 125 bytes.
    data.writeString(String(text.prefix(100)))
    let channel = channel
    let frame = WebSocketFrame(fin: true, opcode: .connectionClose, data: data)
    channel.writeAndFlush(frame).whenComplete { _ in
      channel.close(mode: lingers ? .output : .all, promise: nil)
    }
    channel.eventLoop.scheduleTask(in: .seconds(SocketChannel.closingSeconds)) {
      channel.close(promise: nil)
    }
  }
}

/// Passes the frames of a WebSocket to its handler.
final class SocketHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame

  private let make: (SocketChannel) -> any SocketHandling
  private let frames: SocketFrameCache
  private let clock: FrameClock
  private let bytesMax: Int
  private let reached: (NetworkLimit) -> Void
  private var socket: SocketChannel?
  private var timer: LoopTimer?
  private var handling: (any SocketHandling)?

  init(
    _ frames: SocketFrameCache, _ clock: FrameClock, bytesMax: Int,
    _ reached: @escaping (NetworkLimit) -> Void,
    _ make: @escaping (SocketChannel) -> any SocketHandling
  ) {
    (self.frames, self.clock, self.bytesMax) = (frames, clock, bytesMax)
    (self.reached, self.make) = (reached, make)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let timer = LoopTimer(context.eventLoop)
    // A closed connection has neither.
    guard let encoder = SocketHandler.context(WebSocketFrameEncoder.self, context),
      let unsent = SocketHandler.context(UnsentHandler.self, context)?.handler as? UnsentHandler
    else { return context.close(promise: nil) }
    let socket = SocketChannel(context.channel, timer, encoder, frames, clock, unsent)
    let handling = make(socket)
    (self.socket, self.timer, self.handling) = (socket, timer, handling)
    timer.fire = { [weak handling, weak socket] in
      handling?.timeIsUp()
      socket?.flush()
    }
    clock.fire = { [weak socket, reached] in
      reached(.messageTime)
      socket?.close(code: 1008, text: "The rest of a message did not arrive in time.")
    }
    handling.opened()
    socket.flush()
  }

  private static func context<Handler: ChannelHandler>(
    _ type: Handler.Type, _ context: ChannelHandlerContext
  ) -> ChannelHandlerContext? {
    try? context.pipeline.syncOperations.context(handlerType: type)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    if socket?.isClosing == true {
      if frame.opcode == .connectionClose { context.close(promise: nil) }
      return
    }
    switch frame.opcode {
    case .text: handling?.received(Array(frame.unmaskedData.readableBytesView))
    case .ping:
      handling?.heard()
      socket?.pong(frame.unmaskedData)
    case .pong: handling?.heard()
    case .connectionClose: socket?.close(code: 1000, text: "")
    case .binary: socket?.close(code: 1003, text: "Only text is understood.")
    default: break
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    socket?.flush()
    context.fireChannelReadComplete()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { handling?.canSendMore() }
    context.fireChannelWritabilityChanged()
  }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { end() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // What arrives after a refused frame is an error too.
    if socket?.isClosing == true { return }
    if let error = error as? NIOWebSocketError {
      refuse(error)
    } else if case NIOWebSocketFrameAggregator.Error
      .didReceiveFragmentBeforeReceivingTextOrBinaryFrame =
      error
    {
      socket?.close(code: 1002, text: "A message does not begin with a continuation.")
    } else if case NIOWebSocketFrameAggregator.Error.receivedNewFrameWithoutFinishingPrevious =
      error
    {
      socket?.close(code: 1002, text: "A message begins before the last one has ended.")
    } else if error is NIOWebSocketFrameAggregator.Error {
      reached(.frameBytes)
      socket?.close(
        code: 1009,
        text: "A message has more than \(bytesMax) bytes (--max-frame), or 1024 frames.",
        lingers: true)
    } else if let fault = error as? ForbiddenFrame {
      socket?.close(code: 1002, text: fault.text)
    } else {
      context.close(promise: nil)
    }
  }

  private func refuse(_ error: NIOWebSocketError) {
    guard case .invalidFrameLength = error else {
      socket?.close(code: 1002, text: "A control frame is too long, or comes in pieces.")
      return
    }
    reached(.frameBytes)
    socket?.close(
      code: 1009, text: "A frame has more than \(bytesMax) bytes (--max-frame).", lingers: true)
  }

  private func end() {
    timer?.end()
    clock.fire = nil
    let handling = handling
    (self.handling, socket, timer) = (nil, nil, nil)
    handling?.closed()
  }
}

/// The handler of a WebSocket from an address with too many connections.
///
/// Loop only.
final class FullSocket: SocketHandling {
  private let channel: SocketChannel

  init(_ channel: SocketChannel) { self.channel = channel }

  func opened() { channel.close(code: 1013, text: "Too many connections of this address.") }
  func received(_ text: [UInt8]) {}
  func heard() {}
  func timeIsUp() {}
  func closed() {}
}

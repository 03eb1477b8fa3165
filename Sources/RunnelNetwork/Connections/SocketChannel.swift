import NIOCore
import NIOWebSocket

/// A WebSocket, as who serves it uses it.
///
/// What is sent leaves at the next `flush`, or at the end of what was received.
///
/// Loop only.
public final class SocketChannel {
  /// After so long a client that does not take its end is left.
  private static let closingSeconds: Int64 = 2

  /// The loop.
  public let loop: NetworkLoop
  private let channel: any Channel
  private let timer: LoopTimer
  /// Before this handler, frames are bytes.
  private let encoder: ChannelHandlerContext
  private let frames: SocketFrameCache
  private var isClosing = false

  init(
    _ channel: any Channel, _ timer: LoopTimer, _ encoder: ChannelHandlerContext,
    _ frames: SocketFrameCache
  ) {
    (self.channel, self.timer, self.encoder, self.frames) = (channel, timer, encoder, frames)
    loop = NetworkLoop(channel.eventLoop)
  }

  /// Sends a text.
  ///
  /// One that was sent to another client of the loop just before costs nothing to encode.
  public func send(_ text: [UInt8]) {
    if isClosing { return }
    encoder.write(NIOAny(frames.frame(of: text, channel.allocator)), promise: nil)
  }

  /// Sends a ping.
  public func ping() {
    if isClosing { return }
    write(.ping, ByteBuffer())
  }

  func pong(_ data: ByteBuffer) {
    if isClosing { return }
    write(.pong, data)
    flush()
  }

  private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
    channel.write(WebSocketFrame(fin: true, opcode: opcode, data: data), promise: nil)
  }

  /// Hands to the network what was sent.
  public func flush() { channel.flush() }

  /// The bytes that were sent and that the network has not taken.
  public var unsentBytes: Int {
    // A channel that is closed has none.
    (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  /// Sets the deadline, in milliseconds on `NetworkClock`; nil for none.
  public func setDeadline(_ time: Int64?) { timer.set(time) }

  /// Reads no more until `resumeReading`.
  public func pauseReading() { setReading(false) }

  /// Reads again.
  public func resumeReading() { setReading(true) }

  private func setReading(_ isOn: Bool) {
    // A channel that is closed reads nothing.
    try? channel.syncOptions?.setOption(.autoRead, value: isOn)
    if isOn { channel.read() }
  }

  /// Sends a close frame, and closes the connection.
  public func close(code: UInt16, text: String) {
    if isClosing { return }
    isClosing = true
    var data = channel.allocator.buffer(capacity: 2 + text.utf8.count)
    data.write(webSocketErrorCode: WebSocketErrorCode(codeNumber: Int(code)))
    // A control frame has 125 bytes at most.
    data.writeString(String(text.prefix(100)))
    let channel = channel
    let frame = WebSocketFrame(fin: true, opcode: .connectionClose, data: data)
    channel.writeAndFlush(frame).whenComplete { _ in channel.close(promise: nil) }
    channel.eventLoop.scheduleTask(in: .seconds(SocketChannel.closingSeconds)) {
      channel.close(promise: nil)
    }
  }
}

/// Drives who serves a WebSocket by what arrives.
final class SocketHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame

  private let make: (SocketChannel) -> any SocketHandling
  private let frames: SocketFrameCache
  private let tooLarge: () -> Void
  private var socket: SocketChannel?
  private var timer: LoopTimer?
  private var handling: (any SocketHandling)?

  init(
    _ frames: SocketFrameCache, _ tooLarge: @escaping () -> Void,
    _ make: @escaping (SocketChannel) -> any SocketHandling
  ) {
    (self.frames, self.tooLarge, self.make) = (frames, tooLarge, make)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let timer = LoopTimer(context.eventLoop)
    guard let encoder = SocketHandler.encoder(context) else { return context.close(promise: nil) }
    let socket = SocketChannel(context.channel, timer, encoder, frames)
    let handling = make(socket)
    (self.socket, self.timer, self.handling) = (socket, timer, handling)
    timer.fire = { [weak handling, weak socket] in
      handling?.timeIsUp()
      socket?.flush()
    }
    handling.opened()
    socket.flush()
  }

  private static func encoder(_ context: ChannelHandlerContext) -> ChannelHandlerContext? {
    // A connection that is closed has none.
    try? context.pipeline.syncOperations.context(handlerType: WebSocketFrameEncoder.self)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
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

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { end() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if case NIOWebSocketError.invalidFrameLength = error { tooLarge() }
    if error is NIOWebSocketFrameAggregator.Error {
      tooLarge()
      socket?.close(code: 1009, text: "A message is too long, or has too many pieces.")
    } else if let fault = error as? ForbiddenFrame {
      socket?.close(code: 1002, text: fault.text)
    } else {
      context.close(promise: nil)
    }
  }

  private func end() {
    timer?.end()
    let handling = handling
    (self.handling, socket, timer) = (nil, nil, nil)
    handling?.closed()
  }
}

/// A WebSocket of an address that has too many.
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

import NIOCore
import NIOWebSocket
import Synchronization

/// What is done with a WebSocket that was opened from here.
///
/// All is called on the socket's loop, and must not wait.
public protocol DialedSocketHandling: Sendable {
  /// It is open; at most once.
  func opened()
  /// The text of a message arrived.
  func received(_ text: [UInt8])
  /// The server gave another sign of life.
  func heard()
  /// It ended, or could not be opened, for a reason in words: the last call. It is not called after `close`.
  func closed(_ reason: String)
}

/// A WebSocket that is opened from here.
///
/// ```
///   opening --opened--> open --closed, close--> ended
///      +----failed, close-----------------------^
/// ```
/// Any thread may call it. What is sent before it is open, or after its end, is dropped.
public final class DialedSocket: Sendable {
  private struct State {
    var channel: (any Channel)?
    var isEnded = false
    /// The bytes that arrived and that nobody has done with.
    var untakenBytes = 0
    var isPaused = false
  }

  /// The most bytes that wait to be taken; beyond it, reading pauses until half of them are.
  static let untakenBytesMax = 8_388_608

  /// After so long a server that does not take its end is left.
  private static let closingSeconds: Int64 = 2

  private let state = Mutex(State())
  private let handling: any DialedSocketHandling

  init(_ handling: any DialedSocketHandling) { self.handling = handling }

  // MARK: What is done with it

  /// Sends texts, one message each.
  public func send(_ texts: [[UInt8]]) {
    guard let channel = openChannel() else { return }
    channel.eventLoop.execute {
      for text in texts {
        channel.write(
          DialedSocket.frame(.text, channel.allocator.buffer(bytes: text)), promise: nil)
      }
      channel.flush()
    }
  }

  /// So many bytes of what arrived are done with, and there is room for more.
  public func taken(_ count: Int) {
    let resumed = state.withLock { state -> (any Channel)? in
      state.untakenBytes -= count
      guard state.isPaused, state.untakenBytes <= DialedSocket.untakenBytesMax / 2 else {
        return nil
      }
      state.isPaused = false
      return state.isEnded ? nil : state.channel
    }
    guard let resumed else { return }
    resumed.eventLoop.execute {
      // A channel that is closed reads nothing.
      try? resumed.syncOptions?.setOption(.autoRead, value: true)
      resumed.read()
    }
  }

  /// Ends it, or the attempt to open it.
  public func close(code: UInt16, text: String) {
    guard let channel = end() else { return }
    channel.eventLoop.execute { DialedSocket.close(channel, code: code, text: text) }
  }

  private func openChannel() -> (any Channel)? {
    state.withLock { $0.isEnded ? nil : $0.channel }
  }

  /// Notes that it ended; returns the channel if it had not ended before and was open.
  private func end() -> (any Channel)? {
    state.withLock { state in
      defer { state.isEnded = true }
      return state.isEnded ? nil : state.channel
    }
  }

  // MARK: What happens to it

  /// It is open; returns false if nobody wants it any more.
  func didOpen(_ channel: any Channel) -> Bool {
    let isWanted = state.withLock { state in
      if !state.isEnded { state.channel = channel }
      return !state.isEnded
    }
    if isWanted { handling.opened() }
    return isWanted
  }

  func didReceive(_ text: [UInt8]) {
    let (isOpen, paused) = state.withLock { state -> (Bool, (any Channel)?) in
      if state.isEnded { return (false, nil) }
      state.untakenBytes += text.count
      let isFull = state.untakenBytes > DialedSocket.untakenBytesMax
      guard isFull, !state.isPaused else { return (true, nil) }
      state.isPaused = true
      return (true, state.channel)
    }
    if isOpen { handling.received(text) }
    // A channel that is closed reads nothing anyway.
    try? paused?.syncOptions?.setOption(.autoRead, value: false)
  }

  func didHear() { if openChannel() != nil { handling.heard() } }

  /// It ended by itself, or could not be opened.
  func didEnd(_ reason: String) {
    let isNews = state.withLock { state in
      defer { state.isEnded = true }
      return !state.isEnded
    }
    if isNews { handling.closed(reason) }
  }

  // MARK: Frames

  /// A frame of a client, which is masked.
  ///
  /// Source: RFC 6455, section 5.3.
  static func frame(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> WebSocketFrame {
    WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
  }

  static func close(_ channel: any Channel, code: UInt16, text: String) {
    var data = channel.allocator.buffer(capacity: 2 + text.utf8.count)
    data.write(webSocketErrorCode: WebSocketErrorCode(codeNumber: Int(code)))
    // A control frame has 125 bytes at most.
    data.writeString(String(text.prefix(30)))
    channel.writeAndFlush(frame(.connectionClose, data), promise: nil)
    let timer = channel.eventLoop.scheduleTask(in: .seconds(closingSeconds)) {
      channel.close(promise: nil)
    }
    channel.closeFuture.whenComplete { _ in timer.cancel() }
  }
}

/// Tells a socket what arrives.
///
/// Loop only.
final class DialedSocketHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  private let socket: DialedSocket
  private var reason = "the connection was closed"

  init(_ socket: DialedSocket) { self.socket = socket }

  func handlerAdded(context: ChannelHandlerContext) {
    if !socket.didOpen(context.channel) { context.close(promise: nil) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .text: socket.didReceive(Array(frame.unmaskedData.readableBytesView))
    case .ping:
      let pong = DialedSocket.frame(.pong, frame.unmaskedData)
      context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
      socket.didHear()
    case .pong: socket.didHear()
    case .connectionClose: takeClose(frame.unmaskedData, context)
    case .binary:
      reason = "it sent what is no text"
      DialedSocket.close(context.channel, code: 1003, text: "Only text is understood.")
    default: break
    }
  }

  private func takeClose(_ data: ByteBuffer, _ context: ChannelHandlerContext) {
    var data = data
    let code = data.readWebSocketErrorCode()
    let text = data.readString(length: data.readableBytes) ?? ""
    reason = text.isEmpty ? "the server closed the connection" : "the server says: \(text)"
    var answer = context.channel.allocator.buffer(capacity: 2)
    answer.write(webSocketErrorCode: code ?? .normalClosure)
    let channel = context.channel
    context.writeAndFlush(wrapOutboundOut(DialedSocket.frame(.connectionClose, answer)))
      .whenComplete { _ in channel.close(promise: nil) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    socket.didEnd(reason)
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { socket.didEnd(reason) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    reason = WebConnector.reason(error)
    context.close(promise: nil)
  }
}

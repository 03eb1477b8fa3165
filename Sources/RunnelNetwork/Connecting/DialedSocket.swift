import NIOCore
import NIOWebSocket
import Synchronization

/// The receiver of the events of a WebSocket to a server.
///
/// The functions are called on the socket's loop, and must not block.
public protocol DialedSocketHandling: Sendable {
  /// Called when the socket is open; at most once.
  func opened()
  /// Called when the text of a message arrived.
  func received(_ text: [UInt8])
  /// Called when a message of bytes arrived; returns false if only text is understood, which ends
  /// the socket.
  func received(binary: [UInt8]) -> Bool
  /// Called when the server gave another sign of life, such as a pong.
  func heard()
  /// Called last: the socket ended or could not be opened, for this reason. It is not called after
  /// `close`.
  func closed(_ reason: String)
}

extension DialedSocketHandling {
  /// Understands text only.
  public func received(binary: [UInt8]) -> Bool { false }
}

/// A WebSocket to a server.
///
/// ```
///   opening --opened--> open --closed, close--> ended
///      +----failed, close-----------------------^
/// ```
/// Any thread may call it. Texts that are sent before it is open or after its end are dropped.
public final class DialedSocket: Sendable {
  private struct State {
    var channel: (any Channel)?
    var isEnded = false
    /// The number of received bytes that `taken` has not reported as handled.
    var untakenBytes = 0
    var isPaused = false
  }

  /// The bytes of memory of a message besides its own, about: small ones take more than they hold.
  private static let messageBytes = 128
  /// The most untaken bytes; beyond that, reading pauses until half of them are taken.
  static let untakenBytesMax = 8_388_608

  /// The longest wait for the server's close frame, in seconds.
  private static let closingSeconds: Int64 = 2

  private let state = Mutex(State())
  private let handling: any DialedSocketHandling

  init(_ handling: any DialedSocketHandling) { self.handling = handling }

  // MARK: Functions for the owner

  /// Sends texts, each as one message.
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

  /// Sends bytes as one message.
  public func send(binary: [UInt8]) {
    guard let channel = openChannel() else { return }
    channel.eventLoop.execute {
      let frame = DialedSocket.frame(.binary, channel.allocator.buffer(bytes: binary))
      channel.writeAndFlush(frame, promise: nil)
    }
  }

  /// Reports that `messageCount` received messages with `count` bytes in all were handled, so that
  /// there is room for more.
  public func taken(_ count: Int, messages messageCount: Int = 1) {
    let resumed = state.withLock { state -> (any Channel)? in
      state.untakenBytes -= count + messageCount * DialedSocket.messageBytes
      guard state.isPaused, state.untakenBytes <= DialedSocket.untakenBytesMax / 2 else {
        return nil
      }
      state.isPaused = false
      return state.isEnded ? nil : state.channel
    }
    guard let resumed else { return }
    resumed.eventLoop.execute {
      // A closed channel reads nothing.
      try? resumed.syncOptions?.setOption(.autoRead, value: true)
      resumed.read()
    }
  }

  /// Closes the socket, or ends the attempt to open it.
  public func close(code: UInt16, text: String) {
    guard let channel = end() else { return }
    channel.eventLoop.execute { DialedSocket.close(channel, code: code, text: text) }
  }

  private func openChannel() -> (any Channel)? {
    state.withLock { $0.isEnded ? nil : $0.channel }
  }

  /// Marks the socket as ended; returns the channel if it was open until now.
  private func end() -> (any Channel)? {
    state.withLock { state in
      defer { state.isEnded = true }
      return state.isEnded ? nil : state.channel
    }
  }

  // MARK: Events of the connection

  /// Marks the socket as open; returns false if it was closed meanwhile.
  func didOpen(_ channel: any Channel) -> Bool {
    let isWanted = state.withLock { state in
      if !state.isEnded { state.channel = channel }
      return !state.isEnded
    }
    if isWanted { handling.opened() }
    return isWanted
  }

  func didReceive(_ text: [UInt8]) {
    if count(text) { handling.received(text) }
  }

  /// Passes bytes on; returns false if the handling understands text only.
  func didReceive(binary: [UInt8]) -> Bool {
    count(binary) ? handling.received(binary: binary) : true
  }

  /// Counts what arrived, and pauses reading if too much of it is not taken; returns false after
  /// the end.
  private func count(_ message: [UInt8]) -> Bool {
    let (isOpen, paused) = state.withLock { state -> (Bool, (any Channel)?) in
      if state.isEnded { return (false, nil) }
      state.untakenBytes += message.count + DialedSocket.messageBytes
      let isFull = state.untakenBytes > DialedSocket.untakenBytesMax
      guard isFull, !state.isPaused else { return (true, nil) }
      state.isPaused = true
      return (true, state.channel)
    }
    // A closed channel reads nothing.
    try? paused?.syncOptions?.setOption(.autoRead, value: false)
    return isOpen
  }

  func didHear() { if openChannel() != nil { handling.heard() } }

  /// Reports that the connection ended or could not be opened.
  func didEnd(_ reason: String) {
    let isNews = state.withLock { state in
      defer { state.isEnded = true }
      return !state.isEnded
    }
    if isNews { handling.closed(reason) }
  }

  // MARK: Frames

  /// Makes a frame of a client, which is masked.
  ///
  /// Source: RFC 6455, section 5.3.
  static func frame(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> WebSocketFrame {
    WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
  }

  static func close(_ channel: any Channel, code: UInt16, text: String) {
    var data = channel.allocator.buffer(capacity: 2 + text.utf8.count)
    data.write(webSocketErrorCode: WebSocketErrorCode(codeNumber: Int(code)))
    // A control frame has at most 125 bytes.
    data.writeString(String(text.prefix(30)))
    channel.writeAndFlush(frame(.connectionClose, data), promise: nil)
    let timer = channel.eventLoop.scheduleTask(in: .seconds(closingSeconds)) {
      channel.close(promise: nil)
    }
    channel.closeFuture.whenComplete { _ in timer.cancel() }
  }
}

/// Passes the frames of a connection to its socket.
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
      if socket.didReceive(binary: Array(frame.unmaskedData.readableBytesView)) { return }
      reason = "it sent a message that is not UTF-8 text"
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

  /// Says that a message is larger than what is taken; nil for another error.
  static func tooLarge(_ error: any Error) -> String? {
    let isTooLarge =
      if case NIOWebSocketError.invalidFrameLength = error { true } else {
        error is NIOWebSocketFrameAggregator.Error
      }
    if !isTooLarge { return nil }
    return "a message is too large: at most \(SocketDialer.frameBytesMax) bytes are taken at once"
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    reason = DialedSocketHandler.tooLarge(error) ?? WebConnector.reason(error)
    context.close(promise: nil)
  }
}

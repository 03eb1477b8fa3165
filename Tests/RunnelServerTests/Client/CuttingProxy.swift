import NIOCore
import NIOPosix
import Synchronization

/// A proxy on this machine that forwards bytes, and cuts connections on request.
///
/// In tunnel mode it first reads a CONNECT request; it ignores the host that the request names.
final class CuttingProxy: Sendable {
  private struct State {
    var open: [any Channel] = []
    var listener: (any Channel)?
    var refuses = false
    var heads: [String] = []
    var connectionCount = 0
  }

  private let target: Int
  private let opensTunnels: Bool
  private let state = Mutex(State())

  private init(_ target: Int, _ opensTunnels: Bool) {
    (self.target, self.opensTunnels) = (target, opensTunnels)
  }

  /// Starts a proxy for a port of this machine.
  static func start(to target: Int, opensTunnels: Bool = false) async throws -> CuttingProxy {
    let proxy = CuttingProxy(target, opensTunnels)
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: opensTunnels)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try proxy.serve(channel) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    proxy.state.withLock { $0.listener = listener }
    return proxy
  }

  var port: Int { state.withLock { $0.listener?.localAddress?.port ?? 0 } }

  /// The number of connections that were made through it.
  var connectionCount: Int { state.withLock { $0.connectionCount } }

  /// The tunnel requests that arrived.
  var heads: [String] { state.withLock { $0.heads } }

  /// Ends all connections at once, without close frames; refuses new ones on request.
  func cut(refusing refuses: Bool = false) {
    let open = state.withLock { state in
      state.refuses = refuses
      defer { state.open = [] }
      return state.open
    }
    for channel in open { channel.close(promise: nil) }
  }

  /// Accepts connections again.
  func mend() { state.withLock { $0.refuses = false } }

  func stop() async {
    cut(refusing: true)
    // It was open until now.
    try? await state.withLock { $0.listener }?.close()
  }

  private func serve(_ channel: any Channel) throws {
    let isRefused = state.withLock { state in
      if !state.refuses {
        state.open.append(channel)
        state.connectionCount += 1
      }
      return state.refuses
    }
    if isRefused { return channel.close(promise: nil) }
    if opensTunnels {
      try channel.pipeline.syncOperations.addHandler(
        TunnelRequest { [weak self] head, channel in
          self?.state.withLock { $0.heads.append(head) }
          self?.connect(channel, saying: "HTTP/1.1 200 Connection established\r\n\r\n")
        })
    } else {
      try channel.pipeline.syncOperations.addHandler(
        ActiveChannel { [weak self] in self?.connect($0, saying: "") })
    }
  }

  private func connect(_ channel: any Channel, saying text: String) {
    ClientBootstrap(group: channel.eventLoop)
      .channelOption(.autoRead, value: false)
      .connect(host: "127.0.0.1", port: target)
      .whenComplete { [weak self] result in
        guard case .success(let other) = result else { return channel.close(promise: nil) }
        self?.state.withLock { $0.open.append(other) }
        // A connection that was cut meanwhile has no pipeline.
        try? channel.pipeline.syncOperations.addHandler(PassOn(to: other))
        try? other.pipeline.syncOperations.addHandler(PassOn(to: channel))
        if !text.isEmpty {
          channel.writeAndFlush(channel.allocator.buffer(string: text), promise: nil)
        }
        for side in [channel, other] {
          side.setOption(.autoRead, value: true).whenSuccess { side.read() }
        }
      }
  }
}

/// Tells when a channel is active: reads that are asked for before are lost.
private final class ActiveChannel: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let begin: (any Channel) -> Void

  init(_ begin: @escaping (any Channel) -> Void) { self.begin = begin }

  func channelActive(context: ChannelHandlerContext) {
    context.fireChannelActive()
    begin(context.channel)
  }
}

/// Writes what arrives to another channel.
private final class PassOn: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let other: any Channel

  init(to other: any Channel) { self.other = other }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    other.writeAndFlush(unwrapInboundIn(data), promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}

/// Reads a tunnel request.
private final class TunnelRequest: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  private let take: (String, any Channel) -> Void
  private var head = ""

  init(_ take: @escaping (String, any Channel) -> Void) { self.take = take }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    head += String(buffer: unwrapInboundIn(data))
    guard head.hasSuffix("\r\n\r\n") else { return }
    let channel = context.channel
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    take(head, channel)
  }
}

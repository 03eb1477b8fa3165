import NIOCore
import NIOPosix
import Synchronization

/// A proxy on loopback that passes bytes on to a port, and counts them.
final class CountingProxy {
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let channel: any Channel
  private let counter = Counter()

  private final class Counter: Sendable {
    let bytes = Atomic<Int>(0)
  }

  /// Starts to pass on what comes.
  init(to port: Int) throws {
    let counter = counter
    channel = try ServerBootstrap(group: group)
      .childChannelOption(ChannelOptions.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { near in
        ClientBootstrap(group: near.eventLoop)
          .channelOption(ChannelOptions.tcpOption(.tcp_nodelay), value: 1)
          .connect(host: "127.0.0.1", port: port)
          .flatMapThrowing { far in
            try near.pipeline.syncOperations.addHandler(Passing(to: far, counter))
            try far.pipeline.syncOperations.addHandler(Passing(to: near, counter))
          }
      }
      .bind(host: "127.0.0.1", port: 0).wait()
  }

  var port: Int { channel.localAddress?.port ?? 0 }

  /// The number of bytes that went either way since the start.
  var byteCount: Int { counter.bytes.load(ordering: .relaxed) }

  func stop() throws {
    try channel.close().wait()
    try group.syncShutdownGracefully()
  }

  /// Passes what one side sends to the other; loop only.
  private final class Passing: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel
    private let counter: Counter

    init(to other: any Channel, _ counter: Counter) {
      (self.other, self.counter) = (other, counter)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = unwrapInboundIn(data)
      counter.bytes.add(bytes.readableBytes, ordering: .relaxed)
      other.writeAndFlush(bytes, promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }
  }
}

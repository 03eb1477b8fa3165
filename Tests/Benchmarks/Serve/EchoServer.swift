import NIOCore
import NIOPosix
import Synchronization

/// A server that sends back what it is sent, and nothing else: what any server on the same sockets costs.
final class EchoServer {
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let channel: any Channel
  private let clients = Clients()

  private final class Clients: Sendable {
    let list = Mutex<[any Channel]>([])
  }

  init() throws {
    let clients = clients
    channel = try ServerBootstrap(group: group)
      .childChannelOption(ChannelOptions.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        clients.list.withLock { $0.append(channel) }
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(EchoHandler())
        }
      }
      .bind(host: "127.0.0.1", port: 0).wait()
  }

  var port: Int { channel.localAddress?.port ?? 0 }

  func stop() throws {
    try channel.close().wait()
    for client in clients.list.withLock({ $0 }) {
      // Its client may have closed it before.
      try? client.close().wait()
    }
    // What the ends of connections left for later is done now.
    try group.next().submit {}.wait()
    try group.syncShutdownGracefully()
  }
}

/// Sends back what arrives; loop only.
private final class EchoHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    context.writeAndFlush(wrapOutboundOut(unwrapInboundIn(data)), promise: nil)
  }
}

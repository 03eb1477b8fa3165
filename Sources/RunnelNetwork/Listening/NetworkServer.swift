import Glibc
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import Synchronization

/// The certificate and the key with which a server proves its identity.
public struct TLSFiles: Hashable, Sendable {
  /// The file of the certificates, the server's own first, in PEM.
  public var certificate: String
  /// The file of the key, in PEM.
  public var key: String

  /// Makes a pair of files.
  public init(certificate: String, key: String) {
    (self.certificate, self.key) = (certificate, key)
  }

  /// When the server's certificate expires, in milliseconds since 1970; nil if it cannot be read.
  package var expiry: Int64? {
    let chain = try? NIOSSLCertificate.fromPEMFile(certificate)
    return chain?.first.map { Int64($0.notValidAfter) * 1000 }
  }
}

/// The sockets of a server: it listens, and serves HTTP/1.1 and WebSockets.
///
/// ```
///   new --start--> listening --stopListening--> ending --end--> ended
/// ```
public final class NetworkServer: Sendable {
  private let addresses: [NetworkAddress]
  /// The path of a Unix socket; nil for none.
  private let socketFile: String?
  private let served: ServedNetwork
  private let group: MultiThreadedEventLoopGroup
  private let stopping = ServerStop()
  private let hasEnded = Atomic<Bool>(false)
  private let listeners = Mutex<[any Channel]>([])
  private let tls: TLSFiles?
  private let context: Mutex<NIOSSLContext?>

  /// Makes a server that does not listen yet.
  ///
  /// - Parameters:
  ///   - addresses: the addresses to listen on.
  ///   - socketFile: the path of a Unix socket to listen on, for its owner only; nil for none.
  ///   - tls: the files for TLS; nil to serve without.
  ///   - limits: the limits of the connections.
  ///   - proxies: the proxies whose statements about their clients are trusted.
  ///   - threadCount: the number of loops; nil for the number of cores.
  ///   - service: the service for connections.
  /// - Throws: `NetworkError` if the files for TLS cannot be used.
  public convenience init(
    _ addresses: [NetworkAddress], socketFile: String? = nil, tls: TLSFiles?,
    limits: NetworkLimits, proxies: [AddressRange] = [], threadCount: Int? = nil,
    service: any NetworkService
  ) throws(NetworkError) {
    try self.init(
      addresses, socketFile: socketFile, tls: tls, limits: limits, proxies: proxies,
      threadCount: threadCount, unsent: UnsentBytes(max: limits.unsentBytesMax), service: service)
  }

  /// Makes a server that does not listen yet, whose unsent bytes are a part of a sum.
  package init(
    _ addresses: [NetworkAddress], socketFile: String? = nil, tls: TLSFiles?,
    limits: NetworkLimits, proxies: [AddressRange] = [], threadCount: Int? = nil,
    unsent: UnsentBytes, service: any NetworkService
  ) throws(NetworkError) {
    self.addresses = addresses
    self.socketFile = socketFile
    self.tls = tls
    context = Mutex(
      try tls.map { (files) throws(NetworkError) in try NetworkServer.context(files) })
    let group = MultiThreadedEventLoopGroup(
      numberOfThreads: max(1, threadCount ?? System.coreCount))
    self.group = group
    served = ServedNetwork(
      limits: limits, proxies: TrustedProxies(ranges: proxies), census: Census(limits),
      service: service, unsent: unsent, loops: group.makeIterator().map(\.self))
  }

  /// The number of connections.
  public var connectionCount: Int { served.census.count }

  // MARK: TLS

  private static func context(_ files: TLSFiles) throws(NetworkError) -> NIOSSLContext {
    do {
      let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
      let key = try NIOSSLPrivateKey(file: files.key, format: .pem)
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
      configuration.minimumTLSVersion = .tlsv12
      configuration.applicationProtocols = ["http/1.1"]
      // Who does not read does not confirm the end either: a server that ends waits for that.
      configuration.shutdownTimeout = .milliseconds(500)
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw NetworkError(
        "TLS cannot be used with \(files.certificate) and \(files.key): \(error). "
          + "Both must be in PEM, and belong together.")
    }
  }

  /// Reloads the files for TLS; open connections keep the old ones.
  ///
  /// - Throws: `NetworkError` if they cannot be used; then the old ones stay.
  public func reloadTLS() throws(NetworkError) {
    guard let tls else { return }
    let fresh = try NetworkServer.context(tls)
    context.withLock { $0 = fresh }
  }

  // MARK: Listening

  /// Starts to listen.
  ///
  /// - Returns: the addresses, and those that were skipped because the machine does not have them.
  /// - Throws: `NetworkError` if an address fails for another reason, or none is left.
  public func start() async throws -> (bound: [NetworkAddress], skipped: [NetworkAddress]) {
    var bound: [NetworkAddress] = []
    var skipped: [NetworkAddress] = []
    for var address in addresses {
      // A free port is the same for all addresses.
      if address.port == 0, let port = bound.first?.port { address.port = port }
      do {
        let channel = try await bootstrap(isVersion6: address.isVersion6)
          .bind(host: address.host, port: address.port).get()
        listeners.withLock { $0.append(channel) }
        address.port = channel.localAddress?.port ?? address.port
        bound.append(address)
      } catch let error as IOError where NetworkServer.isLacking(error) {
        skipped.append(address)
      } catch let error as IOError where error.errnoCode == EADDRINUSE {
        await stopListening()
        throw NetworkError("\(address) is in use by another program: name another one.")
      } catch {
        await stopListening()
        throw NetworkError("Nobody can listen on \(address): \(error).")
      }
    }
    if let socketFile { try await listen(onFile: socketFile) }
    if bound.isEmpty, socketFile == nil {
      let names = skipped.map(\.description).joined(separator: ", ")
      throw NetworkError("This machine has none of the addresses \(names): name others.")
    }
    return (bound, skipped)
  }

  private func listen(onFile path: String) async throws {
    let descriptor = try SocketFile.bind(path)
    do {
      let channel = try await bootstrap(isInternet: false).withBoundSocket(descriptor).get()
      listeners.withLock { $0.append(channel) }
    } catch {
      await stopListening()
      throw NetworkError("Nobody can listen on \(path): \(error).")
    }
  }

  private static func isLacking(_ error: IOError) -> Bool {
    error.errnoCode == EADDRNOTAVAIL || error.errnoCode == EAFNOSUPPORT
  }

  /// Takes no more connections; answers in progress are completed, and then their connections
  /// closed, but for those of sessions that poll.
  public func stopListening() async {
    stopping.set()
    let open = listeners.withLock { listeners in
      defer { listeners = [] }
      return listeners
    }
    // A channel that is already closed is fine.
    for channel in open { try? await channel.close() }
    // The socket's file would stay otherwise, without a server.
    if let socketFile, !open.isEmpty { unlink(socketFile) }
  }

  /// Closes all connections and ends the threads; the server must not be used afterwards.
  public func end() async {
    if hasEnded.exchange(true, ordering: .relaxed) { return }
    await stopListening()
    await settle()
    // This fails only for a group that has ended.
    try? await group.shutdownGracefully()
  }

  /// Waits until the connections that were accepted last belong to their loops.
  ///
  /// Such a connection is prepared on its loop, then taken by that of the listener, and then added to its own:
  /// each of these must find the loop of the next one running.
  private func settle() async {
    for _ in 0..<3 {
      for loop in group.makeIterator() { try? await loop.submit {}.get() }
    }
  }

  private func bootstrap(
    isInternet: Bool = true, isVersion6: Bool = false
  ) -> ServerBootstrap {
    var bootstrap = ServerBootstrap(group: group).serverChannelOption(.backlog, value: 1024)
    if isVersion6 {
      // Every IPv4 address has a listener of its own, at the same port.
      bootstrap = bootstrap.serverChannelOption(
        ChannelOptions.Types.SocketOption(level: .ipv6, name: .ipv6_v6only), value: 1)
    }
    let configured =
      isInternet
      ? bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1) : bootstrap
    return
      configured
      .childChannelOption(.maxMessagesPerRead, value: 16)
      // Who has sent all may say so; `ConnectionGate` and `RequestHandler` end what waits for more.
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try self.serve(channel) }
      }
  }

  // MARK: Connections

  private func serve(_ channel: any Channel) throws {
    let served = served
    let address = channel.remoteAddress?.ipAddress ?? ""
    let peer = NetworkPeer(
      connection: served.census.nextNumber(), address: address, isSecure: tls != nil)
    // The clients of a proxy are counted one by one.
    let household =
      served.proxies.contains(address) ? nil : AddressRange.household(of: address)
    if let limit = served.census.enter(household) {
      served.service.reached(limit, by: peer)
      channel.close(promise: nil)
      return
    }
    channel.closeFuture.whenComplete { _ in served.census.leave(household) }
    let pipeline = channel.pipeline.syncOperations
    let share = UnsentShare(of: served.unsent, NetworkLoop(channel.eventLoop))
    try pipeline.addHandler(
      UnsentHandler(
        share, stallMilliseconds: served.limits.stallMilliseconds, channel.eventLoop
      ) { served.service.reached($0, by: peer) })
    let tlsContext = context.withLock { $0 }
    if let tlsContext {
      try pipeline.addHandlers([
        PlainTextHandler(), NIOSSLServerHandler(context: tlsContext),
      ])
    }
    let gate = ConnectionGate(
      served.limits, stopping, channel.eventLoop, isSecure: tlsContext != nil
    ) { served.service.reached($0, by: peer) }
    try pipeline.addHandler(gate)
    try addHTTP(to: channel, peer, gate)
  }

  private func addHTTP(
    to channel: any Channel, _ peer: NetworkPeer, _ gate: ConnectionGate
  ) throws {
    let encoding = ResponseEncoding()
    let compressor = ResponseEncoding.compressor()
    let offer = UpgradeOffer()
    let requests = RequestHandler(served, peer, gate, encoding, offer, channel.eventLoop)
    let boundGate = NIOLoopBound(gate, eventLoop: channel.eventLoop)
    var headLimits = NIOHTTPDecoderLimitConfiguration()
    headLimits.maxHeaderListSize = served.limits.headBytesMax
    headLimits.maxHeaderFieldSize = served.limits.headBytesMax
    // NIO's typed upgrade loses the head of a request that is not upgraded.
    let encoder = HTTPResponseEncoder()
    let decoder = HTTPRequestDecoder(
      leftOverBytesStrategy: .forwardBytes, limitConfiguration: headLimits)
    let lines = RequestLineHandler()
    let protocolHandlers: [any RemovableChannelHandler] = [
      lines, ByteToMessageHandler(decoder), lines.mark, HTTPServerPipelineHandler(),
      NIOHTTPResponseHeadersValidator(),
      ParserFaultHandler(
        headBytesMax: served.limits.headBytesMax, fieldsMax: headLimits.maxHeaderFieldCount),
    ]
    let upgrader = upgrader(peer, boundGate)
    offer.make = { offer in
      HTTPServerUpgradeHandler(
        upgraders: [upgrader], httpEncoder: encoder, extraHTTPHandlers: protocolHandlers + [offer]
      ) { context in
        for handler in [requests, compressor, encoding] as [any RemovableChannelHandler] {
          context.pipeline.syncOperations.removeHandler(handler, promise: nil)
        }
      }
    }
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(encoder)
    try pipeline.addHandlers(protocolHandlers)
    try pipeline.addHandlers([offer, encoding, compressor, requests])
  }

  private func upgrader(
    _ peer: NetworkPeer, _ gate: NIOLoopBound<ConnectionGate>
  ) -> NIOWebSocketServerUpgrader {
    let served = served
    return NIOWebSocketServerUpgrader(
      maxFrameSize: served.limits.frameBytesMax, automaticErrorHandling: false,
      shouldUpgrade: { channel, head in
        let (head, isUsable) = head.usable
        let isAccepted =
          (try? HTTPRequest(head, secure: peer.isSecure, splitCookie: false))
          .map { served.service.acceptsSocket($0, from: served.sender(of: $0, from: peer)) }
          ?? false
        return channel.eventLoop.makeSucceededFuture(
          isAccepted && isUsable && head.mayBeginSocket ? HTTPHeaders() : nil)
      },
      upgradePipelineHandler: { channel, head in
        channel.eventLoop.makeCompletedFuture {
          let request = try HTTPRequest(head.usable.head, secure: peer.isSecure, splitCookie: false)
          gate.value.becameSocket()
          let (sender, household, isFull) = served.admit(request, from: peer)
          if let household {
            channel.closeFuture.whenComplete { _ in served.census.leaveBehindProxy(household) }
          }
          let pipeline = channel.pipeline.syncOperations
          let clock = FrameClock(served.limits.messageMilliseconds, channel.eventLoop)
          let decoder = try pipeline.handler(
            type: ByteToMessageHandler<WebSocketFrameDecoder>.self)
          try pipeline.addHandler(clock, position: .before(decoder))
          try pipeline.addHandler(FrameGuard())
          try pipeline.addHandler(
            NIOWebSocketFrameAggregator(
              minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 1024,
              maxAccumulatedFrameSize: served.limits.frameBytesMax))
          try pipeline.addHandler(
            SocketHandler(
              served.frames(of: channel.eventLoop), clock, bytesMax: served.limits.frameBytesMax,
              { served.service.reached($0, by: sender) }
            ) { socket in
              isFull
                ? FullSocket(socket) : served.service.openSocket(request, from: sender, socket)
            })
        }
      })
  }
}

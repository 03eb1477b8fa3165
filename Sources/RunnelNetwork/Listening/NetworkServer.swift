import Glibc
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import Synchronization

/// The certificate and the key by which a server proves who it is.
public struct TLSFiles: Hashable, Sendable {
  /// The file of the certificates, the server's own first, in PEM.
  public var certificate: String
  /// The file of the key, in PEM.
  public var key: String

  /// Makes a pair of files.
  public init(certificate: String, key: String) {
    (self.certificate, self.key) = (certificate, key)
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
  private let limits: NetworkLimits
  private let service: any NetworkService
  private let group: MultiThreadedEventLoopGroup
  private let stopping = ServerStop()
  private let listeners = Mutex<[any Channel]>([])
  private let census: Census
  private let tls: TLSFiles?
  private let context: Mutex<NIOSSLContext?>

  /// Makes a server that does not listen yet.
  ///
  /// - Parameters:
  ///   - addresses: where to listen.
  ///   - socketFile: the path of a Unix socket to listen on, for its owner only; nil for none.
  ///   - tls: the files for TLS; nil to serve without.
  ///   - limits: the limits of the connections.
  ///   - threadCount: the number of loops; nil for as many as the machine has cores.
  ///   - service: what is done with connections.
  /// - Throws: `NetworkError` if the files for TLS cannot be used.
  public init(
    _ addresses: [NetworkAddress], socketFile: String? = nil, tls: TLSFiles?,
    limits: NetworkLimits, threadCount: Int? = nil, service: any NetworkService
  ) throws(NetworkError) {
    self.addresses = addresses
    self.socketFile = socketFile
    self.limits = limits
    self.service = service
    self.tls = tls
    census = Census(limits)
    context = Mutex(
      try tls.map { (files) throws(NetworkError) in try NetworkServer.context(files) })
    group = MultiThreadedEventLoopGroup(
      numberOfThreads: max(1, threadCount ?? System.coreCount))
  }

  /// The number of connections.
  public var connectionCount: Int { census.count }

  // MARK: TLS

  private static func context(_ files: TLSFiles) throws(NetworkError) -> NIOSSLContext {
    do {
      let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
      let key = try NIOSSLPrivateKey(file: files.key, format: .pem)
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
      configuration.minimumTLSVersion = .tlsv12
      configuration.applicationProtocols = ["http/1.1"]
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw NetworkError(
        "TLS cannot be used with \(files.certificate) and \(files.key): \(error). "
          + "Both must be in PEM, and belong together.")
    }
  }

  /// Reads the files for TLS again; connections that are open keep what they have.
  ///
  /// - Throws: `NetworkError` if they cannot be used; then those that were read before stay.
  public func reloadTLS() throws(NetworkError) {
    guard let tls else { return }
    let fresh = try NetworkServer.context(tls)
    context.withLock { $0 = fresh }
  }

  // MARK: Listening

  /// Listens.
  ///
  /// - Returns: where it listens, and what addresses the machine lacks.
  /// - Throws: `NetworkError` if one cannot be listened on for another reason, or none is left.
  public func start() async throws -> (bound: [NetworkAddress], skipped: [NetworkAddress]) {
    var bound: [NetworkAddress] = []
    var skipped: [NetworkAddress] = []
    for var address in addresses {
      // Any port is the same for all addresses.
      if address.port == 0, let port = bound.first?.port { address.port = port }
      do {
        let channel = try await bootstrap().bind(host: address.host, port: address.port).get()
        listeners.withLock { $0.append(channel) }
        address.port = channel.localAddress?.port ?? address.port
        bound.append(address)
      } catch let error as IOError where NetworkServer.isLacking(error) {
        skipped.append(address)
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

  /// Takes no more connections; answers that are under way are completed, and their connections closed.
  public func stopListening() async {
    stopping.set()
    let open = listeners.withLock { listeners in
      defer { listeners = [] }
      return listeners
    }
    // One that is closed already is what is wanted.
    for channel in open { try? await channel.close() }
    // The file of a socket stays otherwise, and nobody answers there.
    if let socketFile, !open.isEmpty { unlink(socketFile) }
  }

  /// Closes all connections and ends the threads; the server is not used afterwards.
  public func end() async {
    await stopListening()
    // It fails only for a server that has ended.
    try? await group.shutdownGracefully()
  }

  private func bootstrap(isInternet: Bool = true) -> ServerBootstrap {
    let bootstrap = ServerBootstrap(group: group).serverChannelOption(.backlog, value: 1024)
    let configured =
      isInternet
      ? bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.socketOption(.tcp_nodelay), value: 1) : bootstrap
    return
      configured
      .childChannelOption(.maxMessagesPerRead, value: 16)
      .childChannelOption(.allowRemoteHalfClosure, value: false)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try self.serve(channel) }
      }
  }

  // MARK: Connections

  private func serve(_ channel: any Channel) throws {
    let address = channel.remoteAddress?.ipAddress ?? ""
    let peer = NetworkPeer(
      connection: census.nextNumber(), address: address, isSecure: tls != nil)
    guard census.enter(address) else {
      channel.close(promise: nil)
      return
    }
    channel.closeFuture.whenComplete { [census] _ in census.leave(address) }
    let pipeline = channel.pipeline.syncOperations
    if let context = context.withLock({ $0 }) {
      try pipeline.addHandler(NIOSSLServerHandler(context: context))
    }
    let gate = ConnectionGate(limits, stopping, channel.eventLoop)
    try pipeline.addHandler(gate)
    let requests = RequestHandler(service, peer, limits, gate)
    let (boundGate, boundRequests) = (
      NIOLoopBound(gate, eventLoop: channel.eventLoop),
      NIOLoopBound(requests, eventLoop: channel.eventLoop)
    )
    var headLimits = NIOHTTPDecoderLimitConfiguration()
    headLimits.maxHeaderListSize = limits.headBytesMax
    headLimits.maxHeaderFieldSize = limits.headBytesMax
    // The typed upgrade of NIO loses the head of a request that is not upgraded.
    try pipeline.configureHTTPServerPipeline(
      withServerUpgrade: (
        upgraders: [upgrader(peer, boundGate)],
        completionHandler: { context in
          context.pipeline.syncOperations.removeHandler(boundRequests.value, promise: nil)
        }
      ),
      withEncoderConfiguration: HTTPResponseEncoder.Configuration(),
      withDecoderLimitConfiguration: headLimits)
    try pipeline.addHandler(requests)
  }

  private func upgrader(
    _ peer: NetworkPeer, _ gate: NIOLoopBound<ConnectionGate>
  ) -> NIOWebSocketServerUpgrader {
    let (service, limits) = (service, limits)
    return NIOWebSocketServerUpgrader(
      maxFrameSize: limits.frameBytesMax,
      shouldUpgrade: { channel, head in
        let isAccepted =
          (try? HTTPRequest(head, secure: peer.isSecure, splitCookie: false))
          .map { service.acceptsSocket($0, from: peer) } ?? false
        return channel.eventLoop.makeSucceededFuture(isAccepted ? HTTPHeaders() : nil)
      },
      upgradePipelineHandler: { channel, head in
        channel.eventLoop.makeCompletedFuture {
          let request = try HTTPRequest(head, secure: peer.isSecure, splitCookie: false)
          gate.value.becameSocket()
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(
            NIOWebSocketFrameAggregator(
              minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 1024,
              maxAccumulatedFrameSize: limits.frameBytesMax))
          try pipeline.addHandler(
            SocketHandler { service.openSocket(request, from: peer, $0) })
        }
      })
  }
}

/// How many connections there are, and of whom.
private final class Census: Sendable {
  private struct State {
    var count = 0
    var byAddress: [String: Int] = [:]
    var last: Int64 = 0
  }

  private let limits: NetworkLimits
  private let state = Mutex(State())

  init(_ limits: NetworkLimits) { self.limits = limits }

  var count: Int { state.withLock { $0.count } }

  func nextNumber() -> Int64 {
    state.withLock { state in
      state.last += 1
      return state.last
    }
  }

  /// Counts a connection; false if there are too many.
  func enter(_ address: String) -> Bool {
    state.withLock { state in
      let number = state.byAddress[address, default: 0]
      guard state.count < limits.connectionsMax, number < limits.connectionsPerAddressMax else {
        return false
      }
      state.count += 1
      state.byAddress[address] = number + 1
      return true
    }
  }

  func leave(_ address: String) {
    state.withLock { state in
      state.count -= 1
      let number = state.byAddress[address, default: 0]
      state.byAddress[address] = number > 1 ? number - 1 : nil
    }
  }
}

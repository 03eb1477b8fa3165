import Glibc
import NIOCore
import NIOExtras
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// Connects to web hosts: it races their addresses, and uses a proxy and TLS if needed.
final class WebConnector: Sendable {
  /// The timeout of a connection attempt, through a proxy or not, in seconds.
  private static let connectSeconds: Int64 = 10

  private let trustedFile: String?
  private let proxies: WebProxies
  /// The Unix socket of the one server that all addresses stand for; nil to find them by their names.
  private let socketFile: String?
  /// What is said if that server does not listen, without a full stop.
  private let absence: String
  /// The TLS context with the trusted certificates; nil before the first use.
  private let context = Mutex<NIOSSLContext?>(nil)

  /// Makes a connector that trusts the system's certificates, or those in a PEM file.
  ///
  /// With a `socketFile`, every address is that of the server at this Unix socket, and `absence` is said if it
  /// does not listen.
  init(
    trustedFile: String?, proxies: WebProxies, socketFile: String? = nil, absence: String = ""
  ) {
    (self.trustedFile, self.proxies) = (trustedFile, proxies)
    (self.socketFile, self.absence) = (socketFile, absence)
  }

  /// Connects, and prepares the channel, which has a TLS handler if the address uses TLS, and no other handler.
  ///
  /// `prepare` runs on the loop before any event of the connection: one that comes before a handler is
  /// there, such as the end, would be lost. If it throws, the channel is closed.
  ///
  /// - Returns: what `prepare` returned. It fails with its error, or with a `NetworkError` that names the
  ///   address.
  func connect<Prepared: Sendable>(
    _ address: WebAddress, on loop: any EventLoop,
    _ prepare: @escaping @Sendable (any Channel) throws -> Prepared
  ) -> EventLoopFuture<Prepared> {
    // Callbacks that another thread attaches may come later than events.
    loop.flatSubmit {
      self.opened(address, on: loop).flatMapThrowing { channel in
        do {
          return try prepare(channel)
        } catch {
          channel.close(promise: nil)
          throw error
        }
      }
    }
  }

  private func opened(
    _ address: WebAddress, on loop: any EventLoop
  ) -> EventLoopFuture<any Channel> {
    let opened: EventLoopFuture<any Channel>
    if let socketFile {
      opened = ClientBootstrap(group: loop)
        .connectTimeout(.seconds(WebConnector.connectSeconds))
        .connect(unixDomainSocketPath: socketFile)
    } else if let proxy = proxies.proxy(for: address) {
      opened = open(proxy.address, on: loop).flatMap { channel in
        WebConnector.openTunnel(channel, to: address, through: proxy)
      }
    } else {
      opened = open(address, on: loop)
    }
    return opened.flatMapThrowing { channel in
      do {
        if address.isSecure { try self.addTLS(to: channel, for: address) }
        return channel
      } catch {
        channel.close(promise: nil)
        throw error
      }
    }.flatMapErrorThrowing {
      // The file is no concern of its user.
      if self.socketFile != nil { throw NetworkError("\(self.absence).") }
      throw WebConnector.error($0, address)
    }
  }

  private func open(_ address: WebAddress, on loop: any EventLoop) -> EventLoopFuture<any Channel> {
    ClientBootstrap(group: loop)
      .connectTimeout(.seconds(WebConnector.connectSeconds))
      .resolver(NameResolver(loop))
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .connect(host: address.host, port: address.port)
  }

  // MARK: Proxies

  private static func openTunnel(
    _ channel: any Channel, to address: WebAddress, through proxy: WebProxies.Proxy
  ) -> EventLoopFuture<any Channel> {
    let loop = channel.eventLoop
    let done = loop.makePromise(of: Void.self)
    do {
      let encoder = HTTPRequestEncoder()
      let decoder = ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .forwardBytes))
      var headers = HTTPHeaders([("Host", address.tunnelAuthority)])
      if let authorization = proxy.authorization {
        headers.add(name: "Proxy-Authorization", value: authorization)
      }
      let handler = NIOHTTP1ProxyConnectHandler(
        targetHost: address.bracketedHost, targetPort: address.port, headers: headers,
        deadline: .now() + .seconds(connectSeconds), promise: done)
      let codec = NIOLoopBound(
        [encoder, decoder] as [any RemovableChannelHandler], eventLoop: loop)
      try channel.pipeline.syncOperations.addHandlers([encoder, decoder, handler])
      return done.futureResult.flatMap { () -> EventLoopFuture<any Channel> in
        let removals = codec.value.map {
          channel.pipeline.syncOperations.removeHandler($0)
        }
        return EventLoopFuture.andAllSucceed(removals, on: loop).map { channel }
      }.flatMapErrorThrowing { error in
        channel.close(promise: nil)
        throw NetworkError(
          "the proxy \(proxy.address.bare) did not open a tunnel: "
            + WebConnector.reason(error))
      }
    } catch {
      done.fail(error)
      channel.close(promise: nil)
      return loop.makeFailedFuture(error)
    }
  }

  // MARK: TLS

  private func addTLS(to channel: any Channel, for address: WebAddress) throws {
    let context = try self.context.withLock { context -> NIOSSLContext in
      if let context { return context }
      let made = try makeContext()
      context = made
      return made
    }
    try channel.pipeline.syncOperations.addHandler(
      NIOSSLClientHandler(context: context, serverHostname: address.isName ? address.host : nil))
  }

  private func makeContext() throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    guard let trustedFile else { return try NIOSSLContext(configuration: configuration) }
    try TLSReason.check(trustedFile)
    configuration.trustRoots = .file(trustedFile)
    do {
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw NetworkError("\(trustedFile) holds no certificates to trust in the form PEM")
    }
  }

  // MARK: Errors

  private static func error(_ error: any Error, _ address: WebAddress) -> NetworkError {
    let reason = reason(error)
    // That a name has no address says which.
    if reason.hasPrefix("\(address.host) ") { return NetworkError("\(reason).") }
    return NetworkError("\(address.bare) cannot be reached: \(reason).")
  }

  /// Returns the reason of a failure, for people, without a full stop; `namesOption` is false where users give no
  /// certificates to trust.
  static func reason(_ error: any Error, namesOption: Bool = true) -> String {
    switch error {
    case let error as NetworkError:
      error.message.hasSuffix(".") ? String(error.message.dropLast()) : error.message
    case let error as NIOConnectionError:
      // One reason is enough for a host with several addresses.
      (error.connectionErrors.first?.error ?? error.dnsAError ?? error.dnsAAAAError).map {
        reason($0)
      }
        ?? "it has no address"
    case let error as IOError: String(cString: strerror(error.errnoCode))
    case is ChannelError: "it took too long, or the connection was closed"
    default: TLSReason.words(error, namesOption: namesOption) ?? "\(error)"
    }
  }
}

extension WebAddress {
  /// True if the host is a name, not a numeric address.
  var isName: Bool { AddressRange.bytes(of: host) == nil }

  /// The host, with brackets if it is an IPv6 address.
  var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }

  /// Host and port, always with the port.
  var tunnelAuthority: String { "\(bracketedHost):\(port)" }

  /// The address without path and query, which may contain secrets.
  public var bare: String { "\(isSecure ? "https" : "http")://\(authority)" }
}

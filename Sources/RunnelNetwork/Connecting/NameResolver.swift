import NIOCore
import NIOPosix

/// Resolves host names on a thread for blocking work.
///
/// NIO's own resolver uses Dispatch, whose threads wake up once a second for as long as the program runs.
final class NameResolver: Resolver, Sendable {
  private let version4: EventLoopPromise<[SocketAddress]>
  private let version6: EventLoopPromise<[SocketAddress]>

  init(_ loop: any EventLoop) {
    version4 = loop.makePromise()
    version6 = loop.makePromise()
  }

  /// Returns no addresses: `initiateAAAAQuery` finds those of both versions.
  func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
    version4.futureResult
  }

  /// Finds the addresses of both versions; the connector calls it once, and first.
  func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
    let loop = version6.futureResult.eventLoop
    let found = SharedThreads.pool.runIfActive(eventLoop: loop) {
      // Addresses that NIO cannot read are left out.
      try NetworkAddress.lookUp(host).compactMap { try? SocketAddress(ipAddress: $0, port: port) }
    }
    found.map { $0.filter { $0.protocol == .inet } }.cascade(to: version4)
    found.map { $0.filter { $0.protocol == .inet6 } }.cascade(to: version6)
    return version6.futureResult
  }

  /// Does nothing: the system's lookup cannot be cancelled.
  func cancelQueries() {}
}

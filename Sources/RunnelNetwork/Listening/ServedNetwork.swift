import HTTPTypes
import NIOCore

/// The state that all connections of a server share.
struct ServedNetwork: Sendable {
  let limits: NetworkLimits
  let proxies: TrustedProxies
  let census: Census
  let service: any NetworkService
  let unsent: UnsentBytes
  private let caches: [ObjectIdentifier: NIOLoopBoundBox<SocketFrameCache?>]

  init(
    limits: NetworkLimits, proxies: TrustedProxies, census: Census, service: any NetworkService,
    unsent: UnsentBytes, loops: [any EventLoop]
  ) {
    (self.limits, self.proxies, self.census, self.service) = (limits, proxies, census, service)
    self.unsent = unsent
    caches = Dictionary(
      uniqueKeysWithValues: loops.map { loop in
        (
          ObjectIdentifier(loop),
          NIOLoopBoundBox.makeEmptyBox(valueType: SocketFrameCache.self, eventLoop: loop)
        )
      })
  }

  /// The frame cache of a loop; called on that loop.
  func frames(of loop: any EventLoop) -> SocketFrameCache {
    guard let box = caches[ObjectIdentifier(loop)] else { return SocketFrameCache() }
    if let cache = box.value { return cache }
    let cache = SocketFrameCache()
    box.value = cache
    return cache
  }

  /// The sender of a request.
  func sender(of request: HTTPRequest, from peer: NetworkPeer) -> NetworkPeer {
    proxies.sender(of: request, from: peer)
  }

  /// Finds the sender of a request, and counts a request that came through a proxy.
  ///
  /// - Returns: the sender, the sender's household if it was counted, and whether it has too many
  ///   connections.
  func admit(
    _ request: HTTPRequest, from peer: NetworkPeer
  ) -> (sender: NetworkPeer, household: String?, isFull: Bool) {
    if proxies.ranges.isEmpty { return (peer, nil, false) }
    let sender = sender(of: request, from: peer)
    guard proxies.contains(peer.address) else { return (sender, nil, false) }
    let household = AddressRange.household(of: sender.address)
    if let limit = census.enterBehindProxy(household) {
      service.reached(limit, by: sender)
      return (sender, nil, true)
    }
    return (sender, household, false)
  }
}

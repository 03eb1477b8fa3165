import HTTPTypes
import RunnelNetwork
import RunnelSync

/// A request that waits for its one answer.
///
/// Loop only.
struct OpenExchange {
  let request: HTTPRequest
  let peer: NetworkPeer
  let world: ServerWorld
  let channel: ExchangeChannel
  private let startTime: Int64

  init(
    _ request: HTTPRequest, from peer: NetworkPeer, _ world: ServerWorld, _ channel: ExchangeChannel
  ) {
    (self.request, self.peer, self.world, self.channel) = (request, peer, world, channel)
    startTime = world.now.uptime
  }

  /// Sends the answer.
  func answer(_ head: HTTPResponse, _ body: [UInt8]) {
    world.answer(request, from: peer, on: channel, head, body, since: startTime)
  }
}

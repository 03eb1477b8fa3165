import HTTPTypes
import RunnelNetwork
import RunnelSync

extension ServerWorld {
  /// Sends a whole answer that is about no database, counts it and logs it.
  ///
  /// Loop only.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - peer: who asked.
  ///   - channel: the way of the answer.
  ///   - head: the status, and all headers but the length.
  ///   - body: the body; empty for none.
  ///   - startTime: the uptime at which the request came, in milliseconds.
  func answer(
    _ request: HTTPRequest, from peer: NetworkPeer, on channel: ExchangeChannel,
    _ head: HTTPResponse, _ body: [UInt8], since startTime: Int64
  ) {
    var head = head
    head.headerFields[.contentLength] = String(body.count)
    channel.send(head)
    if !body.isEmpty { channel.send(body) }
    channel.end()
    // Who has the answer finds it counted.
    metrics.answered(head.status.code)
    log.answered(
      peer, request, "", status: head.status.code, sentBytes: body.count,
      milliseconds: now.uptime - startTime)
    channel.flush()
  }
}

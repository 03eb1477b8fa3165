package import HTTPTypes
import RunnelBase
package import RunnelNetwork
import Synchronization

/// The account service of a test at a port.
package final class AccountWeb: NetworkService {
  private let service: FakeAccounts

  /// Makes the service for a server.
  package init(_ service: FakeAccounts) { self.service = service }

  package func reached(_ limit: NetworkLimit, by peer: NetworkPeer) {}

  package func acceptsSocket(_ request: HTTPRequest, from peer: NetworkPeer) -> Bool { false }

  package func openSocket(
    _ request: HTTPRequest, from peer: NetworkPeer, _ channel: SocketChannel
  ) -> any SocketHandling {
    preconditionFailure("No WebSocket is accepted.")
  }

  package func openExchange(
    _ request: HTTPRequest, from peer: NetworkPeer, _ channel: ExchangeChannel
  ) -> any ExchangeHandling {
    Exchange(service, request.path ?? "", channel)
  }

  private final class Exchange: ExchangeHandling {
    private let service: FakeAccounts
    private let target: String
    private let channel: ExchangeChannel
    private let body = Mutex<[UInt8]>([])

    init(_ service: FakeAccounts, _ target: String, _ channel: ExchangeChannel) {
      (self.service, self.target, self.channel) = (service, target, channel)
    }

    func opened() {}

    func received(_ piece: [UInt8]) { body.withLock { $0 += piece } }

    func receivedAll() {
      let answer = service.answer(target, body: body.withLock { $0 })
      let bytes = answer.body.jsonBytes()
      var head = HTTPResponse(status: HTTPResponse.Status(code: answer.status))
      head.headerFields[.contentLength] = String(bytes.count)
      channel.send(head)
      channel.send(bytes)
      channel.end()
      channel.flush()
    }

    func canSendMore() {}
    func timeIsUp() {}
    func closed() {}
  }
}

/// Runs `body` with an account service and its port on this machine.
package func withAccountWeb(
  _ service: FakeAccounts, _ body: (Int) async throws -> Void
) async throws {
  let server = try NetworkServer(
    [NetworkAddress(host: "127.0.0.1", port: 0)], tls: nil, limits: NetworkLimits(),
    service: AccountWeb(service))
  let port = try await server.start().bound.first?.port ?? 0
  do {
    try await body(port)
  } catch {
    await server.end()
    throw error
  }
  await server.end()
}

import HTTPTypes
import RunnelBase
import RunnelNetwork
import Synchronization

/// The account service of a test at a port.
final class AccountWeb: NetworkService {
  private let service: FakeAccounts

  init(_ service: FakeAccounts) { self.service = service }

  func reached(_ limit: NetworkLimit, by peer: NetworkPeer) {}

  func acceptsSocket(_ request: HTTPRequest, from peer: NetworkPeer) -> Bool { false }

  func openSocket(
    _ request: HTTPRequest, from peer: NetworkPeer, _ channel: SocketChannel
  ) -> any SocketHandling {
    preconditionFailure("No WebSocket is accepted.")
  }

  func openExchange(
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

import HTTPTypes
import RunnelNetwork
import RunnelSync

/// A namespace that was moved to another store: where its clients are sent.
struct MovedNamespace: Hashable, Sendable {
  let name: String
  /// HOST:PORT of servers of the other store; nil if no client is sent there.
  let address: String?
  /// What clients are told that cannot be sent on.
  let text: String

  /// Makes the place.
  ///
  /// An empty address is none, and without `sendsClientsOn` it is only told. `mayFollow` says that this
  /// server may serve it from there in a moment.
  init(name: String, address: String, sendsClientsOn: Bool, mayFollow: Bool) {
    let end =
      if mayFollow, address.isEmpty || !sendsClientsOn {
        "try again in a moment, when it may be served from there."
      } else if address.isEmpty {
        "its new address is not known here."
      } else {
        "its servers are at \(address)."
      }
    text = "\(name) was moved to another store: \(end)"
    (self.name, self.address) = (name, address.isEmpty || !sendsClientsOn ? nil : address)
  }

  /// The answer to a request over HTTP; clients repeat it at the new address.
  ///
  /// Only requests for the database itself can be sent on: services are found by the host alone.
  func answer(to request: HTTPRequest, from peer: NetworkPeer) -> FixedAnswer {
    guard let address else { return FixedAnswer(error: text, status: 503) }
    var answer = FixedAnswer(error: text, status: 307)
    var target = request.path ?? "/"
    if ServedDatabases.parameter("ns", of: target) == nil {
      target += "\(target.contains("?") ? "&" : "?")ns=\(name)"
    }
    answer.location = "\(peer.isSecure ? "https" : "http")://\(address)\(target)"
    return answer
  }
}

/// A WebSocket to a namespace that was moved: the client is sent on, or told why it cannot be.
///
/// Loop only.
final class MovedSocket: SocketHandling {
  private let channel: SocketChannel
  private let moved: MovedNamespace

  init(_ channel: SocketChannel, _ moved: MovedNamespace) {
    (self.channel, self.moved) = (channel, moved)
  }

  func opened() {
    guard let address = moved.address else { return channel.close(code: 1001, text: moved.text) }
    var session = ServerSession(ServerSession.Configuration(name: "", host: address))
    for effect in session.redirect(to: address) {
      switch effect {
      case .send(let frame): channel.send(frame)
      case .close(let reason): channel.close(code: reason.code, text: reason.text)
      default: break
      }
    }
    channel.flush()
  }

  func received(_ text: [UInt8]) {}
  func heard() {}
  func timeIsUp() {}
  func closed() {}
}

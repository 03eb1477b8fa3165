public import HTTPTypes

/// The other end of a connection.
public struct NetworkPeer: Hashable, Sendable {
  /// The number of the connection, which is unique in the process.
  public var connection: Int64
  /// The address without the port; empty if it has none.
  public var address: String
  /// True if the client's connection uses TLS, here or at a trusted proxy.
  public var isSecure: Bool
}

/// The service that a server provides on its connections.
///
/// It is called on the loops of the connections.
public protocol NetworkService: Sendable {
  /// True if a request may become a WebSocket; otherwise it is an ordinary request.
  func acceptsSocket(_ request: HTTPRequest, from peer: NetworkPeer) -> Bool

  /// Notes that a client reached a limit, and was stopped by it.
  func reached(_ limit: NetworkLimit, by peer: NetworkPeer)

  /// Opens the handler of a request that became a WebSocket.
  func openSocket(
    _ request: HTTPRequest, from peer: NetworkPeer, _ channel: SocketChannel
  ) -> any SocketHandling

  /// Opens the handler of a request whose head has arrived.
  func openExchange(
    _ request: HTTPRequest, from peer: NetworkPeer, _ channel: ExchangeChannel
  ) -> any ExchangeHandling
}

/// The handler of a WebSocket.
///
/// All functions are called on its loop.
public protocol SocketHandling: AnyObject {
  /// Called first: the WebSocket is open.
  func opened()
  /// Called when the text of a message arrived.
  func received(_ text: [UInt8])
  /// Called when the client gave another sign of life.
  func heard()
  /// Called when the network has room for more.
  func canSendMore()
  /// Called at the deadline.
  func timeIsUp()
  /// Called last: the WebSocket is closed.
  func closed()
}

extension SocketHandling {
  /// Does nothing.
  public func canSendMore() {}
}

/// The handler of a request.
///
/// All functions are called on its loop.
public protocol ExchangeHandling: AnyObject {
  /// True if the answer goes on for as long as the client is there: a client that sends no more is then gone.
  var endsWithInput: Bool { get }
  /// True if the client fetches the rest by requests that follow: the connection then stays when the server
  /// takes no others.
  var outlastsListening: Bool { get }
  /// Called first: the head of the request has arrived.
  func opened()
  /// Called when a piece of the body arrived.
  func received(_ piece: [UInt8])
  /// Called when all of the body has arrived.
  func receivedAll()
  /// Called when the network has room for more.
  func canSendMore()
  /// Called at the deadline.
  func timeIsUp()
  /// Called last: the client disconnected before the answer was complete.
  func closed()
}

extension ExchangeHandling {
  /// False.
  public var endsWithInput: Bool { false }
  /// False.
  public var outlastsListening: Bool { false }
}

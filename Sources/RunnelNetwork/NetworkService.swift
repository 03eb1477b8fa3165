public import HTTPTypes

/// The other end of a connection.
public struct NetworkPeer: Hashable, Sendable {
  /// The number of the connection, which no other one of the process has or had.
  public var connection: Int64
  /// The address without the port; empty if it has none.
  public var address: String
  /// True if nobody between can read along.
  public var isSecure: Bool
}

/// What a server does with its connections.
///
/// It is called on the loops of the connections.
public protocol NetworkService: Sendable {
  /// True if a request may become a WebSocket; one that may not is an ordinary request.
  func acceptsSocket(_ request: HTTPRequest, from peer: NetworkPeer) -> Bool

  /// A client reached a limit, and was stopped by it.
  func reached(_ limit: NetworkLimit, by peer: NetworkPeer)

  /// A request became a WebSocket.
  func openSocket(
    _ request: HTTPRequest, from peer: NetworkPeer, _ channel: SocketChannel
  ) -> any SocketHandling

  /// A request has arrived, but for its body.
  func openExchange(
    _ request: HTTPRequest, from peer: NetworkPeer, _ channel: ExchangeChannel
  ) -> any ExchangeHandling
}

/// What is done with one WebSocket.
///
/// All is called on its loop.
public protocol SocketHandling: AnyObject {
  /// It is open: the first call.
  func opened()
  /// The text of a message arrived.
  func received(_ text: [UInt8])
  /// The client gave another sign of life.
  func heard()
  /// The deadline that was set has come.
  func timeIsUp()
  /// It is closed: the last call.
  func closed()
}

/// What is done with one request.
///
/// All is called on its loop.
public protocol ExchangeHandling: AnyObject {
  /// The request has arrived, but for its body: the first call.
  func opened()
  /// A piece of the body arrived.
  func received(_ piece: [UInt8])
  /// All of the body has arrived.
  func receivedAll()
  /// The network has taken so much that there is room for more.
  func canSendMore()
  /// The deadline that was set has come.
  func timeIsUp()
  /// The client went away before the answer was complete: the last call.
  func closed()
}

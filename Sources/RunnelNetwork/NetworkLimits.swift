/// The limits of a server's connections.
public struct NetworkLimits: Hashable, Sendable {
  /// The most connections at once; one more is closed.
  public var connectionsMax = 100_000
  /// The most connections of one address at once; one more is closed.
  public var connectionsPerAddressMax = 20_000
  /// The most bytes of a request line with its headers.
  public var headBytesMax = 65_536
  /// So long the first request of a connection may take, with the handshake of TLS, in milliseconds.
  public var firstHeadMilliseconds: Int64 = 10_000
  /// So long a connection waits for the next request, in milliseconds.
  public var idleMilliseconds: Int64 = 60_000
  /// So long the next piece of a body may take, in milliseconds.
  public var bodyMilliseconds: Int64 = 60_000
  /// The most bytes of one frame of a WebSocket, and of one message in several.
  public var frameBytesMax = 16_777_216

  /// Makes the limits that hold unless others are chosen.
  public init() {}
}

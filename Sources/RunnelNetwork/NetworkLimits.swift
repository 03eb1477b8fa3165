/// The limits of a server's connections.
public struct NetworkLimits: Hashable, Sendable {
  /// The most connections at once; one more is closed.
  public var connectionsMax = 100_000
  /// The most connections of one address at once; one more is closed.
  ///
  /// Addresses of IP version 6 that share their first 64 bits count as one.
  public var connectionsPerAddressMax = 20_000
  /// The most bytes of a request line with its headers.
  public var headBytesMax = 65_536
  /// So long the handshake of TLS may take, in milliseconds.
  public var handshakeMilliseconds: Int64 = 10_000
  /// So long the first request of a connection may take to arrive, but for its body, in milliseconds.
  public var firstHeadMilliseconds: Int64 = 10_000
  /// So long a connection waits for the next request, in milliseconds.
  public var idleMilliseconds: Int64 = 60_000
  /// So long the next piece of a body may take, in milliseconds.
  public var bodyMilliseconds: Int64 = 60_000
  /// The fewest bytes of a body in a second, on average, after the time for its first piece.
  public var bodyBytesPerSecondMin = 100
  /// So long a client may take none of an answer that waits for it, in milliseconds.
  public var stallMilliseconds: Int64 = 60_000
  /// The most requests of one connection in a second on average, beyond which answers are late; nil for
  /// any number.
  public var requestsPerSecond: Int?
  /// The most bytes that one connection sends in a second on average, beyond which reading pauses; nil for
  /// any number.
  public var bytesPerSecond: Int?
  /// The most bytes of one frame of a WebSocket, and of one message in several.
  public var frameBytesMax = 16_777_216

  /// Makes the limits that hold unless others are chosen.
  public init() {}
}

/// A limit of connections that was reached, by its name for people.
public enum NetworkLimit: String, Hashable, Sendable, CaseIterable {
  /// `connectionsMax`.
  case connections = "max-connections"
  /// `connectionsPerAddressMax`.
  case connectionsPerAddress = "connections-per-address"
  /// `headBytesMax`.
  case headBytes = "max-head"
  /// `handshakeMilliseconds`.
  case handshakeTime = "handshake-time"
  /// `firstHeadMilliseconds`.
  case headTime = "head-time"
  /// `idleMilliseconds`.
  case idleTime = "idle-time"
  /// `bodyMilliseconds`.
  case bodyTime = "body-time"
  /// `bodyBytesPerSecondMin`.
  case bodyRate = "min-body-rate"
  /// `stallMilliseconds`.
  case stallTime = "stall-time"
  /// `requestsPerSecond`.
  case requestRate = "requests-per-second"
  /// `bytesPerSecond`.
  case byteRate = "bytes-per-second"
  /// `frameBytesMax`.
  case frameBytes = "max-frame"
}

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
  /// The longest time for the TLS handshake, in milliseconds.
  public var handshakeMilliseconds: Int64 = 10_000
  /// The longest time for the first request of a connection to arrive, without its body, in
  /// milliseconds.
  public var firstHeadMilliseconds: Int64 = 10_000
  /// The longest time that a connection waits for the next request, in milliseconds.
  public var idleMilliseconds: Int64 = 60_000
  /// The longest time for the next piece of a body to arrive, in milliseconds.
  public var bodyMilliseconds: Int64 = 60_000
  /// The lowest average rate of a body in bytes per second, after the time for its first piece.
  public var bodyBytesPerSecondMin = 100
  /// The longest time that a client may take no bytes while some wait for it, in milliseconds.
  public var stallMilliseconds: Int64 = 60_000
  /// The most requests per second of one connection, on average; beyond that, answers are delayed;
  /// nil for no limit.
  public var requestsPerSecond: Int?
  /// The most bytes per second from one connection, on average; beyond that, reading pauses; nil
  /// for no limit.
  public var bytesPerSecond: Int?
  /// The most unsent bytes of all connections together; those whose clients read least are closed.
  public var unsentBytesMax = 536_870_912
  /// The most bytes of one WebSocket frame, and of one message in several frames.
  public var frameBytesMax = 16_777_216
  /// The longest time for a WebSocket message to arrive, all its frames together, in milliseconds.
  public var messageMilliseconds: Int64 = 120_000

  /// Makes the default limits.
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
  /// `unsentBytesMax`.
  case unsentBytes = "max-unsent-total"
  /// `frameBytesMax`.
  case frameBytes = "max-frame"
  /// `messageMilliseconds`.
  case messageTime = "message-time"
}

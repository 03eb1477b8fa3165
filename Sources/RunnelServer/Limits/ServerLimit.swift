import RunnelBase
import RunnelNetwork
import RunnelSync
import RunnelTree

/// A limit on the use by clients: its name, its value, and its purpose.
///
/// The table `all` is the only list of them: options of the command line, settings of a file,
/// counters and documents follow from it. A client that exceeds a limit gets an error or loses its
/// connection, and is counted as `runnel_limit_reached_total{limit="NAME"}`.
public struct ServerLimit: Sendable {
  /// The unit of a value.
  public enum Unit: Hashable, Sendable {
    /// A number of things.
    case count
    /// Bytes.
    case bytes
    /// Milliseconds.
    case milliseconds
  }

  private enum Place: Sendable {
    case count(any WritableKeyPath<ServerConfiguration, Int> & Sendable)
    case optional(any WritableKeyPath<ServerConfiguration, Int?> & Sendable)
    case time(any WritableKeyPath<ServerConfiguration, Int64> & Sendable)
  }

  /// The name, which options and settings use: `max-write`.
  public let name: String
  /// The unit of the value.
  public let unit: Unit
  /// The valid values.
  public let range: ClosedRange<Int64>
  /// The purpose, for people.
  public let help: String
  private let place: Place

  private init(
    _ name: String, _ unit: Unit, _ place: Place, _ help: String,
    in range: ClosedRange<Int64> = 1...Int64(Int32.max) * 1000
  ) {
    (self.name, self.unit, self.place, self.help, self.range) = (name, unit, place, help, range)
  }

  /// The value in a configuration; nil for no limit.
  public func value(in configuration: ServerConfiguration) -> Int64? {
    switch place {
    case .count(let path): Int64(configuration[keyPath: path])
    case .optional(let path): configuration[keyPath: path].map { Int64($0) }
    case .time(let path): configuration[keyPath: path]
    }
  }

  /// The default value; nil for no limit.
  public var standard: Int64? { value(in: ServerConfiguration(.folder(""))) }

  /// Sets its value.
  ///
  /// - Precondition: the value is in `range`.
  public func set(_ value: Int64, in configuration: inout ServerConfiguration) {
    precondition(range.contains(value), "Values are checked before they are set.")
    switch place {
    case .count(let path): configuration[keyPath: path] = Int(value)
    case .optional(let path): configuration[keyPath: path] = Int(value)
    case .time(let path): configuration[keyPath: path] = value
    }
  }
}

// MARK: The table

extension ServerLimit {
  /// The limits, in the order in which they are shown.
  public static let all: [ServerLimit] = connections + requests + sockets + trees + services

  private static let connections: [ServerLimit] = [
    count(NetworkLimit.connections, \.network.connectionsMax, "The most connections at once."),
    count(
      NetworkLimit.connectionsPerAddress, \.network.connectionsPerAddressMax,
      "The most connections of one IPv4 address, or of one 64-bit IPv6 network."),
    optional(
      NetworkLimit.requestRate, \.requestsPerSecond,
      "The most requests per second of one connection; more are delayed."),
    optional(
      NetworkLimit.byteRate, \.bytesPerSecond,
      "The most bytes per second from one connection; more are delayed.", .bytes),
    count(
      WireLimit.unsentBytes, \.wire.unsentBytesMax,
      "The most unsent bytes for a client that reads too slowly, besides one large answer.", .bytes),
    count(
      NetworkLimit.unsentBytes, \.network.unsentBytesMax,
      "The most unsent bytes for all clients together; who does not read loses the connection.",
      .bytes),
    time(
      NetworkLimit.handshakeTime, \.network.handshakeMilliseconds,
      "The timeout of the TLS handshake."),
    time(
      NetworkLimit.headTime, \.network.firstHeadMilliseconds,
      "The timeout for the head of a connection's first request."),
    time(
      NetworkLimit.idleTime, \.network.idleMilliseconds,
      "The timeout of an HTTP connection without a request."),
    time(
      NetworkLimit.stallTime, \.network.stallMilliseconds,
      "The timeout for a client that takes nothing of what waits for it."),
  ]

  private static let requests: [ServerLimit] = [
    count(
      NetworkLimit.headBytes, \.network.headBytesMax,
      "The most bytes of a request without its body.", .bytes),
    time(
      NetworkLimit.bodyTime, \.network.bodyMilliseconds,
      "The timeout for the next bytes of a request's body."),
    count(
      NetworkLimit.bodyRate, \.network.bodyBytesPerSecondMin,
      "The lowest average rate of a body, in bytes per second.", .bytes),
    count(RESTLimit.writeBytes, \.writeBytesMax, "The most bytes of one write.", .bytes),
    count(
      RESTLimit.largeWrites, \.largeWritesMax,
      "The most writes over HTTP of more than 16 MB each at once, besides PUTs of administrators."),
    optional(
      RESTLimit.importBytes, \.rest.spoolBytesMax, "The most bytes of an administrator's PUT.",
      .bytes),
    count(
      RESTLimit.readBytes, \.rest.readBytesMax,
      "The most bytes of one read; administrators have no limit.", .bytes),
    time(
      RESTLimit.readTime, \.rest.readMilliseconds, "The timeout for the start of a read's answer."),
    count(
      WireLimit.jsonDepth, \.jsonDepthMax, "The most levels of objects and arrays in a JSON text.",
      in: 8...Int64(JSONScanner.depthMax)),
  ]

  private static let sockets: [ServerLimit] = [
    count(
      NetworkLimit.frameBytes, \.network.frameBytesMax, "The most bytes of a WebSocket frame.",
      .bytes),
    count(
      WireLimit.messageBytes, \.wire.messageBytesMax,
      "The most bytes of a message, over all its frames.", .bytes),
    time(
      WireLimit.messageTime, \.messageMilliseconds,
      "The timeout for all of a message to arrive."),
    time(
      WireLimit.silence, \.wire.silenceMilliseconds,
      "The time without messages after which a client is pinged."),
    count(WireLimit.listens, \.wire.listensMax, "The most listens of one connection."),
    count(
      WireLimit.requests, \.wire.requestsMax,
      "The most concurrent requests of one connection; more are delayed."),
    count(
      WireLimit.waitingBytes, \.wire.waitingBytesMax,
      "The most bytes of one connection's delayed requests.", .bytes),
    count(
      WireLimit.disconnectBytes, \.wire.disconnectBytesMax,
      "The most bytes of onDisconnect writes of a connection.", .bytes),
  ]

  private static let trees: [ServerLimit] = [
    count(
      TreeLimit.depth, \.tree.depthMax, "The most levels of a written place.",
      in: 1...Int64(TreeLimits.depthMax)),
    count(
      TreeLimit.rulesSteps, \.tree.rulesStepsMax,
      "The most steps of a decision of the rules; a decision that needs more is a refusal."),
  ]

  private static let services: [ServerLimit] = [
    count(
      ServiceLimit.sessions, \.services.sessionsMax, "The most Socket.IO sessions of services."),
    count(
      ServiceLimit.sessionsPerAddress, \.services.sessionsPerAddressMax,
      "The most Socket.IO sessions of one address."),
    count(
      TreeLimit.serviceRead, \.tree.serviceReadBytesMax,
      "The most bytes that a call of a service reads.", .bytes),
  ]

  private static func count<Name: RawRepresentable<String>>(
    _ name: Name, _ path: any WritableKeyPath<ServerConfiguration, Int> & Sendable, _ help: String,
    _ unit: Unit = .count, in range: ClosedRange<Int64> = 1...Int64(Int32.max) * 1000
  ) -> ServerLimit {
    ServerLimit(name.rawValue, unit, .count(path), help, in: range)
  }

  private static func optional<Name: RawRepresentable<String>>(
    _ name: Name, _ path: any WritableKeyPath<ServerConfiguration, Int?> & Sendable, _ help: String,
    _ unit: Unit = .count
  ) -> ServerLimit {
    ServerLimit(name.rawValue, unit, .optional(path), help)
  }

  private static func time<Name: RawRepresentable<String>>(
    _ name: Name, _ path: any WritableKeyPath<ServerConfiguration, Int64> & Sendable, _ help: String
  ) -> ServerLimit {
    ServerLimit(name.rawValue, .milliseconds, .time(path), help)
  }
}

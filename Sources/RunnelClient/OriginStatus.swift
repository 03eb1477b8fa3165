public import RunnelSync

/// What is known of the link between a replica and its origin, for people.
public struct OriginStatus: Hashable, Sendable {
  /// The state of the link.
  public enum State: Hashable, Sendable {
    /// This process has the state of the talk.
    case link(LinkState)
    /// Another process on the same replica talks to the origin, for this one too.
    case elsewhere
    /// The database was closed.
    case closed
  }

  /// The state of the link.
  public var state: State
  /// Since when the origin cannot be talked to, in milliseconds since 1970; nil while it can.
  public var offlineSince: Int64?
  /// The ids of the writes of which nobody knows whether they were done.
  ///
  /// They add to numbers, and were sent and not answered by an origin that knows no names of writes. They are
  /// sent again by `resend` only.
  public var unknownWrites: [Int64]

  /// Makes a status.
  public init(_ state: State, offlineSince: Int64? = nil, unknownWrites: [Int64] = []) {
    self.state = state
    self.offlineSince = offlineSince
    self.unknownWrites = unknownWrites
  }

  /// True while this process can talk to the origin.
  public var isLive: Bool { state == .link(.live) }
}

/// Something about an origin that its user should know, beside the state of the link.
public enum OriginNotice: Hashable, Sendable {
  /// The origin answered a query without an index, by all that is at its place; the line to add to its rules.
  case indexMissing(place: String, line: String)
  /// Something for a log.
  case log(String)
}

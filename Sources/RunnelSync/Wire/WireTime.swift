/// A point in time, by the two clocks that a connection goes by.
public struct WireTime: Hashable, Sendable {
  /// The clock of the calendar, in milliseconds since 1970; it may jump.
  public var calendar: Int64
  /// A clock that never goes back, in milliseconds since any moment; deadlines are on this one.
  public var uptime: Int64

  /// Makes a point in time.
  public init(calendar: Int64, uptime: Int64) {
    self.calendar = calendar
    self.uptime = uptime
  }
}

/// Why a connection is closed, as the close frame says it.
///
/// Source: RFC 6455, section 7.4.1.
public struct CloseReason: Hashable, Sendable {
  /// The status code.
  public var code: UInt16
  /// What happened, in few words.
  public var text: String

  /// Makes a reason.
  public init(code: UInt16, text: String) {
    self.code = code
    self.text = text
  }

  /// The client, or the server, has no more to say.
  public static func normal(_ text: String) -> CloseReason { CloseReason(code: 1000, text: text) }
  /// The server ends, or was told to.
  public static func goingAway(_ text: String) -> CloseReason {
    CloseReason(code: 1001, text: text)
  }
  /// What arrived is not of this protocol.
  public static func protocolError(_ text: String) -> CloseReason {
    CloseReason(code: 1002, text: text)
  }
  /// The other side uses more than it is allowed.
  public static func policyViolation(_ text: String) -> CloseReason {
    CloseReason(code: 1008, text: text)
  }
  /// A message is longer than allowed.
  public static func tooBig(_ text: String) -> CloseReason { CloseReason(code: 1009, text: text) }
}

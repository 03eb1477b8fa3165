/// A point in time, on the two clocks of a connection.
package struct WireTime: Hashable, Sendable {
  /// The clock of the calendar, in milliseconds since 1970; it may jump.
  package var calendar: Int64
  /// A monotonic clock, in milliseconds since an arbitrary moment; deadlines are on this one.
  package var uptime: Int64

  /// Makes a point in time.
  package init(calendar: Int64, uptime: Int64) {
    self.calendar = calendar
    self.uptime = uptime
  }
}

/// The reason for closing a connection, as the close frame states it.
///
/// Source: RFC 6455, section 7.4.1.
package struct CloseReason: Hashable, Sendable {
  /// The status code.
  package var code: UInt16
  /// A few words about what happened.
  package var text: String

  /// Makes a reason.
  package init(code: UInt16, text: String) {
    self.code = code
    self.text = text
  }

  /// The client or the server has nothing more to say.
  package static func normal(_ text: String) -> CloseReason { CloseReason(code: 1000, text: text) }
  /// The server is ending, or was told to.
  package static func goingAway(_ text: String) -> CloseReason {
    CloseReason(code: 1001, text: text)
  }
  /// The other side violated the protocol.
  package static func protocolError(_ text: String) -> CloseReason {
    CloseReason(code: 1002, text: text)
  }
  /// The other side exceeds its limits.
  package static func policyViolation(_ text: String) -> CloseReason {
    CloseReason(code: 1008, text: text)
  }
  /// A message is longer than allowed.
  package static func tooBig(_ text: String) -> CloseReason { CloseReason(code: 1009, text: text) }
}

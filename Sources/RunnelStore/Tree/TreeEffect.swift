public import RunnelTree

/// What is to be done outside of the store; whoever owns the store does it, in order.
public enum TreeEffect: Hashable, Sendable {
  /// Carry out a write; answered by `written` and what follows it, or by `failed`.
  case write(RequestID, Write)
  /// Read what stands at a place; answered by `found` or `failed`.
  case get(RequestID, Path)
  /// Read the rows of a query; answered by `rows` or `failed`.
  case search(RequestID, Query)
  /// Nobody waits for the answer any more: do not begin what has not begun.
  case cancel(RequestID)
  /// Listen; answered by `deliveries`, or by `listenFailed`, which ends it.
  case listen(ListenerID, ListenRequest)
  /// Listen no more.
  case unlisten(ListenerID)
  /// Tell from now on, by `connection`, whether the origin can be reached: now, and when it changes.
  case monitorConnection
  /// Tell it no more.
  case stopMonitoringConnection
}

/// What the outside says: an action for the store, whose middleware makes others of it.
public enum TreeAnswer: Hashable, Sendable {
  /// A write is on disk. If the origin is to answer too, `acknowledged` or `failed` follows.
  case written(RequestID, awaitsOrigin: Bool)
  /// The origin did a write.
  case acknowledged(RequestID)
  /// What stands at a place.
  case found(RequestID, Node)
  /// The rows of a query, in its order.
  case rows(RequestID, [TreeRow])
  /// A request was refused or failed; or the origin refused a write, which is taken back.
  case failed(RequestID, TreeError)
  /// What listeners are told: one write, or one answer to `listen`.
  case deliveries([Delivery])
  /// A listener was refused, or ended by the origin.
  case listenFailed(ListenerID, TreeError)
  /// Whether the origin can be reached.
  case connection(isConnected: Bool)
}

/// The name of a request: of the caller's choice, so that it knows what is answered.
///
/// A request without one is given `#1`, `#2` and so on.
public struct RequestID: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The name as text.
  public let text: String

  /// Makes a name.
  public init(_ text: String) { self.text = text }

  /// Makes a name from a literal.
  public init(stringLiteral text: String) { self.text = text }

  /// The name as text.
  public var description: String { text }
}

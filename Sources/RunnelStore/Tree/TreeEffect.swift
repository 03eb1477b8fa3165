public import RunnelTree

/// An effect outside of the store; the owner of the store carries effects out, in order.
public enum TreeEffect: Hashable, Sendable {
  /// Carry out a write; answered by `written` and what follows it, or by `failed`.
  case write(RequestID, Write)
  /// Read the node at a place; answered by `found` or `failed`.
  case get(RequestID, Path)
  /// Read the rows of a query; answered by `rows` or `failed`.
  case search(RequestID, Query)
  /// Drop a request whose answer is not needed: do not begin it if it has not begun.
  case cancel(RequestID)
  /// Begin to listen; answered by `deliveries`, or by `listenFailed`, which ends it.
  case listen(ListenerID, ListenRequest)
  /// Stop listening.
  case unlisten(ListenerID)
  /// Tell by `connection` whether the origin can be reached: now, and whenever it changes.
  case monitorConnection
  /// Stop telling it.
  case stopMonitoringConnection
}

/// An answer from outside: an action for the store, from which its middleware makes others.
public enum TreeAnswer: Hashable, Sendable {
  /// A write is on disk. If the origin is to answer too, `acknowledged` or `failed` follows.
  case written(RequestID, awaitsOrigin: Bool)
  /// The origin did a write.
  case acknowledged(RequestID)
  /// The node at a place.
  case found(RequestID, Node)
  /// The rows of a query, in its order.
  case rows(RequestID, [TreeRow])
  /// A request was refused or failed; or the origin refused a write, which is taken back.
  case failed(RequestID, TreeError)
  /// Events for listeners: those of one write, or of the answer to one `listen`.
  case deliveries([Delivery])
  /// A listener was refused, or ended by the origin.
  case listenFailed(ListenerID, TreeError)
  /// Whether the origin can be reached.
  case connection(isConnected: Bool)
}

/// The name of a request, chosen by the caller to recognize its answers.
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

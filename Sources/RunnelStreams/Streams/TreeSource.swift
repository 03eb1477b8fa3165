public import RunnelTree

/// Where query streams get their rows from: an open database, as its owner reaches it.
///
/// Nothing is answered inside these calls. The owner hands what comes of them to the stream later,
/// by `QueryStream.receive`.
public protocol TreeSource: AnyObject {
  /// Asks for a query's rows and for what happens to them; returns the listener's new name.
  func listen(_ request: ListenRequest) -> ListenerID
  /// Ends a listener.
  func unlisten(_ listener: ListenerID)
  /// Asks for up to `count` more rows of a paged listener.
  func extend(_ listener: ListenerID, by count: Int)
}

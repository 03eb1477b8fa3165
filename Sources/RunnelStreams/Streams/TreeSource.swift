public import RunnelTree

/// The source of rows for query streams: an open database, as the owner of the streams reaches it.
///
/// These calls return no answer. The owner passes the answers to the stream later, by
/// `QueryStream.receive`.
public protocol TreeSource: AnyObject {
  /// Begins to listen to a query's rows and their changes; returns the name of the new listener.
  func listen(_ request: ListenRequest) -> ListenerID
  /// Ends a listener.
  func unlisten(_ listener: ListenerID)
  /// Asks for up to `count` more rows of a paged listener.
  func extend(_ listener: ListenerID, by count: Int)
}

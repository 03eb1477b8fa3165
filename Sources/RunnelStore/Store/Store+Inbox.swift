public import RunnelBase

extension Store {
  /// Dispatches the actions that other threads left in an inbox, oldest first.
  ///
  /// The owner of the store calls it when the inbox wakes it. Actions of one thread keep their order;
  /// an inbox that is full refuses, so its producers know.
  public func dispatch(from inbox: Inbox<any Action>) {
    for action in inbox.drain() { dispatch(action) }
  }
}

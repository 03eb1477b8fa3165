public import RunnelBase

extension Store {
  /// Dispatches the actions that other threads left in an inbox, oldest first.
  ///
  /// The owner of the store calls it when the inbox wakes the owner. Actions from one thread keep
  /// their order; a full inbox refuses actions, so that the threads that post know.
  public func dispatch(from inbox: Inbox<any Action>) {
    for action in inbox.drain() { dispatch(action) }
  }
}

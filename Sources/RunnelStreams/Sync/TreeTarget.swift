public import RunnelTree

/// The database for writes, as the owner of the streams reaches it.
public protocol TreeTarget: AnyObject {
  /// Requests a write; returns at once.
  ///
  /// - Parameters:
  ///   - write: the write.
  ///   - completion: called once, after the streams were told the result of the write.
  func submit(_ write: Write, completion: @escaping (WriteOutcome) -> Void)
  /// A key that sorts after those made before.
  func makeKey() -> Key
}

/// The result of a write.
public enum WriteOutcome: Hashable, Sendable {
  /// The write was carried out.
  case written
  /// The write was refused or failed, for this reason; nothing changed.
  case refused(StreamFailure)
}

/// A stream that takes events of a tree's listeners.
public protocol TreeListener: AnyObject {
  /// Takes one batch of events; those of other listeners are ignored.
  func receive(_ events: [TreeEvent], from listener: ListenerID)
  /// Takes a failure; those of other listeners are ignored.
  func receive(failure: StreamFailure, from listener: ListenerID)
}

/// A stream that listens between `start` and `stop`, any number of times.
///
/// A stream made of others starts and stops its sources, and may be stopped itself: it then stays so
/// until it is started itself, even if somebody starts a source before.
public protocol StartableStream: AnyObject {
  /// Begins to listen; does nothing if it listens already.
  func start()
  /// Stops listening; the rows stay, and nothing is told.
  func stop()
}

/// A stream that knows its listeners, so that whoever passes events on can ask for them.
package protocol ListenerOwner: TreeListener {
  /// True if the stream takes the events of a listener now.
  ///
  /// O(1).
  func listens(as listener: ListenerID) -> Bool
}

extension QueryStream: ListenerOwner, StartableStream, RestartedStream {
  /// True if one of the windows has this listener.
  package func listens(as listener: ListenerID) -> Bool {
    windows.contains { $0.listener == listener }
  }

  func whenStarted(_ body: @escaping () -> Void) { hub.whenStarted(body) }
}

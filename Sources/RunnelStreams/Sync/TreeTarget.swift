public import RunnelTree

/// Where writes go: an open database, as its owner reaches it.
public protocol TreeTarget: AnyObject {
  /// Asks for a write; returns at once.
  ///
  /// - Parameters:
  ///   - write: the write.
  ///   - completion: called once, after the streams were told what the write came to.
  func submit(_ write: Write, completion: @escaping (WriteOutcome) -> Void)
  /// A key that sorts after those made before.
  func makeKey() -> Key
}

/// What became of a write.
public enum WriteOutcome: Hashable, Sendable {
  /// It was carried out.
  case written
  /// It was refused or failed, for this reason; nothing changed.
  case refused(String)
}

/// A stream that is told what listeners of a tree are told.
public protocol TreeListener: AnyObject {
  /// Takes one batch of events; those for another's listener are ignored.
  func receive(_ events: [TreeEvent], from listener: ListenerID)
  /// Takes a failure; one of another's listener is ignored.
  func receive(failure: String, from listener: ListenerID)
}

/// A stream that listens between `start` and `stop`, any number of times.
public protocol StartableStream: AnyObject {
  /// Begins to listen; nothing happens if it does already.
  func start()
  /// Stops listening; the rows stay, and observers are told nothing.
  func stop()
}

extension QueryStream: TreeListener, StartableStream {}

import RunnelStreams
import RunnelTree

/// The streams of a session, which others keep, and the way from a listener to its stream.
///
/// An event goes to the stream that listens, not to every stream of the session: one write that a
/// thousand streams show costs a thousand deliveries, not a million. Streams that do not tell their
/// listeners get all events.
struct SessionListeners {
  /// The streams that tell their listeners.
  private var owners = WeakList<any ListenerOwner>()
  /// The other streams, which choose among all events.
  private var others = WeakList<any TreeListener>()
  /// The streams that took events of a listener last; some may be gone, or listen no more.
  private var owner: [ListenerID: () -> (any ListenerOwner)?] = [:]
  /// The number of entries of `owner` at which those without use are looked for.
  private var lookCount = 16

  /// The number of streams, with those whose end was not noticed yet.
  var entryCount: Int { owners.entryCount + others.entryCount }

  /// Adds a stream, which it does not keep.
  ///
  /// O(1), amortized.
  mutating func append(_ listener: some TreeListener) {
    if let stream = listener as? any ListenerOwner {
      owners.append { [weak stream] in stream }
    } else {
      others.append { [weak listener] in listener }
    }
  }

  /// The streams that are still kept: those that tell their listeners first.
  ///
  /// O(n) in the streams.
  mutating func elements() -> [any TreeListener] { owners.elements() + others.elements() }

  /// The streams to which the events of a listener go.
  ///
  /// O(1) and the streams that do not tell their listeners; O(n) in the streams for the first events
  /// of a listener, and for those of one that has ended.
  mutating func takers(of listener: ListenerID) -> [any TreeListener] {
    others.elements() + [ownerOf(listener)].compactMap(\.self)
  }

  private mutating func ownerOf(_ listener: ListenerID) -> (any ListenerOwner)? {
    if let stream = owner[listener]?(), stream.listens(as: listener) { return stream }
    owner[listener] = nil
    guard let stream = owners.elements().first(where: { $0.listens(as: listener) }) else {
      return nil
    }
    if owner.count >= lookCount {
      owner = owner.filter { $0.value()?.listens(as: $0.key) == true }
      lookCount = 2 * owner.count + 16
    }
    owner[listener] = { [weak stream] in stream }
    return stream
  }
}

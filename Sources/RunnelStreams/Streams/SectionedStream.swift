public import RunnelBase

/// An ordered list of rows in sections that tells observers its changes.
///
/// Contract:
/// - C1. A new observer is told the present state at once, as a reload.
/// - C2. Applying each change to the state told before gives the state told with it.
/// - C3. When an observer is called, the stream is in its new state. If the observer changes the
///   stream, that becomes a following change for all observers; calls of one observer never nest.
/// - C4. After `cancel` an observer is not called again, not even for a change that others are
///   being told.
/// - C5. Observers are called in the order of their registration.
/// - C6. While a stream is stopped, no observer is called, also not for the rest of a change in which an
///   observer stopped it or its sources. Who misses something is told the whole state, as a reload, when
///   the stream or the first of its sources is started again.
///
/// Isolation: one thread. Keys are unique over all sections, and so are the sections' ids.
public protocol SectionedStream<Item>: AnyObject {
  /// The type of the rows.
  associatedtype Item: StreamItem

  /// The sections in order, each with its rows in order.
  var sections: [StreamSection<Item>] { get }
  /// The load state.
  var loadState: LoadState { get }
  /// True while nothing is told because the stream, or all of its sources, were stopped.
  ///
  /// A source that is stopped by itself, and not through this stream, counts until it is started, by
  /// itself or through this stream. False for a stream that cannot be stopped.
  var isStopped: Bool { get }

  /// The row with an id; nil if there is none.
  func item(forID id: String) -> Item?
  /// The place of the row with an id; nil if there is none.
  func indexPath(forID id: String) -> ListIndexPath?

  /// Calls `observer` at once with the present state, and with every change from now on.
  ///
  /// The stream keeps the observer until it is cancelled.
  func observe(_ observer: @escaping (StreamChange<Item>) -> Void) -> StreamToken
  /// Ends an observation; a token of another stream is ignored.
  func cancel(_ token: StreamToken)
}

extension SectionedStream {
  /// False: most streams without a source cannot be stopped.
  public var isStopped: Bool { false }

  /// The present state as a change for a new observer.
  var present: StreamChange<Item> { change(.reload) }

  /// The present state with the changes that led to it.
  func change(_ changes: ChangeSet) -> StreamChange<Item> {
    StreamChange(sections: sections, changes: changes, loadState: loadState)
  }
}

/// The identity of an observation.
///
/// It is unique; releasing it does not end the observation.
public final class StreamToken: Hashable {
  private let end: (StreamToken) -> Void

  /// Makes a token; `end` ends the observation that it is given.
  init(_ end: @escaping (StreamToken) -> Void) { self.end = end }

  /// Ends the observation; does nothing if it has ended.
  ///
  /// As `cancel` of the stream that made it, and on the same thread.
  public func cancel() { end(self) }

  /// True if both name the same observation.
  public static func == (left: StreamToken, right: StreamToken) -> Bool { left === right }

  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

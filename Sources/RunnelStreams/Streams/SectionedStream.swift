public import RunnelBase

/// An ordered collection of items in sections that tells how it changes.
///
/// Rules, for every stream:
/// - An observer learns the present state at once, also if it comes late, and then each change.
/// - When an observer is told, the stream already has its new state. What an observer does to the
///   stream meanwhile becomes a following change; changes never nest.
/// - Nothing is told to an observer after its token was cancelled.
///
/// Isolation: a stream and all it is made of are used by one thread.
public protocol SectionedStream<Item>: AnyObject {
  /// What the stream holds.
  associatedtype Item: KeyedItem

  /// The sections with their items, in order. No key is in them twice.
  var sections: [StreamSection<Item>] { get }
  /// How far the stream is loaded.
  var loadState: LoadState { get }

  /// Tells the present state, and then each change.
  ///
  /// - Returns: the token by which to stop.
  func observe(_ observer: @escaping (StreamChange<Item>) -> Void) -> StreamToken
  /// Stops telling an observer; a token that was cancelled already is ignored.
  func cancel(_ token: StreamToken)
}

/// A section of a stream.
public struct StreamSection<Item: KeyedItem> {
  /// What the section is known by; unique in the stream.
  public var id: String
  /// The items in order.
  public var items: [Item]

  /// Makes a section.
  public init(id: String, items: [Item]) {
    self.id = id
    self.items = items
  }
}

extension StreamSection: Equatable {}

/// How far a stream is loaded.
public enum LoadState: Hashable, Sendable {
  /// It was not started, or was stopped.
  case idle
  /// It waits for its first items.
  case loading
  /// Its first items are there, even if there are none.
  case loaded
  /// It could not be loaded, for this reason.
  case failed(String)
}

/// How a stream changed.
public struct StreamChange<Item: KeyedItem> {
  /// What happened, in index paths; a reload for an observer that has just come.
  public var update: BatchUpdate
  /// The items that are new or have another content.
  public var touched: [Item]
  /// The keys of the items that arrived by themselves: neither with the first load nor with a page.
  public var arrived: Set<String>

  /// Makes a change.
  public init(update: BatchUpdate, touched: [Item] = [], arrived: Set<String> = []) {
    self.update = update
    self.touched = touched
    self.arrived = arrived
  }
}

/// The name of an observer of one stream; it cancels that one and no other.
public struct StreamToken: Hashable, Sendable {
  let rawValue: Int
}

/// The observers of a stream, told one change after the other.
final class StreamObservers<Change> {
  private var observers: [(token: StreamToken, tell: (Change) -> Void)] = []
  private var queue: [Change] = []
  private var isTelling = false
  private var lastToken = 0

  func add(_ tell: @escaping (Change) -> Void) -> StreamToken {
    lastToken += 1
    let token = StreamToken(rawValue: lastToken)
    observers.append((token, tell))
    return token
  }

  func cancel(_ token: StreamToken) { observers.removeAll { $0.token == token } }

  /// Tells everyone who is there when the change's turn comes.
  func tell(_ change: Change) {
    queue.append(change)
    if isTelling { return }
    isTelling = true
    defer { isTelling = false }
    while !queue.isEmpty {
      let next = queue.removeFirst()
      for observer in observers where isObserving(observer.token) { observer.tell(next) }
    }
  }

  private func isObserving(_ token: StreamToken) -> Bool {
    observers.contains { $0.token == token }
  }
}

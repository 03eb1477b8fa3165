import RunnelSync
import RunnelTree
import Synchronization

/// The room for answers to the reads of one session: the tree asks for it before each read.
///
/// While a client has not taken what it was answered, its reads wait, and with them what it asked for
/// afterwards; other connections do not. So the answers of one connection take little more memory than one of
/// them, however many it asked for.
///
/// Terms. An answer is *given* from when the tree has it until the session takes it; from then on it is *unsent*
/// until the network takes it.
final class ReadRoom: Sendable {
  /// The bytes from which on an answer counts.
  static let countedBytesMin = 16_384
  /// A socket with more unsent bytes than this has no room, and tells when it has some again.
  private static let bytesMin = 131_072

  private struct State {
    /// The bytes of answers that are given, by the numbers of their requests.
    var given: [Int64: Int] = [:]
    var unsent = 0
    var hasEnded = false
    /// True if a read waits.
    var isAwaited = false
  }

  private let bytesMax: Int
  private let state = Mutex(State())

  /// Makes the room of a session that is closed if it has more unsent bytes than this.
  init(unsentBytesMax: Int) {
    bytesMax = max(unsentBytesMax / 4, ReadRoom.bytesMin)
  }

  // MARK: On the tree's thread

  /// True if the read with this number has to wait; the session is then told by `update` that it does.
  func isFull(for id: Int64) -> Bool {
    state.withLock { state in
      if state.hasEnded { return false }
      // A later answer is of a transaction that is done anew.
      let given = state.given.reduce(0) { $1.key < id ? $0 + $1.value : $0 }
      let isFull = given + state.unsent > bytesMax
      if isFull { state.isAwaited = true }
      return isFull
    }
  }

  /// True if the session has ended, so that nothing needs to be read for it.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Notes an answer of the tree.
  func give(_ answer: ServedAnswer, to id: Int64) {
    let bytes = answer.contentBytes
    if bytes < ReadRoom.countedBytesMin { return }
    state.withLock { $0.given[id] = bytes }
  }

  // MARK: On the loop of the connection

  /// Notes that the session took the answer to a request.
  func take(_ id: Int64) { state.withLock { _ = $0.given.removeValue(forKey: id) } }

  /// Notes the number of unsent bytes; returns true if a read waits that need not wait any more.
  func update(unsent: Int) -> Bool {
    state.withLock { state in
      state.unsent = unsent
      guard state.isAwaited, state.given.values.reduce(unsent, +) <= bytesMax else { return false }
      state.isAwaited = false
      return true
    }
  }

  /// Notes that the session has ended; returns true if a read waits.
  func end() -> Bool {
    state.withLock { state in
      defer { state = State(hasEnded: true) }
      return state.isAwaited
    }
  }
}

extension ServedAnswer {
  /// The bytes of the texts, keys and encoded parts in an answer.
  ///
  /// O(n) in the answer's nodes.
  fileprivate var contentBytes: Int {
    switch self {
    case .done, .refused, .reviewed: 0
    case .value(let node), .stale(let node): node.contentBytes
    case .changed(let places): places.reduce(0) { $0 + $1.node.contentBytes }
    case .text(let text): text.count
    case .listening(let answer, _):
      switch answer {
      case .unchanged: 0
      case .all(let node): node.contentBytes
      case .ranges(let ranges): ranges.reduce(0) { $0 + $1.node.contentBytes }
      case .encoded(let push): push.byteCount
      }
    }
  }
}

extension Node {
  fileprivate var contentBytes: Int {
    switch content {
    case .empty: 0
    case .leaf(.string(let text)): text.utf8.count
    case .leaf: 8
    case .children(let children):
      children.reduce(0) { $0 + $1.key.text.utf8.count + $1.node.contentBytes }
    }
  }
}

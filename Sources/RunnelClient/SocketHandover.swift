import RunnelNetwork
import Synchronization

/// Passes the events of a socket to the link's thread, those that came together in one go.
///
/// The socket bounds what waits.
final class SocketHandover: DialedSocketHandling {
  enum Event: Sendable {
    case opened
    case received([UInt8])
    /// The server gave a sign of life, at this time on the monotonic clock in milliseconds.
    case heard(Int64)
    case closed(String)
  }

  /// The most events that are taken in one go.
  ///
  /// Those that acknowledge writes let others be sent before they are stored. A server remembers the names of
  /// 1000 writes: after a crash it must know these as well as all unanswered ones (`unansweredWritesMax`).
  private static let countMax = 256

  private struct State {
    var events: [Event] = []
    /// When the server gave the last sign of life that was not taken; nil if there is none.
    var heardTime: Int64?
    var wakesWhenHeard = false
  }

  private let state = Mutex(State())
  private let wake: @Sendable (SocketHandover) -> Void

  /// Makes one that calls `wake` when there are events; `next` has to be called then.
  init(wake: @escaping @Sendable (SocketHandover) -> Void) { self.wake = wake }

  /// Whether somebody waits for a sign of life; if not, it wakes nobody, and is among the next events.
  var wakesWhenHeard: Bool {
    get { state.withLock { $0.wakesWhenHeard } }
    set { state.withLock { $0.wakesWhenHeard = newValue } }
  }

  /// Takes the next events, in order; if more wait, `wake` is called again.
  func next() -> [Event] {
    let (events, hasMore) = state.withLock { state in
      let heard = state.heardTime.map { [Event.heard($0)] } ?? []
      state.heardTime = nil
      let events = heard + state.events.prefix(SocketHandover.countMax)
      state.events.removeFirst(events.count - heard.count)
      return (events, !state.events.isEmpty)
    }
    if hasMore { wake(self) }
    return events
  }

  private func tell(_ event: Event) {
    let isFirst = state.withLock { state in
      state.events.append(event)
      return state.events.count == 1
    }
    if isFirst { wake(self) }
  }

  func opened() { tell(.opened) }
  func received(_ text: [UInt8]) { tell(.received(text)) }
  func heard() {
    let isAwaited = state.withLock { state in
      state.heardTime = NetworkClock.uptimeMilliseconds
      return state.wakesWhenHeard
    }
    if isAwaited { wake(self) }
  }

  func closed(_ reason: String) { tell(.closed(reason)) }
}

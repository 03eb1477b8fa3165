import RunnelNetwork
import Synchronization

/// Passes the events of a socket to the link's thread, those that came together in one go.
///
/// The socket bounds what waits.
final class SocketHandover: DialedSocketHandling {
  enum Event: Sendable {
    case opened
    case received([UInt8])
    case heard
    case closed(String)
  }

  /// The most events that are taken in one go.
  private static let countMax = 256

  private let waiting = Mutex<[Event]>([])
  private let wake: @Sendable (SocketHandover) -> Void

  /// Makes one that calls `wake` when there are events; `next` has to be called then.
  init(wake: @escaping @Sendable (SocketHandover) -> Void) { self.wake = wake }

  /// Takes the next events, in order; if more wait, `wake` is called again.
  func next() -> [Event] {
    let (events, hasMore) = waiting.withLock { waiting in
      let events = Array(waiting.prefix(SocketHandover.countMax))
      waiting.removeFirst(events.count)
      return (events, !waiting.isEmpty)
    }
    if hasMore { wake(self) }
    return events
  }

  private func tell(_ event: Event) {
    let isFirst = waiting.withLock { waiting in
      waiting.append(event)
      return waiting.count == 1
    }
    if isFirst { wake(self) }
  }

  func opened() { tell(.opened) }
  func received(_ text: [UInt8]) { tell(.received(text)) }
  func heard() { tell(.heard) }
  func closed(_ reason: String) { tell(.closed(reason)) }
}

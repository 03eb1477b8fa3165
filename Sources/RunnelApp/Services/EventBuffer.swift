import RunnelServices
import Synchronization

/// The events that wait for the tree's thread, in their order.
final class EventBuffer: Sendable {
  private let waiting = Mutex<(records: [ServiceEventRecord], isOverflown: Bool)>(([], false))
  private let max: Int

  init(max: Int) { self.max = max }

  /// Adds an event; returns true if it is the first, so that somebody has to take them.
  func add(_ record: ServiceEventRecord) -> Bool {
    waiting.withLock { waiting in
      if waiting.records.count >= max {
        waiting.isOverflown = true
        return false
      }
      waiting.records.append(record)
      return waiting.records.count == 1
    }
  }

  /// Takes all events; some were dropped if there were too many.
  func take() -> (records: [ServiceEventRecord], isOverflown: Bool) {
    waiting.withLock { waiting in
      defer { waiting = ([], false) }
      return waiting
    }
  }
}

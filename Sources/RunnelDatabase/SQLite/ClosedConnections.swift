import GRDB
import Synchronization

/// Closed connections that are kept in memory.
///
/// GRDB gives each connection a Dispatch queue. Using the queue starts no thread; but when it is
/// released, Dispatch cleans up on its thread pool, and the monitor of the pool then wakes once a
/// second for the rest of the process. A program that opens a few files and then stays with one, as
/// the workspace does, keeps the remains of the others instead: a few kilobytes each.
final class ClosedConnections: Sendable {
  /// The closed connections of the process.
  static let shared = ClosedConnections(max: 16)

  private let max: Int
  private let kept = Mutex<[DatabaseQueue]>([])

  /// - Parameter max: the most connections that are kept; connections closed later are released.
  init(max: Int) { self.max = max }

  /// The number of kept connections.
  var count: Int { kept.withLock { $0.count } }

  /// Closes a connection.
  ///
  /// - Throws: GRDB's error if it cannot be closed properly.
  func close(_ queue: DatabaseQueue) throws {
    try queue.close()
    kept.withLock { kept in
      if kept.count < max, !kept.contains(where: { $0 === queue }) { kept.append(queue) }
    }
  }
}

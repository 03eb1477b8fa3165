import GRDB
import Synchronization

/// Closed connections that are not let go of.
///
/// GRDB gives each connection a queue of Dispatch. To use it starts nothing; but when it goes, Dispatch
/// tidies up on its pool of threads, which it starts for that, and the monitor of the pool then wakes
/// once a second for as long as the process runs. A program that opens a few files and then stays with
/// one, as the workspace does, keeps what is left of the others instead: a few kilobytes each.
final class ClosedConnections: Sendable {
  /// Those of the process.
  static let shared = ClosedConnections(max: 16)

  private let max: Int
  private let kept = Mutex<[DatabaseQueue]>([])

  /// - Parameter max: how many are kept; of those that are closed later nothing stays.
  init(max: Int) { self.max = max }

  /// How many are kept.
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

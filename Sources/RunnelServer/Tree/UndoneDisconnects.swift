import Logging
import RunnelBase
import RunnelSync
import RunnelTree
import Synchronization

/// Tells the log of onDisconnect writes that are refused when they are due: their clients are gone.
///
/// A batch that is done anew tells of them again.
final class UndoneDisconnects: Sendable {
  private let database: String
  private let logger: Logger
  private let lines = Mutex(LineRate())

  init(database: String, _ logger: Logger) { (self.database, self.logger) = (database, logger) }

  /// True if the log takes one more line now.
  func takesLine(now: Int64) -> Bool { lines.withLock { $0.takesLine(second: now / 1000) } }

  /// Tells of a write, with its places and without its values.
  func tell(_ write: Write, of caller: Caller, reason: String) {
    logger.warning(
      """
      \(database): an onDisconnect write was not done: \(DenialText.places(write.writtenPlaces)) \
      by \(DenialText.user(caller)): \(reason)
      """)
  }

  /// Tells of requests in the database that cannot be read.
  func tellUnreadable() {
    logger.warning(
      "\(database): the onDisconnect writes that a connection left cannot be read, and were not done"
    )
  }
}

extension Write {
  /// The places that are named to be written.
  fileprivate var writtenPlaces: [Path] {
    switch self {
    case .set(let path, _): [path]
    // A name that is no path would have been refused when it was stored.
    case .update(let path, let members): members.map { (try? path.child($0.name)) ?? path }
    // Clients do not request these for a disconnection.
    case .copy, .move: []
    }
  }
}

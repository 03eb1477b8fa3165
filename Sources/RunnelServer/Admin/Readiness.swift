import Synchronization

/// Whether a server can be given work.
final class Readiness: Sendable {
  /// Where in its life a server is.
  enum Phase: Hashable, Sendable {
    case starting
    case serving
    case ending
  }

  private let phase = Mutex(Phase.starting)

  func enter(_ next: Phase) { phase.withLock { $0 = next } }

  /// Why it cannot be given work; nil if it can.
  func obstacle(_ databases: ServedDatabases) -> String? {
    switch phase.withLock({ $0 }) {
    case .starting: return "The server starts."
    case .ending: return "The server ends."
    case .serving:
      let lost = databases.all.first { $0.database.isLost }
      return lost.map { "\($0.database.name) cannot be used: see the log." }
    }
  }
}

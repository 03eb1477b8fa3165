import Synchronization

/// The readiness of a server to take work.
final class Readiness: Sendable {
  /// The phase of a server's life.
  enum Phase: Hashable, Sendable {
    case starting
    case serving
    case ending
  }

  private let phase = Mutex(Phase.starting)

  func enter(_ next: Phase) { phase.withLock { $0 = next } }

  /// The reason why the server cannot take work, or nil.
  func obstacle(_ databases: ServedDatabases, _ accounts: AccountService?) -> String? {
    switch phase.withLock({ $0 }) {
    case .starting: return "The server starts."
    case .ending: return "The server ends."
    case .serving:
      let all = databases.all.map(\.database)
      if let obstacle = databases.storeObstacle { return obstacle }
      if let idle = all.first(where: { !$0.place.takesSessions }) {
        return "The primary of the store does not confirm that this server may serve \(idle.name)."
      }
      if let lost = all.first(where: \.isLost) {
        return "\(lost.name) cannot be used: see the log."
      }
      // Nobody can sign in.
      if let accounts, accounts.isUnusable {
        return "\(accounts.name) cannot be used: see the log."
      }
      return all.first(where: \.isUnwritable).map { "\($0.name) cannot be written: see the log." }
    }
  }
}

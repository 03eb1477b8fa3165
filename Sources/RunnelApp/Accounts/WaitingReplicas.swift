import RunnelClient
import RunnelSync

/// What waits in the replicas of the users of a database; any thread may ask.
struct WaitingReplicas: Sendable {
  /// The most replicas of users without a known account that are looked at.
  static let usersMax = 100

  /// Counts the writes of a user that wait.
  var count: @Sendable (_ user: String) -> Int = { _ in 0 }
  /// Counts the writes of a user that wait, and those that were refused.
  var counts: @Sendable (_ user: String) -> (pending: Int, refused: Int) = { _ in (0, 0) }
  /// Returns the users who have a replica, whether or not their accounts are known.
  var users: @Sendable () -> [String] = { [] }
  /// Drops the writes of a user that wait.
  var drop: @Sendable (_ user: String) throws -> Void = { _ in }
}

extension WaitingReplicas {
  /// Looks into the replicas of an origin.
  ///
  /// - Parameters:
  ///   - address: the origin.
  ///   - namesAll: false if only the accounts that are known here are told of, as on a machine of others.
  ///   - environment: the environment variables of the process.
  init(of address: OriginAddress, namesAll: Bool, environment: [String: String]) {
    count = { user in
      ReplicaFolder.waitingFile(for: address, user: user, environment: environment)?.pendingCount
        ?? 0
    }
    counts = { user in
      ReplicaFolder.counts(of: address, user: user, environment: environment)
    }
    if namesAll { users = { ReplicaFolder.users(of: address, environment: environment) } }
    drop = { user in
      try ReplicaFolder.dropWaiting(of: address, user: user, environment: environment)
    }
  }
}

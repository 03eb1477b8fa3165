import Logging
import RunnelPostgres

extension StoreKeeper {
  /// Opens a namespace before there are sessions, and waits while the store cannot be written.
  ///
  /// A lease that has ended meanwhile is begun anew: nobody has relied on it.
  ///
  /// - Parameters:
  ///   - name: the name of the namespace, for people.
  ///   - patience: how long it is tried.
  ///   - open: opens the namespace; done anew as a whole.
  /// - Returns: the result of `open`.
  /// - Throws: the errors of `open` that no further attempt can mend, or the last one.
  nonisolated func opening<Opened>(
    _ name: String, within patience: Duration, _ open: () throws -> Opened
  ) throws -> Opened {
    var attempts = StoragePatience(patience)
    var isTold = false
    while true {
      do {
        return try open()
      } catch let error as PostgresError where StoreKeeper.passes(error) {
        if !isTold { logger.warning("\(name) cannot be opened yet: \(error)") }
        isTold = true
        if error.kind == .leaseEnded { renewNow() }
        if !attempts.wait() { throw StoreKeeper.last(error, name, patience) }
      }
    }
  }

  /// True for what another transaction is the reason of, or the end of the lease.
  private static func passes(_ error: PostgresError) -> Bool {
    error.kind == .leaseEnded || error.kind == .refused && error.isWorthRetrying
  }

  private static func last(
    _ error: PostgresError, _ name: String, _ patience: Duration
  ) -> PostgresError {
    guard error.state == PostgresError.lockTimeout else { return error }
    return PostgresError(
      .refused, state: error.state,
      "\(name) cannot be opened: another transaction has had it locked for \(patience). Is the standby "
        + "of the primary away?")
  }
}

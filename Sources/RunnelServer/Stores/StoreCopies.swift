import RunnelPostgres
import Synchronization

/// Whether the writes of a store have a second copy, as they had since this server has known it.
///
/// After a failover nobody may have told the new primary which standby has to confirm its writes. A store that never
/// had one has no remark.
///
/// Any thread may ask; one looks.
final class StoreCopies: Sendable {
  private struct State {
    var hadStandby = false
    var isAlone = false
  }

  private let state = Mutex(State())

  /// Looks at what the primary waits for.
  ///
  /// - Returns: what has changed, for the log; nil if nothing has, or if it cannot be told.
  func look(_ connection: PostgresConnection, of store: String) -> String? {
    // A database that has no such setting has copies of its own.
    guard let expected = try? PostgresStore.expectedStandbys(connection) else { return nil }
    return note(expected: expected, of: store)
  }

  /// Notes which standbys have to confirm a write; an empty text for none.
  func note(expected: String, of store: String) -> String? {
    let hasStandby = expected.contains { !$0.isWhitespace }
    return state.withLock { state in
      let wasAlone = state.isAlone
      state.hadStandby = state.hadStandby || hasStandby
      state.isAlone = state.hadStandby && !hasStandby
      if state.isAlone == wasAlone { return nil }
      return state.isAlone
        ? StoreCopies.remark(store)
        : "The writes of \(store) are confirmed by a standby again (\(expected))."
    }
  }

  /// What people are told while there is one copy only; nil if there are more, or never were.
  func remark(of store: String) -> String? {
    state.withLock(\.isAlone) ? StoreCopies.remark(store) : nil
  }

  private static func remark(_ store: String) -> String {
    "The writes of \(store) have one copy: no standby has to confirm them, since synchronous_standby_names of the "
      + "primary is empty."
  }
}

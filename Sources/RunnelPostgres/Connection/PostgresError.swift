/// A failure of PostgreSQL, or of the way to it.
package struct PostgresError: Error, Hashable, CustomStringConvertible {
  /// The kinds of failures.
  package enum Kind: Hashable, Sendable {
    /// libpq is not installed.
    case missingLibrary
    /// There is no connection, or it broke: nothing is known of a commit that was under way.
    case disconnected
    /// No answer came in time; the connection is closed, so the rest is as with `disconnected`.
    case timedOut
    /// A commit was sent, and it could not be found out in time what became of it: nothing of it may be
    /// done anew that must not be done twice.
    case inDoubt
    /// The server refused a statement.
    case refused
    /// The namespace is being moved to another store, and cannot be written meanwhile.
    case frozen
    /// The namespace was moved to another store.
    case moved
    /// The lease of this server has ended, so that it may not write.
    case leaseEnded
    /// The store lacks what is asked for, or is of another version.
    case unsuitable
  }

  package var kind: Kind
  /// The code of the error, five characters; nil if the server said none.
  package var state: String?
  /// What happened, and what to do; without passwords.
  package var message: String

  package init(_ kind: Kind, state: String? = nil, _ message: String) {
    (self.kind, self.state, self.message) = (kind, state, message)
  }

  package var description: String { state.map { "\(message) (\($0))" } ?? message }

  /// The description with a full stop, before another sentence.
  package var sentence: String { description.hasSuffix(".") ? description : description + "." }

  /// True if the same transaction may succeed when it is done anew.
  ///
  /// Source: several servers, section 3, rule 6.
  package var isWorthRetrying: Bool {
    switch kind {
    case .disconnected, .timedOut, .frozen: return true
    case .missingLibrary, .unsuitable, .inDoubt, .moved, .leaseEnded: return false
    case .refused:
      guard let state else { return false }
      return PostgresError.retriedStates.contains(state) || state.hasPrefix("08")
    }
  }

  /// True if the disk of the database did not take a write: it is full, or faulty.
  package var isOfDisk: Bool { isOfFullDisk || kind == .refused && state == "58030" }

  /// True if the disk of the database has no space left.
  package var isOfFullDisk: Bool { kind == .refused && state == "53100" }

  /// True if no primary answers for now.
  package var isOutage: Bool {
    switch kind {
    case .disconnected, .timedOut: !isPermanent
    case .refused: isWorthRetrying
    case .missingLibrary, .inDoubt, .frozen, .moved, .leaseEnded, .unsuitable: false
    }
  }

  /// True if nothing helps but a change of the place, of its password, or of the database.
  ///
  /// A server that runs tries again nevertheless, as its operator may just be changing them.
  package var isPermanent: Bool {
    // The next start begins another one.
    if kind == .leaseEnded { return false }
    guard kind == .disconnected, let state else { return !isWorthRetrying }
    return state.hasPrefix("28") || ["3D000", "42501"].contains(state)
  }

  /// The code of a wrong password, or none.
  static let wrongPassword = "28P01"
  /// The code of a lock that was waited for too long.
  package static let lockTimeout = "55P03"

  /// Serialization, deadlock, lock not available, shutdown and start of the server, too many
  /// connections, and a standby.
  private static let retriedStates: Set<String> = [
    "40001", "40P01", lockTimeout, "57P01", "57P02", "57P03", "53300", "25006",
  ]

  static let missingLibrary = PostgresError(
    .missingLibrary,
    "PostgreSQL's client library is not installed: install it (libpq5, version 14 or newer).")
}

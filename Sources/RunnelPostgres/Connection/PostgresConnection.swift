/// A connection to a database of PostgreSQL.
///
/// ```
///   open --broken, timed out, close--> closed
/// ```
///
/// Isolation: synchronous, and used by one thread at a time.
package final class PostgresConnection {
  /// How long the server is waited for.
  package struct Patience: Hashable, Sendable {
    /// For a connection, all hosts of the place together.
    package var connecting = Duration.seconds(10)
    /// For the answers to the statements of one call.
    package var answering = Duration.seconds(60)

    package init() {}
  }

  private let link: any PostgresLink
  private let place: PostgresPlace?
  /// The hosts of the place that take writes too, and were replaced by this one; as of the connection's
  /// beginning.
  package let replacedPrimaries: [String]
  /// The last failure of `perform`; nil for none since this was set.
  package var lastFailure: PostgresError?
  /// How long the answers of a call may take that says nothing else; nil for the patience of the connection.
  package var answering: Duration?

  /// Connects.
  ///
  /// - Throws: `PostgresError` that says why there is no connection.
  package init(_ place: PostgresPlace, patience: Patience = Patience()) throws(PostgresError) {
    let found = try PrimaryChoice.connect(place, patience: patience)
    (link, replacedPrimaries, self.place) = (found.link, found.replaced, place)
  }

  /// Makes a connection of a link.
  package init(_ link: any PostgresLink) {
    (self.link, replacedPrimaries, place) = (link, [], nil)
  }

  /// True until the connection was closed, or found broken.
  package var isOpen: Bool { link.isOpen }

  /// The version of the server, like 150018 for 15.18; 0 once closed.
  package var serverVersion: Int { link.serverVersion }

  /// The host and the database, for messages; empty once closed.
  package var name: String { link.name }

  /// Ends the connection; a transaction under way is rolled back by the server.
  package func close() { link.close() }

  /// The code of the last warning during the last call of `perform`; nil if there was none.
  package var warningState: String? { link.warningState }

  /// Sends statements, and waits for all their answers.
  ///
  /// After a refused statement the server skips the rest. Then a transaction that was begun must be
  /// rolled back; without one, nothing was done.
  ///
  /// - Parameters:
  ///   - statements: done in order.
  ///   - patience: how long the answers may take; nil for `answering`.
  /// - Returns: a result per statement.
  /// - Throws: `PostgresError`; after `disconnected` and `timedOut` the connection is closed.
  @discardableResult
  package func perform(
    _ statements: [PostgresStatement], within patience: Duration? = nil
  ) throws(PostgresError) -> [PostgresResult] {
    do {
      return try link.perform(statements, within: patience ?? answering)
    } catch {
      lastFailure = error
      // A primary that confirms nothing may have been replaced; if it is known by which one, that is asked.
      let isKnown = (link as? NetworkLink)?.isReplaced == true
      if !isOpen, !isKnown, let place { PrimaryChoice.lookAgain(at: place) }
      throw error
    }
  }

  /// Sends statements whose answers nobody waits for, such as the end of a transaction that only read.
  ///
  /// They are done before the statements of the next call, which drops their answers. What they are
  /// refused for is not told; a connection that broke is closed, at the latest by the next call.
  package func post(_ statements: [PostgresStatement]) { try? link.post(statements) }

  // MARK: Notifications

  /// The socket on which notifications arrive; nil once closed.
  ///
  /// It may be waited for while no statement runs.
  package var socket: Int32? { link.socket }

  /// Takes the notifications that have arrived, in order; does not wait.
  ///
  /// Some may arrive with the answers to statements, so they are to be taken after these too.
  ///
  /// - Returns: their texts.
  /// - Throws: `PostgresError` (`disconnected`) if the connection broke; it is closed then.
  package func takeNotifications() throws(PostgresError) -> [String] {
    try link.takeNotifications()
  }
}

import Synchronization

/// The lease by which the other servers of a store know that this one lives.
///
/// A server without a lease writes nothing: others may have done the disconnect requests of its clients.
/// After it lost its lease, it takes another name.
///
/// Source: several servers, section 3, "onDisconnect".
package final class StoreLease: Sendable {
  /// The time after which the others may end a lease.
  static let seconds = 10
  /// The time after which no client is sent to a server that has not renewed its lease: two renewals.
  private static let liveSeconds = 4

  /// The address of this server for clients; empty for none.
  package let address: String
  private struct State {
    var identifier: PostgresIdentifier
    var isHeld = true
    /// The name under which it is about to begin.
    var next: PostgresIdentifier?
  }

  private let current: Mutex<State>
  private let makeIdentifier: @Sendable () -> PostgresIdentifier

  /// Makes a lease that nobody knows yet; `makeIdentifier` makes a new name for each start.
  package init(
    address: String,
    makeIdentifier: @escaping @Sendable () -> PostgresIdentifier = PostgresIdentifier.random
  ) {
    (self.address, self.makeIdentifier) = (address, makeIdentifier)
    current = Mutex(State(identifier: makeIdentifier()))
  }

  /// What names this start of the server.
  package var identifier: PostgresIdentifier { current.withLock { $0.identifier } }

  /// False from the loss of the lease until it begins anew: nothing is written under the old name, even if
  /// the others have not noticed the loss.
  package var isHeld: Bool { current.withLock { $0.isHeld } }

  /// Notes that the lease is lost.
  ///
  /// Clients that come before it begins anew are not of its time: what they leave to be done at their end
  /// would be done when the old name is given up.
  package func lose() { current.withLock { $0.isHeld = false } }

  /// Makes the lease known, under a new name.
  ///
  /// If that fails it may be known all the same, so the next attempt is under the same name.
  package func begin(_ connection: PostgresConnection) throws(PostgresError) {
    let identifier = current.withLock { $0.next } ?? makeIdentifier()
    current.withLock { $0.next = identifier }
    try connection.perform([
      // What was left under the old name is done by whoever comes first.
      PostgresStatement("DELETE FROM server WHERE id = $1", .identifier(self.identifier)),
      PostgresStatement(
        """
        INSERT INTO server (id, address, seen_at) VALUES ($1, $2, now())
        ON CONFLICT (id) DO UPDATE SET address = excluded.address, seen_at = excluded.seen_at
        """, .identifier(identifier), .text(address)),
    ])
    current.withLock { $0 = State(identifier: identifier) }
  }

  /// Renews the lease.
  ///
  /// - Parameters:
  ///   - connection: on which no transaction is open.
  ///   - report: how far the server follows the feeds, for people; nil if that has not changed.
  /// - Returns: false if others ended it.
  /// - Throws: `PostgresError`; then it may have been renewed.
  package func renew(
    _ connection: PostgresConnection, report: StoreReport?
  ) throws(PostgresError) -> Bool {
    // Without BEGIN, the statements of one call are one transaction.
    var statements = [
      PostgresStatement("UPDATE server SET seen_at = now() WHERE id = $1", .identifier(identifier))
    ]
    if let report {
      statements.append(
        PostgresStatement(
          """
          INSERT INTO meta (ns, name, value) VALUES (0, $1, $2)
          ON CONFLICT (ns, name) DO UPDATE SET value = excluded.value
          """, .text(StoreReport.prefix + identifier.text), .text(report.text)))
    }
    return try connection.perform(statements).first?.changedCount == 1
  }

  /// Ends the leases that were not renewed, and forgets the reports of servers without one.
  ///
  /// - Returns: the number of leases.
  package static func endOld(_ connection: PostgresConnection) throws(PostgresError) -> Int {
    let results = try connection.perform([
      PostgresStatement("DELETE FROM server WHERE seen_at < now() - interval '\(seconds) s'"),
      forgetReports,
    ])
    return results.first?.changedCount ?? 0
  }

  private static let forgetReports = PostgresStatement(
    """
    DELETE FROM meta m WHERE m.ns = 0 AND m.name LIKE '\(StoreReport.prefix)%' AND NOT EXISTS (
      SELECT 1 FROM server s WHERE m.name = '\(StoreReport.prefix)' || s.id::text)
    """)

  /// Takes the address of this server out of the list, so that no client is sent to it any more.
  package func withdraw(_ connection: PostgresConnection) throws(PostgresError) {
    try connection.perform([
      PostgresStatement("UPDATE server SET address = '' WHERE id = $1", .identifier(identifier))
    ])
  }

  /// Ends the lease, after all sessions have ended.
  package func end(_ connection: PostgresConnection) throws(PostgresError) {
    try connection.perform([
      PostgresStatement("DELETE FROM server WHERE id = $1", .identifier(identifier)),
      StoreLease.forgetReports,
    ])
  }

  // MARK: What is new

  /// The newest places in the feeds of all namespaces; those named `shared` are in another store too, and are
  /// told with what is noted of their moves.
  package static func heads(
    _ connection: PostgresConnection, shared: Set<String> = []
  ) throws(PostgresError) -> [StoreHead] {
    let result = try connection.perform([
      PostgresStatement(
        """
        SELECT n.ns, n.name, n.head, n.state, CASE WHEN n.state = 2 THEN (
          SELECT m.value FROM meta m WHERE m.ns = n.ns AND m.name = '\(StoreMove.addressName)') END,
          (n.state = 1 AND EXISTS (
            SELECT 1 FROM meta m WHERE m.ns = n.ns AND m.name = '\(StoreMove.arrivalName)'))::int
        FROM namespace n
        """)
    ])[0]
    let claims = try shared.isEmpty ? [:] : claims(of: shared, connection)
    var heads: [StoreHead] = []
    for row in 0..<result.count {
      heads.append(
        StoreHead(
          namespace: try result.integer(row, 0) ?? 0, name: result.text(row, 1) ?? "",
          head: try result.integer(row, 2) ?? 0,
          state: PostgresStore.State(rawValue: try result.integer(row, 3) ?? 0) ?? .frozen,
          movedTo: result.text(row, 4) ?? "", isArriving: try result.integer(row, 5) == 1,
          claim: claims[result.text(row, 1) ?? ""]))
    }
    return heads
  }

  /// What is noted of the moves of namespaces, by their names.
  private static func claims(
    of names: Set<String>, _ connection: PostgresConnection
  ) throws(PostgresError) -> [String: StoreClaim] {
    let result = try connection.perform([
      PostgresStatement(
        """
        SELECT n.name, m.name, m.value, n.state FROM namespace n LEFT JOIN meta m ON m.ns = n.ns
          AND (m.name = ANY($2) OR starts_with(m.name, $3) OR starts_with(m.name, $4))
        WHERE n.name = ANY($1)
        """, .texts(names.sorted()),
        .texts([StoreMove.moveName, StoreMove.openedName, StoreMove.originName]),
        .text(StoreMove.camePrefix), .text(StoreMove.undonePrefix))
    ])[0]
    var claims: [String: StoreClaim] = [:]
    for row in 0..<result.count {
      let isFrozen = try result.integer(row, 3) == Int64(PostgresStore.State.frozen.rawValue)
      claims[result.text(row, 0) ?? "", default: StoreClaim()]
        .note(result.text(row, 1) ?? "", result.text(row, 2) ?? "", isFrozen: isFrozen)
    }
    return claims
  }

  /// The servers that renewed their leases lately, in the order of their identifiers.
  package static func live(
    _ connection: PostgresConnection
  ) throws(PostgresError) -> [LiveServer] {
    let result = try connection.perform([
      PostgresStatement(
        """
        SELECT id, address FROM server WHERE seen_at > now() - interval '\(liveSeconds) s'
        ORDER BY id
        """)
    ])[0]
    return (0..<result.count).map { row in
      LiveServer(
        identifier: PostgresIdentifier(bytes: result.bytes(row, 0) ?? []),
        address: result.text(row, 1) ?? "")
    }
  }

  /// True if a server whose lease has ended left disconnect requests.
  package static func hasOrphans(
    _ connection: PostgresConnection
  ) throws(PostgresError) -> Bool {
    let result = try connection.perform([
      PostgresStatement(
        """
        SELECT 1 FROM disconnect_write d
        WHERE NOT EXISTS (SELECT 1 FROM server s WHERE s.id = d.server) LIMIT 1
        """)
    ])[0]
    return result.count > 0
  }
}

/// The newest place in the feed of a namespace.
package struct StoreHead: Hashable, Sendable {
  /// The number of the namespace in the tables.
  package var namespace: Int64
  /// Its name for clients.
  package var name: String
  package var head: Int64
  /// What may be done with it.
  package var state: PostgresStore.State
  /// The address for its clients, if it was moved to another store; empty for none.
  package var movedTo: String
  /// True if it comes from another store, and is not open yet: what is here may be old, if the move was given
  /// up there.
  package var isArriving: Bool
  /// What is noted of its moves; nil if that was not asked for.
  package var claim: StoreClaim?
}

/// A server whose lease holds.
package struct LiveServer: Hashable, Sendable {
  package var identifier: PostgresIdentifier
  /// Its address for clients; empty if it told none.
  package var address: String

  package init(identifier: PostgresIdentifier, address: String) {
    (self.identifier, self.address) = (identifier, address)
  }
}

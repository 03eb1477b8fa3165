import Synchronization

/// The lease by which the other servers of a store know that this one lives.
///
/// A server without a lease writes nothing: others may have done the disconnect requests of its clients.
/// After it lost its lease, it takes another name.
///
/// Source: several servers, section 3, "onDisconnect".
package final class StoreLease: Sendable {
  /// The time after which the others may end a lease.
  private static let seconds = 10

  /// The address of this server for clients; empty for none.
  package let address: String
  private let current: Mutex<PostgresIdentifier>

  /// Makes a lease that nobody knows yet.
  package init(address: String) {
    self.address = address
    var random = SystemRandomNumberGenerator()
    current = Mutex(PostgresIdentifier(using: &random))
  }

  /// What names this start of the server.
  package var identifier: PostgresIdentifier { current.withLock { $0 } }

  /// Makes the lease known, under a new name.
  package func begin(_ connection: PostgresConnection) throws(PostgresError) {
    var random = SystemRandomNumberGenerator()
    let identifier = PostgresIdentifier(using: &random)
    try connection.perform([
      PostgresStatement(
        "INSERT INTO server (id, address, seen_at) VALUES ($1, $2, now())",
        .identifier(identifier), .text(address))
    ])
    current.withLock { $0 = identifier }
  }

  /// Renews the lease.
  ///
  /// - Returns: false if others ended it.
  package func renew(_ connection: PostgresConnection) throws(PostgresError) -> Bool {
    let results = try connection.perform([
      PostgresStatement(
        "UPDATE server SET seen_at = now() WHERE id = $1", .identifier(identifier))
    ])
    return results.first?.changedCount == 1
  }

  /// Ends the leases that were not renewed.
  ///
  /// - Returns: their number.
  package static func endOld(_ connection: PostgresConnection) throws(PostgresError) -> Int {
    let results = try connection.perform([
      PostgresStatement(
        "DELETE FROM server WHERE seen_at < now() - interval '\(seconds) s'")
    ])
    return results.first?.changedCount ?? 0
  }

  /// Ends the lease, after all sessions have ended.
  package func end(_ connection: PostgresConnection) throws(PostgresError) {
    try connection.perform([
      PostgresStatement("DELETE FROM server WHERE id = $1", .identifier(identifier))
    ])
  }

  // MARK: What is new

  /// The newest places in the feeds of all namespaces.
  package static func heads(
    _ connection: PostgresConnection
  ) throws(PostgresError) -> [(name: String, head: Int64)] {
    let result = try connection.perform([PostgresStatement("SELECT name, head FROM namespace")])[0]
    var heads: [(name: String, head: Int64)] = []
    for row in 0..<result.count {
      heads.append((result.text(row, 0) ?? "", try result.integer(row, 1) ?? 0))
    }
    return heads
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

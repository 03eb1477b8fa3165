// What is told of a store to people: its servers, and the standbys of its primary.
extension PostgresStore {
  /// A server that has, or had, a lease.
  package struct Server: Hashable {
    /// What names this start of it.
    package var identifier: PostgresIdentifier
    /// Its address for clients; empty if it told none.
    package var address: String
    /// The milliseconds since it renewed its lease.
    package var age: Int64
    /// The changes that its clients were not told yet, as of that time; nil if it did not say.
    package var report: StoreReport?
  }

  /// A standby of the primary.
  package struct Standby: Hashable {
    /// The name that it told.
    package var name: String
    /// `sync`, `quorum`, `potential` or `async`.
    package var kind: String
    /// The bytes of the log that it has not replayed yet.
    package var lag: Int64
  }

  /// The servers with a lease, or whose lease nobody took yet, in the order of their addresses.
  package func servers() throws -> [Server] {
    let result = try connection.perform([
      PostgresStatement(
        """
        SELECT s.id, s.address, (extract(epoch FROM now() - s.seen_at) * 1000)::bigint, m.value
        FROM server s LEFT JOIN meta m ON m.ns = 0 AND m.name = $1 || s.id::text
        ORDER BY s.address, s.id
        """, .text(StoreReport.prefix))
    ])[0]
    return try (0..<result.count).map { row in
      Server(
        identifier: PostgresIdentifier(bytes: result.bytes(row, 0) ?? []),
        address: result.text(row, 1) ?? "", age: try result.integer(row, 2) ?? 0,
        report: result.text(row, 3).flatMap { StoreReport($0) })
    }
  }

  /// True if there may be standbys that this role may not see.
  package func hidesStandbys() throws -> Bool {
    do {
      return try connection.perform([
        PostgresStatement(
          """
          SELECT 1 FROM pg_stat_replication
          WHERE state IS NULL AND NOT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') LIMIT 1
          """)
      ])[0].count > 0
    } catch {
      if error.kind == .refused { return false }
      throw error
    }
  }

  /// The standbys that this role may see, in the order of their names; nil where the database has no
  /// such list.
  package func standbys() throws -> [Standby]? {
    let result: PostgresResult
    do {
      result = try connection.perform([
        PostgresStatement(
          """
          SELECT application_name, sync_state,
            coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::bigint
          FROM pg_stat_replication WHERE sync_state IS NOT NULL ORDER BY application_name
          """)
      ])[0]
    } catch {
      if error.kind == .refused { return nil }
      throw error
    }
    return try (0..<result.count).map { row in
      Standby(
        name: result.text(row, 0) ?? "", kind: result.text(row, 1) ?? "",
        lag: try result.integer(row, 2) ?? 0)
    }
  }
}

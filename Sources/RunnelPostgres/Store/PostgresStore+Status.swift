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

    /// True if its lease holds, so that what it reported is still so.
    package var isLive: Bool { age <= Int64(StoreLease.seconds) * 1000 }

    /// The state of its lease for people; without `isConfirmed` the primary confirms no renewal.
    package func words(isConfirmed: Bool) -> String {
      let seconds = { (milliseconds: Int64) in Double(milliseconds / 100) / 10 }
      let doubt = isConfirmed ? "" : ", not confirmed"
      if isLive {
        return "lease renewed \(seconds(age)) s ago\(doubt)"
          + (report.map { ", \($0.words)" } ?? "")
      }
      return "lease ended \(seconds(age - Int64(StoreLease.seconds) * 1000)) s ago\(doubt)"
    }
  }

  /// A standby of the primary.
  package struct Standby: Hashable {
    /// The name that it told.
    package var name: String
    /// `sync`, `quorum`, `potential` or `async`.
    package var kind: String
    /// The bytes of the log that it has not replayed yet.
    package var lag: Int64
    /// False while it catches up with what is older, so that no write waits for it.
    package var isFollowing: Bool
  }

  /// The standbys of a primary.
  package struct Standbys: Hashable {
    /// Which of them have to confirm a write: PostgreSQL's `synchronous_standby_names`; empty for none.
    package var expected: String
    /// The role that asked.
    package var role: String
    /// True if there are some that this role may not see.
    package var isHidden: Bool
    /// Those that it may see, in the order of their names.
    package var all: [Standby]

    /// True if no standby has to confirm a write, so that one copy of it may be all.
    package var hasOneCopy: Bool { expected.allSatisfy(\.isWhitespace) }

    /// True if too few are attached, so that no write is confirmed.
    package var isShort: Bool {
      if hasOneCopy || isHidden { return false }
      let count = all.count { ["sync", "quorum"].contains($0.kind) && $0.isFollowing }
      return count < Standbys.neededCount(expected)
    }

    /// How many have to confirm: the number in `ANY 2 (a, b, c)`, `FIRST 2 (a, b, c)` or `2 (a, b, c)`, or one.
    static func neededCount(_ text: String) -> Int {
      guard let list = text.firstIndex(of: "(") else { return 1 }
      return text[..<list].split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } ?? 1
    }
  }

  /// After this time, in seconds, a lease that ended is no more listed.
  private static let endedSeconds = 600

  /// The servers with a lease, or whose lease ended lately, in the order of their addresses.
  ///
  /// Other servers remove leases that ended; where none lives, or in a restored backup, they stay.
  package func servers() throws -> [Server] {
    let result = try connection.perform([
      PostgresStatement(
        """
        SELECT s.id, s.address, (extract(epoch FROM now() - s.seen_at) * 1000)::bigint, m.value
        FROM server s LEFT JOIN meta m ON m.ns = 0 AND m.name = $1 || s.id::text
        WHERE s.seen_at > now() - interval '\(StoreLease.seconds + PostgresStore.endedSeconds) s'
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

  /// Which standbys have to confirm a write: `synchronous_standby_names` of the primary; nil where the database has
  /// no such setting.
  package static func expectedStandbys(
    _ connection: PostgresConnection
  ) throws(PostgresError) -> String? {
    let setting = PostgresStatement("SELECT current_setting('synchronous_standby_names', true)")
    return try connection.perform([setting])[0].text(0, 0)
  }

  /// The standbys of the primary, as far as this role may see them; nil where the database has no such list.
  package func standbys() throws -> Standbys? {
    let results: [PostgresResult]
    do {
      results = try connection.perform([
        PostgresStatement(
          """
          SELECT application_name, sync_state,
            coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::bigint,
            (state = 'streaming')::int
          FROM pg_stat_replication ORDER BY application_name
          """),
        PostgresStatement(
          "SELECT current_setting('synchronous_standby_names'), current_user::text"),
      ])
    } catch {
      if error.kind == .refused { return nil }
      throw error
    }
    let (list, settings) = (results[0], results[1])
    var standbys = Standbys(
      expected: settings.text(0, 0) ?? "", role: settings.text(0, 1) ?? "", isHidden: false, all: []
    )
    for row in 0..<list.count {
      // Without the right to see them, all is NULL.
      guard let kind = list.text(row, 1) else {
        standbys.isHidden = true
        continue
      }
      standbys.all.append(
        Standby(
          name: list.text(row, 0) ?? "", kind: kind, lag: try list.integer(row, 2) ?? 0,
          isFollowing: try list.integer(row, 3) == 1))
    }
    return standbys
  }
}

// One move at a time: the locks of commands, which go with their connections.
extension StoreMove {
  /// The number of the lock of the moves of namespace 0: "runnelmv".
  static let lockBase: Int64 = 0x7275_6E6E_656C_6D76
  /// Where the numbers of the locks of the names begin that are moved to a store: "runnelmt".
  private static let arrivalBase: Int64 = 0x7275_6E6E_656C_6D74
  /// What is said of a namespace that another command moves.
  package static let busyWords = "is being moved by another command"

  /// Runs `body` while no other command moves the namespace.
  ///
  /// - Throws: `PostgresError` if one does, and the errors of `body`.
  static func alone<Result>(
    with namespace: PostgresStore.Namespace, of source: PostgresStore, _ body: () throws -> Result
  ) throws -> Result {
    let number = lockBase + namespace.number
    guard try lock(number, of: source, "pg_try_advisory_lock") else {
      throw PostgresError(
        .unsuitable, "\(namespace.name) \(busyWords)\(try holderWords(number, of: source))")
    }
    // If the connection is lost, so is the lock.
    defer { _ = try? lock(number, of: source, "pg_advisory_unlock") }
    return try body()
  }

  /// Runs `body` while no other command moves a namespace of the name to the target.
  ///
  /// - Throws: `PostgresError` if one does, and the errors of `body`.
  func aloneInTarget<Result>(_ body: () throws -> Result) throws -> Result {
    // FNV-1a; two names that share a number only wait for each other.
    let number = namespace.name.utf8.reduce(StoreMove.arrivalBase) {
      Int64(bitPattern: (UInt64(bitPattern: $0) ^ UInt64($1)) &* 0x100_0000_01B3)
    }
    guard try StoreMove.lock(number, of: target, "pg_try_advisory_lock") else {
      throw PostgresError(
        .unsuitable,
        "A namespace \(namespace.name) \(StoreMove.busyWords) to "
          + target.connection.name + (try StoreMove.holderWords(number, of: target)))
    }
    // If the connection is lost, so is the lock.
    defer { _ = try? StoreMove.lock(number, of: target, "pg_advisory_unlock") }
    return try body()
  }

  /// Takes or gives back a lock, which goes with the connection; false if another connection has it.
  static func lock(
    _ number: Int64, of store: PostgresStore, _ function: StaticString
  ) throws -> Bool {
    let result = try store.connection.perform([
      StoreMove.watchingClient,
      PostgresStatement("SELECT \(function)($1::bigint)::int", .integer(number)),
    ])[1]
    return try result.integer(0, 0) == 1
  }

  /// Lets PostgreSQL notice that this command was killed, also while it waits for others: its session has the
  /// lock.
  ///
  /// Before version 14 it does not know how.
  private static let watchingClient = PostgresStatement(
    """
    SELECT set_config(name, '1000', false) FROM pg_settings
    WHERE name = 'client_connection_check_interval'
    """)

  /// The end of the sentence that a lock is another command's: which session has it, and what can be done.
  private static func holderWords(_ number: Int64, of store: PostgresStore) throws -> String {
    // The lock of a number is stored in two halves.
    let found = try store.connection.perform([
      PostgresStatement(
        """
        SELECT l.pid::bigint, (coalesce(a.wait_event_type, '') = 'Lock')::int,
          extract(epoch FROM clock_timestamp() - a.query_start)::bigint
        FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
        WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND (l.classid::bigint << 32 | l.objid::bigint) = $1
        """, .integer(number))
    ])[0]
    guard found.count > 0, let process = try found.integer(0, 0) else {
      return ": wait for its end. It has just ended, so try again."
    }
    let wait =
      try found.integer(0, 1) == 1
      ? ", and has waited for another transaction for \(try found.integer(0, 2) ?? 0) seconds" : ""
    return
      " (process \(process) of PostgreSQL\(wait)): wait for its end. If that command was killed, PostgreSQL ends the "
      + "process a second later, or, before version 14, once it has waited for 30 seconds: then try again."
  }
}

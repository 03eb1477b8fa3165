/// A change of a store's tables, or of the list of its namespaces, while others use them.
///
/// Whoever waits for a lock on a table lets all wait that come after it, on every server. So each attempt
/// waits only briefly, and says for whom if that goes on.
package struct TableChange {
  /// About two minutes.
  package static let attemptsMax = 120
  private static let patience = "200ms"
  /// Longer than PostgreSQL's `deadlock_timeout`, after which an automatic vacuum gives way.
  private static let patienceWithVacuum = "1500ms"

  /// A transaction that has a lock on a table.
  private struct Holder: Hashable {
    var process: Int64
    var transaction: String
    /// Nil if it belongs to PostgreSQL itself, such as an automatic vacuum.
    var user: String?
    var program: String
    /// Its age in seconds; nil if this role may not see it.
    var age: Int64?

    func isSame(as other: Holder) -> Bool {
      process == other.process && transaction == other.transaction
    }

    var words: String {
      let details = [user.map { "user \($0)" } ?? "PostgreSQL's own", program]
        .filter { !$0.isEmpty }.joined(separator: ", ")
      let time = age.map { " for \($0) \($0 == 1 ? "second" : "seconds")" } ?? ""
      return "process \(process) (\(details)), whose transaction has used the tables\(time)"
    }
  }

  private let store: PostgresStore
  private let outcome: String
  private let attemptsMax: Int
  private let report: (String) -> Void
  private var holders: [Holder] = []
  private var told: [Holder] = []

  /// Makes a change.
  ///
  /// - Parameters:
  ///   - store: the store.
  ///   - outcome: what is to be said if it fails, as the beginning of a sentence.
  ///   - attemptsMax: how often it is tried.
  ///   - report: called with a sentence for each transaction that is waited for.
  init(
    _ store: PostgresStore, _ outcome: String, attemptsMax: Int,
    report: @escaping (String) -> Void
  ) {
    (self.store, self.outcome, self.attemptsMax, self.report) = (
      store, outcome, attemptsMax, report
    )
  }

  /// Runs `body`, in which a transaction begins with the given statements and ends, until it succeeds.
  ///
  /// - Throws: `PostgresError` and the errors of `body`; then nothing was changed.
  mutating func run(_ body: (_ beginning: [PostgresStatement]) throws -> Void) throws {
    var pause = RetryPause()
    for attempt in 1... {
      let isVacuumed = holders.contains { $0.user == nil }
      let patience = isVacuumed ? TableChange.patienceWithVacuum : TableChange.patience
      do {
        return try body([
          PostgresStatement("BEGIN"), PostgresStatement("SET LOCAL lock_timeout = '\(patience)'"),
        ])
      } catch let error as PostgresError where TableChange.mayHelp(error) {
        // A transaction that `body` has left open would refuse all else.
        try store.connection.perform([PostgresStatement("ROLLBACK")])
        try noteHolders()
        if attempt >= attemptsMax { throw failure(error) }
        pause.wait()
      }
    }
  }

  /// True if the next attempt may succeed; of two who make a table at once, the second finds it there then.
  private static func mayHelp(_ error: PostgresError) -> Bool {
    error.kind == .refused && (error.isWorthRetrying || error.state == "23505")
  }

  private func failure(_ error: PostgresError) -> PostgresError {
    guard let last = told.last else { return error }
    return PostgresError(
      .refused, state: error.state,
      "\(outcome), because of \(last.words): end that, or try again later.")
  }

  /// Tells of the transactions that were there already after the attempt before.
  private mutating func noteHolders() throws {
    let found = try lockHolders()
    let lasting = found.filter { new in holders.contains { $0.isSame(as: new) } }
    holders = found
    for holder in lasting {
      let isNew = !told.contains { $0.isSame(as: holder) }
      told.removeAll { $0.isSame(as: holder) }
      told.append(holder)
      if isNew { report("Waiting for \(holder.words).") }
    }
  }

  private func lockHolders() throws -> [Holder] {
    let result = try store.connection.perform([
      PostgresStatement(
        """
        SELECT DISTINCT l.pid::bigint, l.virtualtransaction, a.usename::text, a.application_name,
          extract(epoch FROM clock_timestamp() - a.xact_start)::bigint
        FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
        WHERE l.locktype = 'relation' AND l.granted AND l.pid <> pg_backend_pid()
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND l.relation IN (SELECT to_regclass(t)::oid FROM unnest($1) t)
        """, .texts(PostgresSchema.tables))
    ])[0]
    return try (0..<result.count).map { row in
      Holder(
        process: try result.integer(row, 0) ?? 0, transaction: result.text(row, 1) ?? "",
        user: result.text(row, 2), program: result.text(row, 3) ?? "",
        age: try result.integer(row, 4))
    }
  }
}

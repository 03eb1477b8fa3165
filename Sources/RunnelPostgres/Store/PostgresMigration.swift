/// A step from one version of a store's tables to the next, taken while servers use them.
///
/// A step only adds what servers of the version before do not see. What they must not miss raises
/// `oldest`: then they are replaced before the step.
package struct PostgresMigration: Sendable {
  /// The name in `meta`, in namespace 0, of the oldest version whose programs may use the tables.
  static let oldestName = "schema.oldest"

  /// The version before the step.
  package var from: Int
  /// The oldest version whose programs may use the tables after it.
  package var oldest: Int
  /// What makes the tables those of the next version.
  package var statements: [String]

  package init(from: Int, oldest: Int, _ statements: [String]) {
    (self.from, self.oldest, self.statements) = (from, oldest, statements)
  }

  /// All steps, in order: one for each version before this program's.
  package static let all =
    [whenClientsWrote] + NewerTables.steps(from: PostgresSchema.madeVersion)

  /// To version 2: clients that have not written for long are forgotten.
  ///
  /// Those that servers of version 1 note have the time 0.
  private static let whenClientsWrote = PostgresMigration(
    from: 1, oldest: 1,
    [
      "ALTER TABLE write_client ADD COLUMN seen bigint NOT NULL DEFAULT 0",
      "CREATE INDEX write_client_seen ON write_client (ns, seen)",
    ])

  /// Takes the step, unless it was taken.
  ///
  /// - Throws: `PostgresError`; then nothing was changed.
  func take(
    _ store: PostgresStore, attemptsMax: Int, report: @escaping (String) -> Void
  ) throws {
    var change = TableChange(
      store, "The tables of \(store.connection.name) were not changed", attemptsMax: attemptsMax,
      report: report)
    try change.run { try takeOnce(store, $0) }
  }

  private func takeOnce(_ store: PostgresStore, _ beginning: [PostgresStatement]) throws {
    let name = PostgresSchema.versionName
    let found = try store.connection.perform(
      beginning + [
        PostgresStatement("SELECT value FROM meta WHERE ns = 0 AND name = '\(name)' FOR UPDATE")
      ])[beginning.count]
    // Another program may have taken the step meanwhile.
    if found.count == 0 || found.text(0, 0) != "\(from)" {
      try store.connection.perform([PostgresStatement("ROLLBACK")])
      return
    }
    try store.atomically(
      statements.map { PostgresStatement($0) } + [
        PostgresStatement(
          "UPDATE meta SET value = '\(from + 1)' WHERE ns = 0 AND name = '\(name)'"),
        PostgresStatement(
          """
          INSERT INTO meta (ns, name, value) VALUES (0, '\(PostgresMigration.oldestName)', '\(oldest)')
          ON CONFLICT (ns, name) DO UPDATE SET value = excluded.value
          """),
        PostgresStatement("COMMIT"),
      ])
  }
}

extension PostgresStore {
  /// The versions of a store's tables, as far as they are told.
  package struct Version: Hashable {
    /// That of the tables.
    package var current: Int
    /// The oldest one whose programs may use them.
    package var oldest: Int
  }

  /// Brings the tables to the version after the last step, while servers use them.
  ///
  /// - Parameters:
  ///   - steps: in order.
  ///   - attemptsMax: how often a step is tried while others use the tables.
  ///   - report: called with a sentence for each transaction that is waited for.
  /// - Returns: the version before and after.
  /// - Throws: `PostgresError` if a step failed, which changed nothing then; those before it stay.
  package func migrate(
    _ steps: [PostgresMigration] = PostgresMigration.all,
    attemptsMax: Int = TableChange.attemptsMax, report: @escaping (String) -> Void = { _ in }
  ) throws -> (before: Int, after: Int) {
    let before = try version().current
    for step in steps where step.from >= before {
      try step.take(self, attemptsMax: attemptsMax, report: report)
    }
    return (before, try version().current)
  }

  /// The versions of the tables.
  ///
  /// - Throws: `PostgresError` (`unsuitable`) if there are no tables.
  package func version() throws -> Version {
    let result: PostgresResult
    do {
      result = try connection.perform([
        PostgresStatement(
          "SELECT name, value FROM meta WHERE ns = 0 AND name = ANY ($1)",
          .texts([PostgresSchema.versionName, PostgresMigration.oldestName]))
      ])[0]
    } catch {
      if error.state != "42P01" { throw error }
      throw PostgresError(
        .unsuitable,
        "\(connection.name) has no tables of Runnel: its owner makes them with `runnel store init`."
      )
    }
    var numbers: [String: Int] = [:]
    for row in 0..<result.count {
      numbers[result.text(row, 0) ?? ""] = result.text(row, 1).flatMap { Int($0) }
    }
    guard let current = numbers[PostgresSchema.versionName] else {
      throw PostgresError(
        .unsuitable, "\(connection.name) does not say of which version its tables are.")
    }
    return Version(
      current: current, oldest: numbers[PostgresMigration.oldestName] ?? current)
  }
}

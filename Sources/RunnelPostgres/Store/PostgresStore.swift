package import RunnelStorage
import RunnelTree

/// A store: a database of PostgreSQL with the tables of any number of namespaces.
///
/// A *namespace* is a database for clients: a tree with its indexes and its feed of changes.
///
/// Isolation: synchronous, and used by one thread at a time.
package final class PostgresStore {
  /// What is known of a namespace.
  package struct Namespace: Hashable {
    /// Its number in the tables.
    package var number: Int64
    /// Its name for clients.
    package var name: String
    /// The newest place in its feed.
    package var head: Int64
    /// The newest place in its feed that was pruned.
    package var floor: Int64
    /// The number of its next split node.
    package var nextSplit: Int64
    /// What may be done with it.
    package var state: State
  }

  /// What may be done with a namespace.
  package enum State: Int64, Sendable {
    case open = 0
    /// It is being moved to another store: it is not written meanwhile.
    case frozen = 1
    /// It is in another store now.
    case moved = 2
  }

  /// The connection.
  package let connection: PostgresConnection
  /// Makes another connection.
  let connect: () throws -> PostgresConnection

  /// Opens a store, which may have no tables yet.
  ///
  /// - Throws: `PostgresError` that says why there is no connection.
  package convenience init(_ place: PostgresPlace) throws {
    try self.init { try PostgresConnection(place) }
  }

  /// Opens a store by connections that `connect` makes.
  init(_ connect: @escaping () throws -> PostgresConnection) throws {
    self.connect = connect
    connection = try connect()
  }

  /// Closes the connection.
  package func close() { connection.close() }

  // MARK: Tables

  /// Makes the tables that are missing.
  ///
  /// Done again, it changes nothing, and waits for nobody.
  ///
  /// - Parameters:
  ///   - role: a role that may read and write the rows afterwards, and nothing else; nil for none.
  ///   - attemptsMax: how often it is tried while others use tables that are to be changed.
  ///   - report: called with a sentence for each transaction that is waited for.
  /// - Throws: `PostgresError`; then nothing was made.
  package func makeTables(
    for role: String? = nil, attemptsMax: Int = TableChange.attemptsMax,
    report: @escaping (String) -> Void = { _ in }
  ) throws {
    let hasMeta = try text("SELECT to_regclass('meta')::text") != nil
    // What an earlier version made is migrated, and not completed.
    if hasMeta { try checkVersion() }
    var statements = try missingParts()
    if !hasMeta {
      statements.append(
        """
        INSERT INTO meta (ns, name, value)
        VALUES (0, '\(PostgresSchema.versionName)', '\(PostgresSchema.madeVersion)')
        ON CONFLICT (ns, name) DO NOTHING
        """)
    }
    if let role {
      let quoted = role.split(separator: "\"", omittingEmptySubsequences: false)
        .joined(separator: "\"\"")
      let tables = PostgresSchema.tables.joined(separator: ", ")
      statements.append("GRANT SELECT, INSERT, UPDATE, DELETE ON \(tables) TO \"\(quoted)\"")
    }
    if !statements.isEmpty {
      var change = TableChange(
        self, "The tables of \(connection.name) were not changed", attemptsMax: attemptsMax,
        report: report)
      try change.run { beginning in
        try atomically(
          beginning + statements.map { PostgresStatement($0) } + [PostgresStatement("COMMIT")])
      }
    }
    try checkVersion()
  }

  /// The statements that make what is missing; they are not run in vain, since they wait for locks.
  private func missingParts() throws -> [String] {
    let version = try text("SELECT version()") ?? ""
    let isPostgreSQL = version.hasPrefix("PostgreSQL") && !version.contains("-YB-")
    let parts = PostgresSchema.parts(isPostgreSQL: isPostgreSQL)
    let found = try connection.perform([
      PostgresStatement(
        "SELECT t FROM unnest($1) t WHERE to_regclass(t) IS NOT NULL", .texts(parts.map(\.name)))
    ])[0]
    let names = Set((0..<found.count).compactMap { found.text($0, 0) })
    var statements = parts.filter { !names.contains($0.name) }.map(\.statement)
    let isStored = """
      SELECT 'yes' FROM pg_attribute
      WHERE attrelid = to_regclass('node') AND attname = 'json' AND attstorage = 'm'
      """
    if isPostgreSQL, try text(isStored) == nil {
      statements.append(PostgresSchema.recordStorage)
    }
    return statements
  }

  /// Checks that the tables are there, and of a version that this program can use.
  ///
  /// - Throws: `PostgresError` (`unsuitable`) that names the remedy.
  package func checkVersion() throws {
    let version = try version()
    if version.oldest <= PostgresSchema.version, version.current >= PostgresSchema.version {
      return
    }
    let advice =
      version.current < PostgresSchema.version
      ? "run `runnel store migrate`" : "use a newer version of runnel"
    throw PostgresError(
      .unsuitable,
      "The tables of \(connection.name) are of version \(version.current), and not "
        + "\(PostgresSchema.version): \(advice).")
  }

  /// Runs statements that begin and end a transaction; a refusal rolls it back.
  func atomically(_ statements: [PostgresStatement]) throws {
    try undoing { try connection.perform(statements) }
  }

  /// Runs `body`, which begins and ends a transaction; an error rolls it back.
  func undoing(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      // What failed before is what is told.
      if connection.isOpen { _ = try? connection.perform([PostgresStatement("ROLLBACK")]) }
      throw error
    }
  }

  private func text(_ statement: String) throws -> String? {
    let result = try connection.perform([PostgresStatement(statement)]).first
    guard let result, result.count > 0 else { return nil }
    return result.text(0, 0)
  }

  // MARK: Namespaces

  /// All namespaces, in the order of their names.
  package func namespaces() throws -> [Namespace] {
    let found = try connection.perform([
      PostgresStatement("SELECT ns, name, head, floor, next_split, state FROM namespace")
    ])
    guard let result = found.first else { return [] }
    return try (0..<result.count).map { try PostgresStore.namespace(result, $0) }
      .sorted { $0.name < $1.name }
  }

  /// The namespace with a name; nil if there is none.
  package func namespace(named name: String) throws -> Namespace? {
    try namespaces().first { $0.name == name }
  }

  private static func namespace(_ result: PostgresResult, _ row: Int) throws -> Namespace {
    let integer = { (column: Int) in try result.integer(row, column) ?? 0 }
    return Namespace(
      number: try integer(0), name: result.text(row, 1) ?? "", head: try integer(2),
      floor: try integer(3), nextSplit: try integer(4),
      state: State(rawValue: try integer(5)) ?? .frozen)
  }

  /// Makes a namespace, empty; nothing if there is one of the name.
  ///
  /// - Parameters:
  ///   - name: its name.
  ///   - rules: the text of its rules, which the caller has checked; nil for none. There is no moment in which
  ///     it is there without them.
  ///   - attemptsMax: how often it is tried while another transaction is in the way.
  ///   - report: called with a sentence for each transaction that is waited for.
  /// - Returns: false if there was one of the name.
  /// - Throws: `PostgresError`; then nothing was made, unless the connection broke.
  @discardableResult
  package func makeNamespace(
    named name: String, rules: String? = nil, attemptsMax: Int = TableChange.attemptsMax,
    report: @escaping (String) -> Void = { _ in }
  ) throws -> Bool {
    let taking = PostgresStore.takingNumber(
      if: "NOT EXISTS (SELECT 1 FROM namespace o WHERE o.name = $1)")
    let making = PostgresStatement(
      """
      WITH taken AS (\(taking))
      INSERT INTO namespace (ns, name) SELECT number, $1 FROM taken
      ON CONFLICT (name) DO NOTHING RETURNING 1
      """, .text(name))
    // Of two who make one at once, the second finds its number taken, and tries again.
    var change = TableChange(self, "\(name) was not made", attemptsMax: attemptsMax, report: report)
    var isMade = false
    try change.run { beginning in
      let storing = rules.map { text in
        PostgresStatement(
          "INSERT INTO meta (ns, name, value) SELECT ns, $2, $3 FROM namespace WHERE name = $1",
          .text(name), .text(PostgresTransaction.rulesName), .text(text))
      }
      try undoing {
        let made = try connection.perform(beginning + [making]).last
        isMade = made.map { $0.count > 0 } ?? false
        let end = PostgresStatement(isMade ? "COMMIT" : "ROLLBACK")
        try connection.perform([isMade ? storing : nil, end].compactMap(\.self))
      }
    }
    return isMade
  }

  /// The declared indexes of a namespace, in the order of their numbers.
  package func indexes(of namespace: Int64) throws -> [StoredIndex] {
    try PostgresStore.indexes(of: namespace, connection)
  }

  static func indexes(
    of namespace: Int64, _ connection: PostgresConnection
  ) throws -> [StoredIndex] {
    let found = try connection.perform([
      PostgresStatement(
        "SELECT id, pattern, child FROM index_definition WHERE ns = $1 ORDER BY id",
        .integer(namespace))
    ])
    guard let result = found.first else { return [] }
    return try indexes(result)
  }

  /// The indexes in a result with the columns `id`, `pattern` and `child`.
  static func indexes(_ result: PostgresResult) throws -> [StoredIndex] {
    try (0..<result.count).map { row in
      guard let id = try result.integer(row, 0), let pattern = result.text(row, 1),
        let order = result.text(row, 2),
        let definition = try? IndexDefinition(pattern: pattern, storedOrder: order)
      else { throw Damage("the definition of an index cannot be read") }
      return StoredIndex(id: id, definition: definition)
    }
  }

  // MARK: Rules

  /// The text of a namespace's rules; nil if there are none.
  package func rulesText(of namespace: Namespace) throws -> String? {
    try metaValue(PostgresTransaction.rulesName, of: namespace)
  }

  func metaValue(_ name: String, of namespace: Namespace) throws -> String? {
    let result = try connection.perform([
      PostgresStatement(
        "SELECT value FROM meta WHERE ns = $1 AND name = $2", .integer(namespace.number),
        .text(name))
    ])[0]
    return result.count == 0 ? nil : result.text(0, 0)
  }

  /// The value that servers keep under a name; nil if there is none.
  package func keptValue(_ name: String, of namespace: Namespace) throws -> String? {
    try metaValue(PostgresTransaction.keptPrefix + name, of: namespace)
  }

  /// Replaces the value that servers keep under a name by what `change` makes of the present one; all
  /// servers read it anew.
  ///
  /// - Throws: `PostgresError` and the errors of `change`; then it may have been replaced only if the
  ///   connection broke.
  package func changeKept(
    _ name: String, of namespace: Namespace, now: Int64, _ change: (String?) throws -> String
  ) throws {
    try write(to: namespace) { transaction in
      transaction.keep(try change(transaction.keptValue(name)), name)
      transaction.tellSettings(now: max(now, transaction.earliestTime))
    }
  }

  /// Replaces a namespace's rules; all servers take them at the same place of the feed.
  ///
  /// The caller has checked the text; `now` is in milliseconds since 1970.
  ///
  /// - Throws: `PostgresError`; then they may have been replaced only if the connection broke.
  package func writeRules(_ text: String, of namespace: Namespace, now: Int64) throws {
    try write(to: namespace) { transaction in
      transaction.writeRules(text, now: max(now, transaction.earliestTime))
    }
  }
}

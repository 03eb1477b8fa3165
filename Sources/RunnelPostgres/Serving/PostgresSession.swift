import RunnelStorage
package import RunnelTree

/// A namespace as a server uses it: many writes of many clients in one transaction, and what other
/// servers wrote.
///
/// Responsibilities:
/// - It runs a transaction in which the caller reads, decides and writes as often as needed; all of it
///   is committed when `perform` returns, and none of it if that throws.
/// - It tells, at the beginning of each transaction, the places that others wrote since the last one.
/// - It finds out what became of a commit whose answer did not come.
///
/// A writing transaction locks the row of the namespace first, so all servers write one after the other,
/// and the order of the feed is that of the commits.
///
/// Source: several servers, sections 3 and 4.
///
/// Isolation: synchronous, and used by one thread at a time.
package final class PostgresSession {
  /// What the writer's connection is set to; rule 9.
  private static let settings = [
    "SET lock_timeout = '3s'", "SET idle_in_transaction_session_timeout = '5s'",
    "SET synchronous_commit = on",
  ]
  private static let feedCountMin: Int64 = 10_000
  private static let feedTimeMin: Int64 = 600_000
  /// The shortest time that is left for an answer, however long the database has been silent.
  private static let answeringMin = Duration.seconds(5)
  /// The shortest time for finding out what became of a commit.
  private static let doubtMin = Duration.seconds(10)

  /// An open connection, and the rows that are read by it.
  private struct Open {
    var connection: PostgresConnection
    var rows: PostgresRows
  }

  private let connect: () throws -> PostgresConnection
  /// The name of the namespace.
  package let name: String
  private let namespace: Int64
  private let lease: StoreLease
  /// The time for answers, and from the beginning of a commit until it was found out what became of it.
  private let patience: Duration
  private let deadline: PostgresDeadline?
  /// When the present silence of the database began; nil for none.
  private var silentSince: ContinuousClock.Instant?
  private var open: Open?
  /// The place in the feed up to which the caller was told; nil before the first transaction.
  private var known: FeedPlace?
  /// What is known of the feed up to there.
  private var memory = FeedMemory()
  /// Says which lost places are named in the log.
  private let isNamed: (Path) -> Bool
  /// The place that the last transaction missed in the feed, and another connection looks for.
  private var missingPlace: Int64?
  private var batch: Int64 = 0
  /// The place in the feed up to which the caller was told; nil before the first transaction.
  package var head: Int64? { known?.sequence }
  /// Which names of writes are forgotten.
  var nameLimits = WriteNames.Limits()
  /// What is to be logged; whoever logs it empties it.
  package var alarms: [String] = []
  /// The number of commits whose answers did not come; whoever counts them sets it to 0.
  package var doubtCount = 0

  /// Opens a namespace; answers are waited for as long as `patience` says.
  ///
  /// Lost places are named in alarms if `isNamed` says so.
  ///
  /// - Throws: `PostgresError` if there is no connection, or no such namespace.
  package convenience init(
    _ place: PostgresPlace, namespace name: String, lease: StoreLease,
    patience: Duration = .seconds(60), isNamed: @escaping (Path) -> Bool = { _ in true }
  ) throws {
    try self.init(
      namespace: name, lease: lease, patience: patience, deadline: place.deadline, isNamed: isNamed
    ) { try PostgresConnection(place) }
  }

  /// Opens a namespace by connections that `connect` makes.
  ///
  /// - Throws: `PostgresError` if there is no connection, or no such namespace.
  package init(
    namespace name: String, lease: StoreLease, patience: Duration = .seconds(60),
    deadline: PostgresDeadline? = nil, isNamed: @escaping (Path) -> Bool = { _ in true },
    connect: @escaping () throws -> PostgresConnection
  ) throws {
    (self.connect, self.name, self.lease, self.patience) = (connect, name, lease, patience)
    (self.deadline, self.isNamed) = (deadline, isNamed)
    let store = try PostgresStore(connect)
    defer { store.close() }
    try store.checkVersion()
    guard let found = try store.namespace(named: name) else {
      throw PostgresError(
        .unsuitable,
        "\(store.connection.name) has no namespace \(name): make it with `runnel store init \(name)`."
      )
    }
    namespace = found.number
  }

  /// Closes the connection.
  package func close() {
    open?.connection.close()
    open = nil
  }

  /// True if there is a connection, as far as it is known without using it.
  package var isConnected: Bool { open?.connection.isOpen ?? false }

  /// True if the program ends, so that nothing is tried again.
  package var isPastDeadline: Bool { deadline?.isOver ?? false }

  private func opened() throws -> Open {
    if let open, open.connection.isOpen { return open }
    let connection = try connect()
    try connection.perform(PostgresSession.settings.map { PostgresStatement($0) })
    let rows = PostgresRows(connection, namespace: namespace, indexes: [], nextSplit: 0)
    let made = Open(connection: connection, rows: rows)
    open = made
    return made
  }

  // MARK: Transactions

  /// Runs `body` in one transaction.
  ///
  /// - Parameters:
  ///   - isWriting: whether `body` may write.
  ///   - expected: what `body` will probably read or write, which is read in the same round trip as the
  ///     beginning; a query that shows all stands for its place.
  ///   - body: reads and writes.
  /// - Returns: the result of `body`, when all its writes are committed.
  /// - Throws: `PostgresError` if the database failed, and the errors of `body`; then nothing was
  ///   written. After `inDoubt` it may have been.
  package func perform<Result>(
    isWriting: Bool, expecting expected: [Query] = [],
    _ body: (PostgresTransaction) throws -> Result
  ) throws -> Result {
    let start = ContinuousClock.now
    let open: Open
    do {
      open = try opened()
    } catch {
      silentSince = silentSince ?? start
      throw error
    }
    open.connection.lastFailure = nil
    open.connection.answering = restOfPatience(start)
    do {
      let transaction = PostgresTransaction(
        open.rows, try begin(open, isWriting: isWriting, expected))
      silentSince = nil
      open.connection.answering = patience
      let result = try body(transaction)
      try finish(transaction, open)
      return result
    } catch {
      if !open.connection.isOpen { silentSince = silentSince ?? start }
      rollBack(open)
      // The engine knows errors of its own only; what failed is what the connection says.
      throw open.connection.lastFailure ?? error
    }
  }

  /// The time for the first answer: less of it if the database has been silent for a while.
  private func restOfPatience(_ now: ContinuousClock.Instant) -> Duration {
    guard let silentSince else { return patience }
    let rest = patience - silentSince.duration(to: now)
    return max(rest, min(patience, PostgresSession.answeringMin))
  }

  /// Declares those indexes that are not declared yet, and fills them.
  ///
  /// What others have written is told in the next transaction all the same.
  ///
  /// - Throws: `PostgresError`; then none was declared.
  package func declareIndexes(_ definitions: [IndexDefinition]) throws {
    let told = known
    defer { known = told ?? known }
    let hasAll = try perform(isWriting: false) { transaction in
      definitions.allSatisfy { transaction.declares($0) }
    }
    if hasAll { return }
    try perform(isWriting: true) { try $0.declare(definitions) }
  }

  private func begin(
    _ open: Open, isWriting: Bool, _ queries: [Query]
  ) throws -> PostgresTransaction.Beginning {
    let server = lease.identifier
    let expected = ExpectedRows(queries, open.rows)
    let beginning = beginning(isWriting: isWriting, of: server)
    let results = try open.connection.perform(beginning + expected.statements)
    let state = results[1]
    guard state.count == 1 else {
      throw PostgresError(.unsuitable, "The namespace \(name) is not there any more.")
    }
    let integer = { (column: Int) in try state.integer(0, column) ?? 0 }
    let (head, floor) = (try integer(0), try integer(1))
    let namespaceState = try integer(4)
    if namespaceState == PostgresStore.State.moved.rawValue {
      let place = try PostgresStore.newPlace(of: namespace, open.connection)
      throw PostgresError(.moved, "\(name) was moved to \(place.words).")
    }
    if isWriting {
      if results[4].count == 0 || !lease.isHeld {
        throw PostgresError(
          .leaseEnded, "The lease of this server has ended, so that it may not write.")
      }
      if namespaceState != PostgresStore.State.open.rawValue {
        throw PostgresError(
          .frozen,
          "\(name) is being moved to another store, and cannot be written meanwhile. `runnel store "
            + "status` says whether that was broken off, and how it ends then.")
      }
    }
    try takeIndexes(results[3], open.rows)
    var news = try FeedNews(
      results[2], after: known ?? FeedPlace(sequence: head, writer: nil), head: head, floor: floor)
    // A session that was never told anything has missed nothing.
    if known == nil { (news.touched, news.touchesSettings, news.alarm) = ([], false, nil) }
    try look(news, open)
    if !news.touched.isEmpty { open.rows.forgetRows() }
    if let alarm = news.alarm {
      alarms.append("\(alarm) \(try lossWords(open, floor: floor))")
    }
    let nextSplit = try integer(3)
    open.rows.begin(nextSplit: nextSplit)
    try open.rows.take(expected, results.dropFirst(beginning.count))
    return PostgresTransaction.Beginning(
      news: news, lastTime: try integer(2), databaseTime: try integer(5), nextSplit: nextSplit,
      isWriting: isWriting, server: server)
  }

  /// Names the writes that the database lost, as far as they are known.
  private func lossWords(_ open: Open, floor: Int64) throws(PostgresError) -> String {
    let rows = try open.connection.perform([memory.statement(namespace)])[0]
    return FeedMemory.words(for: try memory.lost(in: rows, floor: floor), isNamed)
  }

  /// Takes what a transaction found in the feed, and what it wrote there.
  private func follow(_ news: FeedNews, _ own: [FeedMemory.Entry], to end: FeedPlace) {
    // What was lost is told once.
    if news.alarm != nil { memory = FeedMemory() }
    memory.note(news.entries)
    memory.note(own)
    known = end
  }

  /// Tells of a place that the feed lacks: the feed is damaged, if another connection misses it too.
  ///
  /// - Throws: `PostgresError` (`disconnected`) the first time: the connection is closed, and the transaction
  ///   worth a retry.
  private func look(_ news: FeedNews, _ open: Open) throws(PostgresError) {
    guard let missing = news.missing, known != nil, missing != missingPlace else {
      if let missing = news.missing, known != nil {
        alarms.append("The feed is damaged: place \(missing) is missing.")
      }
      missingPlace = nil
      return
    }
    missingPlace = missing
    open.connection.close()
    throw PostgresError(
      .disconnected,
      "The feed up to \(news.end.sequence) was read without its place \(missing): it is read again."
    )
  }

  /// The first statements: the lock comes before all that is read, so that this is the newest state.
  private func beginning(
    isWriting: Bool, of server: PostgresIdentifier
  ) -> [PostgresStatement] {
    let mode = isWriting ? "READ COMMITTED" : "REPEATABLE READ READ ONLY"
    let lock = isWriting ? " FOR UPDATE" : ""
    var statements = [
      PostgresStatement("BEGIN ISOLATION LEVEL \(mode)"),
      PostgresStatement(
        """
        SELECT head, floor, last_at, next_split, state, (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        FROM namespace WHERE ns = $1\(lock)
        """, .integer(namespace)),
      FeedNews.statement(namespace, from: known?.sequence ?? .max),
      PostgresStatement(
        "SELECT id, pattern, child FROM index_definition WHERE ns = $1 ORDER BY id",
        .integer(namespace)),
    ]
    if isWriting {
      statements.append(
        PostgresStatement("SELECT 1 FROM server WHERE id = $1", .identifier(server)))
    }
    return statements
  }

  private func takeIndexes(_ result: PostgresResult, _ rows: PostgresRows) throws {
    let ids = try (0..<result.count).map { try result.integer($0, 0) ?? 0 }
    // A number stands for the same definition for ever.
    if ids != rows.indexes.map(\.id) { rows.indexes = try PostgresStore.indexes(result) }
  }

  private func rollBack(_ open: Open) {
    open.rows.rollBack()
    guard open.connection.isOpen else { return }
    let failure = open.connection.lastFailure
    // If this fails too, the connection is closed, which rolls back as well.
    if (try? open.connection.perform([PostgresStatement("ROLLBACK")])) == nil {
      open.connection.close()
    }
    open.connection.lastFailure = failure
  }

  // MARK: The commit

  private func finish(_ transaction: PostgresTransaction, _ open: Open) throws {
    open.rows.end()
    if !transaction.beginning.isWriting || transaction.isUnchanged {
      // What was read is right, whatever becomes of this.
      open.connection.post([PostgresStatement("COMMIT")])
      follow(transaction.beginning.news, [], to: transaction.beginning.news.end)
      return
    }
    guard let server = transaction.beginning.server else { return }
    batch += 1
    let end = transaction.end(server, batch: batch)
    var statements = try transaction.statements(server, batch: batch)
    statements += try pruning(from: transaction.beginning.news.end.sequence, to: end, transaction)
    statements += try transaction.forgetting(to: end, nameLimits)
    try commit(statements, from: transaction.beginning.news.end.sequence, end, open)
    follow(transaction.beginning.news, transaction.entries(server, batch: batch), to: end)
  }

  private func commit(
    _ statements: [PostgresStatement], from head: Int64, _ end: FeedPlace, _ open: Open
  ) throws {
    let failure: PostgresError
    let start = ContinuousClock.now
    do {
      try open.connection.perform(statements + [PostgresStatement("COMMIT")])
      // The wait for the standby was broken off: the commit is done here, and maybe only here.
      guard let warning = open.connection.warningState else { return }
      failure = PostgresError(.disconnected, state: warning, "The commit ended with a warning.")
      open.connection.close()
    } catch {
      if error.kind == .refused { throw error }
      failure = error
    }
    guard let writer = end.writer, end.sequence > head else { throw failure }
    open.rows.rollBack()
    // What follows is about other connections.
    open.connection.lastFailure = nil
    if try !wasDone(writer, after: head, since: start) { throw failure }
  }

  /// Finds out whether a batch was committed; rule 7.
  ///
  /// The lock waits for the old backend if that still lives. If the batch is there, another commit proves
  /// that it is on the standby too.
  ///
  /// - Throws: `PostgresError` (`inDoubt`).
  private func wasDone(
    _ writer: FeedPlace.Writer, after head: Int64, since start: ContinuousClock.Instant
  ) throws -> Bool {
    doubtCount += 1
    // The client has waited for the commit already.
    let limit = max(start + patience, .now + min(patience, PostgresSession.doubtMin))
    var pause = RetryPause()
    while true {
      do {
        return try looksDone(writer, after: head, until: limit)
      } catch {
        // What the transaction of this attempt left must not be in the way of the next one.
        open?.connection.close()
        let mayHelp = (error as? PostgresError)?.isWorthRetrying ?? false
        if !mayHelp || isPastDeadline || ContinuousClock.now >= limit {
          throw PostgresError(
            .inDoubt, "It is not known whether the last writes were done: \(error)")
        }
        pause.wait()
      }
    }
  }

  private func looksDone(
    _ writer: FeedPlace.Writer, after head: Int64, until limit: ContinuousClock.Instant
  ) throws -> Bool {
    let connection = try opened().connection
    connection.answering = max(ContinuousClock.now.duration(to: limit), .seconds(1))
    let results = try connection.perform([
      PostgresStatement("BEGIN"),
      PostgresStatement(
        "SELECT head FROM namespace WHERE ns = $1 FOR UPDATE", .integer(namespace)),
      PostgresStatement(
        "SELECT count(*) FROM feed WHERE ns = $1 AND seq > $2 AND server = $3 AND batch = $4",
        .integer(namespace), .integer(head), .identifier(writer.server), .integer(writer.batch)),
      PostgresStatement(
        "UPDATE namespace SET last_at = last_at WHERE ns = $1", .integer(namespace)),
      PostgresStatement("COMMIT"),
    ])
    if connection.warningState != nil {
      connection.close()
      throw PostgresError(.disconnected, "The commit ended with a warning.")
    }
    return try results[2].integer(0, 0) != 0
  }

  /// The statements that drop old rows of the feed, when a batch crosses a multiple of 1,000.
  private func pruning(
    from head: Int64, to end: FeedPlace, _ transaction: PostgresTransaction
  ) throws -> [PostgresStatement] {
    let oldest = end.sequence - PostgresSession.feedCountMin
    guard head / 1000 != end.sequence / 1000, oldest > 0, let open else { return [] }
    let result = try open.connection.perform([
      PostgresStatement(
        "SELECT max(seq) FROM feed WHERE ns = $1 AND seq <= $2 AND at < $3", .integer(namespace),
        .integer(oldest), .integer(transaction.ageTime - PostgresSession.feedTimeMin))
    ])[0]
    guard let last = try result.integer(0, 0) else { return [] }
    return [
      PostgresStatement(
        "DELETE FROM feed WHERE ns = $1 AND seq <= $2", .integer(namespace), .integer(last)),
      PostgresStatement(
        "UPDATE namespace SET floor = $2 WHERE ns = $1", .integer(namespace), .integer(last)),
    ]
  }
}

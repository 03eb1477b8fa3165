import Foundation
import GRDB
import RunnelStorage
import RunnelTree

/// The connection to one database file: it opens the file safely and runs transactions on it.
///
/// Durability: the journal is a write-ahead log with `synchronous = FULL`, so a transaction that
/// returned is on disk: it survives the end of the process at any moment, and of the machine. One that need not
/// be kept (`isDurable` is false) survives the end of the process alone; it is on disk with the next one.
///
/// It is used by one thread at a time (the tree's).
final class SQLiteStore {
  /// The pause before a file that other processes are creating is tried again, in milliseconds.
  private static let pauseMilliseconds: Int32 = 2

  let file: String
  private let queue: DatabaseQueue
  /// True if the file was opened as immutable.
  let isAtRest: Bool
  /// True if a file that lacks columns is read, with the columns added for this connection only.
  private var hasAddedColumns = false
  private let statements = StatementCache()
  /// The declared indexes, as this connection last saw them.
  private(set) var indexes: [StoredIndex] = []
  /// The number of writes that the history keeps; nil until it is needed.
  private let historyLimit = HistoryLimit()
  /// The state at which the version and the indexes were checked; nil if they must be checked
  /// again.
  private var knownState: Int64?
  /// The content as it was seen last; nil before that, and in an older format.
  private var anchor: ContentAnchor?
  /// The log of reads that an index would make faster.
  let adviceLog = AdviceLog()
  /// False within a transaction that need not be kept, and after one until that is set again.
  private var waitsForDisk = true
  /// Whether the log has a mark of this connection; see `LogMark`.
  private(set) var hasMarked = false
  /// The files as they were opened; nil before that.
  private(set) var files: OpenedFiles?
  /// The loss of the files; nil while they are there, and final once it is set.
  private(set) var loss: FileLoss?
  /// The copy of the pages of a file that is gone; nil if none is made.
  var pageCopy: PageCopy?

  /// Opens a file; an absent or empty one becomes a database, unless `isReadOnly`.
  ///
  /// An absent one gets its name when it is whole (see `NewDatabaseFile`), unless it `isUnnamed` yet.
  ///
  /// A file that is no Runnel database, or of a newer version, is left exactly as it is. A file of
  /// an older version is upgraded, unless `isReadOnly`: it is then read without changing it. Before
  /// an upgrade the whole file is checked, and it is not changed if it is damaged; a repair, which
  /// mends it afterwards, skips the check (`isDamageAccepted`). A file whose log is damaged is not
  /// opened, for a write would destroy what stands behind the damage; only a check, which reads, opens
  /// it (`isLogDamageAccepted`).
  ///
  /// The definitions of indexes, which may be damaged, are read by the first transaction.
  ///
  /// With `keepsReading`, a read may last over several calls; see `beginReading`.
  ///
  /// - Throws: `DatabaseError` that names the problem with the file.
  init(
    file: String, isReadOnly: Bool, busyTimeout: Duration, isDamageAccepted: Bool = false,
    isLogDamageAccepted: Bool = false, keepsReading: Bool = false, isUnnamed: Bool = false
  ) throws {
    try DatabaseFileName.check(file)
    self.file = file
    IndexGuard.install()
    try CompanionFiles.checkKinds(of: file)
    if !isReadOnly { try CompanionFiles.checkNames(of: file) }
    do {
      if !isReadOnly { try CompanionFiles.unlock(beside: file) }
      let newest = try SQLiteStore.checkLog(of: file, isPatient: busyTimeout > .zero)
      try SQLiteStore.checkIndex(of: file, isPatient: busyTimeout > .zero)
      try SQLiteStore.checkEndOfLog(of: file)
      if !isLogDamageAccepted { try SQLiteStore.checkLog(ofSmallFile: file) }
      // A connection that cannot write leaves even the log of a foreign file untouched.
      if !isReadOnly, let kind = try SQLiteStore.peek(file, busyTimeout) {
        try SQLiteStore.check(kind, file: file, isReadOnly: isReadOnly)
      }
      if !isReadOnly, !isUnnamed {
        try NewDatabaseFile.make(file) {
          try SQLiteStore(
            file: $0, isReadOnly: false, busyTimeout: busyTimeout, isUnnamed: true
          ).close()
        }
      }
      isAtRest = isReadOnly && SQLiteStore.isAtRest(file)
      queue = try SQLiteStore.connect(
        file, isReadOnly: isReadOnly, busyTimeout, keepsReading: keepsReading)
      // If a problem is found, nothing is changed.
      try keepLog(true)
      let kind = try SQLiteStore.kind(queue)
      try SQLiteStore.check(kind, file: file, isReadOnly: isReadOnly)
      try checkIndexIsWhole()
      if !isLogDamageAccepted { try checkLogIsWhole() }
      if let newest { try checkAge(since: newest) }
      if isReadOnly {
        try addColumns(kind)
      } else {
        try prepare(kind, busyTimeout, isDamageAccepted: isDamageAccepted)
      }
      files = try openedFiles()
      try keepLog(false)
    } catch {
      if let error = error as? GRDB.DatabaseError,
        error.extendedResultCode == .SQLITE_IOERR_SHORT_READ
      {
        // The log is shorter than the connections that have it open expect.
        throw SQLiteStore.notOfOthers(file)
      }
      throw DatabaseError(error, file: file)
    }
  }

  /// The kind of a file; nil if there is no file, or if the kind cannot be told without writing.
  private static func peek(_ file: String, _ busyTimeout: Duration) throws -> Schema.Kind? {
    guard FileManager.default.fileExists(atPath: file) else { return nil }
    do {
      let queue = try connect(file, isReadOnly: true, busyTimeout)
      let kind = try SQLiteStore.kind(queue)
      try ClosedConnections.shared.close(queue)
      return kind
    } catch let error as GRDB.DatabaseError
      where [.SQLITE_READONLY, .SQLITE_CANTOPEN].contains(error.resultCode)
    {
      // There is a journal to roll back, or a log in a folder that is not writable.
      return nil
    }
  }

  /// Throws if another process began to write a file that was opened as immutable.
  private func checkRest() throws {
    guard isAtRest, !SQLiteStore.isAtRest(file) else { return }
    throw DatabaseError(
      .cannotOpen, "\(file) is written by another program now. Nothing is lost: open it again.")
  }

  private static func kind(_ queue: DatabaseQueue) throws -> Schema.Kind {
    try queue.writeWithoutTransaction { db in
      try FastStatement(db, "BEGIN").run()
      // If this fails, closing also ends the transaction.
      defer { try? FastStatement(db, "COMMIT").run() }
      return try Schema.kind(db)
    }
  }

  private static func check(_ kind: Schema.Kind, file: String, isReadOnly: Bool) throws {
    switch kind {
    case .foreign:
      throw DatabaseError(
        .notRunnel,
        "\(file) is an SQLite database, but not one of Runnel's. It was not changed: "
          + "name another file.")
    case .ours(let version):
      try check(version: version, file: file)
      if isReadOnly { try SQLiteStore.checkReadable(version: version, file: file) }
    case .empty where isReadOnly:
      throw DatabaseError(
        .cannotOpen, "\(file) is empty: open it for writing, and fill it."
      ).with(.fill)
    case .empty: break
    }
  }

  private static func check(version: Int, file: String) throws {
    if version <= Schema.version { return }
    throw DatabaseError(
      .newerVersion,
      "\(file) has format \(version) and was written by a newer Runnel; this one reads up to "
        + "format \(Schema.version). It was not changed: use the newer program.")
  }

  /// Throws if a file lacks migrations without which it cannot be read, since it cannot take them
  /// now.
  static func checkReadable(
    version: Int, file: String, by steps: [Migration] = Schema.migrations
  ) throws {
    let lacking = steps.filter { $0.version > version }
    if lacking.allSatisfy(\.isReadableWithout) { return }
    throw DatabaseError(
      .olderVersion,
      "\(file) has format \(version), and must be brought to format \(Schema.version) before it "
        + "can be read. It was not changed: open it once for writing."
    ).with(.convert)
  }

  private static func connect(
    _ file: String, isReadOnly: Bool, _ busyTimeout: Duration, keepsReading: Bool = false
  ) throws -> DatabaseQueue {
    let exists = FileManager.default.fileExists(atPath: file)
    if !exists, isReadOnly {
      throw DatabaseError(
        .cannotOpen,
        "\(file) does not exist, and opening for reading only makes no file: open it for writing first."
      )
    }
    if exists, !isReadOnly, !FileManager.default.isWritableFile(atPath: file) {
      throw DatabaseError(
        .readOnly,
        "\(file) may not be written. Nothing was changed: change its permissions, or copy it.")
    }
    var configuration = Configuration()
    configuration.readonly = isReadOnly
    // No table refers to another; enabling the checks would cost a statement at each opening.
    configuration.foreignKeysEnabled = false
    configuration.busyMode = BusyWait(busyTimeout).mode
    configuration.label = "runnel.store"
    configuration.allowsUnsafeTransactions = keepsReading
    let isAtRest = isReadOnly && SQLiteStore.isAtRest(file)
    let path = isAtRest ? SQLiteStore.uriAtRest(file) : DatabaseFileName.forSQLite(file)
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// True if no process has the file open for writing and its folder is not writable, as on a
  /// read-only medium: SQLite cannot create the files there by which readers and writers
  /// coordinate.
  private static func isAtRest(_ file: String) -> Bool {
    let files = FileManager.default
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
    return !files.isWritableFile(atPath: folder)
      && !["-wal", "-shm"].contains { files.fileExists(atPath: file + $0) }
  }

  /// The URI that opens a file as immutable.
  ///
  /// Source: SQLite, "Uniform Resource Identifiers", `immutable`.
  static func uriAtRest(_ file: String) -> String {
    URL(fileURLWithPath: file).absoluteString + "?immutable=1"
  }

  private func addColumns(_ kind: Schema.Kind) throws {
    guard case .ours(let version) = kind, version < Migration.version3.version else { return }
    try queue.writeWithoutTransaction { try Schema.addColumns($0) }
    hasAddedColumns = true
  }

  private func prepare(
    _ kind: Schema.Kind, _ busyTimeout: Duration, isDamageAccepted: Bool
  ) throws {
    try useLog(busyTimeout)
    try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    // A file that has its tables can be opened while another process writes.
    if case .ours(Schema.version) = kind { return }
    try queue.write { db in
      // Another process may have made the tables meanwhile.
      if case .empty = try Schema.kind(db) { try Schema.makeTables(db) }
    }
    try Schema.migrate(queue) { db in
      if !isDamageAccepted {
        try Doctor.requireSound(db, file: file, for: "brought to a newer format")
      }
    }
  }

  /// Switches the journal to a write-ahead log.
  ///
  /// If several processes create a file at once, SQLite refuses this to some of them without its
  /// usual wait.
  private func useLog(_ busyTimeout: Duration) throws {
    let end = ContinuousClock.now + busyTimeout
    while true {
      do {
        return try queue.writeWithoutTransaction {
          try $0.execute(sql: "PRAGMA journal_mode = WAL")
        }
      } catch let error as GRDB.DatabaseError
        where error.resultCode == .SQLITE_BUSY && ContinuousClock.now < end
      {
        poll(nil, 0, SQLiteStore.pauseMilliseconds)
      }
    }
  }

  /// Runs `body` on one unchanging state.
  func read<Result>(_ body: (StoreTransaction) throws -> Result) throws -> Result {
    try transaction("BEGIN", body)
  }

  /// Runs `body`; all its writes are on disk when this returns, and none of them if it throws.
  ///
  /// If `isDurable` is false, the end of the machine may undo them, in the order of the transactions.
  func write<Result>(
    isDurable: Bool = true, _ body: (StoreTransaction) throws -> Result
  ) throws -> Result {
    try transaction("BEGIN IMMEDIATE", isWriting: true, isDurable: isDurable, body)
  }

  /// Sets whether the transactions from now on wait for the disk.
  private func setWaiting(_ isWaiting: Bool, _ db: GRDB.Database) throws {
    if isWaiting == waitsForDisk { return }
    try db.execute(sql: "PRAGMA synchronous = \(isWaiting ? "FULL" : "NORMAL")")
    waitsForDisk = isWaiting
  }

  private func transaction<Result>(
    _ beginning: StaticString, isWriting: Bool = false, isDurable: Bool = true,
    _ body: (StoreTransaction) throws -> Result
  ) throws -> Result {
    do {
      if isWriting, queue.configuration.readonly {
        throw DatabaseError(
          .readOnly,
          "\(file) was opened for reading only. Nothing was changed: open it for writing.")
      }
      if isWriting, let loss { throw loss }
      try checkRest()
      return try queue.writeWithoutTransaction { db in
        try setWaiting(isDurable, db)
        // If this fails, the next transaction sets it.
        defer { try? setWaiting(true, db) }
        var (isCommitting, isCommitted) = (false, false)
        do {
          // It reads the log, which may have been cut off.
          try statements.statement(beginning, db).run()
          let transaction = try start(db)
          // A single mark is enough: a second one would replace the first on its page.
          let isMarked = try isWriting && markLog(transaction)
          let changes = db.totalChangesCount
          let result = try transaction.tree.telling {
            let result = try body(transaction)
            try transaction.flush()
            return result
          }
          if isWriting, !isMarked, !transaction.notedEntry.isAppended,
            db.totalChangesCount != changes
          {
            try remarkLog(transaction)
          }
          // The files are checked before the commit, so that nothing is written to foreign files,
          // and after it, so that a write that is reported as done is in the file with that name.
          // What is damaged tells nothing; whoever needs it says so.
          let written = isWriting ? try? ContentAnchor(db, statements) : nil
          if isWriting { try checkFiles(db) }
          isCommitting = isWriting
          try statements.statement("COMMIT", db).run()
          isCommitted = isWriting
          if isCommitted { anchor = written }
          if isWriting { try checkFiles(db, isCommitted: true) }
          hasMarked = hasMarked || isWriting
          return result
        } catch {
          // SQLite has undone some failures by itself; if this fails too, closing undoes it.
          if db.isInsideTransaction { try? statements.statement("ROLLBACK", db).run() }
          let reason = cause(of: error, db)
          if isCommitted { throw DatabaseError(reason, file: file).afterCommit() }
          // What stands in the log may be found there after a crash.
          let isInDoubt = isCommitting && error.isOfReading
          throw isInDoubt ? DatabaseError(reason, file: file).duringCommit() : reason
        }
      }
    } catch {
      throw DatabaseError(error, file: file)
    }
  }

  /// Begins a read that lasts until the store is closed.
  func beginReading() throws {
    do {
      try queue.writeWithoutTransaction { db in
        try statements.statement("BEGIN", db).run()
        // The state is that of the first read.
        _ = try start(db).feedEnd()
      }
    } catch {
      throw DatabaseError(error, file: file)
    }
  }

  /// Runs `body` on the state of the long read.
  func readOn<Result>(_ body: (StoreTransaction) throws -> Result) throws -> Result {
    do {
      return try queue.writeWithoutTransaction { db in
        precondition(db.isInsideTransaction, "A read that goes on was begun.")
        do {
          let transaction = try start(db)
          return try transaction.tree.telling { try body(transaction) }
        } catch {
          throw cause(of: error, db)
        }
      }
    } catch {
      throw DatabaseError(error, file: file)
    }
  }

  /// A number that differs from the last one if another connection has committed meanwhile.
  ///
  /// It costs no transaction.
  func stateNumber() throws -> Int64? { try withDatabase { try stateNumber($0) } }

  private func stateNumber(_ db: GRDB.Database) throws -> Int64? {
    try statements.statement("PRAGMA data_version", db)
      .first { try $0.integer(0, "data_version") } ?? nil
  }

  /// Checks what another process may have changed: the tables, if its program is newer, and the
  /// declared indexes.
  private func start(_ db: GRDB.Database) throws -> StoreTransaction {
    let state = try stateNumber(db)
    if state == nil || state != knownState {
      let version = try Schema.fileVersion(db)
      try SQLiteStore.check(version: version, file: file)
      anchor = try ContentAnchor.following(anchor, db, statements, version: version)
      if hasAddedColumns, version >= Migration.version3.version {
        try Schema.removeColumns(db)
        hasAddedColumns = false
      }
      indexes = try StoreTransaction.storedIndexes(db)
      historyLimit.known = nil
      knownState = state
    }
    var transaction = StoreTransaction(
      db: db, indexes: indexes, adviceLog: adviceLog, statements: statements)
    transaction.stateNumber = state ?? 0
    transaction.knownHistoryLimit = historyLimit
    return transaction
  }

  /// Declares indexes that are not declared yet, and fills them.
  func declare(
    _ definitions: [IndexDefinition], progress: @escaping (_ rows: Int) -> Bool
  ) throws {
    if Set(definitions).isSubset(of: indexes.map(\.definition)) { return }
    try write { transaction in
      var declared = Set(transaction.indexes.map(\.definition))
      for definition in definitions where declared.insert(definition).inserted {
        try transaction.declare(definition, progress: progress)
      }
    }
    try reloadIndexes()
  }

  /// Removes declared indexes and their entries; returns those that existed.
  func remove(_ definitions: Set<IndexDefinition>) throws -> [IndexDefinition] {
    let removed = try write { transaction in
      let removed = transaction.indexes.filter { definitions.contains($0.definition) }
      for index in removed {
        try transaction.db.execute(
          sql: "DELETE FROM index_entry WHERE definition = ?", arguments: [index.id])
        try transaction.db.execute(
          sql: "DELETE FROM index_definition WHERE id = ?", arguments: [index.id])
      }
      return removed.map(\.definition)
    }
    try reloadIndexes()
    return removed
  }

  /// Sets the number of writes that the history keeps, and drops the entries beyond it.
  func setHistoryLimit(_ count: Int) throws {
    try write { try $0.setHistoryLimit(count) }
    knownState = nil
  }

  private func reloadIndexes() throws {
    knownState = nil
    try read { _ in }
  }

  /// Runs `body` on the connection, outside of any transaction.
  func withDatabase<Result>(_ body: (GRDB.Database) throws -> Result) throws -> Result {
    do {
      return try queue.writeWithoutTransaction { db in
        do { return try body(db) } catch { throw cause(of: error, db) }
      }
    } catch {
      throw DatabaseError(error, file: file)
    }
  }

  /// Runs `body` on the connection; errors are not converted.
  func onConnection<Result>(_ body: (GRDB.Database) throws -> Result) throws -> Result {
    try queue.writeWithoutTransaction(body)
  }

  /// Notes that the files are lost, or that they are back.
  func note(_ loss: FileLoss?) { self.loss = loss }

  /// Closes the file; the store must not be used afterwards.
  func close() throws {
    statements.removeAll()
    endPageCopy()
    let trouble = keepDamagedLog()
    defer { files = nil }
    do {
      try ClosedConnections.shared.close(queue)
    } catch {
      throw DatabaseError(error, file: file)
    }
    if let trouble { throw trouble }
  }
}

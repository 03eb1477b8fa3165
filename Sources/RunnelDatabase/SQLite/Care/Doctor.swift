import GRDB
import RunnelStorage
import RunnelTree

/// Checks one state of a database file against `FORMAT.md`, and repairs data that follows from
/// other data.
///
/// It is used within one transaction.
struct Doctor {
  private static let structureFaultsMax = 100

  let db: GRDB.Database
  let progress: CareProgress

  /// Checks SQLite's structures, and then, if those are sound, every invariant.
  func check() throws -> DatabaseReport { try examine().report }

  /// Throws if a file, of any version, has a fault; called before the whole file is changed.
  ///
  /// - Parameters:
  ///   - db: the connection, in a transaction.
  ///   - file: the path of the file.
  ///   - purpose: the purpose for the message, as in "It was not made compact".
  ///   - isWanted: called now and then; false stops the work.
  /// - Throws: `DatabaseError` (`corrupt`) with the first fault, and what to do.
  static func requireSound(
    _ db: GRDB.Database, file: String, for purpose: String,
    isWanted: @escaping () -> Bool = { true }
  ) throws {
    let doctor = Doctor(db: db, progress: CareProgress { _, _ in isWanted() })
    let report = try Schema.withAllColumns(db) { try doctor.check() }
    guard let fault = report.faults.first else { return }
    let others = report.faultCount > 1 ? ", and \(report.faultCount - 1) more" : ""
    throw DatabaseError(
      .corrupt,
      "\(file) is damaged at \(fault.place): \(fault.what)\(others). It was not \(purpose). "
        + DatabaseError.wayOutOfDamage
    ).with(.repair(file: file))
  }

  /// Checks everything; returns the report, and the damage that a repair sets aside.
  private func examine() throws -> (report: DatabaseReport, damage: TreeDamage) {
    var report = DatabaseReport()
    var damage = TreeDamage()
    report.version = try Schema.fileVersion(db)
    try notingDamage(&report) { report in
      try checkStructure(&report)
      try checkTables(&report)
    }
    guard report.isComplete else { return (report, damage) }
    try notingDamage(&report) { report in
      let indexes = try readableIndexes(&report)
      let audit = TreeAudit(db: db, indexes: indexes, report: report, progress: progress)
      try audit.run()
      (report, damage) = (audit.report, audit.damage)
      try RecordsAudit(db: db).run(into: &report, &damage)
    }
    return (report, damage)
  }

  /// Checks, repairs, and checks again; `after` is nil if nothing was repaired.
  func repair() throws -> DatabaseRepair {
    let (before, damage) = try examine()
    var repair = DatabaseRepair(before: before)
    guard before.isComplete, before.repairableCount > 0 else { return repair }
    try dropUnreadableDefinitions()
    try db.execute(sql: "REINDEX")
    var recovery = Recovery(db: db, damage: damage)
    try recovery.collect()
    try ChecksumFunctions.recount(db)
    try recovery.place(into: &repair)
    try SQLiteRows(db, StatementCache()).noteRoot()
    try rebuildEntries()
    try restartFeed()
    try makeID()
    let after = try check()
    guard after.repairableCount == 0 else {
      throw DatabaseError(
        .storage, "The repair did not hold, and was undone: \(after.faults.map(\.description)).")
    }
    repair.after = after
    return repair
  }

  // MARK: Checking

  /// Runs `body`; a failure by which SQLite reports damage becomes a fault.
  private func notingDamage(
    _ report: inout DatabaseReport, _ body: (inout DatabaseReport) throws -> Void
  ) throws {
    do {
      try body(&report)
    } catch let error as GRDB.DatabaseError
      where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
    {
      report.isComplete = false
      let what = error.message ?? "the file is damaged"
      report.add(DatabaseFault(place: "SQLite", what: what, remedy: .none))
    }
  }

  private func checkStructure(_ report: inout DatabaseReport) throws {
    let lines = try String.fetchAll(
      db, sql: "PRAGMA integrity_check(\(Doctor.structureFaultsMax))")
    for line in lines where line != "ok" {
      let remedy: DatabaseFault.Remedy = Doctor.isOfIndex(line) ? .reindex : .none
      if remedy == .none { report.isComplete = false }
      report.add(DatabaseFault(place: "SQLite", what: line, remedy: remedy))
    }
  }

  private func checkTables(_ report: inout DatabaseReport) throws {
    let sql = "SELECT name FROM sqlite_master WHERE type = 'table'"
    let version = report.version
    let wanted = try DatabaseQueue().write { new in
      try Schema.makeTables(new, version: version)
      return try String.fetchAll(new, sql: sql)
    }
    for name in Set(wanted).subtracting(try String.fetchAll(db, sql: sql)).sorted() {
      report.isComplete = false
      report.add(DatabaseFault(place: "table \(name)", what: "it is missing", remedy: .none))
    }
  }

  /// True if a line of SQLite's check reports an index that does not fit its table.
  private static func isOfIndex(_ line: String) -> Bool {
    line.contains(" missing from index ") || line.hasPrefix("wrong # of entries in index ")
      || line.hasPrefix("non-unique entry in index ")
  }

  /// The declared indexes that can be read; the others are faults.
  private func readableIndexes(_ report: inout DatabaseReport) throws -> [StoredIndex] {
    var indexes: [StoredIndex] = []
    for row in try definitions() {
      do {
        indexes.append(try StoreTransaction.storedIndex(row))
      } catch let damage as Damage {
        report.add(DatabaseFault(place: "index_definition", what: damage.what, remedy: .undeclare))
      }
    }
    return indexes
  }

  private func definitions() throws -> [Row] {
    try Row.fetchAll(db, sql: StoreTransaction.indexDefinitions)
  }

  // MARK: Mending

  private func dropUnreadableDefinitions() throws {
    for row in try definitions() where (try? StoreTransaction.storedIndex(row)) == nil {
      // `id` is the number of the row, so it is always an integer.
      try db.execute(
        sql: "DELETE FROM index_definition WHERE id = ?", arguments: [row.integerOrNil("id")])
    }
  }

  /// Gives the database an id and a mark for its logs, where the file has no readable one.
  private func makeID() throws {
    if try !LogMark.isStored(db) {
      try db.execute(sql: "DROP TABLE IF EXISTS log_start; \(LogMark.table)")
    }
    // A damaged id is replaced here.
    if (try? StoreTransaction(db: db, indexes: []).databaseID()) != nil { return }
    try db.execute(
      sql: "INSERT OR REPLACE INTO meta (name, value) VALUES (?, lower(hex(randomblob(16))))",
      arguments: [StoreTransaction.databaseIDName])
  }

  private func rebuildEntries() throws {
    try db.execute(sql: "DELETE FROM priority_entry")
    try db.execute(sql: "DELETE FROM index_entry")
    let indexes = try StoreTransaction.storedIndexes(db)
    let rebuild = TreeAudit(
      db: db, indexes: indexes, report: DatabaseReport(), isRebuilding: true, progress: progress)
    try rebuild.run()
  }

  /// Makes every process read all its data anew; the entries of the history stay.
  private func restartFeed() throws {
    let stored = try Int64.fetchOne(db, sql: "SELECT max(sequence) FROM change") ?? 0
    let end = max(stored, try StoreTransaction(db: db, indexes: []).sequenceAtLogStart())
    try db.execute(sql: "DELETE FROM change WHERE at IS NULL")
    try db.execute(sql: "UPDATE change SET paths = ?", arguments: [#"["/"]"#])
    // A gap makes processes that had read to the end read everything anew, too.
    try db.execute(
      sql: "INSERT INTO change (sequence, paths) VALUES (?, ?)",
      arguments: [end + 2, #"["/"]"#])
  }
}

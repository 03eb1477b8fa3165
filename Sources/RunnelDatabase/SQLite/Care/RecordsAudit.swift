import GRDB
import RunnelStorage
import RunnelTree

/// Checks the data beside the tree: the history, the stored state of a replica (I10), the id of the
/// database (I11), and the mark that ties a log to it (I12).
struct RecordsAudit {
  let db: GRDB.Database

  func run(into report: inout DatabaseReport, _ damage: inout TreeDamage) throws {
    if report.version < Migration.version2.version { return }
    let store = StoreTransaction(db: db, indexes: [])
    try checkEntries(store, &report, &damage)
    try check("pending_write", "SELECT id, json FROM pending_write", &report) {
      _ = try StoreTransaction.pendingWrite($0)
    }
    try check("tracked_query", "SELECT * FROM tracked_query", &report) { row in
      guard let record = try store.trackedQuery(row) else { throw Damage("a query cannot be read") }
      _ = try store.keys(ofQuery: record.id)
    }
    try checkNames(&report)
    try checkID(store, &report)
    try checkMark(store, &report)
  }

  /// Checks the entries of the history.
  private func checkEntries(
    _ store: StoreTransaction, _ report: inout DatabaseReport, _ damage: inout TreeDamage
  ) throws {
    try store.statement(
      """
      SELECT sequence, at, author, undoes, parts FROM change
      WHERE coalesce(at, author, undoes, parts) IS NOT NULL
      """
    ).forEach([]) { row in
      do {
        _ = try store.historyEntry(row)
      } catch let fault as Damage {
        damage.entries.append((id: try row.integer(0, "sequence") ?? 0, why: fault.what))
        report.add(DatabaseFault(place: "change", what: fault.what, remedy: .recover))
      }
      return true
    }
  }

  /// Checks that the mark that ties logs to the file exists (I12).
  private func checkMark(_ store: StoreTransaction, _ report: inout DatabaseReport) throws {
    guard try Schema.fileVersion(db) >= Migration.version3.version else { return }
    if try !LogMark.isStored(db) {
      report.add(
        DatabaseFault(
          place: "log_start", what: "the mark of the log is missing or is none", remedy: .newID))
    }
  }

  /// Checks that the id of the database exists (I11).
  private func checkID(_ store: StoreTransaction, _ report: inout DatabaseReport) throws {
    do {
      report.databaseID = try store.databaseID()
    } catch let damage as Damage {
      report.add(DatabaseFault(place: "meta", what: damage.what, remedy: .newID))
    }
  }

  private func check(
    _ table: String, _ sql: String, _ report: inout DatabaseReport,
    _ read: (Row) throws -> Void
  ) throws {
    let cursor = try Row.fetchCursor(db, sql: sql)
    while let row = try cursor.next() {
      do {
        try read(row)
      } catch let damage as Damage {
        report.add(DatabaseFault(place: table, what: damage.what, remedy: .none))
      }
    }
  }

  /// Checks that the names of applied writes are texts with numbers.
  private func checkNames(_ report: inout DatabaseReport) throws {
    let sql = """
      SELECT count(*) FROM (
        SELECT client, applied AS number FROM write_client
        UNION ALL SELECT client, forgotten FROM write_client
        UNION ALL SELECT client, number FROM applied_write)
      WHERE typeof(client) != 'text' OR typeof(number) != 'integer'
      """
    if try Int.fetchOne(db, sql: sql) ?? 0 > 0 {
      report.add(
        DatabaseFault(
          place: "applied_write", what: "a name or number cannot be read", remedy: .none))
    }
  }
}

import Glibc
import GRDB

/// The maintenance of a database file: check, repair, compaction.
package enum DatabaseCare {
  /// A function that is called now and then with the present step and the number of its rows that
  /// are done; false stops the work.
  package typealias Progress = (_ step: String, _ rows: Int) -> Bool

  /// Checks a file, which is only read, against everything in `FORMAT.md`.
  ///
  /// Other processes may go on writing: one state of the file is checked. O(n log n) in its rows;
  /// memory is proportional to the number of split nodes.
  ///
  /// - Parameters:
  ///   - file: the path of the file.
  ///   - busyTimeout: the longest time that another process may hold the file.
  ///   - progress: called with the progress; may stop the work.
  /// - Returns: the report.
  /// - Throws: `DatabaseError` if the file cannot be opened (possibly because it is damaged) or the
  ///   check was `cancelled`.
  package static func check(
    file: String, busyTimeout: Duration = .seconds(5),
    progress: @escaping Progress = { _, _ in true }
  ) throws -> DatabaseReport {
    try CompanionFiles.checkKinds(of: file)
    // SQLite may change the log when it opens the file.
    let fault = LogCheck.fault(ofLogBeside: file)
    let tornEnd = LogCheck.tornEnd(ofLogBeside: file)
    let store: SQLiteStore
    do {
      store = try SQLiteStore(
        file: file, isReadOnly: true, busyTimeout: busyTimeout, isLogDamageAccepted: true)
    } catch {
      return try damagedAtOpening(file, error)
    }
    let progress = CareProgress(progress)
    var report = try store.withConnection(stoppable: progress.isWanted) { db in
      var report: DatabaseReport?
      try db.inTransaction(.deferred) {
        report = try Doctor(db: db, progress: progress).check()
        if report?.isComplete == true {
          report?.unnamedFiles = try unnamedFiles(of: file, db)
        }
        // SQLite may refuse to commit even an empty transaction on a damaged file.
        return .rollback
      }
      return report ?? DatabaseReport()
    }
    try store.close()
    if let fault { report.add(fault) }
    report.tornLogEnd = tornEnd
    return report
  }

  /// Repairs a file.
  ///
  /// The file is checked first. Data that follows from other data (counts, entries, the feed) is
  /// made anew. Damaged rows, and rows that are not reachable, are moved to a place of their own:
  /// below `/recovered/repair-N`. All of it is one transaction, and no data is deleted or guessed. The
  /// undo files that no write of the history needs are removed if the file is sound: of a damaged one
  /// the history may be damaged too.
  /// A fault that cannot be repaired stays in the report, and its data is left as it is; this also
  /// holds for everything if SQLite itself finds the file damaged.
  ///
  /// - Parameters:
  ///   - file: the path of the file; a file of an older version is upgraded.
  ///   - busyTimeout: the longest time that another process may hold the file.
  ///   - progress: called with the progress; may stop the work, and then nothing was changed.
  /// - Returns: the reports before and after the repair.
  /// - Throws: `DatabaseError` if the file cannot be opened or written, or the repair was `cancelled`.
  package static func repair(
    file: String, busyTimeout: Duration = .seconds(5),
    progress: @escaping Progress = { _, _ in true }
  ) throws -> DatabaseRepair {
    try CompanionFiles.checkKinds(of: file)
    // Opening the file for writing would remove what stands behind the damage.
    if let fault = LogCheck.fault(ofLogBeside: file) {
      var report = DatabaseReport()
      report.isComplete = false
      report.add(fault)
      return DatabaseRepair(before: report)
    }
    let store: SQLiteStore
    do {
      store = try SQLiteStore(
        file: file, isReadOnly: false, busyTimeout: busyTimeout, isDamageAccepted: true)
    } catch {
      return DatabaseRepair(before: try damagedAtOpening(file, error))
    }
    let progress = CareProgress(progress)
    let repair = try store.withConnection(stoppable: progress.isWanted) { db in
      var repair: DatabaseRepair?
      try db.inTransaction(.immediate) {
        repair = try Doctor(db: db, progress: progress).repair()
        if repair?.before.isSound == true {
          // No import is under way, since this transaction writes.
          repair?.removedFiles = try unnamedFiles(of: file, db).filter { unlink($0) == 0 }
        }
        return repair?.after == nil ? .rollback : .commit
      }
      return repair ?? DatabaseRepair(before: DatabaseReport())
    }
    try store.close()
    if repair.after != nil, let beacon = ChangeBeacon(database: file) {
      beacon.signal()
      beacon.close()
    }
    return repair
  }
}

extension DatabaseCare {
  /// The undo files beside a database that no write of its history needs, in the order of their names.
  private static func unnamedFiles(of file: String, _ db: GRDB.Database) throws -> [String] {
    let named = try StoreTransaction(db: db, indexes: []).undoFileSuffixes()
    return UndoFile.paths(of: file).filter { path in !named.contains { path == file + $0 } }
  }

  /// The report on a file that is too damaged for SQLite to open.
  ///
  /// - Throws: the error, if it is another one or the file is no SQLite database.
  private static func damagedAtOpening(_ file: String, _ error: any Error) throws -> DatabaseReport
  {
    guard let error = error as? DatabaseError, error.code == .corrupt,
      let start = FileStart.bytes(of: file, count: FileStart.mark.count), start == FileStart.mark
    else { throw error }
    var report = DatabaseReport()
    report.isComplete = false
    report.add(
      LogCheck.fault(ofLogBeside: file)
        ?? DatabaseFault(
          place: "SQLite", what: "a page that every program needs cannot be read", remedy: .none))
    return report
  }
}

/// The first bytes of a file.
private enum FileStart {
  /// The first bytes of every SQLite database.
  static let mark = Array("SQLite format 3\u{0}".utf8)

  /// Returns the first `count` bytes, or as many as there are; nil if they cannot be read.
  static func bytes(of file: String, count: Int) -> [UInt8]? {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: count)
    let read = read(descriptor, &bytes, count)
    return read < 0 ? nil : Array(bytes.prefix(read))
  }
}

/// The progress of a piece of work, shared by its parts.
final class CareProgress {
  private let told: DatabaseCare.Progress
  private var step = "structure"
  private var rows = 0

  init(_ told: @escaping DatabaseCare.Progress) { self.told = told }

  /// Reports a step; returns false if the work must stop.
  func report(_ step: String, _ rows: Int) -> Bool {
    self.step = step
    self.rows = rows
    return isWanted()
  }

  /// Returns false if the work must stop.
  func isWanted() -> Bool { told(step, rows) }
}

extension SQLiteStore {
  /// Runs `body` on the connection; a long statement is stopped when `isWanted` returns false.
  func withConnection<Result>(
    stoppable isWanted: @escaping () -> Bool, _ body: (GRDB.Database) throws -> Result
  ) throws -> Result {
    try withDatabase { db in
      try LongStatement.run(on: db, while: isWanted) { try body(db) }
    }
  }
}

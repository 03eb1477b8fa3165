import Glibc
import GRDB

/// Looks after a database file: checks it, repairs it, makes it compact.
public enum DatabaseCare {
  /// Called now and then with what is being done and how many rows of that are done; false stops the
  /// work.
  public typealias Progress = (_ step: String, _ rows: Int) -> Bool

  /// Checks everything that `FORMAT.md` says of a file, which is only read.
  ///
  /// Other processes may go on writing: one state of the file is looked at. O(n log n) in its rows;
  /// memory follows the number of split nodes.
  ///
  /// - Parameters:
  ///   - file: the path of the file.
  ///   - busyTimeout: how long another process may hold the file.
  ///   - progress: is told how far the work is, and stops it.
  /// - Returns: what was found.
  /// - Throws: `DatabaseError` if the file cannot be opened (a damaged one may be among these) or the
  ///   check was `cancelled`.
  public static func check(
    file: String, busyTimeout: Duration = .seconds(5),
    progress: @escaping Progress = { _, _ in true }
  ) throws -> DatabaseReport {
    let store: SQLiteStore
    do {
      store = try SQLiteStore(file: file, isReadOnly: true, busyTimeout: busyTimeout)
    } catch {
      return try damagedAtOpening(file, error)
    }
    let progress = CareProgress(progress)
    let report = try store.withConnection(stoppable: progress.isWanted) { db in
      var report: DatabaseReport?
      try db.inTransaction(.deferred) {
        report = try Doctor(db: db, progress: progress).check()
        if report?.isComplete == true {
          let named = try StoreTransaction(db: db, indexes: []).undoFileSuffixes()
          report?.unnamedFiles = UndoFile.paths(of: file).filter { path in
            !named.contains { path == file + $0 }
          }
        }
        // Of a damaged file SQLite may refuse a commit, even of nothing.
        return .rollback
      }
      return report ?? DatabaseReport()
    }
    try store.close()
    return report
  }

  /// Checks a file, makes anew what follows from its data (counts, entries, the feed), and puts what is
  /// damaged, or what nothing leads to, in a place of its own: below `/recovered/repair-N`.
  ///
  /// All of it is one transaction, and no data is deleted or guessed. What cannot be mended is left as
  /// it is and stays in the report; so is everything where SQLite itself finds the file damaged.
  ///
  /// - Parameters:
  ///   - file: the path of the file; one of an older version is brought to this one.
  ///   - busyTimeout: how long another process may hold the file.
  ///   - progress: is told how far the work is, and stops it; then nothing was changed.
  /// - Returns: what was found, and what is left of it.
  /// - Throws: `DatabaseError` if the file cannot be opened or written, or the repair was `cancelled`.
  public static func repair(
    file: String, busyTimeout: Duration = .seconds(5),
    progress: @escaping Progress = { _, _ in true }
  ) throws -> DatabaseRepair {
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
  /// The report on a file that SQLite cannot even open for its damage.
  ///
  /// - Throws: the error, if it is another one or the file is no database of SQLite's.
  private static func damagedAtOpening(_ file: String, _ error: any Error) throws -> DatabaseReport
  {
    guard let error = error as? DatabaseError, error.code == .corrupt,
      let start = FileStart.bytes(of: file, count: FileStart.mark.count), start == FileStart.mark
    else { throw error }
    var report = DatabaseReport()
    report.isComplete = false
    report.add(
      DatabaseFault(
        place: "SQLite", what: "a page that every program needs cannot be read", remedy: .none))
    return report
  }
}

/// The first bytes of a file.
private enum FileStart {
  /// Those of every database of SQLite's.
  static let mark = Array("SQLite format 3\u{0}".utf8)

  /// So many of them, or as many as there are; nil if they cannot be read.
  static func bytes(of file: String, count: Int) -> [UInt8]? {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: count)
    let read = read(descriptor, &bytes, count)
    return read < 0 ? nil : Array(bytes.prefix(read))
  }
}

/// How far a piece of work is, asked for by whoever does a part of it.
final class CareProgress {
  private let told: DatabaseCare.Progress
  private var step = "structure"
  private var rows = 0

  init(_ told: @escaping DatabaseCare.Progress) { self.told = told }

  /// Tells of a step; false if the work is to stop.
  func report(_ step: String, _ rows: Int) -> Bool {
    self.step = step
    self.rows = rows
    return isWanted()
  }

  /// False if the work is to stop.
  func isWanted() -> Bool { told(step, rows) }
}

extension SQLiteStore {
  /// Runs `body` on the connection; a statement that runs long ends when `isWanted` says so.
  func withConnection<Result>(
    stoppable isWanted: @escaping () -> Bool, _ body: (GRDB.Database) throws -> Result
  ) throws -> Result {
    try withDatabase { db in
      try LongStatement.run(on: db, while: isWanted) { try body(db) }
    }
  }
}

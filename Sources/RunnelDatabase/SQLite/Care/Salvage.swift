import Glibc
import GRDB
import RunnelStorage

/// Copies the readable rows of a file with damaged structures into a new file.
///
/// A page that cannot be read ends a scan. So the rows are read from both ends, and then those of
/// each split node from both ends. If rows may still be missing, the pages are read one after the
/// other (`PageScan`): only the rows on damaged pages are missed. The rows are copied unchanged; a repair of the new file checks them, and moves rows that belong to no place to
/// `/recovered`.
struct Salvage {
  /// The damaged file, which is only read; nil if SQLite cannot open it.
  let source: DatabaseQueue?
  /// Returns the path of the damaged file, or of a copy of it that has the writes of its log.
  let pages: () throws -> String
  /// The connection to the new file, in a transaction.
  let target: GRDB.Database
  let progress: CareProgress
  private var rowCount = 0
  /// Whether the definitions of indexes could be read.
  private(set) var hasIndexes = false
  /// Whether all pages with rows could be read.
  private(set) var hasAllPages = false

  init(
    from source: DatabaseQueue?, pages: @escaping () throws -> String, to target: GRDB.Database,
    progress: CareProgress
  ) {
    (self.source, self.pages, self.target, self.progress) = (source, pages, target, progress)
  }

  /// Copies the rows.
  ///
  /// O(n log n) in the rows.
  ///
  /// - Parameter readsAllPages: true if pages may be of different times, so that a tree may seem whole
  ///   and lead past some of them.
  /// - Returns: the number of rows in `node`.
  /// - Throws: `DatabaseError` (`cancelled`), and failures of the new file.
  mutating func copy(readsAllPages: Bool = false) throws -> Int {
    hasIndexes = try copy("index_definition", ["id", "pattern", "child"], by: ["id"])
    let hasSplits = try copy("split", Salvage.splitColumns, by: ["id"])
    let hasNodes = try copy("node", Salvage.nodeColumns, by: ["parent", "key"])
    if !hasNodes {
      for parent in try parents() { try copy("node", Salvage.nodeColumns, by: ["key"], of: parent) }
    }
    hasAllPages = hasNodes && hasSplits
    if !hasAllPages || readsAllPages { try copyPages() }
    return try Int.fetchOne(target, sql: "SELECT count(*) FROM node") ?? 0
  }

  private static let nodeColumns = ["parent", "key", "json", "split", "checksum"]
  private static let splitColumns = ["id", "children", "priority", "checksum"]

  /// Copies the rows that no tree leads to.
  private mutating func copyPages() throws {
    guard let scan = try PageScan(file: pages()) else { return }
    try scan.forEachRow { row in
      if let (table, columns, values) = Salvage.place(of: row) {
        try insert(values, into: table, columns)
      }
      return true
    }
  }

  /// The table of a row, by its shape; nil if it is neither a node nor a split node.
  private static func place(
    of row: PageScan.Row
  ) -> (table: String, columns: [String], values: [DatabaseValue])? {
    let values = row.values
    func isInteger(_ index: Int) -> Bool { Int64.fromDatabaseValue(values[index]) != nil }
    func isBlob(_ index: Int) -> Bool {
      if case .blob = values[index].storage { true } else { false }
    }
    func isNullOr(_ fits: (Int) -> Bool, _ index: Int) -> Bool {
      index >= values.count || values[index].isNull || fits(index)
    }
    if let id = row.id {
      // The id of a table with row ids is stored as null.
      guard (3...4).contains(values.count), values[0].isNull, isInteger(1), isNullOr(isBlob, 2),
        isNullOr(isInteger, 3)
      else { return nil }
      let columns = Array(splitColumns.prefix(values.count))
      return ("split", columns, [id.databaseValue] + values.dropFirst())
    }
    guard (4...5).contains(values.count), isInteger(0), isBlob(1), isNullOr(isBlob, 2),
      isNullOr(isInteger, 3), isNullOr(isInteger, 4)
    else { return nil }
    return ("node", Array(nodeColumns.prefix(values.count)), values)
  }

  /// The split nodes that are named anywhere: there may be rows below them.
  private func parents() throws -> [Int64] {
    try Int64.fetchAll(
      target,
      sql: """
        SELECT id FROM split UNION SELECT split FROM node WHERE typeof(split) = 'integer'
        UNION SELECT parent FROM node WHERE typeof(parent) = 'integer' UNION SELECT 0
        """)
  }

  /// Copies the rows of a table, or those below one split node; returns false if some may be
  /// missing.
  @discardableResult
  private mutating func copy(
    _ table: String, _ columns: [String], by order: [String], of parent: Int64? = nil
  ) throws -> Bool {
    for direction in ["", " DESC"] {
      let ordered = order.map { $0 + direction }.joined(separator: ", ")
      let sql = """
        SELECT \(try selection(columns, of: table)) FROM \(table)
        \(parent.map { "WHERE parent = \($0)" } ?? "") ORDER BY \(ordered)
        """
      if try scan(sql, into: table, columns) { return true }
    }
    return false
  }

  /// The columns as a query names them; a file of an older version has no checksums.
  private func selection(_ columns: [String], of table: String) throws -> String {
    let infos = try? source?.writeWithoutTransaction { db in
      try Row.fetchAll(db, sql: "PRAGMA table_info(\(table))").map { $0["name"] as String }
    }
    let known = infos ?? columns
    return columns.map { known.contains($0) ? $0 : "NULL AS \($0)" }.joined(separator: ", ")
  }

  /// Copies the rows of a query up to its end; returns false if the end could not be reached.
  private mutating func scan(_ sql: String, into table: String, _ columns: [String]) throws -> Bool
  {
    guard let source else { return false }
    return try source.writeWithoutTransaction { db in
      guard let cursor = try? Row.fetchCursor(db, sql: sql) else { return false }
      while true {
        let row: Row
        do {
          guard let next = try cursor.next() else { return true }
          row = next
        } catch is GRDB.DatabaseError {
          return false
        }
        try insert(columns.map { row[$0] as DatabaseValue }, into: table, columns)
      }
    }
  }

  /// Adds a row, unless one with its key is there.
  private mutating func insert(
    _ values: [DatabaseValue], into table: String, _ columns: [String]
  ) throws {
    let places = columns.map { _ in "?" }.joined(separator: ", ")
    let insert = try target.cachedStatement(
      sql: """
        INSERT OR IGNORE INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places))
        """)
    do {
      try insert.execute(arguments: StatementArguments(values))
    } catch let error as GRDB.DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
      // The row is unusable: nothing of it can be kept.
      return
    }
    rowCount += 1
    if rowCount.isMultiple(of: 1000), !progress.report("rows", rowCount) {
      throw DatabaseError(.cancelled, "The work was stopped. Nothing was kept.")
    }
  }
}

extension DatabaseCare {
  /// Makes a new database of the readable parts of a damaged one, which is not changed.
  ///
  /// The rows and the definitions of indexes are copied; the history, and the stored state of a
  /// replica, are not. The new file gets its name when it is whole: until then it stands beside it, and
  /// what a run left that was killed is removed by the next one.
  ///
  /// - Parameters:
  ///   - file: the path of the damaged file.
  ///   - new: the path of the new file, which must not exist.
  ///   - progress: called with the progress; may stop the work, and the new file is then removed.
  /// - Returns: what was copied, and what is known to be missing.
  /// - Throws: `DatabaseError` if the new file exists or cannot be written, nothing could be read
  ///   (`corrupt`), or the work was `cancelled`.
  package static func salvage(
    file: String, to new: String, progress: @escaping Progress = { _, _ in true }
  ) throws -> DatabaseSalvage {
    for name in [file, new] { try DatabaseFileName.check(name) }
    if access(new, F_OK) == 0 {
      throw DatabaseError(
        .cannotOpen, "\(new) exists: name a file that does not, for the new database.")
    }
    guard access(file, R_OK) == 0 else {
      throw DatabaseError(
        .cannotOpen, "\(file) cannot be read: \(String(cString: strerror(errno)))")
    }
    var configuration = Configuration()
    configuration.readonly = true
    let part = new + salvagedSuffix
    try CompanionFiles.checkKinds(of: file)
    removeSalvaged(new)
    do {
      // Of an emptied file, all that is left is in its log.
      let isEmptied = WholeCopy.isEmpty(file)
      let hasForeignLog = !isEmptied && isLogForeign(to: file)
      let logDamage =
        hasForeignLog
        ? nil : LogCheck.damage(ofLogBeside: file) ?? LogCheck.tornEnd(ofLogBeside: file)
      let isPatched = isEmptied || logDamage != nil
      var whole: WholeCopy?
      if isPatched {
        whole = try WholeCopy(withPagesOfLog: file, at: new + WholeCopy.suffix)
      } else if hasForeignLog {
        whole = try WholeCopy(withoutLog: file, at: new + WholeCopy.suffix)
      } else {
        whole = try WholeCopy(ifTooShort: file, at: new + WholeCopy.suffix)
      }
      defer { whole?.remove() }
      let source = try? DatabaseQueue(
        path: DatabaseFileName.forSQLite(whole?.path ?? file), configuration: configuration)
      let store = try SQLiteStore(file: part, isReadOnly: false, busyTimeout: .seconds(5))
      let progress = CareProgress(progress)
      let outcome = try store.withConnection(stoppable: progress.isWanted) { db in
        var outcome: DatabaseSalvage?
        try db.inTransaction(.immediate) {
          var salvage = Salvage(
            from: source,
            pages: {
              if whole == nil { whole = try WholeCopy(ifWithLog: file, at: new + WholeCopy.suffix) }
              return whole?.path ?? file
            }, to: db, progress: progress)
          let count = try salvage.copy(readsAllPages: isPatched)
          if count == 0 {
            throw DatabaseError(
              .corrupt, "Nothing could be read of \(file): restore it from a backup or a copy.")
          }
          outcome = DatabaseSalvage(
            rowCount: count, repair: try Doctor(db: db, progress: progress).repair(),
            hasAllPages: salvage.hasAllPages && !isEmptied, hasIndexes: salvage.hasIndexes,
            hasForeignLog: hasForeignLog, logDamage: logDamage)
          return .commit
        }
        return outcome
      }
      try store.withDatabase { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
      try store.close()
      try source?.close()
      guard access(new, F_OK) != 0, rename(part, new) == 0 else {
        throw DatabaseError(
          .cannotOpen, "\(new) was made by another program meanwhile, or cannot be made.")
      }
      removeSalvaged(new)
      guard let outcome else { preconditionFailure("The transaction ran to its end.") }
      return outcome
    } catch {
      // The damaged file is read as far as it goes: what fails is writing the new one.
      var cause = DatabaseError(error, file: new)
      cause.message = cause.message.replacing(part, with: new)
      removeSalvaged(new)
      throw cause
    }
  }

  /// The suffix of the new file until it is whole.
  private static let salvagedSuffix = ".salvaged"

  /// Removes what stands beside the new file of a salvage until that is whole.
  private static func removeSalvaged(_ new: String) {
    for suffix in ["", "-wal", "-shm", "-notify"] { unlink(new + salvagedSuffix + suffix) }
    WholeCopy.remove(new + WholeCopy.suffix)
  }
}

extension DatabaseCare {
  /// Whether the log beside a file was begun on another one; false if that cannot be told.
  private static func isLogForeign(to file: String) -> Bool {
    do {
      _ = try SQLiteStore.checkLog(of: file)
      return false
    } catch {
      return (error as? DatabaseError)?.code == .foreignLog
    }
  }
}

/// A temporary copy of a file that ends too early, with zeros for what is missing, or that has a log,
/// with the writes of the log.
///
/// SQLite opens no file that is shorter than its header says, though all of its other pages can be
/// read. The pages are also read directly, and then the log must not hold newer ones.
private struct WholeCopy {
  /// The beginning of every file of SQLite.
  private static let signature = Array("SQLite format 3\0".utf8)
  /// The suffix of the copy's name behind that of the new file.
  static let suffix = ".whole"

  let path: String

  /// Makes the copy; nil if the file has all its pages, or is none of SQLite.
  ///
  /// O(n) in the file.
  ///
  /// - Throws: an error of the system if the copy cannot be written.
  init?(ifTooShort file: String, at path: String) throws {
    guard let size = WholeCopy.sizeOfWhole(file) else { return nil }
    try self.init(of: file, size: size, at: path)
  }

  /// Makes the copy of a file alone, because the log beside it is not its own.
  ///
  /// O(n) in the file.
  ///
  /// - Throws: an error of the system if the copy cannot be written.
  init(withoutLog file: String, at path: String) throws {
    try self.init(of: file, size: WholeCopy.sizeOfWhole(file), at: path, suffixes: [""])
  }

  /// Makes the copy of a file with a damaged log: the pages of the log that are whole are written into
  /// it, also those that SQLite does not read.
  ///
  /// O(n) in the file and in the log.
  ///
  /// - Throws: an error of the system if the copy cannot be written.
  init(withPagesOfLog file: String, at path: String) throws {
    self.path = path
    _ = try WholeCopy.copy(file, to: path)
    _ = try LogCheck.copyPages(ofLogBeside: file, to: path)
    if let size = WholeCopy.sizeOfWhole(path), truncate(path, off_t(size)) != 0 {
      throw DatabaseError.failedCopy(path)
    }
  }

  /// True if a file has no bytes.
  static func isEmpty(_ file: String) -> Bool {
    var status = stat()
    return stat(file, &status) == 0 && status.st_size == 0
  }

  /// Makes the copy; nil if the file has no log.
  ///
  /// O(n) in the file.
  ///
  /// - Throws: an error of the system if the copy cannot be written.
  init?(ifWithLog file: String, at path: String) throws {
    var log = stat()
    guard stat(file + "-wal", &log) == 0, log.st_size > 0 else { return nil }
    try self.init(of: file, size: nil, at: path)
  }

  private init(
    of file: String, size: Int?, at path: String, suffixes: [String] = ["", "-wal"]
  ) throws {
    self.path = path
    for suffix in suffixes {
      guard try WholeCopy.copy(file + suffix, to: path + suffix) else { continue }
      if suffix.isEmpty, let size, truncate(path, off_t(size)) != 0 {
        throw DatabaseError.failedCopy(path)
      }
    }
    // The log of a file whose header is damaged cannot be used.
    let queue = try? DatabaseQueue(path: DatabaseFileName.forSQLite(path))
    try? queue?.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
    try? queue?.close()
  }

  func remove() { WholeCopy.remove(path) }

  static func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
  }

  /// The size in bytes that the header of a file says, if the file is shorter; otherwise nil.
  ///
  /// Source: SQLite, "Database File Format", section 1.3.
  private static func sizeOfWhole(_ file: String) -> Int? {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
    defer { close(descriptor) }
    var head = [UInt8](repeating: 0, count: 100)
    var status = stat()
    guard pread(descriptor, &head, head.count, 0) == head.count, fstat(descriptor, &status) == 0,
      head.starts(with: signature)
    else { return nil }
    let stored = Int(head[16]) << 8 | Int(head[17])
    let pageSize = stored == 1 ? 65_536 : stored
    guard pageSize >= 512, pageSize.nonzeroBitCount == 1 else { return nil }
    let pageCount = head[28..<32].reduce(0) { $0 << 8 | Int($1) }
    let size = Int(status.st_size)
    let rounded = (size + pageSize - 1) / pageSize * pageSize
    // A damaged header may say anything.
    let isLikely = pageCount * pageSize <= 64 * rounded
    let whole = isLikely ? max(pageCount * pageSize, rounded) : rounded
    return whole > size ? whole : nil
  }

  /// Copies a file; returns false if there is none.
  private static func copy(_ file: String, to path: String) throws -> Bool {
    let source = open(file, O_RDONLY | O_CLOEXEC)
    if source < 0 { return false }
    defer { close(source) }
    let target = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    if target < 0 { throw DatabaseError.failedCopy(path) }
    defer { close(target) }
    while true {
      let count = read(source, &buffer, buffer.count)
      if count == 0 { return true }
      if count < 0 {
        throw DatabaseError(.cannotOpen, "\(file) cannot be read: \(reason)")
      }
      var start = 0
      while start < count {
        // On a full disk less is written than was asked for, and nothing the next time.
        let written = buffer.withUnsafeBytes {
          write(target, $0.baseAddress.map { $0 + start }, count - start)
        }
        if written <= 0 { throw DatabaseError.failedCopy(path) }
        start += written
      }
    }
  }

  private static var reason: String { String(cString: strerror(errno)) }
}
